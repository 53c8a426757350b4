// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// CurrentThreadFlavour: no worker threads; the thread that builds the runtime
// runs its tasks while it is in BlockOn. It counts as worker 0. Internal.
//
// Thread safety: as Flavour; whatever runs or destroys tasks is called on the
// thread that made this (CHECK-failed otherwise).
#ifndef WEFT_RUNTIME_CURRENT_THREAD_FLAVOUR_H_
#define WEFT_RUNTIME_CURRENT_THREAD_FLAVOUR_H_

#include <cstddef>
#include <memory>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "weft/executor/executor_hooks.h"
#include "weft/executor/executor_metrics.h"
#include "weft/executor/local_dumps.h"
#include "weft/executor/local_executor.h"
#include "weft/executor/stuck_task_monitor.h"
#include "weft/executor/task_dump.h"
#include "weft/runtime/flavour.h"
#include "weft/task/instant.h"
#include "weft/task/metrics_registry.h"
#include "weft/task/spawner.h"

namespace weft::runtime_internal {

class CurrentThreadFlavour final : public Flavour {
 public:
  // `hooks` may be null.
  explicit CurrentThreadFlavour(std::shared_ptr<const ExecutorHooks> hooks);

  Spawner& spawner() override { return executor_.spawner(); }
  Spawner* SpawnerAt(int) override { return &executor_.spawner(); }
  size_t suspended() override { return executor_.suspended(); }
  TaskDump Dump(Instant deadline) override {
    executor_internal::LocalDumps dumps;
    dumps.Ask(0, executor_);
    return dumps.Await(deadline);
  }
  void EnableHistograms() override { executor_.EnableHistograms(); }
  void AddMetricsTo(MetricsRegistry& registry) override {
    registration_ = registry.Add(metrics_, {{"worker", "0"}});
  }
  LocalExecutor* LocalAt(int) override { return &executor_; }
  absl::StatusOr<StuckTaskMonitor> Watch(
      StuckTaskMonitorOptions options) override {
    return StuckTaskMonitor::Start({&executor_}, std::move(options));
  }
  void Run(int worker, StopPoll stop) override;
  // Runs the tasks meanwhile, in the current environment.
  void Drain(Instant deadline, absl::FunctionRef<bool()> jobs_done) override;
  size_t Close(Instant deadline) override;

 private:
  LocalExecutor executor_;
  const LocalExecutorMetrics metrics_{executor_};
  MetricsRegistration registration_;
};

}  // namespace weft::runtime_internal

#endif  // WEFT_RUNTIME_CURRENT_THREAD_FLAVOUR_H_
