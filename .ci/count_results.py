# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

"""Counts what one Bazel run passed and failed, from its build events.

  count_results.py --exit_code=N EVENTS.json

prints "PASSED FAILED". A test counts its cases, read from the test.xml files
the run names (below bazel-testlogs); a target that did not build, timed out or
failed without a failed case counts as one failed. What failed is listed on
standard error. A run that failed without naming anything counts as one failed;
a build that named no test and succeeded counts as one passed.
"""

import argparse
import json
import sys
import urllib.parse
import xml.etree.ElementTree


def count_cases(path):
    """Returns (passed, names of failed cases) of one test.xml."""
    passed = 0
    failed = []
    for case in xml.etree.ElementTree.parse(path).iter("testcase"):
        if case.get("status") == "notrun":
            continue
        if case.find("failure") is not None or case.find("error") is not None:
            failed.append("{}.{}".format(case.get("classname"), case.get("name")))
        elif case.find("skipped") is None and case.get("result") != "skipped":
            passed += 1
    return passed, failed


class Results:
    """What one run reported, target by target."""

    def __init__(self):
        self.unbuilt = set()
        self.xml_files = {}  # label -> paths
        self.status = {}  # label of a test -> its overall status

    def read(self, path):
        with open(path, encoding="utf-8") as events:
            for line in events:
                self._read_event(json.loads(line))

    def _read_event(self, event):
        kind, key = next(iter(event["id"].items()))
        label = key.get("label") if isinstance(key, dict) else None
        if kind == "targetCompleted":
            if not event.get("completed", {}).get("success"):
                self.unbuilt.add(label)
        elif kind == "testResult":
            for output in event.get("testResult", {}).get("testActionOutput", []):
                if output["name"] == "test.xml":
                    url = urllib.parse.urlparse(output["uri"])
                    self.xml_files.setdefault(label, []).append(
                        urllib.parse.unquote(url.path))
        elif kind == "testSummary":
            status = event.get("testSummary", {}).get("overallStatus")
            self.status[label] = status or "NO_STATUS"

    def count(self):
        """Returns (passed, descriptions of what failed)."""
        passed = 0
        failed = ["{}: does not build".format(label) for label in self.unbuilt]
        for label, status in self.status.items():
            if label in self.unbuilt:
                continue
            cases_failed = []
            for path in self.xml_files.get(label, []):
                try:
                    more, bad = count_cases(path)
                except (OSError, xml.etree.ElementTree.ParseError) as error:
                    more, bad = 0, ["{}: {}".format(path, error)]
                passed += more
                cases_failed += bad
            if status != "PASSED" and not cases_failed:
                cases_failed = [status]
            failed += ["{}: {}".format(label, name) for name in cases_failed]
        return passed, failed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--exit_code", type=int, required=True)
    parser.add_argument("events")
    args = parser.parse_args()

    results = Results()
    try:
        results.read(args.events)
        passed, failed = results.count()
    except (OSError, ValueError) as error:
        passed, failed = 0, ["no results: {}".format(error)]
    if args.exit_code != 0 and not failed:
        failed = ["Bazel exited with {}".format(args.exit_code)]
    if not failed and not results.status:
        passed = 1
    for line in sorted(failed):
        print("FAILED: " + line, file=sys.stderr)
    print(passed, len(failed))


if __name__ == "__main__":
    main()
