# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

"""Tests that the code in a document compiles, and that parts of it run."""

load("//bazel:weft.bzl", "weft_cc_test")

def snippets_test(name, document, deps):
    """A test that fails to build if a snippet of `document` does not compile.

    It also runs what `runs:` comments say. Only what these reach is linked: the
    other snippets may call what they only declare.

    Args:
      name: of the test.
      document: a label of a Markdown file; tools/snippets.py says how its code
        blocks are read.
      deps: what the snippets include.
    """
    native.genrule(
        name = name + "_source",
        testonly = True,
        srcs = [document],
        outs = [name + "_snippets.cc"],
        cmd = "python3 $(location //tools:snippets.py) $(SRCS) $@",
        tools = ["//tools:snippets.py"],
    )
    weft_cc_test(
        name = name,
        srcs = [
            "snippets_test.cc",
            name + "_snippets.cc",
        ],
        args = ["$(location %s)" % document],
        copts = [
            "-fdata-sections",
            "-ffunction-sections",
        ],
        data = [document],
        linkopts = ["-Wl,--gc-sections"],
        deps = deps,
    )
