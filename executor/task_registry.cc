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
  owned_.store(true, std::memory_order_relaxed);  // relaxed: see IsOwned()
}

void TaskRegistry::Disown() {
  TaskRing left;
  std::vector<std::shared_ptr<TaskCensus>> answered;  // goes after the lock
  {
    const std::lock_guard lock(mutex_);
    left = TakeLeft();
    answered = AnswerAll();
    owned_.store(false, std::memory_order_relaxed);  // relaxed: see IsOwned()
  }
  DropAll(left);
}

void TaskRegistry::AddShared(SpawnedTask& task) {
  const std::lock_guard lock(mutex_);
  AddOwned(task);
}

size_t TaskRegistry::Remove(SpawnedTask& task) {
  const std::lock_guard lock(mutex_);
  if (!IsOwned()) {
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
  std::vector<std::shared_ptr<TaskCensus>> answered;  // goes after the lock
  {
    const std::lock_guard lock(mutex_);
    left = TakeLeft();
    answered = AnswerAll();
  }
  DropAll(left);
}

void TaskRegistry::Ask(const std::shared_ptr<TaskCensus>& census, int who) {
  const std::lock_guard lock(mutex_);
  if (!IsOwned()) return census->Answer(who, list_);
  std::erase_if(asked_,
                [](const auto& asked) { return asked.first.expired(); });
  asked_.emplace_back(census, who);
  left_count_.store(left_.size() + asked_.size());  // see HasLeft()
}

// Requires: the mutex is held, by the owner. What it returns may be the last that
// keeps a census, and so tasks.
std::vector<std::shared_ptr<TaskCensus>> TaskRegistry::AnswerAll() {
  std::vector<std::shared_ptr<TaskCensus>> answered;
  for (const auto& [asked, who] : std::exchange(asked_, {})) {
    std::shared_ptr<TaskCensus> census = asked.lock();
    if (census == nullptr) continue;
    census->Answer(who, list_);
    answered.push_back(std::move(census));
  }
  return answered;
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
