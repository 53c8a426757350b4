// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Counter: a count that its writer advances and anybody reads. Internal.
//
// Each runner has its own, so that nobody writes to a cache line that another
// thread writes to. What is counted only to be shown goes through Count()
// (executor/count.h).
//
// Thread safety: Add() and Reset() by one thread at a time, without a locked
// instruction; AddShared() from any thread, but not beside Add(); Get() from any.
#ifndef WEFT_EXECUTOR_COUNTER_H_
#define WEFT_EXECUTOR_COUNTER_H_

#include <atomic>
#include <cstdint>

namespace weft::executor_internal {

class Counter {
 public:
  void Add(uint64_t n = 1) {
    // Relaxed: a number for people, written by one thread.
    value_.store(value_.load(std::memory_order_relaxed) + n,
                 std::memory_order_relaxed);
  }
  // The same from several threads; returns what it was.
  uint64_t AddShared(uint64_t n = 1) {
    return value_.fetch_add(n, std::memory_order_relaxed);  // relaxed: as above
  }
  uint64_t Get() const {
    return value_.load(std::memory_order_relaxed);  // relaxed: as above
  }
  void Reset() {
    value_.store(0, std::memory_order_relaxed);  // relaxed: as above
  }

 private:
  std::atomic<uint64_t> value_{0};
};

}  // namespace weft::executor_internal

#endif  // WEFT_EXECUTOR_COUNTER_H_
