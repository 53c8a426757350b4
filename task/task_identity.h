// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// TaskIdentity: the part of a spawned task that says who it is; and
// TaskExtrasPtr, what only some tasks have. Internal, except that what
// SpawnBuilder::Extras() returns may be handed to Runnable::SetExtras().
//
// Thread safety: `id` and the name are constant; the locals belong to who runs
// the task. Lifetime: that of the task's memory; the locals go with the future.
#ifndef WEFT_TASK_TASK_IDENTITY_H_
#define WEFT_TASK_TASK_IDENTITY_H_

#include <memory>
#include <string>
#include <string_view>

#include "weft/task/local_list.h"
#include "weft/task/source_location.h"
#include "weft/task/task_id.h"

namespace weft {
namespace task_internal {

struct TaskExtras {
  const std::string name;
  InheritedLocals locals;
};

struct DeleteTaskExtras {
  void operator()(TaskExtras* extras) const noexcept;
};

}  // namespace task_internal

// Null for a task that has none.
using TaskExtrasPtr =
    std::unique_ptr<task_internal::TaskExtras, task_internal::DeleteTaskExtras>;

namespace task_internal {

struct TaskIdentity {
  // Empty if it has none.
  std::string_view name() const {
    return extras == nullptr ? std::string_view() : extras->name;
  }
  const LocalNode* locals() const {
    return extras == nullptr ? nullptr : extras->locals.head();
  }
  // For people: task 7 "reader", blocking job 8.
  std::string Describe() const;

  const TaskId id = NewTaskId();
  TaskExtrasPtr extras;  // set before anybody else knows the task
  SourceLocation spawned_at = SourceLocation();  // likewise
  bool is_job = false;  // given to an Offload; likewise
};

}  // namespace task_internal
}  // namespace weft

#endif  // WEFT_TASK_TASK_IDENTITY_H_
