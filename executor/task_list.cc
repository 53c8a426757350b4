// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/executor/task_list.h"

#include <cstddef>
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

void TaskList::Add(SpawnedTask& task) {
  task.previous = nullptr;
  task.next = first_;
  if (first_ != nullptr) first_->previous = &task;
  first_ = &task;
  ++size_;
}

void TaskList::Remove(SpawnedTask& task) {
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

TaskInfo InspectTask(SpawnedTask& task) {
  return task_internal::Inspect(HeaderOf(&task));
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
