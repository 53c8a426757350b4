// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// AbortHandle: cancels a task from anywhere, and does not own it.
//
//   AbortHandle abort = handle.MakeAbortHandle();
//   std::move(handle).Detach();
//   ...
//   abort.Abort();
//
// Thread safety: copies may be used on different threads; one of them as an
// int may be.
// Lifetime: independent of the task, its handle and its executor. It keeps the
// task's block of memory, but neither its future nor its output.
// Dropping: no effect, except on a detached task that nothing can wake any
// more: that one is destroyed with the last of its AbortHandles.
#ifndef WEFT_TASK_ABORT_HANDLE_H_
#define WEFT_TASK_ABORT_HANDLE_H_

#include <string_view>
#include <utility>

#include "weft/task/task_cell.h"
#include "weft/task/task_id.h"
#include "weft/task/task_state.h"

namespace weft {

template <class T>
class JoinHandle;

class AbortHandle {
 public:
  AbortHandle(const AbortHandle& other) : AbortHandle(other.task_) {}
  AbortHandle(AbortHandle&& other) noexcept
      : task_(std::exchange(other.task_, nullptr)) {}
  AbortHandle& operator=(AbortHandle other) noexcept {
    std::swap(task_, other.task_);
    return *this;
  }
  ~AbortHandle() {
    if (task_ != nullptr) task_internal::UnrefTask(task_);
  }

  // Cancels the task: its future is destroyed where it runs, soon, not at once.
  // No effect on one that is finished, or that finishes first. Whoever awaits
  // the task then gets nothing: use Outcome() or Result() there.
  void Abort() const {
    task_internal::CheckNotEmpty(task_);
    task_internal::CancelTask(task_);
  }

  // True once the task is finished or its future has been destroyed.
  bool IsFinished() const {
    task_internal::CheckNotEmpty(task_);
    return (task_internal::LoadState(task_) & task_internal::kDone) != 0;
  }

  TaskId id() const {
    task_internal::CheckNotEmpty(task_);
    return task_->id;
  }
  // Empty if it has none. Valid as long as this handle.
  std::string_view name() const {
    task_internal::CheckNotEmpty(task_);
    return task_->name();
  }

 private:
  template <class T>
  friend class JoinHandle;

  explicit AbortHandle(task_internal::TaskHeader* task) : task_(task) {
    if (task_ != nullptr) task_internal::RefTask(task_);
  }

  task_internal::TaskHeader* task_;
};

}  // namespace weft

#endif  // WEFT_TASK_ABORT_HANDLE_H_
