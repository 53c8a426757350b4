// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/executor/blocking_pool_metrics.h"

#include <atomic>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "weft/executor/blocking_pool.h"
#include "weft/task/block_on.h"
#include "weft/task/join_handle.h"
#include "weft/task/offload.h"
#include "weft/tests/kit/metric_samples.h"

namespace weft {
namespace {

TEST(BlockingPoolMetricsTest, OfANewPoolAreZero) {
  const BlockingPool pool;
  const BlockingPoolMetrics metrics(pool);

  const std::map<std::string, double> samples = SamplesOf(metrics);
  EXPECT_GE(samples.size(), 10u);
  for (const auto& [name, value] : samples) EXPECT_EQ(value, 0) << name;
}

TEST(BlockingPoolMetricsTest, ShowWhatRunsAndWhatWaits) {
  BlockingPool pool(BlockingPoolOptions().MaxThreads(1).QueueCapacity(2));
  const BlockingPoolMetrics metrics(pool);
  std::atomic<bool> inside{false};
  std::atomic<bool> open{false};
  std::vector<JoinHandle<>> jobs;

  jobs.push_back(pool.Run(OffloadLane::kGeneral, [&inside, &open] {
    inside.store(true);
    while (!open.load()) std::this_thread::yield();
  }));
  while (!inside.load()) std::this_thread::yield();
  jobs.push_back(pool.Run(OffloadLane::kFile, [] {}));
  jobs.push_back(pool.Run(OffloadLane::kFile, [] {}));
  jobs.push_back(pool.Run(OffloadLane::kName, [] {}));
  BlockOn(pool.Run(OffloadLane::kFile, [] {}).Outcome()).IgnoreError();

  std::map<std::string, double> samples = SamplesOf(metrics);
  EXPECT_EQ(samples["weft_blocking_threads"], 1);
  EXPECT_EQ(samples["weft_blocking_idle_threads"], 0);
  EXPECT_EQ(samples["weft_blocking_running_jobs"], 1);
  EXPECT_EQ(samples["weft_blocking_queued_jobs,lane=general"], 0);
  EXPECT_EQ(samples["weft_blocking_queued_jobs,lane=file"], 2);
  EXPECT_EQ(samples["weft_blocking_queued_jobs,lane=name"], 1);
  EXPECT_EQ(samples["weft_blocking_queued_jobs,lane=stand_in"], 0);
  EXPECT_EQ(samples["weft_blocking_started_jobs_total"], 1);
  EXPECT_EQ(samples["weft_blocking_refused_jobs_total"], 1);
  EXPECT_EQ(samples["weft_blocking_queue_wait_seconds"], 1);
  EXPECT_EQ(samples["weft_blocking_run_seconds"], 0);

  open.store(true);
  for (JoinHandle<>& job : jobs) BlockOn(job);
  while (pool.GetStats().idle_threads != 1) std::this_thread::yield();

  samples = SamplesOf(metrics);
  EXPECT_EQ(samples["weft_blocking_idle_threads"], 1);
  EXPECT_EQ(samples["weft_blocking_running_jobs"], 0);
  EXPECT_EQ(samples["weft_blocking_queued_jobs,lane=file"], 0);
  EXPECT_EQ(samples["weft_blocking_started_jobs_total"], 4);
  EXPECT_EQ(samples["weft_blocking_queue_wait_seconds"], 4);
  EXPECT_EQ(samples["weft_blocking_run_seconds"], 4);
}

TEST(BlockingPoolMetricsTest, AWaitIsSeenInItsHistogram) {
  BlockingPool pool(BlockingPoolOptions().MaxThreads(1));

  for (int i = 0; i < 10; ++i) BlockOn(pool.Run(OffloadLane::kFile, [] {}));
  while (pool.GetStats().running != 0) std::this_thread::yield();

  const BlockingPool::Histograms histograms = pool.GetHistograms();
  EXPECT_EQ(histograms.queue_wait.Count(), 10u);
  EXPECT_EQ(histograms.run_time.Count(), 10u);
  EXPECT_GT(histograms.queue_wait.sum, 0);
}

}  // namespace
}  // namespace weft
