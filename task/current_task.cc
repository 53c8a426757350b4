// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/task/current_task.h"

#include <string_view>

#include "weft/task/running.h"
#include "weft/task/task_id.h"
#include "weft/task/task_identity.h"

namespace weft {

TaskId CurrentTaskId() {
  const task_internal::TaskIdentity* task =
      task_internal::ThisThreadRuns().task;
  return task == nullptr ? TaskId() : task->id;
}

std::string_view CurrentTaskName() {
  const task_internal::TaskIdentity* task =
      task_internal::ThisThreadRuns().task;
  return task == nullptr ? std::string_view() : task->name();
}

}  // namespace weft
