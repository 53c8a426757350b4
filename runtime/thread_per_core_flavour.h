// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// ThreadPerCoreFlavour: workers with an executor each, whose tasks stay there.
// Internal.
//
// What is spawned outside its tasks goes to the workers in turn. Each executor is
// made, run, asked and closed by its own worker; the others send it tasks, and
// questions by waking the future that it runs for.
//
// Thread safety: as Flavour.
#ifndef WEFT_RUNTIME_THREAD_PER_CORE_FLAVOUR_H_
#define WEFT_RUNTIME_THREAD_PER_CORE_FLAVOUR_H_

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "weft/executor/executor_hooks.h"
#include "weft/executor/local_executor.h"
#include "weft/executor/stuck_task_monitor.h"
#include "weft/executor/task_dump.h"
#include "weft/runtime/flavour.h"
#include "weft/task/atomic_waker.h"
#include "weft/task/instant.h"
#include "weft/task/metrics.h"
#include "weft/task/metrics_registry.h"
#include "weft/task/runnable.h"
#include "weft/task/spawner.h"

namespace weft::runtime_internal {

class ThreadPerCoreFlavour final : public Flavour {
 public:
  // `hooks` may be null.
  ThreadPerCoreFlavour(int workers, std::shared_ptr<const ExecutorHooks> hooks)
      : hooks_(std::move(hooks)), workers_(workers) {}

  Spawner& spawner() override { return router_; }
  Spawner* SpawnerAt(int worker) override;
  size_t suspended() override;
  TaskDump Dump(Instant deadline) override;
  void EnableHistograms() override;
  void AddMetricsTo(MetricsRegistry& registry) override;

  void Enter(int worker) override;
  LocalExecutor* LocalAt(int worker) override;
  void Run(int worker, StopPoll stop) override;
  void Leave(int worker) override;

  absl::StatusOr<StuckTaskMonitor> Watch(
      StuckTaskMonitorOptions options) override;
  void AwaitWorkers() override;
  void Drain(Instant deadline, absl::FunctionRef<bool()> jobs_done) override;
  void Stop() override;
  size_t Close(Instant deadline) override;

 private:
  // Chooses a worker for each task; destroys the task where there is none.
  class Router final : public Spawner {
   public:
    explicit Router(ThreadPerCoreFlavour& flavour)
        : Spawner(Routes()), flavour_(flavour) {}

    // The spawner of `worker`, or, if it is not ready or closed, this.
    Spawner& At(size_t worker);

   private:
    Spawner& Route() override;
    void Schedule(Runnable<SpawnedTask> runnable, ScheduleInfo info) override;

    ThreadPerCoreFlavour& flavour_;
    std::atomic<size_t> next_{0};  // whose turn it is, modulo their number
  };

  struct Worker {
    std::optional<LocalExecutor> executor;  // made and closed by the worker
    // Its own: set when it is ready, null again when it is to be closed.
    std::atomic<Spawner*> spawner{nullptr};
    AtomicWaker asked;      // wakes the worker to answer
    uint64_t answered = 0;  // the last question; the worker's
  };

  // Those of the worker's executor, while there is one.
  class WorkerMetrics final : public MetricsSource {
   public:
    explicit WorkerMetrics(const Worker& worker) : worker_(worker) {}
    void Collect(MetricsWriter& writer) const override;

   private:
    const Worker& worker_;
  };

  void Answer(Worker& worker);
  std::optional<uint64_t> AskWhetherIdle(Instant deadline);

  const std::shared_ptr<const ExecutorHooks> hooks_;
  std::vector<Worker> workers_;
  Router router_{*this};
  std::deque<WorkerMetrics> metrics_;
  std::vector<MetricsRegistration> registrations_;
  std::atomic<bool> histograms_{false};  // wanted

  // The number of the question that is to be answered. Written under mutex_.
  std::atomic<uint64_t> question_{0};

  std::mutex mutex_;
  std::condition_variable changed_;
  // All guarded by mutex_.
  size_t ready_ = 0;       // how many have made their executors
  bool stopping_ = false;  // nobody waits for the others to be ready
  bool closing_ = false;   // they may destroy their tasks
  size_t closed_ = 0;      // how many have done so
  size_t dropped_ = 0;     // how many tasks that were
  // The answers so far: how many, whether all have no tasks, and how many tasks
  // have ever come to them.
  size_t answers_ = 0;
  bool idle_ = false;
  uint64_t arrivals_ = 0;
};

}  // namespace weft::runtime_internal

#endif  // WEFT_RUNTIME_THREAD_PER_CORE_FLAVOUR_H_
