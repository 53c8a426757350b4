// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// TrackerCount: how many tasks a TaskTracker has, and whether it is closed.
// Internal.
//
// One word:
//   kClosed (bit 0)    set by Close(), cleared by Reopen()
//   the bits above     the number of tasks
// The word is kClosed alone when nothing is waited for any more. Whoever makes
// it so, by the removal of the last task or by closing, is told and notifies.
// Whoever waits leaves its waker first and then looks at the word; a lock that
// both take for the wakers lets one of them see the other.
//
// Thread safety: all methods from any thread.
#ifndef WEFT_SELECT_TRACKER_COUNT_H_
#define WEFT_SELECT_TRACKER_COUNT_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "weft/task/task_state.h"

namespace weft::select_internal {

// `Atomics` lets a model checker run this code.
template <class Atomics = task_internal::StdAtomics>
class BasicTrackerCount {
 public:
  BasicTrackerCount() : word_(0) {}
  BasicTrackerCount(const BasicTrackerCount&) = delete;
  BasicTrackerCount& operator=(const BasicTrackerCount&) = delete;

  // Relaxed: whoever adds a task has a handle of the tracker, or is a task.
  void Add() { word_.fetch_add(kTask, std::memory_order_relaxed); }

  // A task is gone. True if the caller has to notify, as for Close().
  bool Remove() {
    // Release: what the task did happens before the end of a wait; acquire: with
    // the last one, what all others did, which the notification hands on.
    return word_.fetch_sub(kTask, std::memory_order_acq_rel) ==
           (kTask | kClosed);
  }

  bool Close() {
    // Acquire-release: as in Remove.
    return word_.fetch_or(kClosed, std::memory_order_acq_rel) == 0;
  }
  // Relaxed: publishes nothing.
  void Reopen() { word_.fetch_and(~kClosed, std::memory_order_relaxed); }

  // Closed, and without tasks. Acquire: pairs with the release in Remove.
  bool IsFinished() const {
    return word_.load(std::memory_order_acquire) == kClosed;
  }
  // Relaxed: numbers to look at.
  bool IsClosed() const {
    return (word_.load(std::memory_order_relaxed) & kClosed) != 0;
  }
  size_t size() const {
    return static_cast<size_t>(word_.load(std::memory_order_relaxed) / kTask);
  }

 private:
  static constexpr uint64_t kClosed = 1;
  static constexpr uint64_t kTask = 2;

  typename Atomics::template Atomic<uint64_t> word_;
};

}  // namespace weft::select_internal

#endif  // WEFT_SELECT_TRACKER_COUNT_H_
