// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// MultiThreadFlavour: workers that share one Executor and steal from each other.
// Internal.
//
// Thread safety: as Flavour.
#ifndef WEFT_RUNTIME_MULTI_THREAD_FLAVOUR_H_
#define WEFT_RUNTIME_MULTI_THREAD_FLAVOUR_H_

#include <cstddef>
#include <memory>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "weft/executor/executor.h"
#include "weft/executor/executor_hooks.h"
#include "weft/executor/executor_metrics.h"
#include "weft/executor/stuck_task_monitor.h"
#include "weft/executor/task_dump.h"
#include "weft/runtime/flavour.h"
#include "weft/task/instant.h"
#include "weft/task/metrics_registry.h"
#include "weft/task/spawner.h"

namespace weft::runtime_internal {

class MultiThreadFlavour final : public Flavour {
 public:
  // `hooks` may be null.
  explicit MultiThreadFlavour(std::shared_ptr<const ExecutorHooks> hooks);

  Spawner& spawner() override { return executor_.spawner(); }
  size_t suspended() override { return executor_.Stats().suspended; }
  TaskDump Dump(Instant deadline) override {
    return executor_.Dump(deadline - Instant::Now());
  }
  void EnableHistograms() override { executor_.EnableHistograms(); }
  void AddMetricsTo(MetricsRegistry& registry) override {
    registration_ = registry.Add(metrics_);
  }
  absl::StatusOr<StuckTaskMonitor> Watch(
      StuckTaskMonitorOptions options) override {
    return StuckTaskMonitor::Start(executor_, std::move(options));
  }
  void Run(int worker, StopPoll stop) override;
  void Drain(Instant deadline, absl::FunctionRef<bool()> jobs_done) override;
  size_t Close(Instant deadline) override;

 private:
  Executor executor_;
  const ExecutorMetrics metrics_{executor_};
  MetricsRegistration registration_;
};

}  // namespace weft::runtime_internal

#endif  // WEFT_RUNTIME_MULTI_THREAD_FLAVOUR_H_
