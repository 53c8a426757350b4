// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// TaskRegistry: a runner's live tasks that have been suspended at least once.
// Internal to the executor.
//
// While a thread has the runner it owns the list and changes it without a lock.
// A task that ends elsewhere is left with the owner, together with a reference
// that keeps its cell in place, and taken out by the owner's next Collect().
// While nobody owns the list, whoever holds the mutex does.
//
// Invariants: `owned_` changes under the mutex, by the thread that comes or
// goes; so either the owner or a holder of the mutex may touch the list, and
// each change of hands goes through the mutex.
//
// Who wants to see the list asks, and the owner's next Collect() answers.
//
// Tasks that have names are also in a map with a lock of its own, so that anybody
// may ask for them at any time; only those who name their tasks pay for it.
//
// Thread safety: as said at each member.
// Lifetime: empty when destroyed.
#ifndef WEFT_EXECUTOR_TASK_REGISTRY_H_
#define WEFT_EXECUTOR_TASK_REGISTRY_H_

#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weft/executor/task_census.h"
#include "weft/executor/task_list.h"
#include "weft/executor/task_ring.h"
#include "weft/task/spawner.h"
#include "weft/task/task_id.h"
#include "weft/task/waker.h"

namespace weft::executor_internal {

class TaskRegistry {
 public:
  TaskRegistry() = default;
  TaskRegistry(const TaskRegistry&) = delete;
  TaskRegistry& operator=(const TaskRegistry&) = delete;

  // A thread becomes the owner; the owner goes.
  void Own();
  void Disown();

  // The owner.
  void AddOwned(SpawnedTask& task) {
    if (task.named) AddName(task);
    list_.Add(task);
    PublishSize();
  }
  void RemoveOwned(SpawnedTask& task) {
    if (task.named) RemoveName(task);
    list_.Remove(task);
    PublishSize();
  }
  // Takes out what others have left. Drops references: call where user code may
  // run.
  void Collect() {
    // Relaxed: what is missed now is seen the next time.
    if (left_count_.load(std::memory_order_relaxed) != 0) CollectLeft();
  }

  // Any thread while nobody owns it.
  void AddShared(SpawnedTask& task);
  // Any thread, the owner included. Returns how many tasks now wait for the
  // owner's Collect().
  size_t Remove(SpawnedTask& task);

  // Any thread. The owner, or where there is none this call, answers for `who`, if the
  // census exists then.
  void Ask(const std::shared_ptr<TaskCensus>& census, int who);
  // The owner, about to sleep: whether there is something for Collect(). Sequentially
  // consistent, as what Ask() leaves: either this sees it, or who has asked sees that
  // the owner sleeps.
  bool HasLeft() const { return left_count_.load() != 0; }

  // In a signal handler of the thread that owns it, or has; see TaskList.
  size_t TryCopy(std::span<SpawnedTask*> tasks) const {
    // Relaxed: written by this thread.
    return owned_.load(std::memory_order_relaxed) ? list_.TryCopy(tasks) : 0;
  }

  // Any thread.
  size_t Size() const;
  // Appends NAME#ID of tasks that have names, as long as there are fewer than
  // kMaxNames.
  static constexpr size_t kMaxNames = 16;
  void AppendNames(std::vector<std::string>& names) const;
  // Appends a waker of each task. Any thread while nobody owns it.
  void AppendWakers(std::vector<Waker>& wakers) const;

 private:
  using Asked = std::vector<std::pair<std::weak_ptr<TaskCensus>, int>>;

  // Relaxed, as the stores: guarded by mutex_.
  bool IsOwned() const { return owned_.load(std::memory_order_relaxed); }
  void AddName(SpawnedTask& task);
  void RemoveName(SpawnedTask& task);
  void CollectLeft();
  std::vector<std::shared_ptr<TaskCensus>> AnswerAll();
  TaskRing TakeLeft();
  void PublishSize() {
    // Release: read by Size() without the owner's knowing.
    size_.store(list_.size(), std::memory_order_release);
  }

  TaskList list_;  // the owner's, else guarded by mutex_
  std::atomic<size_t> size_{0};
  // Of left_ and asked_: what Collect() will find.
  std::atomic<size_t> left_count_{0};

  mutable std::mutex mutex_;        // guards the next three
  std::atomic<bool> owned_{false};  // atomic for TryCopy()
  TaskRing left_;                   // SpawnedTask*, each with a reference
  Asked asked_;

  mutable std::mutex names_mutex_;  // may be taken while mutex_ is held
  std::map<TaskId, std::string_view> names_;  // guarded by it; the tasks' own
};

}  // namespace weft::executor_internal

#endif  // WEFT_EXECUTOR_TASK_REGISTRY_H_
