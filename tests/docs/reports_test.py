# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

"""docs/debugging.md shows what the programs of examples/debugging print.

A block behind `<!-- prints: PROGRAM -->` is compared with the program's output.
Numbers may differ; "..." stands for any text within a line and, alone in one, for any
lines.
"""

import os
import pathlib
import re
import subprocess
import unittest

DOCUMENT = pathlib.Path("docs/debugging.md")
PROGRAMS = pathlib.Path("examples/debugging")
BLOCK = re.compile(r"<!-- prints: (\w+) -->\n\n```text\n(.*?)```\n", re.S)


def without_numbers(text):
    return re.sub(r"\d+(\.\d+)?", "0", text)


def pattern_of(block):
    """A regular expression for what a block allows."""
    pattern = r"\A"
    for line in without_numbers(block).splitlines():
        if line.strip() == "...":
            pattern += r"(?:.*\n)*?"
        else:
            pattern += re.escape(line).replace(re.escape("..."), ".*") + r"\n"
    return pattern


class ReportsTest(unittest.TestCase):
    def test_each_program_prints_what_is_shown(self):
        blocks = BLOCK.findall(DOCUMENT.read_text(encoding="utf-8"))
        self.assertEqual({name for name, _ in blocks},
                         {"interleavings", "lints", "lost_waker", "stuck_task"})
        for name, block in blocks:
            with self.subTest(program=name):
                done = subprocess.run([os.fspath(PROGRAMS / name)], capture_output=True,
                                      text=True, timeout=60, check=True)
                self.assertRegex(without_numbers(done.stdout), pattern_of(block))


if __name__ == "__main__":
    unittest.main()
