// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// TaskId: the number of a spawned task.
//
// Never given twice while the process lives, and never 0, which stands for "no
// task". Ids say nothing about order: each thread takes them from a block of
// its own.
//
//   std::map<TaskId, Request> running;
//   running.emplace(handle.id(), request);
//
// Thread safety: a plain value.
#ifndef WEFT_TASK_TASK_ID_H_
#define WEFT_TASK_TASK_ID_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

namespace weft {

class TaskId {
 public:
  constexpr TaskId() = default;  // of no task
  explicit constexpr TaskId(uint64_t value) : value_(value) {}

  constexpr uint64_t value() const { return value_; }
  // True if it is the id of a task.
  explicit constexpr operator bool() const { return value_ != 0; }

  friend constexpr auto operator<=>(TaskId, TaskId) = default;
  template <class H>
  friend H AbslHashValue(H h, TaskId id) {
    return H::combine(std::move(h), id.value_);
  }

 private:
  uint64_t value_ = 0;
};

namespace task_internal {

// A new one. Any thread.
TaskId NewTaskId();

}  // namespace task_internal
}  // namespace weft

template <>
struct std::hash<weft::TaskId> {
  size_t operator()(weft::TaskId id) const noexcept {
    return std::hash<uint64_t>()(id.value());
  }
};

#endif  // WEFT_TASK_TASK_ID_H_
