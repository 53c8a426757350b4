#!/usr/bin/env python3
# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

"""Runs the unittest cases of one file; the main program of weft_py_test.

  python_test.py FILE

Writes the cases to the file that Bazel names in XML_OUTPUT_FILE.
"""

import importlib.util
import os
import sys
import time
import unittest
import xml.etree.ElementTree as ET


class _Result(unittest.TextTestResult):
    """Keeps an XML element for each case."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.suite = ET.Element("testsuite")
        self._started = 0.0

    def startTest(self, test):
        super().startTest(test)
        self._started = time.monotonic()
        cls, name = test.id().split(".")[-2:]
        ET.SubElement(self.suite, "testcase", classname=cls, name=name, status="run")

    def stopTest(self, test):
        self.suite[-1].set("time", "{:.3f}".format(time.monotonic() - self._started))
        super().stopTest(test)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        ET.SubElement(self.suite[-1], "failure", message=str(err[1]))

    def addError(self, test, err):
        super().addError(test, err)
        ET.SubElement(self.suite[-1], "error", message=str(err[1]))

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        ET.SubElement(self.suite[-1], "skipped", message=reason)


def main():
    sys.dont_write_bytecode = True
    spec = importlib.util.spec_from_file_location("test", sys.argv[1])
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    cases = unittest.defaultTestLoader.loadTestsFromModule(module)
    result = unittest.TextTestRunner(resultclass=_Result, verbosity=2).run(cases)

    output = os.environ.get("XML_OUTPUT_FILE")
    if output:
        result.suite.set("name", os.path.basename(sys.argv[1]))
        suites = ET.Element("testsuites")
        suites.append(result.suite)
        ET.ElementTree(suites).write(output, encoding="utf-8", xml_declaration=True)
    return 0 if result.wasSuccessful() and result.testsRun else 1


if __name__ == "__main__":
    sys.exit(main())
