// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// GroupWait: a place in one of the queues of a TaskGroupCore. Internal.
//
// Thread safety: one thread at a time.
// Dropping: leaves the queue.
#ifndef WEFT_SELECT_TASK_GROUP_WAIT_H_
#define WEFT_SELECT_TASK_GROUP_WAIT_H_

#include <utility>

#include "weft/select/task_group_core.h"
#include "weft/sync/wait_queue.h"

namespace weft::select_internal {

// A place in one of the core's queues.
class GroupWait {
 public:
  GroupWait(TaskGroupRef core, bool for_all)
      : core_(std::move(core)), for_all_(for_all) {}
  GroupWait(GroupWait&&) = default;
  GroupWait& operator=(GroupWait&&) = delete;
  ~GroupWait() {
    if (node_.polled) core_->DropWait(node_, for_all_);
  }

  TaskGroupCore& core() { return *core_.operator->(); }
  sync_internal::WaitNode& node() { return node_; }

 private:
  TaskGroupRef core_;
  const bool for_all_;
  sync_internal::WaitNode node_;
};

}  // namespace weft::select_internal

#endif  // WEFT_SELECT_TASK_GROUP_WAIT_H_
