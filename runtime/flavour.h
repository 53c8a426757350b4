// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Flavour: which threads of a runtime run which tasks. Internal.
//
// A RuntimeCore has the threads, their drivers and the pool for blocking jobs,
// and says when to start and to stop; its Flavour has the executors. Workers
// count from 0.
//
// Thread safety and order: as said at the methods.
// Lifetime: it is closed, and its workers have left, before it is destroyed.
#ifndef WEFT_RUNTIME_FLAVOUR_H_
#define WEFT_RUNTIME_FLAVOUR_H_

#include <cstddef>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "weft/executor/local_executor.h"
#include "weft/executor/stuck_task_monitor.h"
#include "weft/executor/task_dump.h"
#include "weft/task/context.h"
#include "weft/task/instant.h"
#include "weft/task/metrics_registry.h"
#include "weft/task/polled.h"
#include "weft/task/spawner.h"

namespace weft::runtime_internal {

class Flavour {
 public:
  // The poll of the future that ends a run.
  using StopPoll = absl::FunctionRef<Polled<void>(Context&)>;

  Flavour() = default;
  Flavour(const Flavour&) = delete;
  Flavour& operator=(const Flavour&) = delete;
  virtual ~Flavour() = default;

  // ---- Any thread ----

  // What threads and jobs outside its tasks spawn on.
  virtual Spawner& spawner() = 0;
  // What keeps tasks on `worker`; null where tasks move.
  virtual Spawner* SpawnerAt(int worker) {
    static_cast<void>(worker);
    return nullptr;
  }
  // How many tasks have been polled and are unfinished.
  virtual size_t suspended() = 0;
  // The live tasks of its executors; waits for answers until the deadline.
  virtual TaskDump Dump(Instant deadline) = 0;
  // Has its executors time polls.
  virtual void EnableHistograms() = 0;
  // Adds the metrics of its executors, with the label worker="0", … where each
  // worker has its own. Called once, before anything runs.
  virtual void AddMetricsTo(MetricsRegistry& registry) = 0;

  // ---- The thread of `worker`, in this order ----

  // Gets ready; waits until the other workers are, too, or until Stop().
  virtual void Enter(int worker) { static_cast<void>(worker); }
  // The executor whose tasks stay on this thread; null where tasks move.
  virtual LocalExecutor* LocalAt(int worker) {
    static_cast<void>(worker);
    return nullptr;
  }
  // Runs tasks until `stop` is ready.
  virtual void Run(int worker, StopPoll stop) = 0;
  // Waits for Close(), where this thread has to destroy its tasks.
  virtual void Leave(int worker) { static_cast<void>(worker); }

  // ---- The thread that starts or ends the runtime, in this order ----

  // Watches the polls of its executors. Requires: the workers are ready.
  virtual absl::StatusOr<StuckTaskMonitor> Watch(
      StuckTaskMonitorOptions options) = 0;
  // Waits until all workers are ready. Requires: all have been started.
  virtual void AwaitWorkers() {}
  // Returns when there is no task and jobs_done() is true, or at `deadline`.
  virtual void Drain(Instant deadline, absl::FunctionRef<bool()> jobs_done) = 0;
  // Lets all workers pass Enter().
  virtual void Stop() {}
  // Destroys all tasks and, from now on, what is spawned; returns how many tasks
  // it had destroyed by `deadline`. Requires: each worker that was started has
  // returned from Run(). May be called by such a worker, if it does not wait.
  virtual size_t Close(Instant deadline) = 0;
};

}  // namespace weft::runtime_internal

#endif  // WEFT_RUNTIME_FLAVOUR_H_
