// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/executor/task_registry.h"

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "weft/executor/task_census.h"
#include "weft/executor/task_list.h"
#include "weft/executor/task_ring.h"
#include "weft/task/spawner.h"
#include "weft/task/task_identity.h"
#include "weft/task/waker.h"

namespace weft::executor_internal {
namespace {

// Call with no lock held.
void DropAll(TaskRing& left) {
  while (!left.empty()) UnrefTask(*static_cast<SpawnedTask*>(left.Pop()));
}

}  // namespace

void TaskRegistry::Own() {
  const std::lock_guard lock(mutex_);
  owned_ = true;
}

void TaskRegistry::Disown() {
  TaskRing left;
  Asked answered;  // may drop the last reference of a census, and so of tasks
  {
    const std::lock_guard lock(mutex_);
    left = TakeLeft();
    answered = AnswerAll();
    owned_ = false;
  }
  DropAll(left);
}

void TaskRegistry::AddShared(SpawnedTask& task) {
  const std::lock_guard lock(mutex_);
  AddOwned(task);
}

size_t TaskRegistry::Remove(SpawnedTask& task) {
  const std::lock_guard lock(mutex_);
  if (!owned_) {
    RemoveOwned(task);
    return 0;
  }
  if (task.named) RemoveName(task);
  RefTask(task);
  left_.Push(&task);
  // Relaxed: changed under the mutex; Collect() only wants to know that it is
  // not zero.
  left_count_.store(left_.size() + asked_.size(), std::memory_order_relaxed);
  return left_.size();
}

void TaskRegistry::AddName(SpawnedTask& task) {
  const task_internal::TaskIdentity& identity = IdentityOf(task);
  const std::lock_guard lock(names_mutex_);
  names_.emplace(identity.id, identity.name());
}

void TaskRegistry::RemoveName(SpawnedTask& task) {
  const std::lock_guard lock(names_mutex_);
  names_.erase(IdentityOf(task).id);
}

void TaskRegistry::AppendNames(std::vector<std::string>& names) const {
  const std::lock_guard lock(names_mutex_);
  for (const auto& [id, name] : names_) {
    if (names.size() >= kMaxNames) return;
    names.push_back(std::string(name) + "#" + std::to_string(id.value()));
  }
}

void TaskRegistry::CollectLeft() {
  TaskRing left;
  Asked answered;  // as in Disown()
  {
    const std::lock_guard lock(mutex_);
    left = TakeLeft();
    answered = AnswerAll();
  }
  DropAll(left);
}

void TaskRegistry::Ask(std::shared_ptr<TaskCensus> census, int who) {
  Asked answered;  // as in Disown()
  const std::lock_guard lock(mutex_);
  asked_.emplace_back(std::move(census), who);
  if (!owned_) answered = AnswerAll();
  // Relaxed: as in Remove().
  left_count_.store(left_.size() + asked_.size(), std::memory_order_relaxed);
}

// Requires: the mutex is held, by the owner if there is one.
TaskRegistry::Asked TaskRegistry::AnswerAll() {
  for (const auto& [census, who] : asked_) census->Answer(who, list_);
  return std::exchange(asked_, {});
}

// Requires: the mutex is held, by the owner.
TaskRing TaskRegistry::TakeLeft() {
  for (size_t i = 0; i < left_.size(); ++i) {
    void* task = left_.Pop();
    list_.Remove(*static_cast<SpawnedTask*>(task));
    left_.Push(task);
  }
  left_count_.store(0, std::memory_order_relaxed);  // relaxed: as in Remove
  PublishSize();
  return std::move(left_);
}

size_t TaskRegistry::Size() const {
  // The two numbers belong together: TakeLeft() changes both.
  const std::lock_guard lock(mutex_);
  return size_.load(std::memory_order_acquire) - left_.size();
}

void TaskRegistry::AppendWakers(std::vector<Waker>& wakers) const {
  const std::lock_guard lock(mutex_);
  list_.AppendWakers(wakers);
}

}  // namespace weft::executor_internal
