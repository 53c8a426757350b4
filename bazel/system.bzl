# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

"""The repositories weft needs, made from the packages of the system.

Nothing is downloaded: each repository is a folder of links into /usr, under the
labels that a source build of the same library has. A workspace that builds
Abseil and the others from source defines those repositories before it calls
weft_system_repositories(), and its own ones win.
"""

load("//bazel:abseil.bzl", "system_abseil")
load("//bazel:system_library.bzl", "optional_library", "system_library")
load("//bazel:system_rules.bzl", "system_coverage_tools", "system_rules_cc")

def weft_system_repositories():
    """Defines what is not defined yet: rules and libraries."""
    present = native.existing_rules()

    if "rules_cc" not in present:
        system_rules_cc(name = "rules_cc")
    if "rules_java" not in present:
        native.local_repository(
            name = "rules_java",
            path = "/usr/share/bazel/rules/java",
        )
    if "remote_coverage_tools" not in present:
        system_coverage_tools(name = "remote_coverage_tools")

    if "com_google_absl" not in present:
        system_abseil(name = "com_google_absl")
    if "com_github_cameron314_concurrentqueue" not in present:
        system_library(
            name = "com_github_cameron314_concurrentqueue",
            build_file = Label("//bazel:concurrentqueue.BUILD"),
            links = {"include": "/usr/include/concurrentqueue"},
            package = "libconcurrentqueue-dev",
        )
    if "com_google_googletest" not in present:
        system_library(
            name = "com_google_googletest",
            archives = ["gtest", "gmock", "gmock_main"],
            build_file = Label("//bazel:googletest.BUILD"),
            package = "libgmock-dev",
        )
    if "com_github_google_benchmark" not in present:
        system_library(
            name = "com_github_google_benchmark",
            archives = ["benchmark_main"],
            build_file = Label("//bazel:benchmark.BUILD"),
            package = "libbenchmark-dev",
        )
    if "boost_fiber" not in present:
        optional_library(
            name = "boost_fiber",
            archives = ["boost_fiber", "boost_context"],
            build_file = Label("//bazel:boost_fiber.BUILD"),
            headers = ["boost/fiber/all.hpp"],
        )
    if "http_parser" not in present:
        system_library(
            name = "http_parser",
            archives = ["http_parser"],
            build_file = Label("//bazel:http_parser.BUILD"),
            links = {"include/http_parser.h": "/usr/include/http_parser.h"},
            package = "libhttp-parser-dev",
        )
    if "relacy" not in present:
        system_library(
            name = "relacy",
            build_file = Label("//bazel:relacy.BUILD"),
            links = {"include/relacy": "/usr/include/relacy"},
            package = "relacy-dev",
        )
    if "systemtap_sdt" not in present:
        optional_library(
            name = "systemtap_sdt",
            build_file = Label("//bazel:systemtap_sdt.BUILD"),
            headers = ["sys/sdt.h", "sys/sdt-config.h"],
        )
