// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Prints metrics with all that the format has rules for; prometheus_parser_test.py
// reads them back.
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>

#include "absl/time/time.h"
#include "weft/task/metric.h"
#include "weft/task/metrics.h"
#include "weft/task/metrics_registry.h"
#include "weft/task/prometheus_text.h"

namespace weft {
namespace {

class Odd final : public MetricsSource {
 public:
  void Collect(MetricsWriter& writer) const override {
    const std::string help = "Quotes \" and \\ and\nanother line.";
    writer.Gauge("odd_value", help, std::numeric_limits<double>::quiet_NaN(),
                 {{"is", "nan"}});
    writer.Gauge("odd_value", help, HUGE_VAL, {{"is", "inf"}});
    writer.Gauge("odd_value", help, -HUGE_VAL, {{"is", "-inf"}});
    writer.Gauge("odd_value", help, 1e-300, {{"is", "small"}});
    writer.Gauge("odd_value", help, 0.1, {{"is", "a\"b\\c\nd,e={}"}});
    writer.Gauge("odd_value", help, 4, {{"is", ""}});
    writer.Gauge("odd:colons", "", 9007199254740993.0);
  }
};

void Print() {
  MetricsRegistry registry;
  CounterMetric requests("app_requests_total", "Requests.");
  HistogramMetric times("app_request_seconds", "Times.");
  const Odd odd;
  requests.Increment(1'000'000'007);
  times.Record(absl::Milliseconds(1));
  times.Record(absl::Milliseconds(3));
  times.Record(absl::Hours(1));

  const MetricsRegistration all[] = {
      registry.Add(requests, {{"route", "/"}}),
      registry.Add(times, {{"route", "/"}}),
      registry.Add(odd),
      registry.Add(requests, {{"route", "/b"}}),
      registry.Add(times, {{"route", "/b"}}),
  };
  std::fputs(PrometheusText(registry).c_str(), stdout);
}

}  // namespace
}  // namespace weft

int main() { weft::Print(); }
