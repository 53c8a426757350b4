// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// TaskList: the live tasks of an executor that have been suspended at least
// once, linked through their metadata. Internal to the executors.
//
// Thread safety: none; the executor guards it. TryCopy() also in a signal handler, of
// the thread that may change the list.
// Lifetime: a task is removed before its memory goes (Spawner::Unregister).
#ifndef WEFT_EXECUTOR_TASK_LIST_H_
#define WEFT_EXECUTOR_TASK_LIST_H_

#include <atomic>
#include <cstddef>
#include <span>
#include <vector>

#include "weft/task/spawner.h"
#include "weft/task/task_identity.h"
#include "weft/task/task_info.h"
#include "weft/task/waker.h"

namespace weft::executor_internal {

class TaskList {
 public:
  TaskList() = default;
  TaskList(const TaskList&) = delete;
  TaskList& operator=(const TaskList&) = delete;

  size_t size() const { return size_; }

  void Add(SpawnedTask& task);
  void Remove(SpawnedTask& task);

  // Appends each task, with a reference.
  void AppendReferences(std::vector<SpawnedTask*>& tasks) const;
  // Writes each task, with a reference, as far as there is space; returns how many.
  // None if the thread was interrupted while it changed the list.
  size_t TryCopy(std::span<SpawnedTask*> tasks) const;
  // Appends a waker of each task: a reference that keeps its cell alive.
  void AppendWakers(std::vector<Waker>& wakers) const;

 private:
  class ChangeScope;

  SpawnedTask* first_ = nullptr;
  size_t size_ = 0;
  std::atomic<bool> changes_{false};  // for signal handlers
};

// A waker of `task`, the task of such a waker, and who a task is.
Waker WakerOf(SpawnedTask& task);
SpawnedTask& TaskOf(const Waker& waker);
const task_internal::TaskIdentity& IdentityOf(SpawnedTask& task);

// What live tasks do, appended; see task/task_info.h. Takes the caller's references.
// May run schedule functions: call with no lock held.
void InspectTasks(std::vector<SpawnedTask*> tasks,
                  std::vector<TaskInfo>& infos);

// One reference more, and one less, which may free the cell.
void RefTask(SpawnedTask& task);
void UnrefTask(SpawnedTask& task);

// Cancels the tasks that `wakers`, got from WakerOf, belong to. Runs
// schedule functions: call with no lock held.
void CancelTasks(std::vector<Waker> wakers);

}  // namespace weft::executor_internal

#endif  // WEFT_EXECUTOR_TASK_LIST_H_
