# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

"""The rules every target of weft is made with.

They set what must be the same everywhere: the include prefix (a header at
timer/sleep.h is included as "weft/timer/sleep.h", here and in every workspace
that depends on us), the language, the warnings, and the check that a target
names every library whose headers it includes.
"""

load("@rules_cc//cc:defs.bzl", "cc_binary", "cc_library", "cc_test")

_HEADER_SUFFIXES = (".h", ".hpp", ".inc")

_COPTS = ["-std=c++20"]

# Only in our own workspace: a newer compiler's new warning must not break the
# build of somebody who depends on us.
_WARNINGS = [
    "-Wall",
    "-Wextra",
    "-Wpedantic",
    "-Wnon-virtual-dtor",
    "-Woverloaded-virtual",
    "-Wvla",
    "-Werror",
]

_CLANG_WARNINGS = [
    "-Wthread-safety",
    "-Wextra-semi",
    "-Wimplicit-fallthrough",
    "-Wshadow-uncaptured-local",
    "-Wunreachable-code-break",
]

_GCC_WARNINGS = [
    # An `if` that governs a macro of GoogleTest, which closes its own `if`.
    "-Wno-dangling-else",
    # Members of a std::optional, although its flag guards them.
    "-Wno-maybe-uninitialized",
]

def _copts(copts):
    if native.repository_name() not in ["@", ""]:
        return _COPTS + copts
    return _COPTS + _WARNINGS + select({
        "//bazel:clang": _CLANG_WARNINGS,
        "//conditions:default": _GCC_WARNINGS,
    }) + copts

def _features(features):
    return ["layering_check"] + features

def _check_srcs(rule, name, srcs):
    for src in srcs:
        if src.endswith(_HEADER_SUFFIXES):
            fail("{} //{}:{} has the header {} in srcs: give it a target of its own, in hdrs".format(
                rule,
                native.package_name(),
                name,
                src,
            ))

def weft_cc_library(name, srcs = [], hdrs = [], copts = [], features = [], **kwargs):
    """A library whose headers are included as "weft/<package>/<file>.h".

    Args:
      name: the stem of its header.
      srcs: sources; never a header.
      hdrs: headers, below this package.
      copts: further compiler options.
      features: further toolchain features.
      **kwargs: as for cc_library.
    """
    _check_srcs("weft_cc_library", name, srcs)
    cc_library(
        name = name,
        srcs = srcs,
        hdrs = hdrs,
        copts = _copts(copts),
        features = _features(features),
        include_prefix = "weft/" + native.package_name(),
        strip_include_prefix = "/" + native.package_name(),
        **kwargs
    )

def _tags(tags):
    # A test that looks at the clock runs while no other one does.
    return tags + ["exclusive"] if "timing" in tags else tags

def weft_cc_test(
        name,
        srcs = [],
        copts = [],
        features = [],
        deps = [],
        size = "small",
        tags = [],
        **kwargs):
    """A GoogleTest test; GoogleTest and its main function are added here.

    Args:
      name: the stem of its source.
      srcs: sources; never a header.
      copts: further compiler options.
      features: further toolchain features.
      deps: what the source includes, without GoogleTest.
      size: as for cc_test; a small test ends within a minute.
      tags: as for cc_test; docs/testing.md says which there are.
      **kwargs: as for cc_test.
    """
    _check_srcs("weft_cc_test", name, srcs)
    cc_test(
        name = name,
        size = size,
        srcs = srcs,
        copts = _copts(copts),
        features = _features(features),
        linkstatic = True,
        tags = _tags(tags),
        deps = deps + [
            "//bazel:sanitizer_defaults",
            "@com_google_googletest//:gtest_main",
        ],
        **kwargs
    )

def weft_cc_model_test(name, copts = [], deps = [], tags = [], **kwargs):
    """A GoogleTest test that explores interleavings of a model with Relacy.

    Include "relacy/relacy.hpp" after every other header, and `#undef new` and
    `#undef delete` after it. What a model allocates it must free itself.

    Args:
      name: the stem of its source.
      copts: further compiler options.
      deps: what the source includes, without GoogleTest and Relacy.
      tags: as for cc_test; Relacy runs neither under a sanitizer nor without
        exceptions and RTTI, which is added here.
      **kwargs: as for weft_cc_test.
    """
    weft_cc_test(
        name = name,
        # The checked longjmp takes Relacy's stack switches for an attack, and its
        # heap replaces only the operators that are not told a size.
        copts = ["-U_FORTIFY_SOURCE", "-fno-sized-deallocation"] + copts,
        tags = tags + ["needs_exceptions", "plain_only"],
        deps = deps + ["@relacy"],
        **kwargs
    )

def weft_cc_fuzz_test(
        name,
        srcs = [],
        corpus = [],
        copts = [],
        features = [],
        deps = [],
        size = "small",
        tags = [],
        **kwargs):
    """A libFuzzer target, and the test that it accepts every file of its corpus.

    As a test it runs the corpus. To fuzz, growing the corpus in the repository:

      ./bazelw run --config=fuzz //tests/x:name -- $PWD/tests/x/corpus

    Args:
      name: the stem of its source.
      srcs: sources; one defines LLVMFuzzerTestOneInput.
      corpus: files, each one input.
      copts: further compiler options.
      features: further toolchain features.
      deps: what the source includes.
      size: as for cc_test.
      tags: as for cc_test.
      **kwargs: as for cc_test.
    """
    _check_srcs("weft_cc_fuzz_test", name, srcs)
    cc_test(
        name = name,
        size = size,
        srcs = srcs,
        args = select({
            "//bazel:fuzz": [],
            "//conditions:default": ["$(location {})".format(file) for file in corpus],
        }),
        copts = _copts(copts),
        data = corpus,
        features = _features(features),
        linkopts = select({
            "//bazel:fuzz": ["-fsanitize=fuzzer"],
            "//conditions:default": [],
        }),
        linkstatic = True,
        tags = _tags(tags) + ["fuzz"],
        deps = deps + ["//bazel:sanitizer_defaults"] + select({
            "//bazel:fuzz": [],
            "//conditions:default": ["//bazel:fuzz_replay"],
        }),
        **kwargs
    )

def weft_cc_binary(name, srcs = [], copts = [], features = [], deps = [], **kwargs):
    """A program: an example, a benchmark, a helper of a test.

    Args:
      name: its name.
      srcs: sources; never a header.
      copts: further compiler options.
      features: further toolchain features.
      deps: what the source includes.
      **kwargs: as for cc_binary.
    """
    _check_srcs("weft_cc_binary", name, srcs)
    cc_binary(
        name = name,
        srcs = srcs,
        copts = _copts(copts),
        features = _features(features),
        deps = deps + ["//bazel:sanitizer_defaults"],
        **kwargs
    )

def weft_py_test(name, src, data = [], size = "small", tags = [], **kwargs):
    """A Python unittest. (py_test needs a `python` that Debian does not have.)

    Args:
      name: the stem of its source.
      src: the one source.
      data: what it imports or reads.
      size: as for sh_test.
      tags: as for sh_test; `python` is added, for configurations that only
        change how C++ is compiled.
      **kwargs: as for sh_test.
    """
    native.sh_test(
        name = name,
        size = size,
        srcs = ["//bazel:python_test.py"],
        args = ["$(location {})".format(src)],
        data = data + [src],
        tags = tags + ["python"],
        **kwargs
    )
