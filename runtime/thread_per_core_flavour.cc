// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Algorithm. Whether anything is left to do is asked twice, since a task may go
// from a worker that has not answered yet to one that has. If all answer twice
// that they have no tasks, and no task has come to any between its answers, none
// had a task at any moment between the first round and the second. A task that
// was sent before that moment would have been found in the second round. If the
// pool has no job at that moment either, there is nothing left.
//
// No worker destroys its tasks before all have left Run(): who awaits a task of
// another worker must not be polled once that one is gone without an output.
// Executors stay, closed, as long as this: somebody may be about to spawn there.
#include "weft/runtime/thread_per_core_flavour.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "weft/executor/executor_metrics.h"
#include "weft/executor/local_dumps.h"
#include "weft/executor/local_executor.h"
#include "weft/executor/steady_deadline.h"
#include "weft/executor/stuck_task_monitor.h"
#include "weft/executor/task_dump.h"
#include "weft/task/context.h"
#include "weft/task/instant.h"
#include "weft/task/metrics.h"
#include "weft/task/metrics_registry.h"
#include "weft/task/polled.h"
#include "weft/task/ready.h"
#include "weft/task/runnable.h"
#include "weft/task/spawner.h"

namespace weft::runtime_internal {

using executor_internal::SteadyDeadline;

Spawner& ThreadPerCoreFlavour::Router::At(size_t worker) {
  // Acquire: the executor is ready, or the tasks are being destroyed.
  Spawner* spawner =
      flavour_.workers_[worker].spawner.load(std::memory_order_acquire);
  return spawner != nullptr ? *spawner : *this;
}

Spawner& ThreadPerCoreFlavour::Router::Route() {
  // Relaxed: only the number matters.
  const size_t turn = next_.fetch_add(1, std::memory_order_relaxed);
  return At(turn % flavour_.workers_.size());
}

void ThreadPerCoreFlavour::Router::Schedule(Runnable<SpawnedTask> runnable,
                                            ScheduleInfo) {
  // Destroys the task, which is nobody's but the caller's.
  const Runnable<SpawnedTask> dropped = std::move(runnable);
}

Spawner* ThreadPerCoreFlavour::SpawnerAt(int worker) {
  return &router_.At(static_cast<size_t>(worker));
}

TaskDump ThreadPerCoreFlavour::Dump(Instant deadline) {
  executor_internal::LocalDumps dumps;
  for (size_t i = 0; i < workers_.size(); ++i) {
    // Acquire: as in At().
    if (workers_[i].spawner.load(std::memory_order_acquire) == nullptr)
      continue;
    dumps.Ask(static_cast<int>(i), *workers_[i].executor);
  }
  return dumps.Await(deadline);
}

size_t ThreadPerCoreFlavour::suspended() {
  size_t sum = 0;
  for (const Worker& worker : workers_) {
    // Acquire: as in At().
    if (worker.spawner.load(std::memory_order_acquire) != nullptr) {
      sum += worker.executor->suspended();
    }
  }
  return sum;
}

// Sequentially consistent, with the looks in Enter(): a worker that is not ready yet
// sees the wish.
void ThreadPerCoreFlavour::EnableHistograms() {
  histograms_.store(true);
  for (Worker& worker : workers_) {
    if (worker.spawner.load() != nullptr) worker.executor->EnableHistograms();
  }
}

void ThreadPerCoreFlavour::AddMetricsTo(MetricsRegistry& registry) {
  for (const Worker& worker : workers_) {
    const std::string number = std::to_string(metrics_.size());
    registrations_.push_back(
        registry.Add(metrics_.emplace_back(worker), {{"worker", number}}));
  }
}

void ThreadPerCoreFlavour::WorkerMetrics::Collect(MetricsWriter& writer) const {
  // Acquire: as in At().
  if (worker_.spawner.load(std::memory_order_acquire) == nullptr) return;
  LocalExecutorMetrics(*worker_.executor).Collect(writer);
}

void ThreadPerCoreFlavour::Enter(int worker) {
  Worker& self = workers_[static_cast<size_t>(worker)];
  self.executor.emplace();
  if (hooks_ != nullptr) self.executor->SetHooks(hooks_);
  // Sequentially consistent: see EnableHistograms(). It pairs with At(), too.
  self.spawner.store(&self.executor->spawner());
  if (histograms_.load()) self.executor->EnableHistograms();
  std::unique_lock lock(mutex_);
  ++ready_;
  changed_.notify_all();
  changed_.wait(lock,
                [this] { return ready_ == workers_.size() || stopping_; });
}

absl::StatusOr<StuckTaskMonitor> ThreadPerCoreFlavour::Watch(
    StuckTaskMonitorOptions options) {
  std::vector<LocalExecutor*> executors;
  for (Worker& worker : workers_) executors.push_back(&*worker.executor);
  return StuckTaskMonitor::Start(executors, std::move(options));
}

void ThreadPerCoreFlavour::AwaitWorkers() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return ready_ == workers_.size(); });
}

void ThreadPerCoreFlavour::Stop() {
  const std::lock_guard lock(mutex_);
  stopping_ = true;
  changed_.notify_all();
}

LocalExecutor* ThreadPerCoreFlavour::LocalAt(int worker) {
  return &*workers_[static_cast<size_t>(worker)].executor;
}

void ThreadPerCoreFlavour::Run(int worker, StopPoll stop) {
  Worker& self = workers_[static_cast<size_t>(worker)];
  self.executor->Run(PollFn([&](Context& cx) {
    self.asked.Register(cx.waker());
    Answer(self);
    return stop(cx);
  }));
}

void ThreadPerCoreFlavour::Answer(Worker& worker) {
  // Acquire: what came before the question is seen by what answers it.
  const uint64_t question = question_.load(std::memory_order_acquire);
  if (std::exchange(worker.answered, question) == question) return;
  const bool empty = worker.executor->IsEmpty();
  const uint64_t arrivals = worker.executor->arrivals();

  const std::lock_guard lock(mutex_);
  // Relaxed: written under the lock.
  if (question_.load(std::memory_order_relaxed) != question) return;
  ++answers_;
  idle_ = idle_ && empty;
  arrivals_ += arrivals;
  changed_.notify_all();
}

// How many tasks have ever come to the workers, if none of them has one now.
std::optional<uint64_t> ThreadPerCoreFlavour::AskWhetherIdle(Instant deadline) {
  {
    const std::lock_guard lock(mutex_);
    answers_ = 0;
    idle_ = true;
    arrivals_ = 0;
    // Release: pairs with Answer().
    question_.fetch_add(1, std::memory_order_release);
  }
  for (Worker& worker : workers_) worker.asked.Wake();

  std::unique_lock lock(mutex_);
  const bool answered =
      changed_.wait_until(lock, SteadyDeadline(deadline),
                          [this] { return answers_ == workers_.size(); });
  if (!answered || !idle_) return std::nullopt;
  return arrivals_;
}

void ThreadPerCoreFlavour::Drain(Instant deadline,
                                 absl::FunctionRef<bool()> jobs_done) {
  while (Instant::Now() < deadline) {
    const std::optional<uint64_t> before = AskWhetherIdle(deadline);
    if (before.has_value() && jobs_done() &&
        AskWhetherIdle(deadline) == before) {
      return;
    }
    // As often as MultiThreadFlavour looks.
    absl::SleepFor(absl::Milliseconds(1));
  }
}

size_t ThreadPerCoreFlavour::Close(Instant deadline) {
  for (Worker& worker : workers_) {
    // Release: pairs with At().
    worker.spawner.store(nullptr, std::memory_order_release);
  }
  std::unique_lock lock(mutex_);
  closing_ = true;
  changed_.notify_all();
  changed_.wait_until(lock, SteadyDeadline(deadline),
                      [this] { return closed_ == ready_; });
  return dropped_;
}

void ThreadPerCoreFlavour::Leave(int worker) {
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return closing_; });
  }
  const size_t dropped =
      workers_[static_cast<size_t>(worker)].executor->Close();
  const std::lock_guard lock(mutex_);
  ++closed_;
  dropped_ += dropped;
  changed_.notify_all();
}

}  // namespace weft::runtime_internal
