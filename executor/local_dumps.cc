// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/executor/local_dumps.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "weft/executor/local_executor.h"
#include "weft/executor/steady_deadline.h"
#include "weft/executor/task_dump.h"
#include "weft/task/instant.h"
#include "weft/task/ready.h"
#include "weft/task/spawner.h"
#include "weft/task/task_info.h"

namespace weft::executor_internal {

void LocalDumps::Ask(int worker, LocalExecutor& executor, Spawner& spawner) {
  asked_.emplace_back(worker, &executor);
  auto answer = [answers = answers_, worker, executor = &executor] {
    TaskDump dump = executor->Dump();
    {
      const std::lock_guard lock(answers->mutex);
      answers->of.emplace_back(worker, std::move(dump));
    }
    answers->given.notify_all();
    return Ready();
  };
  if (executor.IsHome()) {
    static_cast<void>(answer());
  } else {
    tasks_.push_back(spawner.Spawn(std::move(answer)));
  }
}

// It looks, late.
bool LocalDumps::IsOurs(TaskId id) const {
  return std::any_of(tasks_.begin(), tasks_.end(),
                     [id](const auto& task) { return task.id() == id; });
}

TaskDump LocalDumps::Await(Instant deadline) {
  TaskDump all;
  std::unique_lock lock(answers_->mutex);
  answers_->given.wait_until(lock, SteadyDeadline(deadline), [this] {
    return answers_->of.size() == asked_.size();
  });
  std::vector<LocalExecutor*> busy;
  for (const auto& [worker, executor] : asked_) {
    const bool answered = std::any_of(
        answers_->of.begin(), answers_->of.end(),
        [worker = worker](const auto& of) { return of.first == worker; });
    if (answered) continue;
    all.silent_runners.push_back(worker);
    busy.push_back(executor);
  }
  for (auto& [worker, dump] : answers_->of) {
    std::move(dump.tasks.begin(), dump.tasks.end(),
              std::back_inserter(all.tasks));
    all.queued += dump.queued;
  }
  lock.unlock();
  for (const LocalExecutor* executor : busy) {
    std::optional<TaskInfo> running = executor->RunningTask();
    if (running.has_value() && !IsOurs(running->id)) {
      all.tasks.push_back(*std::move(running));
    }
  }
  all.Sort();
  tasks_.clear();  // who has not looked need not
  return all;
}

}  // namespace weft::executor_internal
