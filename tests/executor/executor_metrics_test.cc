// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// weft-lint: allow-file(R22): the tests' tasks end before what they refer to.

#include "weft/executor/executor_metrics.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "weft/executor/executor.h"
#include "weft/executor/executor_stats.h"
#include "weft/executor/local_executor.h"
#include "weft/task/instant.h"
#include "weft/task/join_handle.h"
#include "weft/task/metrics.h"
#include "weft/task/prometheus_text.h"
#include "weft/task/ready.h"
#include "weft/task/spawner.h"
#include "weft/task/task.h"
#include "weft/task/yield_now.h"
#include "weft/tests/executor/runners.h"
#include "weft/tests/kit/metric_samples.h"

namespace weft {
namespace {

using executor_testing::Gate;
using executor_testing::Runners;
using executor_testing::SpinUntil;

Task<> Yield(int times) {
  for (int i = 0; i < times; ++i) co_await YieldNow();
}

// Spawns `children` that yield `times` each, one by one, and awaits them.
Task<> SpawnYields(int children, int times) {
  std::vector<JoinHandle<>> handles;
  for (int i = 0; i < children; ++i) handles.push_back(Spawn(Yield(times)));
  for (JoinHandle<>& handle : handles) co_await handle;
}

// Computes for so long.
Task<> Compute(absl::Duration time) {
  const Instant end = Instant::Now() + time;
  while (Instant::Now() < end) {
  }
  co_return;
}

Task<> ComputeAndYield(int times, absl::Duration time) {
  for (int i = 0; i < times; ++i) {
    co_await Compute(time);
    co_await YieldNow();
  }
}

uint64_t SumOf(const ExecutorStats& stats, uint64_t RunnerStats::* field) {
  uint64_t sum = 0;
  for (const RunnerStats& runner : stats.per_runner) sum += runner.*field;
  return sum;
}

TEST(ExecutorMetricsTest, OfANewExecutorAreZero) {
  const Executor executor;
  const ExecutorMetrics metrics(executor);

  const std::map<std::string, double> samples = SamplesOf(metrics);
  EXPECT_GT(samples.size(), 5u);
  for (const auto& [name, value] : samples) EXPECT_EQ(value, 0) << name;
}

TEST(ExecutorMetricsTest, OneRunnersCountsAreExact) {
  Executor executor;

  // One task comes from outside; it spawns 3, and each yields 5 times.
  executor.Run(executor.Spawn(SpawnYields(3, 5)));

  const ExecutorStats stats = executor.Stats();
  ASSERT_GE(stats.per_runner.size(), 1u);
  const RunnerStats& runner = stats.per_runner[0];
  EXPECT_EQ(stats.tasks_injected, 1u);
  // The parent is woken by each child that is not finished yet when it is awaited.
  EXPECT_EQ(runner.polls, 1 + runner.local_schedules);
  EXPECT_GE(runner.local_schedules, 3u + 3 * 5 + 1);
  EXPECT_LE(runner.local_schedules, 3u + 3 * 5 + 3);
  EXPECT_EQ(stats.polls, runner.polls);
  EXPECT_EQ(stats.tick_polls, 0u);
  EXPECT_EQ(runner.steals, 0u);
  EXPECT_EQ(runner.overflows, 0u);
  EXPECT_EQ(runner.parks, 0u);
  EXPECT_EQ(runner.queue_depth, 0u);
  EXPECT_FALSE(runner.parked);
}

TEST(ExecutorMetricsTest, TicksAreCountedByThemselves) {
  Executor executor;
  executor.Spawn(Yield(2)).Detach();
  const JoinHandle<> forever = executor.Spawn(Pending());
  EXPECT_EQ(executor.Stats().injector_depth, 2u);

  while (executor.TryTick()) {
  }

  const ExecutorStats stats = executor.Stats();
  EXPECT_EQ(stats.tick_polls, 4u);
  EXPECT_EQ(stats.polls, 4u);
  EXPECT_EQ(stats.tasks_injected, 4u);
  EXPECT_EQ(stats.injector_depth, 0u);
  EXPECT_EQ(stats.suspended, 1u);
}

TEST(ExecutorMetricsTest, BatchesAndOverflowsAreCounted) {
  Executor executor;

  executor.Run(executor.Spawn([&executor]() -> Task<> {
    std::vector<Task<>> tasks;
    for (int i = 0; i < 1000; ++i) tasks.push_back(Yield(0));
    std::vector<JoinHandle<>> handles = executor.SpawnMany(std::move(tasks));
    for (JoinHandle<>& handle : handles) co_await handle;
  }));

  const ExecutorStats stats = executor.Stats();
  EXPECT_EQ(stats.tasks_injected, 1u);
  EXPECT_EQ(stats.polls,
            stats.tasks_injected + SumOf(stats, &RunnerStats::local_schedules));
  EXPECT_GE(stats.per_runner[0].local_schedules, 1000u);
  EXPECT_GE(stats.overflows, 1u);
}

TEST(ExecutorMetricsTest, QueueDepthsAreThoseOfTheMoment) {
  Executor executor;
  uint64_t depth = 0;

  executor.Run(executor.Spawn([&]() -> Task<> {
    std::vector<JoinHandle<>> handles;
    for (int i = 0; i < 3; ++i) handles.push_back(Spawn(Yield(0)));
    depth = executor.Stats().per_runner[0].queue_depth;
    for (JoinHandle<>& handle : handles) co_await handle;
  }));

  EXPECT_EQ(depth, 3u);
  EXPECT_EQ(executor.Stats().per_runner[0].queue_depth, 0u);
}

TEST(ExecutorMetricsTest, ParksWakesAndTheTimeAtWork) {
  constexpr absl::Duration kLong = absl::Milliseconds(11);
  const Instant begin = Instant::Now();
  Executor executor;
  const Runners runners(executor, 1);
  const auto runner = [&executor] { return executor.Stats().per_runner[0]; };
  SpinUntil(
      [&] { return executor.Stats().runners == 1 && runner().parks == 1; });
  EXPECT_TRUE(runner().parked);
  EXPECT_EQ(runner().wakes, 0u);
  EXPECT_EQ(runner().slow_polls, 0u);

  executor.Spawn(Compute(kLong)).Detach();
  SpinUntil([&] { return runner().parks == 2; });

  EXPECT_EQ(runner().wakes, 1u);
  EXPECT_EQ(executor.Stats().runners_woken, 1u);
  EXPECT_EQ(runner().polls, 1u);
  EXPECT_EQ(runner().slow_polls, 1u);
  const absl::Duration busy = runner().busy_time;
  EXPECT_GE(busy, kLong);
  EXPECT_LE(busy, Instant::Now() - begin);
  EXPECT_EQ(runner().busy_time, busy);  // since it sleeps
}

TEST(ExecutorMetricsTest, NothingIsLostBetweenRunners) {
  constexpr int kTasks = 200;
  constexpr int kYields = 50;
  Executor executor;
  executor.EnableHistograms();
  const ExecutorMetrics metrics(executor);
  std::atomic<bool> stop{false};
  std::thread reader([&] {
    std::vector<RunnerStats> last;
    while (!stop.load()) {
      ExecutorStats now = executor.Stats();
      for (size_t i = 0; i < last.size(); ++i) {
        EXPECT_GE(now.per_runner[i].polls, last[i].polls);
        EXPECT_GE(now.per_runner[i].busy_time, last[i].busy_time);
      }
      last = std::move(now.per_runner);
      EXPECT_NE(PrometheusText(metrics), "");
    }
  });

  {
    const Runners runners(executor, 3);
    std::vector<std::thread> outside;
    for (int i = 0; i < 2; ++i) {
      outside.emplace_back([&executor] {
        executor.Run(executor.Spawn(SpawnYields(kTasks, kYields)));
      });
    }
    for (std::thread& thread : outside) thread.join();
  }
  stop.store(true);
  reader.join();

  const ExecutorStats stats = executor.Stats();
  EXPECT_EQ(stats.polls, SumOf(stats, &RunnerStats::polls));
  // Each poll followed one spawn or wake.
  EXPECT_EQ(stats.polls,
            stats.tasks_injected + SumOf(stats, &RunnerStats::local_schedules));
  EXPECT_GE(stats.polls, 2u * kTasks * (kYields + 1));
  EXPECT_EQ(stats.parks, SumOf(stats, &RunnerStats::parks));
  EXPECT_EQ(stats.runners, 0u);
}

TEST(ExecutorMetricsTest, AnExecutorBeginsAtZeroAlsoOnAUsedCore) {
  {
    Executor earlier;
    earlier.EnableHistograms();
    earlier.Run(earlier.Spawn(SpawnYields(3, 500)));
    EXPECT_GT(earlier.Histograms().poll_time.Count(), 0u);
  }
  Executor executor;
  const ExecutorMetrics metrics(executor);

  for (const auto& [name, value] : SamplesOf(metrics))
    EXPECT_EQ(value, 0) << name;
  EXPECT_TRUE(executor.Histograms().poll_time.buckets.empty());
  executor.EnableHistograms();
  EXPECT_EQ(executor.Histograms().poll_time.Count(), 0u);
  executor.Run(executor.Spawn(Yield(10)));
  EXPECT_EQ(executor.Stats().polls, 11u);
  EXPECT_EQ(executor.Stats().per_runner[0].polls, 11u);
}

TEST(ExecutorMetricsTest, SamplesStandForAllPolls) {
  constexpr int kYields = 20'000;
  Executor executor;
  executor.EnableHistograms();

  executor.Run(executor.Spawn(Yield(kYields)));

  const ExecutorHistograms histograms = executor.Histograms();
  const auto count = static_cast<double>(histograms.poll_time.Count());
  // Off by a block at most, and by the weight of a task from outside.
  EXPECT_NEAR(count, kYields, 256 + 16);
  EXPECT_EQ(histograms.schedule_latency.Count(), histograms.poll_time.Count());
  EXPECT_GT(histograms.poll_time.sum, 0);
}

TEST(ExecutorMetricsTest, HistogramsMayBeEnabledWhileItRuns) {
  constexpr int kYields = 20'000;
  Executor executor;
  EXPECT_TRUE(executor.Histograms().poll_time.buckets.empty());

  executor.Run(executor.Spawn([&executor]() -> Task<> {
    co_await Yield(kYields);
    executor.EnableHistograms();
    executor.EnableHistograms();  // once is enough
    co_await Yield(kYields);
  }));

  const auto count =
      static_cast<double>(executor.Histograms().poll_time.Count());
  EXPECT_NEAR(count, kYields, 127 + 256);
}

TEST(ExecutorMetricsTest, WhatComesFromOutsideIsSampled) {
  constexpr int kTasks = 16 * 1600;
  Executor executor;
  executor.EnableHistograms();

  for (int i = 0; i < kTasks; ++i) {
    executor.Spawn(Yield(0)).Detach();
    EXPECT_TRUE(executor.TryTick());
  }

  // 1600 samples, give or take 40; eight times that never happens.
  const ExecutorHistograms histograms = executor.Histograms();
  const auto count = static_cast<double>(histograms.poll_time.Count());
  EXPECT_NEAR(count, kTasks, kTasks / 5.0);
  EXPECT_EQ(histograms.schedule_latency.Count(), histograms.poll_time.Count());
}

TEST(ExecutorMetricsTest, LongPollsAreAllTimed) {
  constexpr absl::Duration kLong = absl::Microseconds(50);
  constexpr int kPolls = 300;
  Executor executor;
  executor.EnableHistograms();
  executor.Run(executor.Spawn(ComputeAndYield(kPolls, kLong)));

  const HistogramSnapshot times = executor.Histograms().poll_time;
  EXPECT_NEAR(static_cast<double>(times.Count()), kPolls, 1 + 16);
  EXPECT_GE(times.sum, absl::ToDoubleSeconds(kLong) * (kPolls - 1));
  EXPECT_GE(times.Quantile(0.5), absl::ToDoubleSeconds(kLong));
}

TEST(ExecutorMetricsTest, HaveHistogramsOnceTheseAreEnabled) {
  Executor executor;
  const ExecutorMetrics metrics(executor);
  executor.Run(executor.Spawn(Yield(3)));
  std::map<std::string, double> samples = SamplesOf(metrics);
  EXPECT_EQ(samples["weft_executor_polls_total,runner=0"], 4);
  EXPECT_EQ(samples["weft_executor_remote_schedules_total"], 1);
  EXPECT_EQ(samples.count("weft_executor_poll_seconds"), 0u);

  executor.EnableHistograms();

  samples = SamplesOf(metrics);
  EXPECT_EQ(samples.count("weft_executor_poll_seconds"), 1u);
  EXPECT_EQ(samples.count("weft_executor_schedule_latency_seconds"), 1u);
}

TEST(LocalExecutorMetricsTest, CountsAreExact) {
  LocalExecutor executor;
  JoinHandle<> handle = executor.Spawn(Yield(3));
  const JoinHandle<> forever = executor.Spawn(Pending());
  EXPECT_EQ(executor.Stats().queue_depth, 2u);

  while (executor.TryTick()) {
  }

  const LocalExecutorStats stats = executor.Stats();
  EXPECT_EQ(stats.polls, 5u);
  EXPECT_EQ(stats.local_schedules, 2u + 3);
  EXPECT_EQ(stats.arrivals, 0u);
  EXPECT_EQ(stats.queue_depth, 0u);
  EXPECT_EQ(stats.suspended, 1u);
  EXPECT_EQ(stats.parks, 0u);
  EXPECT_EQ(stats.driver_polls, 0u);
  EXPECT_FALSE(stats.parked);
}

TEST(LocalExecutorMetricsTest, WhatOthersSendIsCountedWhenItIsSeen) {
  LocalExecutor executor;
  std::thread([&executor] {
    executor.spawner().Spawn(Yield(0)).Detach();
  }).join();
  EXPECT_EQ(executor.Stats().arrivals, 0u);

  EXPECT_FALSE(executor.IsEmpty());
  EXPECT_EQ(executor.Stats().arrivals, 1u);
  EXPECT_EQ(executor.Stats().queue_depth, 1u);
  EXPECT_TRUE(executor.TryTick());

  EXPECT_EQ(executor.Stats().polls, 1u);
  EXPECT_EQ(executor.Stats().queue_depth, 0u);
}

TEST(LocalExecutorMetricsTest, AnotherThreadMayReadThem) {
  constexpr int kRounds = 100;
  Gate gate;
  LocalExecutor executor;
  executor.EnableHistograms();
  std::thread other([&] {
    const LocalExecutorMetrics metrics(executor);
    LocalExecutorStats last;
    for (int i = 0; i < kRounds; ++i) {
      executor.spawner().Spawn(Yield(10)).Detach();
      const LocalExecutorStats now = executor.Stats();
      EXPECT_GE(now.polls, last.polls);
      EXPECT_GE(now.busy_time, last.busy_time);
      last = now;
      EXPECT_NE(PrometheusText(metrics), "");
    }
    SpinUntil([&] { return executor.Stats().parked; });
    gate.Open();
  });

  executor.Run(gate.Wait());
  other.join();
  EXPECT_FALSE(executor.Stats().parked);
  while (executor.TryTick()) {
  }

  const LocalExecutorStats stats = executor.Stats();
  EXPECT_EQ(stats.polls, 11u * kRounds);
  EXPECT_EQ(stats.arrivals, uint64_t{kRounds});
  EXPECT_EQ(stats.local_schedules, 10u * kRounds);
  EXPECT_GE(stats.parks, 1u);
  EXPECT_GT(stats.busy_time, absl::ZeroDuration());
}

TEST(LocalExecutorMetricsTest, AnExecutorBeginsAtZeroAlsoOnAUsedCore) {
  {
    LocalExecutor earlier;
    earlier.EnableHistograms();
    earlier.Run(earlier.Spawn(Yield(500)));
    EXPECT_GT(earlier.Histograms().poll_time.Count(), 0u);
    earlier.Spawn(Yield(1)).Detach();
  }
  LocalExecutor executor;
  const LocalExecutorMetrics metrics(executor);

  for (const auto& [name, value] : SamplesOf(metrics))
    EXPECT_EQ(value, 0) << name;
  EXPECT_TRUE(executor.Histograms().poll_time.buckets.empty());
}

TEST(LocalExecutorMetricsTest, SamplesStandForAllPolls) {
  constexpr int kYields = 20'000;
  LocalExecutor executor;
  executor.Run(executor.Spawn(Yield(10)));
  executor.EnableHistograms();

  executor.Run(executor.Spawn(Yield(kYields)));

  const ExecutorHistograms histograms = executor.Histograms();
  EXPECT_NEAR(static_cast<double>(histograms.poll_time.Count()), kYields,
              61 + 256);
  EXPECT_EQ(histograms.schedule_latency.Count(), histograms.poll_time.Count());
}

}  // namespace
}  // namespace weft
