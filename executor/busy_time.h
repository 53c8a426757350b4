// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// BusyTime: for how long a thread has been at work, parked times left out.
// Internal.
//
// State, one word, in nanoseconds:
//   >= 0  the thread is not at work; the sum of all times at work
//   <  0  it is: that sum minus the moment when the present time began. The clock
//         has run for longer than the thread has worked, so this is negative.
// So a reader gets the sum with the present time in it from one load and the clock. It
// looks at the word again after the clock, since a thread that went to rest in between
// has not worked until then. But one that goes to rest has looked at the clock before
// it writes, so a read in between tells a little too much. Therefore readers keep the
// most that was ever told, and tell no less.
//
// Thread safety: Begin() and End() by one thread at a time, Read() from any.
#ifndef WEFT_EXECUTOR_BUSY_TIME_H_
#define WEFT_EXECUTOR_BUSY_TIME_H_

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "weft/task/instant.h"

namespace weft::executor_internal {

class BusyTime {
 public:
  // Does nothing if it has begun.
  void Begin(Instant now) {
    // Relaxed, all: a number for people, written by one thread.
    const int64_t word = word_.load(std::memory_order_relaxed);
    if (word < 0) return;
    word_.store(word - now.nanoseconds(), std::memory_order_relaxed);
  }
  // Does nothing if it has ended.
  void End(Instant now) {
    const int64_t word = word_.load(std::memory_order_relaxed);
    if (word >= 0) return;
    word_.store(word + now.nanoseconds(), std::memory_order_relaxed);
  }

  // Nanoseconds. `clock()` gives the present Instant.
  template <class Clock>
  int64_t Read(Clock clock) const {
    const int64_t sum = Look(clock);
    // Relaxed: no other memory depends on it.
    int64_t told = told_.load(std::memory_order_relaxed);
    while (told < sum &&
           !told_.compare_exchange_weak(told, sum, std::memory_order_relaxed)) {
    }
    return std::max(told, sum);
  }
  int64_t Read() const { return Read(&Instant::Now); }

  // Requires: not at work.
  void Reset() {
    word_.store(0, std::memory_order_relaxed);  // relaxed: as above
    told_.store(0, std::memory_order_relaxed);  // relaxed: as above
  }

 private:
  template <class Clock>
  int64_t Look(Clock clock) const {
    // Relaxed: as in Begin().
    int64_t word = word_.load(std::memory_order_relaxed);
    while (word < 0) {
      const Instant now = clock();
      const int64_t again = word_.load(std::memory_order_relaxed);
      if (again == word) return word + now.nanoseconds();
      word = again;
    }
    return word;
  }

  std::atomic<int64_t> word_{0};
  mutable std::atomic<int64_t> told_{0};  // of all reads, the most
};

}  // namespace weft::executor_internal

#endif  // WEFT_EXECUTOR_BUSY_TIME_H_
