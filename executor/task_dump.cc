// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/executor/task_dump.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "weft/task/task_info.h"

namespace weft {

void TaskDump::Sort() {
  const auto key = [](const TaskInfo& task) {
    return std::pair(task.id, task.state != TaskInfo::State::kRunning);
  };
  std::sort(
      tasks.begin(), tasks.end(),
      [key](const TaskInfo& a, const TaskInfo& b) { return key(a) < key(b); });
  const auto end = std::unique(
      tasks.begin(), tasks.end(),
      [](const TaskInfo& a, const TaskInfo& b) { return a.id == b.id; });
  tasks.erase(end, tasks.end());
}

std::string TaskDump::ToString() const {
  std::string text;
  if (!silent_runners.empty()) {
    absl::StrAppend(&text, "no answer from runners ",
                    absl::StrJoin(silent_runners, ", "),
                    ", which are in a long poll or in BlockInPlace(): tasks "
                    "of theirs are missing (a StuckTaskMonitor can interrupt "
                    "those of an Executor)\nof the others: ");
  }
  absl::StrAppend(&text, tasks.size(), tasks.size() == 1 ? " task" : " tasks",
                  " suspended or suspended before, ", queued, " in queues\n");
  for (const TaskInfo& task : tasks) absl::StrAppend(&text, task.ToString());
  return text;
}

}  // namespace weft
