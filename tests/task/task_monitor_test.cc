// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/task/task_monitor.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "weft/task/metrics_registry.h"
#include "weft/task/prometheus_text.h"
#include "weft/tests/kit/metric_samples.h"

namespace weft {
namespace {

using task_internal::MonitorCore;

constexpr int64_t kMicrosecond = 1'000;

TEST(TaskMonitorTest, HasSeenNothingAtFirst) {
  TaskMonitor monitor;
  const TaskMetrics totals = monitor.Totals();
  EXPECT_EQ(totals.created, 0u);
  EXPECT_EQ(totals.finished, 0u);
  EXPECT_EQ(totals.dropped, 0u);
  EXPECT_EQ(totals.polls.Count(), 0u);
  EXPECT_EQ(totals.max_idle, absl::ZeroDuration());
}

TEST(TaskMonitorTest, TellsTheEndsApart) {
  TaskMonitor monitor;
  MonitorCore& core = *monitor.core();
  for (int i = 0; i < 7; ++i) core.AddCreated();
  core.AddEnd(MonitorCore::End::kReady);
  core.AddEnd(MonitorCore::End::kReady);
  core.AddEnd(MonitorCore::End::kThrew);
  core.AddEnd(MonitorCore::End::kDropped);
  const TaskMetrics totals = monitor.Totals();
  EXPECT_EQ(totals.created, 7u);
  EXPECT_EQ(totals.finished, 3u);
  EXPECT_EQ(totals.threw, 1u);
  EXPECT_EQ(totals.dropped, 1u);
}

TEST(TaskMonitorTest, APollIsSlowAndADelayLongFromFiftyMicrosecondsOn) {
  TaskMonitor monitor;
  MonitorCore& core = *monitor.core();
  core.AddPoll(50 * kMicrosecond - 1);
  core.AddScheduled(50 * kMicrosecond - 1);
  EXPECT_EQ(monitor.Totals().slow_polls.count, 0u);
  EXPECT_EQ(monitor.Totals().long_delays.count, 0u);

  core.AddPoll(50 * kMicrosecond);
  core.AddScheduled(60 * kMicrosecond);

  const TaskMetrics totals = monitor.Totals();
  EXPECT_EQ(totals.slow_polls.count, 1u);
  EXPECT_EQ(totals.slow_polls.total, absl::Microseconds(50));
  EXPECT_EQ(totals.long_delays.count, 1u);
  EXPECT_EQ(totals.long_delays.total, absl::Microseconds(60));
  EXPECT_EQ(totals.polls.Count(), 2u);
  EXPECT_EQ(totals.scheduled.Count(), 2u);
}

TEST(TaskMonitorTest, TheThresholdsMayBeChosen) {
  TaskMonitor monitor({.slow_poll = absl::Milliseconds(1),
                       .long_delay = absl::InfiniteDuration()});
  monitor.core()->AddPoll(999 * kMicrosecond);
  monitor.core()->AddPoll(1'000 * kMicrosecond);
  monitor.core()->AddScheduled(3'600'000 * int64_t{1'000'000});
  EXPECT_EQ(monitor.Totals().slow_polls.count, 1u);
  EXPECT_EQ(monitor.Totals().long_delays.count, 0u);
}

TEST(TaskMonitorTest, AnIntervalIsWhatCameSinceTheLast) {
  TaskMonitor monitor;
  MonitorCore& core = *monitor.core();
  core.AddCreated();
  core.AddPoll(10);
  core.AddIdle(100);
  EXPECT_EQ(monitor.TakeInterval().polls.Count(), 1u);

  core.AddCreated();
  core.AddFirstPollDelay(5);
  core.AddPoll(70 * kMicrosecond);
  core.AddIdle(40);
  core.AddScheduled(80 * kMicrosecond);
  core.AddEnd(MonitorCore::End::kReady);

  const TaskMetrics interval = monitor.TakeInterval();
  EXPECT_EQ(interval.created, 1u);
  EXPECT_EQ(interval.finished, 1u);
  EXPECT_EQ(interval.first_poll_delay.sum, 5e-9);
  EXPECT_EQ(interval.polls.Count(), 1u);
  EXPECT_EQ(interval.polls.sum, 70e-6);
  EXPECT_EQ(interval.slow_polls.count, 1u);
  EXPECT_EQ(interval.idle.sum, 40e-9);
  EXPECT_EQ(interval.max_idle, absl::Nanoseconds(40));
  EXPECT_EQ(interval.scheduled.sum, 80e-6);
  EXPECT_EQ(interval.long_delays.total, absl::Microseconds(80));
  EXPECT_EQ(monitor.Totals().max_idle, absl::Nanoseconds(100));
  EXPECT_EQ(monitor.TakeInterval().created, 0u);
  EXPECT_EQ(monitor.TakeInterval().max_idle, absl::ZeroDuration());
}

TEST(TaskMonitorTest, AnIntervalIsExactAfterHours) {
  constexpr int64_t kHour = 3'600'000'000 * kMicrosecond;
  TaskMonitor monitor;
  monitor.core()->AddIdle(100 * kHour + 7);
  EXPECT_EQ(monitor.TakeInterval().idle.sum, 360'000.000000007);

  monitor.core()->AddIdle(3);

  EXPECT_EQ(monitor.TakeInterval().idle.sum, 3e-9);
}

TEST(TaskMonitorTest, ACopyIsTheSameMonitor) {
  TaskMonitor monitor;
  TaskMonitor copy = monitor;
  monitor.core()->AddCreated();
  EXPECT_EQ(copy.TakeInterval().created, 1u);
  EXPECT_EQ(monitor.TakeInterval().created, 0u);
}

TEST(TaskMonitorTest, ATimeBelowZeroCountsAsZero) {
  TaskMonitor monitor;
  monitor.core()->AddFirstPollDelay(-1);
  monitor.core()->AddPoll(-1);
  monitor.core()->AddIdle(-1);
  monitor.core()->AddScheduled(-1);
  const TaskMetrics totals = monitor.Totals();
  EXPECT_EQ(totals.first_poll_delay.buckets[0].count, 1u);
  EXPECT_EQ(totals.polls.buckets[0].count, 1u);
  EXPECT_EQ(totals.idle.buckets[0].count, 1u);
  EXPECT_EQ(totals.scheduled.buckets[0].count, 1u);
  EXPECT_EQ(totals.first_poll_delay.sum, 0);
  EXPECT_EQ(totals.polls.sum, 0);
  EXPECT_EQ(totals.idle.sum, 0);
  EXPECT_EQ(totals.scheduled.sum, 0);
}

// The metrics of a monitor that has seen some of everything.
class TaskMonitorMetricsTest : public testing::Test {
 protected:
  TaskMonitorMetricsTest() {
    MonitorCore& core = *monitor_.core();
    for (int i = 0; i < 6; ++i) core.AddCreated();
    core.AddEnd(MonitorCore::End::kReady);
    core.AddEnd(MonitorCore::End::kThrew);
    for (int i = 0; i < 3; ++i) core.AddEnd(MonitorCore::End::kDropped);
    core.AddFirstPollDelay(5 * kMicrosecond);
    core.AddPoll(1 * kMicrosecond);
    core.AddPoll(70 * kMicrosecond);
    core.AddIdle(2'000 * kMicrosecond);
    core.AddIdle(500 * kMicrosecond);
    core.AddScheduled(80 * kMicrosecond);
    core.AddScheduled(90 * kMicrosecond);
  }

  TaskMonitor monitor_;
};

TEST_F(TaskMonitorMetricsTest, AreTheTotalsInSeconds) {
  const std::map<std::string, double> expected = {
      {"weft_instrumented_futures_created_total", 6},
      {"weft_instrumented_futures_finished_total", 2},
      {"weft_instrumented_futures_threw_total", 1},
      {"weft_instrumented_futures_dropped_total", 3},
      {"weft_instrumented_first_poll_delay_seconds", 1},
      {"weft_instrumented_poll_seconds", 2},
      {"weft_instrumented_slow_polls_total", 1},
      {"weft_instrumented_slow_poll_seconds_total", 70e-6},
      {"weft_instrumented_idle_seconds", 2},
      {"weft_instrumented_max_idle_seconds", 2e-3},
      {"weft_instrumented_scheduled_seconds", 2},
      {"weft_instrumented_long_delays_total", 2},
      {"weft_instrumented_long_delay_seconds_total", 170e-6},
  };
  EXPECT_EQ(SamplesOf(monitor_), expected);
}

TEST_F(TaskMonitorMetricsTest, AnIntervalTakesNothingFromThem) {
  const auto before = SamplesOf(monitor_);

  EXPECT_EQ(monitor_.TakeInterval().created, 6u);

  EXPECT_EQ(SamplesOf(monitor_), before);
}

TEST_F(TaskMonitorMetricsTest, MonitorsInARegistryAreToldApartByALabel) {
  TaskMonitor other;
  other.core()->AddCreated();
  MetricsRegistry registry;
  const auto of_pages = registry.Add(monitor_, {{"work", "page"}});
  const auto of_others = registry.Add(other, {{"work", "other"}});

  auto samples = SamplesOf(registry);

  const std::string created = "weft_instrumented_futures_created_total";
  EXPECT_EQ(samples[created + ",work=page"], 6);
  EXPECT_EQ(samples[created + ",work=other"], 1);
  EXPECT_EQ(samples.size(), 2 * SamplesOf(other).size());
}

TEST_F(TaskMonitorMetricsTest, PrometheusTakesThem) {
  MetricsRegistry registry;
  const auto registration = registry.Add(monitor_, {{"work", "page"}});

  const std::string text = PrometheusText(registry);

  for (const char* line :
       {"# TYPE weft_instrumented_futures_created_total counter",
        "weft_instrumented_futures_created_total{work=\"page\"} 6",
        "# TYPE weft_instrumented_poll_seconds histogram",
        "weft_instrumented_poll_seconds_bucket{work=\"page\",le=\"1.024e-06\"} "
        "1",
        "weft_instrumented_poll_seconds_bucket{work=\"page\",le=\"+Inf\"} 2",
        "weft_instrumented_poll_seconds_sum{work=\"page\"} 7.1e-05",
        "weft_instrumented_poll_seconds_count{work=\"page\"} 2",
        "# TYPE weft_instrumented_max_idle_seconds gauge",
        "weft_instrumented_max_idle_seconds{work=\"page\"} 0.002"}) {
    EXPECT_NE(text.find(std::string(line) + "\n"), std::string::npos)
        << line << " is not in\n"
        << text;
  }
}

TEST(TaskMonitorTest, IntervalsOfBusyThreadsAddUpToTheTotals) {
  constexpr uint64_t kThreads = 3;
  constexpr uint64_t kPolls = 5'000;
  TaskMonitor monitor;
  std::vector<std::thread> threads;
  for (uint64_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([monitor] {
      for (uint64_t j = 0; j < kPolls; ++j) {
        monitor.core()->AddPoll(2);
        monitor.core()->AddIdle(static_cast<int64_t>(j));
      }
    });
  }
  uint64_t polls = 0;
  absl::Duration max_idle;
  for (int i = 0; i < 100; ++i) {
    const TaskMetrics interval = monitor.TakeInterval();
    polls += interval.polls.Count();
    max_idle = std::max(max_idle, interval.max_idle);
  }
  for (std::thread& thread : threads) thread.join();
  const TaskMetrics rest = monitor.TakeInterval();
  EXPECT_EQ(polls + rest.polls.Count(), kThreads * kPolls);
  EXPECT_EQ(std::max(max_idle, rest.max_idle), absl::Nanoseconds(kPolls - 1));
}

}  // namespace
}  // namespace weft
