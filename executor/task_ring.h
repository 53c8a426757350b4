// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// TaskRing: ready tasks, first in, first out. Internal.
//
// A ring that doubles when it is full. What is in it is not destroyed with it.
// A task is pushed where somebody wakes it, which must neither throw nor lose
// it: without memory to grow the program ends with a message.
//
// Thread safety: none.
#ifndef WEFT_EXECUTOR_TASK_RING_H_
#define WEFT_EXECUTOR_TASK_RING_H_

#include <cstddef>
#include <memory>
#include <new>
#include <utility>

#include "weft/task/check.h"

namespace weft::executor_internal {

class TaskRing {
 public:
  TaskRing() = default;
  TaskRing(TaskRing&& other) noexcept { Swap(other); }
  TaskRing& operator=(TaskRing&& other) noexcept {
    Swap(other);
    return *this;
  }

  bool empty() const { return pushed_ == popped_; }
  size_t size() const { return pushed_ - popped_; }

  void Push(void* task) {
    if (size() == capacity_) Grow();
    slots_[pushed_++ & (capacity_ - 1)] = task;
  }
  // Requires: not empty.
  void* Pop() { return slots_[popped_++ & (capacity_ - 1)]; }
  // What is popped next, or anything if it is empty: an address to prefetch.
  // Requires: something was pushed before.
  const void* PeekNext() const { return slots_[popped_ & (capacity_ - 1)]; }

  // Gives the memory of an empty ring that has been large back.
  void Trim() {
    if (capacity_ > kKept && empty()) *this = TaskRing();
  }

 private:
  static constexpr size_t kFirstSize = 64;
  static constexpr size_t kKept = 1024;

  void Swap(TaskRing& other) {
    std::swap(slots_, other.slots_);
    std::swap(capacity_, other.capacity_);
    std::swap(popped_, other.popped_);
    std::swap(pushed_, other.pushed_);
  }

  [[gnu::noinline]] void Grow() {
    const size_t size = capacity_;
    capacity_ = size == 0 ? kFirstSize : 2 * size;
    std::unique_ptr<void*[]> slots(new (std::nothrow) void*[capacity_]());
    WEFT_CHECK(slots != nullptr, "out of memory: a task cannot be queued");
    for (size_t i = 0; i < size; ++i) {
      slots[i] = slots_[(popped_ + i) & (size - 1)];
    }
    slots_ = std::move(slots);
    popped_ = 0;
    pushed_ = size;
  }

  std::unique_ptr<void*[]> slots_;
  size_t capacity_ = 0;  // a power of two, or none
  size_t popped_ = 0;
  size_t pushed_ = 0;
};

}  // namespace weft::executor_internal

#endif  // WEFT_EXECUTOR_TASK_RING_H_
