# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

"""Rule repositories that Bazel would otherwise download."""

_RULES_CC = "/usr/share/bazel/rules/cc"

# What Bazel 4.2.3 can load of Debian's rules_cc 0.0.4, and all that cc/defs.bzl
# needs; the rest asks for symbols that came with Bazel 5.
_RULES_CC_LINKS = [
    "BUILD",
    "cc/BUILD",
    "cc/action_names.bzl",
    "cc/cc_toolchain_config_lib.bzl",
    "cc/private/rules_impl/native.bzl",
    "cc/private/toolchain",
    "cc/toolchain_utils.bzl",
]

_STUB = """
def _stub_impl(ctx):
    fail("{} needs Bazel 5".format(ctx.label))

cc_flags_supplier = rule(implementation = _stub_impl)
compiler_flag = rule(implementation = _stub_impl)
"""

def _system_rules_cc_impl(ctx):
    if not ctx.path(_RULES_CC).exists:
        fail("rules_cc is not installed: run ./bazelw, or install the package bazel-rules-cc")
    for link in _RULES_CC_LINKS:
        ctx.symlink(_RULES_CC + "/" + link, link)
    ctx.file("WORKSPACE", "workspace(name = \"rules_cc\")\n")
    ctx.file("cc/private/rules_impl/BUILD")
    ctx.file("cc/private/rules_impl/stub.bzl", _STUB)
    defs = ctx.read(ctx.path(_RULES_CC + "/cc/defs.bzl"))
    for file in ["cc_flags_supplier.bzl", "compiler_flag.bzl"]:
        defs = defs.replace("rules_impl:" + file, "rules_impl:stub.bzl")
    ctx.file("cc/defs.bzl", defs)

system_rules_cc = repository_rule(
    implementation = _system_rules_cc_impl,
    doc = "Debian's rules_cc, cut down to what its Bazel can load.",
    local = True,
)

def _system_coverage_tools_impl(ctx):
    ctx.file("WORKSPACE")
    ctx.file("BUILD", """
package(default_visibility = ["//visibility:public"])

filegroup(name = "coverage_report_generator")

filegroup(name = "lcov_merger")
""")

system_coverage_tools = repository_rule(
    implementation = _system_coverage_tools_impl,
    doc = "Two empty targets that every test rule names; Bazel would download them.",
)
