// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/executor/task_census.h"

#include <mutex>
#include <utility>
#include <vector>

#include "weft/executor/steady_deadline.h"
#include "weft/executor/task_list.h"
#include "weft/task/instant.h"
#include "weft/task/spawner.h"

namespace weft::executor_internal {

TaskCensus::~TaskCensus() {
  for (SpawnedTask* task : tasks_) UnrefTask(*task);
}

void TaskCensus::Answer(int who, const TaskList& tasks) {
  const std::lock_guard lock(mutex_);
  tasks.AppendReferences(tasks_);
  who_.push_back(who);
  answered_.notify_all();
}

bool TaskCensus::Wait(int answers, Instant deadline) {
  std::unique_lock lock(mutex_);
  return answered_.wait_until(lock, SteadyDeadline(deadline), [&] {
    return who_.size() >= static_cast<size_t>(answers);
  });
}

std::vector<int> TaskCensus::Answered() const {
  const std::lock_guard lock(mutex_);
  return who_;
}

std::vector<SpawnedTask*> TaskCensus::Take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(tasks_, {});
}

}  // namespace weft::executor_internal
