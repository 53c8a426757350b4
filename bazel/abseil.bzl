# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

"""Abseil as the system has it, under the labels of a source build.

The table below says which label stands for which pkg-config module; what a
module links with, and which modules it needs, is read from the installed .pc
files. Headers come from /usr/include, where every compiler looks anyway.
"""

load("//bazel:system_library.bzl", "library_folder")

_PACKAGE = "libabsl-dev"

# Package below absl/ -> its targets: "t" is the module absl_t, "t:m" absl_m.
_TARGETS = {
    "algorithm": ["algorithm", "container:algorithm_container"],
    "base": [
        "base",
        "config",
        "core_headers",
        "dynamic_annotations",
        "endian",
        "errno_saver",
        "log_severity",
        "prefetch",
    ],
    "cleanup": ["cleanup"],
    "container": [
        "btree",
        "fixed_array",
        "flat_hash_map",
        "flat_hash_set",
        "inlined_vector",
        "node_hash_map",
        "node_hash_set",
    ],
    "debugging": [
        "failure_signal_handler",
        "leak_check",
        "stacktrace",
        "symbolize",
    ],
    "flags": [
        "commandlineflag:flags_commandlineflag",
        "config:flags_config",
        "flag:flags",
        "marshalling:flags_marshalling",
        "parse:flags_parse",
        "reflection:flags_reflection",
        "usage:flags_usage",
    ],
    "functional": ["any_invocable", "bind_front", "function_ref"],
    "hash": ["hash"],
    "memory": ["memory"],
    "meta": ["type_traits"],
    "numeric": ["bits", "int128"],
    "random": [
        "bit_gen_ref:random_bit_gen_ref",
        "distributions:random_distributions",
        "random:random_random",
        "seed_gen_exception:random_seed_gen_exception",
        "seed_sequences:random_seed_sequences",
    ],
    "status": ["status", "statusor"],
    "strings": ["cord", "str_format", "strings"],
    "synchronization": ["synchronization"],
    "time": ["time"],
    "types": [
        "any",
        "bad_any_cast",
        "bad_optional_access",
        "bad_variant_access",
        "compare",
        "optional",
        "span",
        "variant",
    ],
    "utility": ["utility"],
}

_HEADER = """load("@rules_cc//cc:defs.bzl", "cc_import", "cc_library")

package(default_visibility = ["//visibility:public"])
"""

_TARGET = """
cc_library(
    name = "{name}",
    deps = ["//modules:absl_{module}"],
)
"""

_ARCHIVE = """
cc_import(
    name = "lib{archive}",
    static_library = "lib{archive}.a",
)
"""

_MODULE = """
cc_library(
    name = "{name}",
    linkopts = {linkopts},
    deps = {deps},
)
"""

def _parse_module(text):
    """Returns (required modules, archives, other link options) of a .pc file."""
    requires = []
    archives = []
    linkopts = []
    for line in text.split("\n"):
        if line.startswith("Requires:"):
            # "absl_base = 20220623, absl_time = 20220623"
            for requirement in line[len("Requires:"):].split(","):
                if requirement.strip():
                    requires.append(requirement.strip().split(" ")[0])
        elif line.startswith("Libs:"):
            for word in line[len("Libs:"):].split(" "):
                if word.startswith("-labsl_"):
                    archives.append(word[len("-l"):])
                elif word and not word.startswith("-L"):
                    linkopts.append(word)
    return requires, archives, linkopts

def _system_abseil_impl(ctx):
    folder = library_folder(ctx, "pkgconfig/absl_base.pc", _PACKAGE)
    build = _HEADER
    for entry in ctx.path(folder + "/pkgconfig").readdir():
        if not entry.basename.startswith("absl_") or not entry.basename.endswith(".pc"):
            continue
        requires, archives, linkopts = _parse_module(ctx.read(entry))
        for archive in archives:
            ctx.symlink("{}/lib{}.a".format(folder, archive), "modules/lib{}.a".format(archive))
            build += _ARCHIVE.format(archive = archive)
        build += _MODULE.format(
            name = entry.basename[:-len(".pc")],
            deps = [":lib" + archive for archive in archives] +
                   [":" + module for module in requires],
            linkopts = linkopts,
        )
    ctx.file("modules/BUILD", build)

    for package, targets in _TARGETS.items():
        build = _HEADER
        for target in targets:
            name, _, module = target.partition(":")
            build += _TARGET.format(name = name, module = module or name)
        ctx.file("absl/{}/BUILD".format(package), build)
    ctx.file("WORKSPACE", "workspace(name = \"com_google_absl\")\n")

system_abseil = repository_rule(
    implementation = _system_abseil_impl,
    doc = "Abseil of the system: the labels of a source build, linked with its static libraries.",
    local = True,
)
