# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

"""Tests that the code in a document compiles."""

load("//bazel:weft.bzl", "weft_cc_library", "weft_cc_test")

def snippets_test(name, document, deps):
    """A test that fails to build if a snippet of `document` does not compile.

    The snippets are not linked: they may call what they only declare.

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
    weft_cc_library(
        name = name + "_snippets",
        testonly = True,
        srcs = [name + "_snippets.cc"],
        deps = deps,
    )
    weft_cc_test(
        name = name,
        srcs = ["snippets_test.cc"],
        args = ["$(location %s)" % document],
        # The library is built, but nothing of it is linked.
        data = [
            document,
            ":" + name + "_snippets",
        ],
    )
