// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/runtime/local_dumps.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "weft/executor/local_executor.h"
#include "weft/executor/steady_deadline.h"
#include "weft/executor/task_dump.h"
#include "weft/task/instant.h"
#include "weft/task/ready.h"
#include "weft/task/spawner.h"

namespace weft::runtime_internal {

void LocalDumps::Ask(int worker, LocalExecutor& executor, Spawner& spawner) {
  asked_.push_back(worker);
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

TaskDump LocalDumps::Await(Instant deadline) {
  TaskDump all;
  std::unique_lock lock(answers_->mutex);
  answers_->given.wait_until(
      lock, executor_internal::SteadyDeadline(deadline),
      [this] { return answers_->of.size() == asked_.size(); });
  for (const int worker : asked_) {
    const bool answered =
        std::any_of(answers_->of.begin(), answers_->of.end(),
                    [worker](const auto& of) { return of.first == worker; });
    if (!answered) all.silent_runners.push_back(worker);
  }
  for (auto& [worker, dump] : answers_->of) {
    std::move(dump.tasks.begin(), dump.tasks.end(),
              std::back_inserter(all.tasks));
    all.queued += dump.queued;
  }
  lock.unlock();
  all.Sort();
  tasks_.clear();  // who has not looked need not
  return all;
}

}  // namespace weft::runtime_internal
