# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

"""At home, a LocalExecutor spawns, wakes and polls without atomic instructions.

Disassembles the program local_paths, walks from the functions of these paths
through every function that they call directly, and fails where one of them has
an instruction that locks, unless it is named here as being off the path.
"""

import bisect
import re
import shutil
import subprocess
import unittest

PROGRAM = "tests/executor/local_paths"

# Where the paths begin, also behind each indirect call.
ROOTS = (
    r"^SpawnAtHome$",
    r"LocalCore::Schedule\(",
    r"LocalCore::RunOne\(",
    r"LocalCore::Register\(",
    r"LocalCore::Unregister\(",
    r"LocalCore::WakeMain\(",
    r"WakerOf<true>::Wake\(",
    r"WakerOf<true>::WakeByRef\(",
    r"TaskCell<weft::Task<.*>::Poll\(",
    r"TaskCell<weft::Task<.*>::Schedule\(",
    r"TaskCell<weft::Task<.*>::DestroyFuture\(",
    r"TaskCell<weft::Task<.*>::OnPending\(",
    r"TaskCell<weft::Task<.*>::OnGone\(",
    r"TaskCell<weft::Task<.*>::Free\(",
)

# Functions that may lock, and so are not looked into; not every compiler makes a
# call of each.
ALLOWED = (
    # References, and the end of a task that others refer to.
    r"BasicLocalTaskState<.*>::Ref\(",
    r"BasicLocalTaskState<.*>::GiveUpReference\(",
    r"BasicLocalTaskState<.*>::SetEnded\(",
    # What another thread does, and what it has sent.
    r"BasicLocalTaskState<.*>::Remote::",
    r"BasicLocalTaskState<.*>::Receive\(",
    r"LocalCore::SendHome\(",
    r"BasicLocalInbox<.*>::TakeAll<",
    # Another loop that drives this one is told.
    r"LocalCore::WakeSlots\(",
    # Memory and ids that are not at hand.
    r"TakeBlock\(",
    r"AllocateSlow\(",
    r"FreeSlow\(",
    # A handle or Runnable that is dropped, not moved on.
    r"task_internal::CancelTask\(",
    r"task_internal::DropHandle\(",
    r"task_internal::DropRunnable\(",
    # Nothing goes on after these.
    r"CheckFailed\(",
    r"ReportUnhandledException\(",
)

LOCKS = re.compile(
    r"^\s*lock\b"
    r"|^\s*xchg\w*\s.*[(\[]"  # with memory; between registers it is a nop
    r"|^\s*mfence\b"
    r"|^\s*(ldax|stlx|ldx|stx)\w*r\w*\b|^\s*(cas|swp|ldadd|ldset|ldclr)\w*\b")
# llvm-objdump writes 0x before an address.
TRANSFER = re.compile(r"^\s*(?:call|jmp|j[a-z]+|bl|b)q?\s+(?:0x)?([0-9a-f]+)\b")


class Code:
    """The functions of a program: names, instructions, direct calls."""

    def __init__(self, text):
        self.names, self.lines, self.starts = [], [], []
        for line in text.splitlines():
            head = re.match(r"^([0-9a-f]+) <(.*)>:$", line)
            if head:
                self.starts.append(int(head.group(1), 16))
                self.names.append(head.group(2))
                self.lines.append([])
            elif self.lines and re.match(r"^\s*[0-9a-f]+:", line):
                self.lines[-1].append(line.split(":", 1)[1].strip())

    def matching(self, pattern):
        return [i for i, name in enumerate(self.names) if re.search(pattern, name)]

    def called_by(self, function):
        for line in self.lines[function]:
            transfer = TRANSFER.match(line)
            if transfer:
                target = bisect.bisect(self.starts, int(transfer.group(1), 16)) - 1
                if target >= 0 and target != function:
                    yield target

    def locking(self, function):
        return [line for line in self.lines[function] if LOCKS.search(line)]


def disassemble(path):
    tool = shutil.which("llvm-objdump-19") or shutil.which("objdump")
    if tool is None:
        raise AssertionError("no objdump is installed")
    return subprocess.run(
        [tool, "-d", "--no-show-raw-insn", "--demangle", path],
        check=True, capture_output=True, text=True).stdout


def walk(code, roots, allowed):
    """The functions reached from roots, each with the one it was reached from."""
    reached = {root: None for root in roots}
    todo = list(roots)
    while todo:
        function = todo.pop()
        if function in allowed or code.names[function].endswith("@plt"):
            continue
        for target in code.called_by(function):
            if target not in reached:
                reached[target] = function
                todo.append(target)
    return [f for f in reached if f not in allowed], reached


def chain(code, reached, function):
    names = []
    while function is not None:
        names.append(code.names[function])
        function = reached[function]
    return " <- ".join(names)


class LocalPathsTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.code = Code(disassemble(PROGRAM))

    def test_a_lock_would_be_seen(self):
        for pattern in (r"::GiveUpReference\(", r"LocalCore::SendHome\("):
            for function in self.code.matching(pattern):
                self.assertTrue(self.code.locking(function), pattern)

    def test_every_path_exists(self):
        for pattern in ROOTS + (r"::GiveUpReference\(", r"LocalCore::SendHome\("):
            self.assertTrue(self.code.matching(pattern), pattern)

    def test_nothing_on_the_paths_locks(self):
        code = self.code
        roots = [f for pattern in ROOTS for f in code.matching(pattern)]
        allowed = {f for pattern in ALLOWED for f in code.matching(pattern)}
        looked_at, reached = walk(code, roots, allowed)
        self.assertGreater(len(looked_at), len(ROOTS))
        problems = [
            "{}\n    in {}".format(line, chain(code, reached, function))
            for function in looked_at for line in code.locking(function)
        ]
        self.assertFalse(problems, "\n" + "\n".join(problems))
