// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// EndCount: how many ends of a kind a channel has. Internal.
//
// Thread safety: all methods from any thread.
#ifndef WEFT_SYNC_END_COUNT_H_
#define WEFT_SYNC_END_COUNT_H_

#include <atomic>
#include <cstdint>

namespace weft::sync_internal {

class EndCount {
 public:
  uint32_t Get() const { return count_.load(std::memory_order_acquire); }
  // Relaxed: one more is made from an existing one.
  void Add() { count_.fetch_add(1, std::memory_order_relaxed); }
  // True if it was the last one. Acquire-release: that one sees all the others
  // did.
  bool Remove() { return count_.fetch_sub(1, std::memory_order_acq_rel) == 1; }
  // False if there is none any more.
  bool TryAdd() {
    // Relaxed: the exchange decides.
    uint32_t count = count_.load(std::memory_order_relaxed);
    while (count != 0) {
      if (count_.compare_exchange_weak(count, count + 1,
                                       std::memory_order_acq_rel,
                                       std::memory_order_relaxed)) {
        return true;
      }
    }
    return false;
  }

 private:
  std::atomic<uint32_t> count_{1};
};

}  // namespace weft::sync_internal

#endif  // WEFT_SYNC_END_COUNT_H_
