#!/usr/bin/env python3
# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

"""Checks this repository's own conventions; docs/style.md gives the reasons.

  python3 tools/house_lint.py [FILE...]

Without arguments it reads every file that git knows. It checks, file by file:

  licence    sources open with the two licence lines
  guard      headers have the guard WEFT_<PATH>_H_ and no #pragma once
  include    our headers are included as "weft/<package>/<file>.h", quoted; a
             source includes its own header first
  name       no header is called like a system header of its folder
  order      a memory order weaker than seq_cst has its reason beside it
  sleep      tests do not sleep
  unfinished no TODO, FIXME, XXX, HACK, no disabled test
  build      BUILD files open with a comment and use the rules of bazel/weft.bzl
             and no glob()
  docs       files and tests that a document names exist

tests/consumer plays a user's workspace; only its licences and words are checked.

A line that is right all the same says so, with a reason, on itself or in the
comment right above: `house-lint: allow(sleep): the reason`.
"""

import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

PACKAGES = (
    "task", "sync", "stream", "select", "timer", "executor", "fiber", "io", "net",
    "fs", "process", "compat", "runtime", "tests", "examples", "bench",
)

LICENCE = ("Copyright 2026 The weft Authors", "SPDX-License-Identifier: Apache-2.0")

# Headers of /usr/include that a file of ours would hide from whoever puts the
# repository's root on the include path.
SYSTEM_HEADERS = {
    "net/ethernet.h", "net/if.h", "net/if_arp.h", "net/if_packet.h",
    "net/ppp_defs.h", "net/route.h",
}

_WEAK_ORDER = re.compile(r"memory_order(?:_|::)(relaxed|consume|acquire|release|acq_rel)")
_SLEEP = re.compile(r"\bsleep_for\b|\bsleep_until\b|\busleep\s*\(|\bSleepFor\b|\bnanosleep\b")
_NAMED_FILE = re.compile(r"`([\w.-]+(?:/[\w.-]+)+\.(?:h|cc|md|py|sh|bzl))`")
_NAMED_TEST = re.compile(r"`(\w+Test)\.(\w+)`")
_UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b|\bDISABLED_")

# How far above a weak memory order its reason may stand.
_REASON_LINES = 8


class File:
    """One file and what was found in it."""

    def __init__(self, path, text):
        self.path = path
        self.lines = text.split("\n")
        self.problems = []

    def report(self, line, rule, message):
        """Records a finding at a line (from 1) unless the file allows it there."""
        number = line
        while number >= 1:
            text = self.lines[number - 1]
            if re.search(r"house-lint: allow\({}\)".format(rule), text):
                return
            number -= 1
            if number < 1 or not re.match(r"\s*(//|#)", self.lines[number - 1]):
                break
        self.problems.append((self.path, line, rule, message))


def check_licence(file):
    lines = file.lines[1:] if file.lines[0].startswith("#!") else file.lines
    for offset, text in enumerate(LICENCE):
        line = lines[offset] if offset < len(lines) else ""
        if line.lstrip("/# ") != text:
            file.report(1, "licence", "must open with `{}` and `{}`".format(*LICENCE))
            return


def check_guard(file):
    guard = "WEFT_" + re.sub(r"\W", "_", os.path.splitext(file.path)[0]).upper() + "_H_"
    code = [line for line in file.lines if line and not line.startswith("//")]
    wanted = ["#ifndef " + guard, "#define " + guard]
    if code[:2] != wanted:
        file.report(1, "guard", "must have the guard {}".format(guard))
    elif code[-1] != "#endif  // " + guard:
        file.report(len(file.lines), "guard", "must end in `#endif  // {}`".format(guard))
    for number, line in enumerate(file.lines, 1):
        if line.startswith("#pragma once"):
            file.report(number, "guard", "use a guard: one file is reachable by two paths")


def own_header(path):
    """The header a source must include first, None if there is none."""
    stem = re.sub(r"(_test|_benchmark|_model)?\.cc$", "", path)
    for candidate in (stem, re.sub(r"^(tests|bench)/", "", stem)):
        if os.path.exists(os.path.join(ROOT, candidate + ".h")):
            return "weft/" + candidate + ".h"
    return None


def check_includes(file):
    includes = []
    for number, line in enumerate(file.lines, 1):
        match = re.match(r'#\s*include\s*([<"])([^>"]+)[>"]', line)
        if not match:
            continue
        bracket, path = match.groups()
        includes.append(path)
        if path.startswith("weft/"):
            if bracket == "<":
                file.report(number, "include", "our headers are quoted: \"{}\"".format(path))
            if not os.path.exists(os.path.join(ROOT, path[len("weft/"):])):
                file.report(number, "include", "there is no {}".format(path))
        elif path.split("/")[0] in PACKAGES and os.path.exists(os.path.join(ROOT, path)):
            file.report(number, "include", "write \"weft/{}\"".format(path))
        elif path.startswith("."):
            file.report(number, "include", "write the full path, not {}".format(path))
        elif bracket == '"' and "/" not in path and os.path.exists(
                os.path.join(ROOT, os.path.dirname(file.path), path)):
            file.report(number, "include", "write \"weft/{}/{}\"".format(
                os.path.dirname(file.path), path))
    own = own_header(file.path) if file.path.endswith(".cc") else None
    if own in includes and includes[0] != own:
        file.report(1, "include", "must include {} first".format(own))


def check_orders(file):
    for number, line in enumerate(file.lines, 1):
        code = line.split("//")[0]
        if not _WEAK_ORDER.search(code):
            continue
        around = file.lines[max(0, number - 1 - _REASON_LINES):number + 2]
        if not any("//" in text for text in around):
            file.report(number, "order", "say beside it why this order is enough")


def check_lines(file):
    in_tests = file.path.startswith("tests/")
    for number, line in enumerate(file.lines, 1):
        if _UNFINISHED.search(line):
            file.report(number, "unfinished", "finish it, or leave it out")
        if in_tests and file.path.endswith((".cc", ".h")) and _SLEEP.search(line.split("//")[0]):
            file.report(number, "sleep", "wait for the event itself, or use FakeClock")


def check_build(file):
    own = [line for line in file.lines if line.lstrip("# ") not in LICENCE + ("",)]
    if not own or not own[0].startswith("#"):
        file.report(1, "build", "must open with a comment: what is here, what it may use")
    for number, line in enumerate(file.lines, 1):
        if file.path.startswith("bazel/"):
            continue
        match = re.match(r"(cc_library|cc_test|cc_binary)\(", line)
        if match:
            file.report(number, "build", "use weft_{}".format(match.group(1)))
        if re.search(r"\bglob\(", line.split("#")[0]):
            file.report(number, "build", "name the files")


def has_test(suite, name):
    """Whether a file below tests/ defines the test."""
    pattern = re.compile(r"\b\w*TEST\w*\(\s*{}\s*,\s*{}\s*\)".format(suite, name))
    for folder, _, files in os.walk(os.path.join(ROOT, "tests")):
        for file in files:
            if file.endswith(".cc"):
                with open(os.path.join(folder, file), encoding="utf-8") as source:
                    if pattern.search(source.read()):
                        return True
    return False


def check_document(file):
    for number, line in enumerate(file.lines, 1):
        for path in _NAMED_FILE.findall(line):
            path = re.sub("^weft/", "", path)
            if path not in SYSTEM_HEADERS and not os.path.exists(os.path.join(ROOT, path)):
                file.report(number, "docs", "there is no {}".format(path))
        for suite, name in _NAMED_TEST.findall(line):
            if not has_test(suite, name):
                file.report(number, "docs", "there is no test {}.{}".format(suite, name))


def check_file(path, text):
    """Returns the findings [(path, line, rule, message)] of one file."""
    file = File(path, text)
    name = os.path.basename(path)
    ours = not path.startswith("tests/consumer/")
    is_cpp = path.endswith((".h", ".cc"))
    if is_cpp or path.endswith((".bzl", ".py", ".sh")) or text.startswith("#!"):
        check_licence(file)
    if ours and path.endswith(".h"):
        check_guard(file)
        if path in SYSTEM_HEADERS:
            file.report(1, "name", "/usr/include has a header of this name")
    if ours and is_cpp:
        check_includes(file)
    if is_cpp and path.split("/")[0] in PACKAGES and not path.startswith(("tests/", "bench/")):
        check_orders(file)
    if ours and name == "BUILD":
        check_build(file)
    if path.endswith(".md"):
        check_document(file)
    if path != "tools/house_lint.py" and not path.startswith("tests/lint/"):
        check_lines(file)
    return file.problems


def find_files():
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, stdout=subprocess.PIPE, check=True, universal_newlines=True)
    return [path for path in sorted(listing.stdout.split("\n")) if path]


def main():
    count = 0
    problems = []
    for path in sys.argv[1:] or find_files():
        full = os.path.join(ROOT, path)
        if not os.path.isfile(full) or os.path.islink(full):
            continue
        try:
            with open(full, encoding="utf-8") as source:
                text = source.read()
        except UnicodeDecodeError:
            continue
        count += 1
        problems += check_file(os.path.relpath(full, ROOT), text)
    for problem in problems:
        print("{}:{}: {}: {}".format(*problem))
    print("house_lint: {} files, {} findings".format(count, len(problems)), file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
