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


def gdb(*commands, core=None):
    """What gdb prints."""
    line = ["gdb", "-q", "-batch", "-nx", "-iex", "set debuginfod enabled off", PROGRAM]
    if core:
        line.append(core)
    line += ["-ex", f"source {SCRIPT}"]
    for command in commands:
        line += ["-ex", command]
    done = subprocess.run(line, capture_output=True, text=True, timeout=200, check=False)
    return done.stdout + done.stderr


class GdbTest(unittest.TestCase):
    def check_tasks(self, output):
        """The three tasks of gdb_program.cc."""
        self.assertRegex(
            output,
            r'task \d+ "reader with a long name", spawned in main at '
            r"gdb_program.cc:\d+, waits\n"
            r"  Outer at gdb_program.cc:\d+\n"
            r"    Inner at gdb_program.cc:\d+\n")
        self.assertIn("waits, but nobody has its waker: it will never run", output)
        self.assertIn("3 live tasks", output)

    def test_running_program(self):
        self.check_tasks(gdb("run", "weft tasks"))

    def test_core_file(self):
        core = pathlib.Path(os.environ["TEST_TMPDIR"]) / "core"
        gdb("run", f"generate-core-file {core}")
        self.assertTrue(core.exists())
        output = gdb("weft tasks", core=str(core))
        self.check_tasks(output)
        task = re.search(r'task (\d+) "reader', output).group(1)
        self.assertIn("Inner at gdb_program.cc", gdb(f"weft task {task}", core=str(core)))
        self.assertIn("no live task 12345", gdb("weft task 12345", core=str(core)))


if __name__ == "__main__":
    unittest.main()
