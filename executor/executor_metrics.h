// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// ExecutorMetrics, LocalExecutorMetrics: the numbers of an executor as metrics.
//
//   ExecutorMetrics source(executor);
//   MetricsRegistration r = registry.Add(source, {{"executor", "main"}});
//
// Of an Executor, as weft_executor_…, per runner with the label runner="0", "1", …:
//   polls_total, local_schedules_total, steals_total, stolen_tasks_total,
//   overflows_total, parks_total, wakes_total, driver_polls_total, slow_polls_total,
//   busy_seconds_total, queue_depth, runner_parked
// and of the whole:
//   runners, suspended_tasks, injector_depth, remote_schedules_total,
//   tick_polls_total, runner_wakes_total, tick_wakes_total,
//   poll_seconds, schedule_latency_seconds (histograms, once they are enabled)
// Of a LocalExecutor those of the same names that it has, without a runner.
//
// slow_polls_total counts the times between two looks at the clock, with 127 polls at
// most and in which the thread did not sleep, that lasted for 10 ms or more. Mostly
// one poll did, of a task or of the future in Run(); several slow ones count as one,
// and a BlockInPlace() counts, too.
//
// Thread safety: as MetricsSource. Lifetime: the executor outlives it.
#ifndef WEFT_EXECUTOR_EXECUTOR_METRICS_H_
#define WEFT_EXECUTOR_EXECUTOR_METRICS_H_

#include "weft/executor/executor.h"
#include "weft/executor/local_executor.h"
#include "weft/task/metrics.h"

namespace weft {

class ExecutorMetrics final : public MetricsSource {
 public:
  explicit ExecutorMetrics(const Executor& executor) : executor_(executor) {}

  void Collect(MetricsWriter& writer) const override;

 private:
  const Executor& executor_;
};

class LocalExecutorMetrics final : public MetricsSource {
 public:
  explicit LocalExecutorMetrics(const LocalExecutor& executor)
      : executor_(executor) {}

  void Collect(MetricsWriter& writer) const override;

 private:
  const LocalExecutor& executor_;
};

}  // namespace weft

#endif  // WEFT_EXECUTOR_EXECUTOR_METRICS_H_
