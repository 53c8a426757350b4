// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/task/metric.h"

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "weft/task/prometheus_text.h"

namespace weft {
namespace {

TEST(CounterMetricTest, Counts) {
  CounterMetric counter("a_total", "A.");
  EXPECT_EQ(counter.value(), 0u);

  counter.Increment();
  counter.Increment(2);

  EXPECT_EQ(counter.value(), 3u);
  EXPECT_EQ(PrometheusText(counter),
            "# HELP a_total A.\n# TYPE a_total counter\na_total 3\n");
}

TEST(CounterMetricTest, LosesNothingBetweenThreads) {
  constexpr int kThreads = 4;
  constexpr int kTimes = 1000;
  CounterMetric counter("a_total", "A.");
  std::vector<std::thread> threads;

  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&counter] {
      for (int n = 0; n < kTimes; ++n) counter.Increment();
    });
  }
  for (std::thread& thread : threads) thread.join();

  EXPECT_EQ(counter.value(), uint64_t{kThreads} * kTimes);
}

TEST(GaugeMetricTest, RisesAndFalls) {
  GaugeMetric gauge("g", "G.");

  gauge.Set(5);
  gauge.Add(-7);

  EXPECT_EQ(gauge.value(), -2);
  EXPECT_EQ(PrometheusText(gauge), "# HELP g G.\n# TYPE g gauge\ng -2\n");
}

TEST(HistogramMetricTest, HasABucketPerPowerOfTwo) {
  HistogramMetric times("t_seconds", "T.");

  times.Record(absl::Milliseconds(1));
  times.Record(absl::InfiniteDuration());

  EXPECT_EQ(times.Read().Count(), 2u);
  const std::string text = PrometheusText(times);
  EXPECT_NE(text.find("t_seconds_bucket{le=\"0.000524288\"} 0\n"),
            std::string::npos);
  EXPECT_NE(text.find("t_seconds_bucket{le=\"0.001048576\"} 1\n"),
            std::string::npos);
  EXPECT_NE(text.find("t_seconds_bucket{le=\"+Inf\"} 2\n"), std::string::npos);
  EXPECT_NE(text.find("t_seconds_count 2\n"), std::string::npos);
}

}  // namespace
}  // namespace weft
