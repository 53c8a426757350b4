// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// BlockingPoolMetrics: the numbers of a BlockingPool as metrics.
//
// As weft_blocking_…:
//   threads, idle_threads, running_jobs, queued_jobs (with the label lane="general",
//   "file", "name" or "stand_in"), started_jobs_total, refused_jobs_total,
//   failed_thread_starts_total, thread_wakes_total, queue_wait_seconds and
//   run_seconds (histograms of all jobs)
//
//   BlockingPoolMetrics source(pool);
//   MetricsRegistration r = registry.Add(source, {{"pool", "main"}});
//
// Thread safety: as MetricsSource. Lifetime: the pool outlives it.
#ifndef WEFT_EXECUTOR_BLOCKING_POOL_METRICS_H_
#define WEFT_EXECUTOR_BLOCKING_POOL_METRICS_H_

#include "weft/executor/blocking_pool.h"
#include "weft/task/metrics.h"

namespace weft {

class BlockingPoolMetrics final : public MetricsSource {
 public:
  explicit BlockingPoolMetrics(const BlockingPool& pool) : pool_(pool) {}

  void Collect(MetricsWriter& writer) const override;

 private:
  const BlockingPool& pool_;
};

}  // namespace weft

#endif  // WEFT_EXECUTOR_BLOCKING_POOL_METRICS_H_
