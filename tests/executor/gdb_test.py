# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

"""tools/gdb/weft_gdb.py shows the tasks of a program and of its core file."""

import os
import pathlib
import re
import subprocess
import unittest

PROGRAM = os.environ["GDB_PROGRAM"]
SCRIPT = os.environ["GDB_SCRIPT"]


def gdb(*commands, core=None, program=PROGRAM):
    """What gdb prints."""
    line = ["gdb", "-q", "-batch", "-nx", "-iex", "set debuginfod enabled off", program]
    if core:
        line.append(core)
    line += ["-ex", f"source {SCRIPT}"]
    for command in commands:
        line += ["-ex", command]
    done = subprocess.run(line, capture_output=True, text=True, timeout=200, check=False)
    return done.stdout + done.stderr


class GdbTest(unittest.TestCase):
    def check_executor(self, output):
        """The tasks of the Executor of gdb_program.cc."""
        self.assertRegex(
            output,
            r"Executor run by LWP \d+ \(core 0x[0-9a-f]+\): 6 live tasks, suspended or ")
        self.assertRegex(
            output,
            r'task \d+ "reader with a long name", spawned in main at '
            r"gdb_program.cc:\d+, waits\n"
            r"  Outer at gdb_program.cc:\d+\n"
            r"    Inner at gdb_program.cc:\d+\n"
            r"      weft::sync::Event::WaitFuture\n")
        self.assertRegex(
            output,
            r"waits, but nobody has its waker: it will never run\n"
            r"  Forgets at gdb_program.cc:\d+\n"
            r"    weft::PendingFuture<void>\n")
        # The coroutine of a lambda, which lies beside it.
        self.assertRegex(
            output, r"  main at gdb_program.cc:\d+\n    weft::sync::Event::WaitFuture\n")

    def check_others(self, output):
        """Those of the LocalExecutor and of the Strand, and those that run."""
        self.assertRegex(
            output, r"\nLocalExecutor of LWP \d+ \(core 0x[0-9a-f]+\): 3 live tasks, ")
        bound = re.search(r'task (\d+) "bound", .*, waits\n  Outer at ', output).group(1)
        self.assertRegex(
            output,
            rf'task \d+ "joins", .*, waits\n  Joins at gdb_program.cc:\d+\n'
            rf"    task {bound}\n")
        self.assertRegex(output, r'task \d+ "lost", .*, waits, but nobody has its waker')
        self.assertRegex(
            output,
            r"\nStrand or PriorityExecutor in task \d+ \(core 0x[0-9a-f]+\): 1 live task, "
            r'.*\ntask \d+ "in the strand", .*, waits\n  Outer at ')
        self.assertRegex(
            output,
            r'task \d+ "computes", .*, runs in thread 2 \(LWP \d+\)\n'
            r"  Computes runs, last at gdb_program.cc:\d+\n")
        self.assertRegex(
            output,
            r"\nRunning, .*:\n"
            r'task \d+ "stops", .*, runs in thread 1 \(LWP \d+\)\n'
            r"  a coroutine runs that has not come to a co_await\n")

    def check_all(self, output):
        """All of it, without an error."""
        self.check_executor(output)
        self.check_others(output)
        self.assertNotIn("cannot be read", output)
        self.assertNotIn("Python", output)

    def make_core(self, *arguments):
        """A core file of the program."""
        core = pathlib.Path(os.environ["TEST_TMPDIR"]) / ("core" + "_".join(arguments))
        gdb(" ".join(["run", *arguments]), f"generate-core-file {core}")
        self.assertTrue(core.exists())
        return str(core)

    def test_running_program(self):
        output = gdb("run", "thread 2", "weft tasks", "thread")  # which is the same
        self.check_all(output)
        self.assertIn("Current thread is 2 ", output)

    def test_core_file(self):
        core = self.make_core()
        output = gdb("weft tasks", core=core)
        self.check_all(output)
        task = re.search(r'task (\d+) "reader', output).group(1)
        self.assertIn("Inner at gdb_program.cc", gdb(f"weft task {task}", core=core))
        task = re.search(r'task (\d+) "stops', output).group(1)
        self.assertIn("runs in thread 1", gdb(f"weft task {task}", core=core))

    def check_damaged(self, output):
        """One task cannot be read, all others can."""
        self.assertEqual(len(re.findall("cannot be read", output)), 1, output)
        self.assertRegex(
            output,
            r"\nthe task at 0x[0-9a-f]+ cannot be read: Cannot access memory at address .*\n")
        self.check_executor(output)
        self.check_others(output)

    def test_unreadable_task(self):
        self.check_damaged(gdb("run damaged", "weft tasks"))
        core = self.make_core("damaged")
        self.check_damaged(gdb("weft tasks", core=core))
        task = re.search(r'task (\d+) "in the strand', gdb("weft tasks", core=core)).group(1)
        self.assertIn("Inner at gdb_program.cc", gdb(f"weft task {task}", core=core))

    def check_error(self, pattern, command, **arguments):
        """A command ends with a message, which is not Python's."""
        output = gdb(command, **arguments)
        self.assertRegex(output, pattern)
        self.assertNotIn("Python", output)

    def test_wrong_arguments(self):
        core = self.make_core()
        self.check_error("no live task 12345", "weft task 12345", core=core)
        self.check_error("give the number of a task", "weft task", core=core)
        self.check_error("give the number of a task", "weft task nonsense", core=core)
        self.check_error("takes no argument", "weft tasks 7", core=core)
        self.check_error("give a variable of type weft::Task", "weft await", core=core)
        self.check_error("give a variable of type weft::Task", "weft await x y", core=core)
        self.check_error("at 0x1234 is no frame", "weft await 0x1234", core=core)
        self.check_error("at 0x0 is no frame", "weft await 0", core=core)
        for command in ("weft tasks", "weft task 7", "weft await 0x1234"):
            self.check_error("there is no process and no core file", command)

    def test_await(self):
        core = self.make_core()
        task = "'(anonymous namespace)::asked_for'"
        output = gdb(f"weft await {task}.coroutine_", f"weft await {task}",
                     f"weft await {task}.coroutine_._M_fr_ptr", core=core)
        self.assertEqual(len(re.findall("has not started", output)), 3, output)

    def test_without_debug_information(self):
        program = os.path.join(os.environ["TEST_TMPDIR"], "without")
        subprocess.run(["objcopy", "--strip-debug", PROGRAM, program], check=True)
        core = self.make_core()
        for command in ("weft tasks", "weft task 7"):
            self.check_error("weft itself must be built with -g, .* --copt=-g", command,
                             core=core, program=program)


if __name__ == "__main__":
    unittest.main()
