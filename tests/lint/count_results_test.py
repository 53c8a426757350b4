# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

"""What counts as passed and as failed in a run's build events."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

PASSED = '<testcase classname="A" name="{}" status="run" result="completed"/>'
FAILED = '<testcase classname="A" name="{}" status="run"><failure message="x"/></testcase>'
NOT_RUN = '<testcase classname="A" name="{}" status="notrun"/>'
SKIPPED = '<testcase classname="A" name="{}" status="run" result="skipped"><skipped/></testcase>'


class CountResultsTest(unittest.TestCase):

    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.events = []

    def tearDown(self):
        self._folder.cleanup()

    def add_target(self, label, success=True):
        self.events.append({"id": {"targetCompleted": {"label": label}},
                            "completed": {"success": success} if success else {}})

    def add_test(self, label, status, *cases):
        """A test that was built and ran with the given status and cases."""
        self.add_target(label)
        if cases:
            path = os.path.join(self._folder.name, label.strip("/") + " test.xml")
            with open(path, "w", encoding="utf-8") as file:
                file.write("<testsuites><testsuite>")
                file.write("".join(case.format(i) for i, case in enumerate(cases)))
                file.write("</testsuite></testsuites>")
            output = [{"name": "test.log", "uri": "file:///nothing"},
                      {"name": "test.xml", "uri": "file://" + path.replace(" ", "%20")}]
            self.events.append({"id": {"testResult": {"label": label}},
                                "testResult": {"testActionOutput": output}})
        self.events.append({"id": {"testSummary": {"label": label}},
                            "testSummary": {"overallStatus": status}})

    def count(self, exit_code):
        path = os.path.join(self._folder.name, "events.json")
        with open(path, "w", encoding="utf-8") as file:
            for event in self.events:
                file.write(json.dumps(event) + "\n")
        result = subprocess.run(
            [sys.executable, ".ci/count_results.py", "--exit_code={}".format(exit_code), path],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, check=True)
        return result.stdout.strip()

    def test_cases_of_all_tests_are_added_up(self):
        self.add_test("//a", "PASSED", PASSED, PASSED)
        self.add_test("//b", "PASSED", PASSED, NOT_RUN, SKIPPED)
        self.assertEqual(self.count(0), "3 0")

    def test_failed_cases_count_one_each(self):
        self.add_test("//a", "FAILED", PASSED, FAILED, FAILED)
        self.assertEqual(self.count(3), "1 2")

    def test_a_crash_or_timeout_without_failed_cases_counts_one(self):
        self.add_test("//a", "TIMEOUT")
        self.add_test("//b", "FAILED", PASSED)
        self.assertEqual(self.count(3), "1 2")

    def test_a_target_that_does_not_build_counts_one(self):
        self.add_target("//lib", success=False)
        self.add_target("//a", success=False)
        self.events.append({"id": {"testSummary": {"label": "//a"}},
                            "testSummary": {"overallStatus": "NO_STATUS"}})
        self.add_test("//b", "PASSED", PASSED)
        self.assertEqual(self.count(1), "1 2")

    def test_a_build_that_succeeds_counts_one(self):
        self.add_target("//lib")
        self.assertEqual(self.count(0), "1 0")

    def test_a_run_that_fails_without_a_word_counts_one(self):
        self.assertEqual(self.count(37), "0 1")
        self.add_test("//a", "PASSED", PASSED)
        self.assertEqual(self.count(4), "1 1")

    def test_unreadable_results_count_as_failed(self):
        self.add_test("//a", "PASSED", "<broken")
        self.assertEqual(self.count(0), "0 1")


if __name__ == "__main__":
    unittest.main()
