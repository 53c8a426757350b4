// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Algorithm. What tasks and wakers point to is a core: a queue of Runnables and
// the set of registered tasks, under one lock. Cores are never freed, only used
// again, since a waker may fire at any time later. DestroyTasks() wakes every
// registered task, which brings its Runnable into the queue, and destroys what
// is in the queue, until no task is left; a Runnable that another thread is
// just carrying here is waited for. From then on no task of this core can be
// scheduled: all are done.
#include "weft/task/manual_core.h"

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "weft/task/runnable.h"
#include "weft/task/spawner.h"
#include "weft/task/task_cell.h"
#include "weft/task/task_info.h"
#include "weft/task/waker.h"

namespace weft::task_internal {
namespace {

struct Pool {
  std::mutex mutex;
  std::vector<ManualCore*> cores;  // those that nobody uses
};

// Lives forever: wakers may fire after static destruction.
Pool& ThePool() {
  static Pool* const pool = new Pool;
  return *pool;
}

// Calls fn(runnable) with the Runnable of a live task, which may be anywhere.
template <class Fn>
void WithLent(void* raw, Fn fn) {
  auto lent = Runnable<SpawnedTask>::FromRaw(raw);
  fn(lent);
  static_cast<void>(std::move(lent).IntoRaw());
}

}  // namespace

ManualCore& ManualCore::Take() {
  Pool& pool = ThePool();
  const std::lock_guard lock(pool.mutex);
  if (pool.cores.empty()) return *new ManualCore;
  ManualCore* core = pool.cores.back();
  pool.cores.pop_back();
  core->spawned_ = 0;
  return *core;
}

void ManualCore::GiveBack() {
  Pool& pool = ThePool();
  const std::lock_guard lock(pool.mutex);
  pool.cores.push_back(this);
}

size_t ManualCore::woken() const {
  const std::lock_guard lock(mutex_);
  return queue_.size();
}

std::optional<Runnable<SpawnedTask>> ManualCore::Pop(size_t which) {
  const std::lock_guard lock(mutex_);
  if (which >= queue_.size()) return std::nullopt;
  const auto it = queue_.begin() + static_cast<std::ptrdiff_t>(which);
  std::optional<Runnable<SpawnedTask>> runnable(std::move(*it));
  queue_.erase(it);
  return runnable;
}

ManualCore::Label ManualCore::LabelOf(const Runnable<SpawnedTask>& runnable) {
  return {runnable.metadata().shard, std::string(runnable.name())};
}

void ManualCore::Run(Runnable<SpawnedTask> runnable, uint32_t budget) {
  running_ = std::move(runnable).IntoRaw();
  Runnable<SpawnedTask>::FromRaw(running_).Run(budget);
  running_ = nullptr;
}

size_t ManualCore::live() const {
  const std::lock_guard lock(mutex_);
  size_t live = registered_.size();
  for (const Runnable<SpawnedTask>& runnable : queue_) {
    if (!runnable.metadata().registered) ++live;
  }
  return live;
}

std::vector<std::pair<ManualCore::Label, TaskInfo>> ManualCore::Suspended()
    const {
  std::vector<std::pair<Label, Waker>> found;  // each with a reference
  {
    const std::lock_guard lock(mutex_);
    std::set<uint32_t> woken;
    for (const Runnable<SpawnedTask>& runnable : queue_) {
      woken.insert(runnable.metadata().shard);
    }
    for (const auto& [number, raw] : registered_) {
      if (woken.contains(number)) continue;
      WithLent(raw, [&](const Runnable<SpawnedTask>& runnable) {
        found.emplace_back(LabelOf(runnable), runnable.MakeWaker());
      });
    }
  }
  std::vector<std::pair<Label, TaskInfo>> suspended;
  for (const auto& [label, reference] : found) {
    suspended.emplace_back(label,
                           Inspect(static_cast<TaskHeader*>(reference.data())));
  }
  return suspended;
}

void ManualCore::DestroyTasks() {
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

void ManualCore::Schedule(Runnable<SpawnedTask> runnable, ScheduleInfo) {
  const std::lock_guard lock(mutex_);
  // Never 0 once it has one: only its first time is before it is registered.
  SpawnedTask& task = runnable.metadata();
  if (task.shard == 0) task.shard = ++spawned_;
  queue_.push_back(std::move(runnable));
  arrived_.notify_one();
}

void ManualCore::Register(SpawnedTask& task) {
  const std::lock_guard lock(mutex_);
  registered_.emplace(task.shard, running_);
}

void ManualCore::Unregister(SpawnedTask& task) {
  const std::lock_guard lock(mutex_);
  registered_.erase(task.shard);
}

void ManualCore::WakeRegistered() {
  std::vector<Waker> wakers;
  {
    const std::lock_guard lock(mutex_);
    wakers.reserve(registered_.size());
    for (const auto& [number, raw] : registered_) {
      WithLent(raw, [&](const Runnable<SpawnedTask>& runnable) {
        wakers.push_back(runnable.MakeWaker());
      });
    }
  }
  for (Waker& waker : wakers) std::move(waker).Wake();
}

}  // namespace weft::task_internal
