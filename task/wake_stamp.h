// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// WakeStamp: when a future was first woken since it was last polled. Internal;
// see task/instrument.h.
//
// State, one word:
//   kPolling    a poll is under way, or there was none yet; nothing woke it since
//               it began. Set by BeginPoll.
//   kWokenInPoll  the same, but it was woken. Set by Mark.
//   kWaiting    the poll ended pending, and nothing woke it since it began. Set
//               by EndPoll.
//   a time      what Mark's clock said, at the first wake since. Set by Mark.
//   kOver       there will be no poll any more. Set by Close.
//
//               BeginPoll            EndPoll             Mark
//      (any) ------------> kPolling --------> kWaiting --------> a time
//                             | Mark
//                             v    EndPoll leaves it
//                          kWokenInPoll
//
// BeginPoll is an exchange, so each Mark falls into one poll or the time behind
// it, and is reported by the next BeginPoll: a Mark that comes before a poll in
// the order of the word's changes is in what that poll's BeginPoll returns, or in
// what an earlier one returned. Mark reads the clock only where it finds kWaiting,
// so never once Close has been seen. It may come late with a time that it read in
// an earlier wait; so who uses the time holds it against both ends of the wait.
//
// The word says nothing about what else a waker publishes: that is the business
// of the waker that is called after Mark.
//
// Thread safety: Mark from any thread; the rest by who polls the future.
#ifndef WEFT_TASK_WAKE_STAMP_H_
#define WEFT_TASK_WAKE_STAMP_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>

#include "weft/task/task_state.h"

namespace weft::task_internal {

// `Atomics` lets a model checker run this code.
template <class Atomics = StdAtomics>
class BasicWakeStamp {
 public:
  // Below every time, which is nanoseconds of an Instant.
  static constexpr int64_t kPolling = std::numeric_limits<int64_t>::min();
  static constexpr int64_t kWokenInPoll = kPolling + 1;
  static constexpr int64_t kWaiting = kPolling + 2;
  static constexpr int64_t kOver = kPolling + 3;

  BasicWakeStamp() : word_(kPolling) {}
  BasicWakeStamp(const BasicWakeStamp&) = delete;
  BasicWakeStamp& operator=(const BasicWakeStamp&) = delete;

  // A poll begins; returns what the word was: kWokenInPoll, kWaiting if nothing
  // woke the future, or the time of the wake.
  int64_t BeginPoll() {
    // Relaxed: the word is all that is read.
    return word_.exchange(kPolling, std::memory_order_relaxed);
  }

  // The poll ended pending.
  void EndPoll() {
    int64_t polling = kPolling;
    // Release: what now() in Mark will use was written before.
    word_.compare_exchange_strong(polling, kWaiting, std::memory_order_release,
                                  std::memory_order_relaxed);
  }

  void Close() {
    // Relaxed: as in BeginPoll().
    word_.exchange(kOver, std::memory_order_relaxed);
  }

  // The future is about to be woken. Calls now(), which returns a time, at most
  // once for each wait that it finds.
  template <class Now>
  void Mark(Now now) {
    // Acquire, here and below: pairs with EndPoll.
    int64_t seen = word_.load(std::memory_order_acquire);
    while (seen == kPolling || seen == kWaiting) {
      const int64_t mark =
          seen == kPolling ? kWokenInPoll : std::max<int64_t>(now(), kOver + 1);
      if (word_.compare_exchange_strong(seen, mark, std::memory_order_acquire,
                                        std::memory_order_acquire)) {
        return;
      }
    }
  }

 private:
  typename Atomics::template Atomic<int64_t> word_;
};

using WakeStamp = BasicWakeStamp<>;

}  // namespace weft::task_internal

#endif  // WEFT_TASK_WAKE_STAMP_H_
