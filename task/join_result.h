// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// JoinResult<T>: how a task ended: with a value, by an exception, or with
// neither: cancelled, or refused by a full executor.
//
//   JoinResult<int> result = co_await std::move(handle).Result();
//   if (result.exception() != nullptr) Restart(result.id());
//
// Thread safety: as a plain value.
#ifndef WEFT_TASK_JOIN_RESULT_H_
#define WEFT_TASK_JOIN_RESULT_H_

#include <exception>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "weft/task/polled.h"
#include "weft/task/status.h"
#include "weft/task/task_id.h"

namespace weft {
namespace task_internal {

// CHECK-fails for a value that there is none of.
[[noreturn]] void FailWithoutValue(const std::exception_ptr& exception,
                                   const absl::Status& why);

}  // namespace task_internal

template <class T = void>
class [[nodiscard]] JoinResult {
 public:
  using Value = StoredOf<T>;  // void as Unit, a reference in a wrapper

  // A value, an exception, or neither, for the reason `why`, which is not OK.
  JoinResult(TaskId id, std::optional<Value> value,
             std::exception_ptr exception = nullptr,
             absl::Status why = CancelledStatus())
      : id_(id),
        value_(std::move(value)),
        exception_(std::move(exception)),
        why_(std::move(why)) {}

  bool has_value() const { return value_.has_value(); }
  // Neither a value nor an exception: stopped by a handle, an AbortHandle or the
  // end of its executor, or refused by a full one. status() tells which.
  bool IsCancelled() const { return !has_value() && exception_ == nullptr; }
  // Of what IsCancelled(): Cancelled or ResourceExhausted, as
  // JoinHandle::Outcome() has it. Else OK.
  absl::Status status() const {
    return IsCancelled() ? why_ : absl::OkStatus();
  }
  // What the task threw, or null.
  const std::exception_ptr& exception() const { return exception_; }

  // Requires: has_value(). The exception is not rethrown: the failed check says
  // what it is.
  Value& value() & {
    CheckHasValue();
    return *value_;
  }
  const Value& value() const& {
    CheckHasValue();
    return *value_;
  }
  Value&& value() && {
    CheckHasValue();
    return *std::move(value_);
  }

  // Which task it was.
  TaskId id() const { return id_; }

 private:
  void CheckHasValue() const {
    if (!has_value()) task_internal::FailWithoutValue(exception_, why_);
  }

  TaskId id_;
  std::optional<Value> value_;
  std::exception_ptr exception_;
  absl::Status why_;  // means something if IsCancelled()
};

}  // namespace weft

#endif  // WEFT_TASK_JOIN_RESULT_H_
