# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

"""The parser of Prometheus' own client library reads what PrometheusText wrote."""

import math
import subprocess
import unittest

from prometheus_client.parser import text_string_to_metric_families

PROGRAM = "tests/task/prometheus_sample"


class PrometheusParserTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        text = subprocess.run([PROGRAM], check=True, capture_output=True, text=True).stdout
        families = list(text_string_to_metric_families(text))
        cls.names = [family.name for family in families]
        cls.families = {family.name: family for family in families}

    def samples(self, family, name):
        return [(dict(s.labels), s.value) for s in self.families[family].samples
                if s.name == name]

    def test_each_family_comes_once(self):
        self.assertEqual(self.names,
                         ["app_requests", "app_request_seconds", "odd_value", "odd:colons"])

    def test_kinds_and_help(self):
        self.assertEqual([self.families[name].type for name in self.names],
                         ["counter", "histogram", "gauge", "gauge"])
        self.assertEqual(self.families["app_requests"].documentation, "Requests.")
        self.assertEqual(self.families["odd_value"].documentation,
                         'Quotes " and \\ and\nanother line.')

    def test_a_family_has_the_samples_of_all_sources(self):
        self.assertEqual(self.samples("app_requests", "app_requests_total"),
                         [({"route": "/"}, 1000000007), ({"route": "/b"}, 1000000007)])

    def test_values(self):
        values = {labels.get("is", ""): value for labels, value in self.samples("odd_value", "odd_value")}
        self.assertEqual(len(values), 6)
        self.assertTrue(math.isnan(values["nan"]))
        self.assertEqual(values["inf"], math.inf)
        self.assertEqual(values["-inf"], -math.inf)
        self.assertEqual(values["small"], 1e-300)
        self.assertEqual(values['a"b\\c\nd,e={}'], 0.1)
        self.assertEqual(values[""], 4)
        self.assertEqual(self.samples("odd:colons", "odd:colons"), [({}, 9007199254740992.0)])

    def test_histograms(self):
        for route in ("/", "/b"):
            buckets = [(labels["le"], value) for labels, value
                       in self.samples("app_request_seconds", "app_request_seconds_bucket")
                       if labels["route"] == route]
            bounds = [float(bound) for bound, _ in buckets]
            self.assertEqual(bounds, sorted(bounds))
            self.assertEqual(buckets[-1], ("+Inf", 3))
            counts = [value for _, value in buckets]
            self.assertEqual(counts, sorted(counts))
            self.assertEqual(dict(buckets)["0.001048576"], 1)
            self.assertEqual(dict(buckets)["0.004194304"], 2)
            self.assertIn(({"route": route}, 3), self.samples(
                "app_request_seconds", "app_request_seconds_count"))
            self.assertIn(({"route": route}, 3600.004), self.samples(
                "app_request_seconds", "app_request_seconds_sum"))
