# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

"""Which package may use which, and which target an Abseil header belongs to."""

import sys
import unittest

sys.path.insert(0, "tools")
import check_arrows  # noqa: E402


def allowed(user, used, testonly=False):
    problems = []
    check_arrows.check_rule(user, {used}, problems, testonly)
    return not problems


class ArrowTest(unittest.TestCase):

    def test_lower_packages_may_be_used(self):
        for user, used in (
                ("//task:task", "//task:waker"),
                ("//sync:event", "//task:task"),
                ("//timer:sleep", "//select:select"),
                ("//executor:executor", "//timer:wheel"),
                ("//io:reactor", "//timer:wheel"),
                ("//net:tcp_stream", "//io:reactor"),
                ("//runtime:runtime", "//executor:executor"),
                ("//compat/asio:asio", "//net:tcp_stream"),
                ("//:weft", "//runtime:runtime"),
                ("//task:task", "//bazel:sanitizer_defaults"),
                ("//task:task", "@com_google_absl//absl/status:status"),
        ):
            self.assertTrue(allowed(user, used), (user, used))

    def test_higher_packages_may_not_be_used(self):
        for user, used in (
                ("//task:task", "//sync:event"),
                ("//sync:event", "//stream:next"),
                ("//select:select", "//timer:sleep"),
                ("//timer:sleep", "//executor:executor"),
                ("//io:reactor", "//executor:blocking_pool"),
                ("//executor:executor", "//fiber:fiber"),
                ("//net:tcp_stream", "//fs:file"),
        ):
            self.assertFalse(allowed(user, used), (user, used))

    def test_simulations_may_use_executor(self):
        for user, used, testonly, right in (
                ("//net:simulated_network", "//executor:deterministic_executor", True, True),
                ("//net:tcp_stream", "//executor:deterministic_executor", False, False),
                ("//io:source", "//executor:deterministic_executor", True, False),
        ):
            self.assertEqual(allowed(user, used, testonly), right, (user, used, testonly))

    def test_nothing_uses_runtime_or_compat(self):
        for used in ("//runtime:runtime", "//compat/asio:asio", "//:weft"):
            for user in sorted(check_arrows.ALLOWED):
                if user and not used.startswith("//" + user):
                    self.assertFalse(allowed("//{}:x".format(user), used), (user, used))
            for user in ("//tests/net:x", "//examples:x", "//bench:x"):
                self.assertTrue(allowed(user, used), (user, used))

    def test_an_unknown_package_is_reported(self):
        self.assertFalse(allowed("//misc:x", "//task:task"))


class AbseilTest(unittest.TestCase):

    def test_headers_belong_to_targets(self):
        targets = {"@com_google_absl//absl/" + name for name in (
            "status:status", "status:statusor", "time:time", "types:span", "base:core_headers",
            "functional:any_invocable", "strings:strings", "strings:str_format")}
        for header, target in (
                ("status/statusor", "status:statusor"),
                ("time/clock", "time:time"),
                ("types/span", "types:span"),
                ("base/thread_annotations", "base:core_headers"),
                ("functional/any_invocable", "functional:any_invocable"),
                ("strings/str_cat", "strings:strings"),
                ("strings/str_format", "strings:str_format"),
        ):
            self.assertEqual(check_arrows.absl_target(header, targets),
                             "@com_google_absl//absl/" + target)


if __name__ == "__main__":
    unittest.main()
