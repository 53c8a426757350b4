// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// TaskRing: the ready tasks of one thread, first in, first out. Internal.
//
// A ring that doubles when it is full and never shrinks. What is in it is not
// destroyed with it.
//
// Thread safety: none.
#ifndef WEFT_EXECUTOR_TASK_RING_H_
#define WEFT_EXECUTOR_TASK_RING_H_

#include <cstddef>
#include <utility>
#include <vector>

namespace weft::executor_internal {

class TaskRing {
 public:
  bool empty() const { return pushed_ == popped_; }
  size_t size() const { return pushed_ - popped_; }

  void Push(void* runnable) {
    if (size() == slots_.size()) Grow();
    slots_[pushed_++ & (slots_.size() - 1)] = runnable;
  }
  // Requires: not empty.
  void* Pop() { return slots_[popped_++ & (slots_.size() - 1)]; }
  // What is popped next, or anything if it is empty: an address to prefetch.
  const void* PeekNext() const { return slots_[popped_ & (slots_.size() - 1)]; }

 private:
  static constexpr size_t kFirstSize = 64;

  [[gnu::noinline]] void Grow() {
    const size_t size = slots_.size();
    std::vector<void*> slots(size == 0 ? kFirstSize : 2 * size);
    for (size_t i = 0; i < size; ++i) {
      slots[i] = slots_[(popped_ + i) & (size - 1)];
    }
    slots_ = std::move(slots);
    popped_ = 0;
    pushed_ = size;
  }

  std::vector<void*> slots_;  // a power of two, or none
  size_t popped_ = 0;
  size_t pushed_ = 0;
};

}  // namespace weft::executor_internal

#endif  // WEFT_EXECUTOR_TASK_RING_H_
