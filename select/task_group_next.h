// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// What TaskGroup::Next() and SpawnWhenRoom() return: futures of one result, and of
// room.
//
// A result leaves the group in the poll that gives it, so a future that is
// dropped has none. They share the group's core, and may outlive the group; then
// they see its tasks cancelled. Internal.
//
// Thread safety: one thread at a time.
#ifndef WEFT_SELECT_TASK_GROUP_NEXT_H_
#define WEFT_SELECT_TASK_GROUP_NEXT_H_

#include <memory>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "weft/select/task_group_core.h"
#include "weft/select/task_group_task.h"
#include "weft/select/task_group_wait.h"
#include "weft/sync/semaphore.h"
#include "weft/sync/wait_queue.h"
#include "weft/task/await_trace.h"
#include "weft/task/context.h"
#include "weft/task/polled.h"
#include "weft/task/status.h"

namespace weft::select_internal {

// The next result, in the order that `take` says; nullopt if there are no tasks.
template <class T, class Key, template <class, class> class Give>
class [[nodiscard]] GroupNextFuture {
 public:
  using Entry = TypedGroupEntry<T, Key>;
  using Output = std::optional<typename Give<T, Key>::Item>;

  GroupNextFuture(TaskGroupRef core, TaskGroupCore::Take take)
      : wait_(std::move(core), /*for_all=*/false), take_(take) {}

  Polled<Output> Poll(Context& cx) {
    return PollWith(wait_.core(), wait_.node(), cx, take_);
  }

  static Polled<Output> PollWith(TaskGroupCore& core,
                                 sync_internal::WaitNode& wait, Context& cx,
                                 TaskGroupCore::Take take) {
    GroupEntry* taken = nullptr;
    if (!core.PollTake(wait, cx, take, taken)) return kPending;
    if (taken == nullptr) return Output();
    return Output(
        Give<T, Key>::Give(std::unique_ptr<Entry>(static_cast<Entry*>(taken))));
  }

  // See task/await_trace.h.
  void Trace(AwaitTrace& trace) const {
    trace.AddFuture("a task of a TaskGroup");
  }

 private:
  GroupWait wait_;
  const TaskGroupCore::Take take_;
};

// Calls spawn(core, permit) once there is room; Cancelled if the group is.
template <class Spawn>
class [[nodiscard]] GroupRoomFuture {
 public:
  using Output = absl::Status;

  GroupRoomFuture(TaskGroupRef core, Spawn spawn)
      : core_(std::move(core)), spawn_(std::move(spawn)) {}

  Polled<absl::Status> Poll(Context& cx) {
    std::optional<GroupPermit> permit;
    if (core_->options().limit != 0) {
      if (!acquire_.has_value()) acquire_.emplace(core_->permits().Acquire());
      auto acquired = acquire_->Poll(cx);
      if (acquired.IsPending()) return kPending;
      if (!acquired->ok()) return CancelledStatus();
      permit.emplace(*std::move(*acquired));
    }
    if (core_->IsCancelled()) return CancelledStatus();
    spawn_(core_, std::move(permit));
    return absl::OkStatus();
  }

  // See task/await_trace.h.
  void Trace(AwaitTrace& trace) const {
    trace.AddFuture("room in a TaskGroup");
  }

 private:
  // What comes later is destroyed first.
  TaskGroupRef core_;
  Spawn spawn_;
  std::optional<sync::Semaphore::AcquireFuture> acquire_;
};

}  // namespace weft::select_internal

#endif  // WEFT_SELECT_TASK_GROUP_NEXT_H_
