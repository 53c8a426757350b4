// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Latch: opens, for good, once it was counted down.
//
//   Latch loaded(3);
//   Spawn(Load(&loaded, "a")).Detach();  // ... loaded.CountDown();
//   ...
//   co_await loaded.Wait();              // until all three have loaded
//
// What happened before any CountDown happens before the end of each wait.
//
// Thread safety: all methods from any thread. Constant-initialized.
// Lifetime: outlives its waits. A released waiter may destroy it at once, while
// CountDown() is still returning.
// Dropping: a wait that is dropped leaves the queue. An arrival has happened and
// stays counted, also if the wait behind it is dropped.
#ifndef WEFT_SYNC_LATCH_H_
#define WEFT_SYNC_LATCH_H_

#include <atomic>
#include <cstddef>
#include <utility>

#include "weft/sync/event.h"
#include "weft/task/check.h"
#include "weft/task/context.h"
#include "weft/task/polled.h"

namespace weft::sync {

class Latch {
 public:
  class ArriveAndWaitFuture;

  // Requires: count > 0.
  explicit constexpr Latch(size_t count) : count_(count) {
    WEFT_CHECK(count > 0, "a Latch starts at 1 or more");
  }
  Latch(const Latch&) = delete;
  Latch& operator=(const Latch&) = delete;

  // Requires: no more than is left.
  void CountDown(size_t count = 1);
  // True once it is open.
  bool TryWait() const;
  // How often it must still be counted down. May be old when it is returned; only
  // TryWait() tells whether the end has been reached.
  size_t count() const;

  // Ready once it is open.
  Event::WaitFuture Wait();
  void BlockingWait();

  // CountDown(count) at its first poll, then Wait().
  ArriveAndWaitFuture ArriveAndWait(size_t count = 1);
  void BlockingArriveAndWait(size_t count = 1);

 private:
  std::atomic<size_t> count_;
  // Set by whoever counts down to 0, and what all look at: an Event may be
  // destroyed by who sees it set.
  Event open_;
};

class [[nodiscard]] Latch::ArriveAndWaitFuture {
 public:
  using Output = void;

  ArriveAndWaitFuture(ArriveAndWaitFuture&&) = default;
  ArriveAndWaitFuture& operator=(ArriveAndWaitFuture&&) = delete;

  Polled<void> Poll(Context& cx) {
    if (!std::exchange(arrived_, true)) latch_.CountDown(count_);
    return wait_.Poll(cx);
  }

 private:
  friend Latch;
  ArriveAndWaitFuture(Latch& latch, size_t count)
      : latch_(latch), count_(count), wait_(latch.Wait()) {}

  Latch& latch_;
  const size_t count_;
  bool arrived_ = false;
  Event::WaitFuture wait_;
};

inline Latch::ArriveAndWaitFuture Latch::ArriveAndWait(size_t count) {
  return ArriveAndWaitFuture(*this, count);
}

}  // namespace weft::sync

#endif  // WEFT_SYNC_LATCH_H_
