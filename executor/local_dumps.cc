// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/executor/local_dumps.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "weft/executor/dump_answers.h"
#include "weft/executor/local_executor.h"
#include "weft/executor/task_dump.h"
#include "weft/task/instant.h"
#include "weft/task/task_info.h"

namespace weft::executor_internal {

void LocalDumps::Ask(int worker, LocalExecutor& executor) {
  asked_.emplace_back(worker, &executor);
  if (executor.IsHome()) {
    own_.push_back(&executor);
    answers_->Give(worker, executor.Dump());
  } else {
    executor.core_->Ask(answers_, worker);
  }
}

void LocalDumps::Wait(Instant deadline) {
  constexpr absl::Duration kOwnLook = absl::Milliseconds(1);
  for (;;) {
    for (LocalExecutor* own : own_) own->core_->AnswerQuestions();
    const Instant look =
        own_.empty() ? deadline : std::min(Instant::Now() + kOwnLook, deadline);
    if (answers_->Wait(asked_.size(), look) || look == deadline) return;
  }
}

TaskDump LocalDumps::Await(Instant deadline) {
  Wait(deadline);
  TaskDump all;
  auto answers = answers_->Take();
  for (const auto& [worker, executor] : asked_) {
    const bool answered = std::any_of(answers.begin(), answers.end(),
                                      [worker = worker](const auto& answer) {
                                        return answer.first == worker;
                                      });
    if (answered) continue;
    all.silent_runners.push_back(worker);
    std::optional<TaskInfo> running = executor->RunningTask();
    if (running.has_value()) all.tasks.push_back(*std::move(running));
  }
  for (auto& [worker, dump] : answers) {
    std::move(dump.tasks.begin(), dump.tasks.end(),
              std::back_inserter(all.tasks));
    all.queued += dump.queued;
  }
  all.Sort();
  return all;
}

}  // namespace weft::executor_internal
