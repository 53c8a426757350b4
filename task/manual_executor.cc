// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Algorithm. What tasks and wakers point to is a core: a queue of Runnables and
// the set of registered tasks, under one lock. Cores are never freed, only used
// again, since a waker may fire at any time later. The destructor wakes every
// registered task, which brings its Runnable into the queue, and destroys what
// is in the queue, until no task is left; a Runnable that another thread is
// just carrying here is waited for. From then on no task of this core can be
// scheduled: all are done.
#include "weft/task/manual_executor.h"

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "weft/task/check.h"
#include "weft/task/context.h"
#include "weft/task/counting_waker.h"
#include "weft/task/environment.h"
#include "weft/task/runnable.h"
#include "weft/task/spawner.h"
#include "weft/task/waker.h"

namespace weft {

class ManualExecutor::Core final : public Spawner {
 public:
  static Core& Take();
  void GiveBack();

  std::optional<Runnable<SpawnedTask>> Pop();
  // Runs `runnable` and notes which task it is, in case it registers.
  void Run(Runnable<SpawnedTask> runnable, uint32_t budget);
  void DestroyTasks();

  bool IsIdle() const {
    std::lock_guard lock(mutex_);
    return queue_.empty();
  }
  size_t live() const;

 private:
  void Schedule(Runnable<SpawnedTask> runnable, ScheduleInfo info) override;
  void Register(SpawnedTask& task) override;
  void Unregister(SpawnedTask& task) override;
  void WakeRegistered();

  void* running_ = nullptr;  // used by the running thread only

  mutable std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<Runnable<SpawnedTask>> queue_;
  // With the pointer that makes a Runnable of the task.
  std::unordered_map<SpawnedTask*, void*> registered_;
};

namespace {

struct Pool {
  std::mutex mutex;
  std::vector<void*> cores;  // those that nobody uses
};

// Lives forever: wakers may fire after static destruction.
Pool& ThePool() {
  static Pool* const pool = new Pool;
  return *pool;
}

}  // namespace

ManualExecutor::Core& ManualExecutor::Core::Take() {
  Pool& pool = ThePool();
  std::lock_guard lock(pool.mutex);
  if (pool.cores.empty()) return *new Core;
  Core* core = static_cast<Core*>(pool.cores.back());
  pool.cores.pop_back();
  return *core;
}

void ManualExecutor::Core::GiveBack() {
  Pool& pool = ThePool();
  std::lock_guard lock(pool.mutex);
  pool.cores.push_back(this);
}

std::optional<Runnable<SpawnedTask>> ManualExecutor::Core::Pop() {
  std::lock_guard lock(mutex_);
  if (queue_.empty()) return std::nullopt;
  std::optional<Runnable<SpawnedTask>> runnable(std::move(queue_.front()));
  queue_.pop_front();
  return runnable;
}

void ManualExecutor::Core::Run(Runnable<SpawnedTask> runnable,
                               uint32_t budget) {
  running_ = std::move(runnable).IntoRaw();
  Runnable<SpawnedTask>::FromRaw(running_).Run(budget);
  running_ = nullptr;
}

size_t ManualExecutor::Core::live() const {
  std::lock_guard lock(mutex_);
  size_t live = registered_.size();
  for (const Runnable<SpawnedTask>& runnable : queue_) {
    if (!runnable.metadata().registered) ++live;
  }
  return live;
}

void ManualExecutor::Core::Schedule(Runnable<SpawnedTask> runnable,
                                    ScheduleInfo) {
  std::lock_guard lock(mutex_);
  queue_.push_back(std::move(runnable));
  arrived_.notify_one();
}

void ManualExecutor::Core::Register(SpawnedTask& task) {
  std::lock_guard lock(mutex_);
  registered_.emplace(&task, running_);
}

void ManualExecutor::Core::Unregister(SpawnedTask& task) {
  std::lock_guard lock(mutex_);
  registered_.erase(&task);
}

void ManualExecutor::Core::WakeRegistered() {
  std::vector<Waker> wakers;
  {
    std::lock_guard lock(mutex_);
    wakers.reserve(registered_.size());
    for (const auto& [task, raw] : registered_) {
      // Only lent: the task is alive, its Runnable may be anywhere.
      auto lent = Runnable<SpawnedTask>::FromRaw(raw);
      wakers.push_back(lent.MakeWaker());
      static_cast<void>(std::move(lent).IntoRaw());
    }
  }
  for (Waker& waker : wakers) std::move(waker).Wake();
}

void ManualExecutor::Core::DestroyTasks() {
  for (;;) {
    WakeRegistered();
    while (std::optional<Runnable<SpawnedTask>> runnable = Pop()) {
      runnable.reset();
    }
    std::unique_lock lock(mutex_);
    if (queue_.empty() && registered_.empty()) return;
    arrived_.wait(lock, [this] { return !queue_.empty(); });
  }
}

ManualExecutor::ManualExecutor() : core_(Core::Take()) {}

ManualExecutor::~ManualExecutor() {
  WEFT_CHECK(!running_,
             "a ManualExecutor was destroyed by a task that it runs");
  {
    const TaskScope scope(*this);
    core_.DestroyTasks();
  }
  core_.GiveBack();
}

Spawner& ManualExecutor::spawner() { return core_; }

bool ManualExecutor::RunOne(uint32_t budget) {
  WEFT_CHECK(!running_, "a ManualExecutor was run by a task that it runs");
  std::optional<Runnable<SpawnedTask>> runnable = core_.Pop();
  if (!runnable.has_value()) return false;
  ++runs_;
  running_ = true;
  {
    const TaskScope scope(*this);
    core_.Run(*std::move(runnable), budget);
  }
  running_ = false;
  return true;
}

size_t ManualExecutor::RunUntilIdle(size_t max_runs) {
  size_t runs = 0;
  while (RunOne()) {
    ++runs;
    WEFT_CHECK(runs < max_runs,
               "tasks do not come to rest: does one wake itself for ever?");
  }
  return runs;
}

bool ManualExecutor::IsIdle() const { return core_.IsIdle(); }

size_t ManualExecutor::live() const { return core_.live(); }

void ManualExecutor::RunUntilWoken(CountingWaker& waker,
                                   absl::FunctionRef<bool()> idle) {
  while (waker.TakeWakes() == 0) {
    if (RunOne()) continue;
    if (waker.TakeWakes() != 0) return;
    WEFT_CHECK(idle(),
               "the future is pending and nothing is left that could wake it");
  }
}

namespace {

Environment WithSpawner(Spawner& spawner) {
  Environment environment = Environment::Current();
  environment.spawner = &spawner;
  return environment;
}

}  // namespace

ManualExecutor::TaskScope::TaskScope(ManualExecutor& executor)
    : environment_(WithSpawner(executor.spawner())), scope_(environment_) {}

}  // namespace weft
