// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// CurrentTaskId and CurrentTaskName: which task the calling code belongs to.
//
//   LOG(INFO) << CurrentTaskId().value() << " " << CurrentTaskName();
//
// They name the spawned task that this thread is polling or whose future it is
// destroying; the innermost one, where such things nest. A blocking job is a
// task, too. What a thread drives without a task (BlockOn, Executor::Run)
// changes nothing: there is still no task, or still the one around it.
//
// Thread safety: any thread.
#ifndef WEFT_TASK_CURRENT_TASK_H_
#define WEFT_TASK_CURRENT_TASK_H_

#include <string_view>

#include "weft/task/task_id.h"

namespace weft {

// The id of no task if there is none.
TaskId CurrentTaskId();

// Empty if there is none or it has no name. Valid until the task has ended.
std::string_view CurrentTaskName();

}  // namespace weft

#endif  // WEFT_TASK_CURRENT_TASK_H_
