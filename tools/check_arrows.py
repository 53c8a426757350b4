# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

"""Checks which package uses which, and that dependencies are named.

  python3 tools/check_arrows.py

Asks `./bazelw query` for every rule of the workspace and fails where

- a library package uses a package that ALLOWED does not name for it, nor
  ALLOWED_TESTONLY where the rule is testonly;
- anything but tests, examples and benchmarks uses runtime, compat or //:weft;
- a target includes a header of Abseil without naming its target in deps. (For
  our own headers the compiler checks that; Abseil's lie in /usr/include.)
"""

import os
import re
import subprocess
import sys
import xml.etree.ElementTree

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# Free to use anything.
FREE = {"tests", "examples", "bench", "docs", "tools"}

# Whatever may be used from everywhere.
COMMON = {"bazel"}

# A library package -> the library packages it may use, besides itself.
ALLOWED = {"task": set(), "sync": {"task"}, "stream": {"task", "sync"}}
ALLOWED["select"] = ALLOWED["stream"] | {"stream"}
ALLOWED["timer"] = ALLOWED["select"] | {"select"}
_FIVE = ALLOWED["timer"] | {"timer"}
ALLOWED["executor"] = _FIVE
ALLOWED["fiber"] = _FIVE
ALLOWED["io"] = _FIVE
ALLOWED["net"] = _FIVE | {"io"}
ALLOWED["fs"] = _FIVE | {"io"}
ALLOWED["process"] = _FIVE | {"io"}
_LIBRARIES = _FIVE | {"executor", "fiber", "io", "net", "fs", "process"}
ALLOWED["compat"] = _LIBRARIES
ALLOWED["runtime"] = _LIBRARIES
# The root holds only the target that is everything.
ALLOWED[""] = _LIBRARIES | {"runtime", "compat"}

# The same for what is testonly: simulations run in an executor.
ALLOWED_TESTONLY = {"net": {"executor"}}

# A header below absl/ -> its target, where neither the header's own stem nor
# its folder is one.
ABSL_TARGETS = {
    "base/attributes": "base:core_headers",
    "base/call_once": "base:base",
    "base/casts": "base:base",
    "base/const_init": "base:core_headers",
    "base/macros": "base:core_headers",
    "base/optimization": "base:core_headers",
    "base/port": "base:core_headers",
    "base/thread_annotations": "base:core_headers",
    "container/btree_map": "container:btree",
    "container/btree_set": "container:btree",
    "flags/declare": "flags:flag",
    "flags/usage_config": "flags:config",
    "random/random": "random:random",
}


def top(label):
    """Returns the first folder of a label, None if it is not ours."""
    if not label.startswith("//"):
        return None
    return label[2:].split(":")[0].split("/")[0]


def absl_target(header, targets):
    """Returns the label that stands for "absl/<header>.h"."""
    folder, stem = header.rsplit("/", 1)
    target = ABSL_TARGETS.get(header)
    if target is None:
        own = "@com_google_absl//absl/{}:{}".format(folder, stem)
        target = "{}:{}".format(folder, stem if own in targets else folder)
    return "@com_google_absl//absl/" + target


def check_rule(name, inputs, problems, testonly=False):
    user = top(name)
    if user in FREE or user in COMMON:
        return
    if user not in ALLOWED:
        problems.append("{}: package {!r} is not in tools/check_arrows.py".format(name, user))
        return
    allowed = ALLOWED[user] | (ALLOWED_TESTONLY.get(user, set()) if testonly else set())
    for used in sorted(inputs):
        package = top(used)
        if package is None or package == user or package in COMMON:
            continue
        if package not in allowed:
            problems.append("{}: {} may not use {}".format(name, user or "//", used))


def check_absl(name, files, deps, targets, problems):
    for label in sorted(files):
        path = os.path.join(ROOT, label[2:].replace(":", "/").lstrip("/"))
        if not label.startswith("//") or not os.path.exists(path):
            continue
        with open(path, encoding="utf-8") as source:
            headers = re.findall(r'^#include ["<]absl/(.*)\.h[">]', source.read(), re.M)
        for header in headers:
            target = absl_target(header, targets)
            if target not in deps:
                problems.append("{}: {} includes absl/{}.h, but deps lack {}".format(
                    name, os.path.relpath(path, ROOT), header, target))


def labels(rule, attribute):
    return {
        entry.get("value")
        for entry in rule.findall("./list[@name='{}']/label".format(attribute))
    }


def query(expression, output):
    command = [os.path.join(ROOT, "bazelw")] + ["query", "--noshow_progress"]
    return subprocess.run(
        command + ["--output=" + output, expression],
        cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True).stdout


def main():
    rules = xml.etree.ElementTree.fromstring(query("kind(rule, //...)", "xml")).findall("rule")
    targets = set(query("@com_google_absl//absl/...", "label").decode().split())
    problems = []
    for rule in rules:
        name = rule.get("name")
        inputs = {entry.get("name") for entry in rule.findall("rule-input")}
        testonly = rule.find("./boolean[@name='testonly'][@value='true']") is not None
        check_rule(name, inputs, problems, testonly)
        if top(name) != "bazel":
            check_absl(name, labels(rule, "srcs") | labels(rule, "hdrs"),
                       labels(rule, "deps"), targets, problems)
    for problem in problems:
        print(problem)
    print("arrows: {} rules, {} problems".format(len(rules), len(problems)))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
