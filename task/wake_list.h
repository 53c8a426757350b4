// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// WakeList: wakers collected under a lock, to be woken after it is released.
//
// Up to 32 wakers are held in place; when full, the caller releases its lock,
// calls WakeAll() and starts over.
//
//   WakeList wakers;
//   {
//     std::lock_guard lock(mutex_);
//     while (Waiter* w = waiters_.PopFront()) wakers.Add(std::move(w->waker));
//   }
//   wakers.WakeAll();
//
// Thread safety: one thread at a time.
#ifndef WEFT_TASK_WAKE_LIST_H_
#define WEFT_TASK_WAKE_LIST_H_

#include <cstddef>
#include <utility>

#include "weft/task/waker.h"

namespace weft {

class WakeList {
 public:
  static constexpr size_t kCapacity = 32;

  WakeList() = default;
  WakeList(const WakeList&) = delete;
  WakeList& operator=(const WakeList&) = delete;

  bool IsEmpty() const { return size_ == 0; }
  bool IsFull() const { return size_ == kCapacity; }

  // Requires: !IsFull().
  void Add(Waker waker) { wakers_[size_++] = std::move(waker); }

  // Wakes all and is empty afterwards. Call with no lock held.
  void WakeAll() {
    const size_t size = std::exchange(size_, 0);
    for (size_t i = 0; i < size; ++i) std::move(wakers_[i]).Wake();
  }

 private:
  size_t size_ = 0;
  Waker wakers_[kCapacity];
};

}  // namespace weft

#endif  // WEFT_TASK_WAKE_LIST_H_
