// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// RuntimeCore: what a Runtime and its Handles share. Internal.
//
// Owned by the Runtime, by each Handle and by each worker thread, so that it
// goes with the last of them: a worker that is stuck in a poll when the runtime
// is shut down finds everything in place when it returns, and cleans up.
//
// State: running -> stopping (workers stop) -> closed (every future destroyed;
// what is spawned is destroyed at once) -> the drivers are closed.
//
// Thread safety: whatever is const, or returns a spawner, an executor or the
// offload, from any thread; the rest is called by the Runtime.
#ifndef WEFT_RUNTIME_RUNTIME_CORE_H_
#define WEFT_RUNTIME_RUNTIME_CORE_H_

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "weft/executor/blocking_pool.h"
#include "weft/executor/blocking_pool_metrics.h"
#include "weft/executor/local_executor.h"
#include "weft/executor/stuck_task_monitor.h"
#include "weft/executor/task_dump.h"
#include "weft/executor/task_lints.h"
#include "weft/executor/thread.h"
#include "weft/runtime/driver_stack.h"
#include "weft/runtime/flavour.h"
#include "weft/runtime/runtime_options.h"
#include "weft/task/atomic_waker.h"
#include "weft/task/environment.h"
#include "weft/task/instant.h"
#include "weft/task/metrics_registry.h"
#include "weft/task/offload.h"
#include "weft/task/spawner.h"
#include "weft/task/waker.h"

namespace weft {

// What Shutdown found still to be done at its deadline.
struct ShutdownReport {
  // Cancelled before they were finished. If workers run, those that are suspended.
  size_t tasks_dropped = 0;
  size_t workers_running = 0;  // in a poll or hook that has not returned
  size_t jobs_dropped = 0;     // blocking jobs that had not started
  size_t jobs_running = 0;     // blocking jobs that have not returned
};

namespace runtime_internal {

class RuntimeCore : public std::enable_shared_from_this<RuntimeCore> {
 public:
  static absl::StatusOr<std::shared_ptr<RuntimeCore>> Start(
      const RuntimeOptions& options);
  explicit RuntimeCore(const RuntimeOptions& options);
  RuntimeCore(const RuntimeCore&) = delete;
  RuntimeCore& operator=(const RuntimeCore&) = delete;
  ~RuntimeCore();

  // What is given to it from outside its tasks.
  Spawner& spawner() { return flavour_->spawner(); }
  // What keeps tasks on a worker: CHECK-fails where tasks move, and for a worker
  // that does not exist.
  Spawner& SpawnerAt(int worker);
  Spawner& SpawnerOf(uint64_t key);
  Spawner& SpawnerOf(std::string_view key);
  Offload& offload() { return *pool_; }
  // At least 1.
  int worker_threads() const { return static_cast<int>(workers_.size()); }

  TaskDump DumpTasks(absl::Duration patience) {
    return flavour_->Dump(Instant::Now() + patience);
  }

  // What BlockOn drives; null where worker threads do.
  LocalExecutor* driven();
  // The executor whose tasks stay on the calling thread, which runs them; null
  // if there is none. On a current-thread runtime any thread gets it.
  LocalExecutor* LocalHere();

  // Of threads that do not work for the runtime.
  const Environment& outside() const { return outside_; }
  // Of the first worker: the thread in BlockOn, on a current-thread runtime.
  const Environment& inside() const {
    return workers_[0]->drivers.environment();
  }
  // CHECK-fails on the thread that alone drives a current-thread runtime.
  void CheckMayWaitHere() const;
  // True inside the runtime's tasks and on its worker threads.
  bool OnWorkerThread() const;

  MetricsRegistry& metrics() { return metrics_; }
  void EnableHistograms() { flavour_->EnableHistograms(); }

  // Lets tasks and jobs go on until `drain_until`, then stops; waits for polls
  // and jobs to return until `leave_until`, then leaves them behind.
  ShutdownReport Finish(Instant drain_until, Instant leave_until);
  // Stops, and has the last worker clean up.
  void Abandon();

 private:
  struct Worker {
    explicit Worker(int index) : index(index) {}

    const int index;
    DriverStack drivers;
    AtomicWaker stop_waker;
    Waker unparker;  // of its driver
    executor_internal::Thread thread;
  };

  absl::Status Init();
  absl::Status StartWorkers();
  absl::Status StartMonitor();
  absl::Status StartLints();
  void RunWorker(Worker& worker);
  // What a worker says: it polls no more tasks; it has done everything.
  void NoteStopped();
  void NoteLeft();
  // Handles the events of the calling worker's driver until no poll is left.
  void ServeOthers();
  void WakeServing();
  // How many workers are missing in `count`, which is guarded by mutex_, at the
  // deadline.
  size_t AwaitWorkers(const size_t& count, Instant deadline);
  void Stop();
  void Drain(Instant deadline);
  // True for one caller, once all workers have stopped. Requires mutex_.
  bool MayClose();
  // Returns how many futures it destroyed by the deadline. Called once.
  size_t Close(Instant deadline);
  void CloseDrivers();

  class UnhandledExceptions;

  const RuntimeOptions options_;
  MetricsRegistry metrics_;
  std::unique_ptr<UnhandledExceptions> unhandled_exceptions_;
  Environment outside_;
  // In this order, so that futures and jobs go before what they use.
  std::vector<std::unique_ptr<Worker>> workers_;
  std::unique_ptr<BlockingPool> pool_;
  std::optional<BlockingPoolMetrics> pool_metrics_;
  MetricsRegistration pool_registration_;
  std::unique_ptr<Flavour> flavour_;
  std::optional<StuckTaskMonitor> monitor_;  // of flavour_'s executors
  std::optional<TaskLints> lints_;           // of their tasks

  std::atomic<bool> stopping_{false};
  std::mutex mutex_;
  std::condition_variable workers_changed_;
  // Guarded by mutex_.
  size_t workers_started_ = 0;
  size_t workers_stopped_ = 0;  // poll no more tasks
  size_t workers_left_ = 0;     // and have called their hooks
  bool abandoned_ = false;      // the last worker to stop closes
  bool closing_ = false;        // somebody does, or has
  bool closed_ = false;         // the last worker to leave closes the drivers
};

// The runtime that the calling thread works for or has entered, or null.
RuntimeCore* CurrentCore();
// What `core` points to; CHECK-fails if it is null, since the Runtime or Handle
// it is from was moved from.
RuntimeCore& Checked(const std::shared_ptr<RuntimeCore>& core);
// Its executor whose tasks stay here; CHECK-fails where there is none.
LocalExecutor& CurrentLocal();

// Makes `core` that runtime, and `environment` the current one.
class [[nodiscard]] CoreScope {
 public:
  CoreScope(RuntimeCore& core, const Environment& environment);
  CoreScope(const CoreScope&) = delete;
  CoreScope& operator=(const CoreScope&) = delete;
  ~CoreScope();

 private:
  const EnvironmentScope environment_;
  RuntimeCore& core_;
  RuntimeCore* const previous_;
};

}  // namespace runtime_internal
}  // namespace weft

#endif  // WEFT_RUNTIME_RUNTIME_CORE_H_
