// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// JoinResult<T>: how a task ended: with a value, by an exception, cancelled.
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

#include "weft/task/check.h"
#include "weft/task/polled.h"
#include "weft/task/task_id.h"

namespace weft {

template <class T = void>
class [[nodiscard]] JoinResult {
 public:
  using Value = StoredOf<T>;  // void as Unit, a reference in a wrapper

  // Neither a value nor an exception: cancelled.
  JoinResult(TaskId id, std::optional<Value> value,
             std::exception_ptr exception = nullptr)
      : id_(id), value_(std::move(value)), exception_(std::move(exception)) {}

  bool has_value() const { return value_.has_value(); }
  // By a handle, an AbortHandle, or the end of its executor.
  bool IsCancelled() const { return !has_value() && exception_ == nullptr; }
  // What the task threw, or null.
  const std::exception_ptr& exception() const { return exception_; }

  // Requires: has_value().
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
    WEFT_CHECK(has_value(),
               "the task threw or was cancelled: ask has_value() first");
  }

  TaskId id_;
  std::optional<Value> value_;
  std::exception_ptr exception_;
};

}  // namespace weft

#endif  // WEFT_TASK_JOIN_RESULT_H_
