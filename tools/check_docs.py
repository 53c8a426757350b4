#!/usr/bin/env python3
# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

"""Holds the documents against the code. Run from anywhere; prints what is wrong.

- Every test that a document names, as `Suite.Name`, exists.
- Every public awaitable (a class with an Output and a Poll in a header outside
  task_internal and its like) has a row in docs/cancellation.md, by its own name
  or, for FooFuture, as Foo.
- Every file that a document names as `folder/file.ext` exists.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PACKAGES = "task sync stream select executor timer io net fs process runtime".split()

_TEST = re.compile(
    r"\b(?:TEST|TEST_F|TEST_P|TYPED_TEST|TYPED_TEST_P|WEFT_TEST)\(\s*(\w+),\s*(\w+)\)"
)
_NAMED_TEST = re.compile(r"`(\w*(?:Test|Model|DeathTest))\.(\w+)`")
_NAMED_FILE = re.compile(
    r"`((?:%s|tests|docs|tools|examples|bazel)/[\w./-]+\.(?:h|cc|md|py|sh|bzl))`"
    % "|".join(PACKAGES)
)
_CLASS = re.compile(
    r"^(?:template [^\n]*\n)?(?:  requires[^\n]*\n)?(?:class|struct) "
    r"(?:\[\[[^\]]*\]\]\s*)?(?:\w+::)?(\w+)(?: final)?(?::[^{;]*)? ?\{(.*?)^\};",
    re.S | re.M,
)
_INTERNAL = re.compile(r"^namespace [\w:]*_internal \{.*?^\}  // namespace", re.S | re.M)


def documents():
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def tests():
    found = set()
    for path in (ROOT / "tests").rglob("*.cc"):
        found.update(_TEST.findall(path.read_text(encoding="utf-8")))
    return found


def awaitables():
    for package in PACKAGES:
        for path in sorted((ROOT / package).glob("*.h")):
            text = path.read_text(encoding="utf-8")
            if re.search(r"^// .*\bInternal\b", text, re.M):
                continue
            text = _INTERNAL.sub("", text)
            for match in _CLASS.finditer(text):
                name, body = match.groups()
                if "using Output =" in body and re.search(r"\bPoll\(", body):
                    yield path.relative_to(ROOT), name


def main():
    problems = []
    known = tests()
    for path in documents():
        text = path.read_text(encoding="utf-8")
        for suite, name in _NAMED_TEST.findall(text):
            if (suite, name) not in known:
                problems.append(f"{path.relative_to(ROOT)}: no test {suite}.{name}")
        # The style guide also names files that must not exist.
        for file in _NAMED_FILE.findall(text) if path.stem != "style" else []:
            if not (ROOT / file).exists():
                problems.append(f"{path.relative_to(ROOT)}: no file {file}")
    rows = (ROOT / "docs/cancellation.md").read_text(encoding="utf-8")
    words = set(re.findall(r"\w+", rows))
    for path, name in awaitables():
        if name not in words and name.removesuffix("Future") not in words:
            problems.append(f"{path}: {name} has no row in docs/cancellation.md")
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
