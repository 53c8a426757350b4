// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/executor/blocking_pool_metrics.h"

#include <cstddef>

#include "weft/executor/blocking_pool.h"
#include "weft/task/log_histogram.h"
#include "weft/task/metrics.h"
#include "weft/task/offload.h"

namespace weft {
namespace {

const char* NameOf(OffloadLane lane) {
  switch (lane) {
    case OffloadLane::kFile:
      return "file";
    case OffloadLane::kName:
      return "name";
    case OffloadLane::kStandIn:
      return "stand_in";
    default:
      return "general";
  }
}

}  // namespace

void BlockingPoolMetrics::Collect(MetricsWriter& writer) const {
  const BlockingPool::Stats stats = pool_.GetStats();
  const BlockingPool::Histograms histograms = pool_.GetHistograms();
  writer.Gauge("weft_blocking_threads", "Threads of the pool.", stats.threads);
  writer.Gauge("weft_blocking_idle_threads", "Threads that wait for a job.",
               stats.idle_threads);
  writer.Gauge("weft_blocking_running_jobs", "Jobs that run.",
               static_cast<double>(stats.running));
  for (size_t i = 0; i < stats.queued_by_lane.size(); ++i) {
    writer.Gauge("weft_blocking_queued_jobs", "Jobs that wait for a thread.",
                 static_cast<double>(stats.queued_by_lane[i]),
                 {{"lane", NameOf(static_cast<OffloadLane>(i))}});
  }
  writer.Counter("weft_blocking_started_jobs_total", "Jobs that were started.",
                 static_cast<double>(stats.started));
  writer.Counter(
      "weft_blocking_refused_jobs_total",
      "Jobs that were refused: a queue was full, or the pool closed.",
      static_cast<double>(stats.rejected));
  writer.Counter("weft_blocking_failed_thread_starts_total",
                 "Threads that the system did not give.",
                 static_cast<double>(stats.failed_starts));
  writer.Counter("weft_blocking_thread_wakes_total",
                 "Times that an idle thread was woken for a job.",
                 static_cast<double>(stats.wakeups));
  writer.Histogram(
      "weft_blocking_queue_wait_seconds", "How long jobs waited for a thread.",
      histograms.queue_wait.Coarsened(LogHistogram::kPerPowerOfTwo));
  writer.Histogram("weft_blocking_run_seconds", "How long jobs ran.",
                   histograms.run_time.Coarsened(LogHistogram::kPerPowerOfTwo));
}

}  // namespace weft
