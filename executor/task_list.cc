// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/executor/task_list.h"

#include <atomic>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "weft/task/spawner.h"
#include "weft/task/task_cell.h"
#include "weft/task/task_identity.h"
#include "weft/task/task_info.h"
#include "weft/task/waker.h"

namespace weft::executor_internal {
namespace {

using Header = task_internal::TaskHeaderWith<SpawnedTask>;

// Both compilers lay the metadata out at a fixed offset, as they do for every
// class without virtual bases.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"
constexpr size_t kOffset = offsetof(Header, metadata);
#pragma GCC diagnostic pop

task_internal::TaskHeader* HeaderOf(SpawnedTask* task) {
  return reinterpret_cast<Header*>(reinterpret_cast<char*>(task) - kOffset);
}

}  // namespace

// Signal fences: a handler on this thread sees the flag as long as links are loose.
// Relaxed: for that thread alone.
class TaskList::ChangeScope {
 public:
  explicit ChangeScope(std::atomic<bool>& changes) : changes_(changes) {
    changes_.store(true, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  ChangeScope(const ChangeScope&) = delete;
  ChangeScope& operator=(const ChangeScope&) = delete;
  ~ChangeScope() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    changes_.store(false, std::memory_order_relaxed);  // relaxed: as above
  }

 private:
  std::atomic<bool>& changes_;
};

void TaskList::Add(SpawnedTask& task) {
  const ChangeScope scope(changes_);
  task.previous = nullptr;
  task.next = first_;
  if (first_ != nullptr) first_->previous = &task;
  first_ = &task;
  ++size_;
}

void TaskList::Remove(SpawnedTask& task) {
  const ChangeScope scope(changes_);
  (task.previous != nullptr ? task.previous->next : first_) = task.next;
  if (task.next != nullptr) task.next->previous = task.previous;
  --size_;
}

void TaskList::AppendWakers(std::vector<Waker>& wakers) const {
  for (SpawnedTask* task = first_; task != nullptr; task = task->next) {
    wakers.push_back(WakerOf(*task));
  }
}

void TaskList::AppendReferences(std::vector<SpawnedTask*>& tasks) const {
  for (SpawnedTask* task = first_; task != nullptr; task = task->next) {
    RefTask(*task);
    tasks.push_back(task);
  }
}

size_t TaskList::TryCopy(std::span<SpawnedTask*> tasks) const {
  // Relaxed: as above.
  if (changes_.load(std::memory_order_relaxed)) return 0;
  size_t count = 0;
  for (SpawnedTask* task = first_; task != nullptr && count < tasks.size();
       task = task->next) {
    RefTask(*task);
    tasks[count++] = task;
  }
  return count;
}

void InspectTasks(std::vector<SpawnedTask*> tasks,
                  std::vector<TaskInfo>& infos) {
  for (SpawnedTask* task : tasks) {
    TaskInfo info = task_internal::Inspect(HeaderOf(task));
    if (info.state != TaskInfo::State::kFinished) {
      infos.push_back(std::move(info));
    }
    UnrefTask(*task);
  }
}

Waker WakerOf(SpawnedTask& task) {
  return task_internal::MakeTaskWaker(HeaderOf(&task));
}

void RefTask(SpawnedTask& task) { task_internal::RefTask(HeaderOf(&task)); }

void UnrefTask(SpawnedTask& task) { task_internal::UnrefTask(HeaderOf(&task)); }

const task_internal::TaskIdentity& IdentityOf(SpawnedTask& task) {
  return *HeaderOf(&task);
}

void CancelTasks(std::vector<Waker> wakers) {
  // The data of a task's waker is its header.
  for (Waker& waker : wakers) {
    task_internal::CancelTask(
        static_cast<task_internal::TaskHeader*>(waker.data()));
    waker = Waker();
  }
}

}  // namespace weft::executor_internal
