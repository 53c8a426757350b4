// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Barrier: lets nobody through until so many have come, again and again.
//
//   Barrier step(workers);
//   for (;;) {
//     ComputeMyPart();
//     const bool leader = co_await step.Wait();
//     if (leader) SwapBuffers();     // one of them
//     co_await step.Wait();
//   }
//
// The last to come opens the barrier and is the leader of the round. What happened
// before each Wait of a round happens before the end of all of them.
//
// Thread safety: all methods from any thread. Constant-initialized.
// Lifetime: outlives its waits, the leader's too: while that returns, the others
// may destroy the barrier.
// Dropping: a wait that is dropped before the barrier opens is not counted any
// more, so the barrier never opens one short; after that it has no effect.
#ifndef WEFT_SYNC_BARRIER_H_
#define WEFT_SYNC_BARRIER_H_

#include <cstddef>

#include "weft/sync/small_mutex.h"
#include "weft/sync/wait_queue.h"
#include "weft/task/check.h"
#include "weft/task/context.h"
#include "weft/task/polled.h"

namespace weft::sync {

class Barrier {
 public:
  class WaitFuture;

  // Opens whenever `count` have come. Requires: count > 0.
  explicit constexpr Barrier(size_t count) : count_(count) {
    WEFT_CHECK(count > 0, "a Barrier is for one or more");
  }
  Barrier(const Barrier&) = delete;
  Barrier& operator=(const Barrier&) = delete;
  // Requires: nobody waits.
  ~Barrier();

  // Comes at its first poll. Ready, when the barrier opens, with true for the
  // leader and false for the others.
  WaitFuture Wait();
  bool BlockingWait();

  size_t count() const { return count_; }
  // How many have come and wait for the rest.
  size_t arrived() const;

 private:
  // Nothing while it waits.
  Polled<bool> PollWait(sync_internal::WaitNode& node, Context& cx);
  Polled<bool> Arrive(sync_internal::WaitNode& node, Context& cx);
  void DropWait(sync_internal::WaitNode& node);

  const size_t count_;
  mutable sync_internal::SmallMutex mutex_;
  // All who have come in this round; fewer than `count_`. Guarded by `mutex_`.
  sync_internal::WaitQueue arrived_;
};

class [[nodiscard]] Barrier::WaitFuture {
 public:
  using Output = bool;

  WaitFuture(WaitFuture&&) = default;
  WaitFuture& operator=(WaitFuture&&) = delete;
  ~WaitFuture() {
    if (node_.polled) barrier_.DropWait(node_);
  }

  Polled<bool> Poll(Context& cx) { return barrier_.PollWait(node_, cx); }

 private:
  friend Barrier;
  explicit WaitFuture(Barrier& barrier) : barrier_(barrier) {}

  Barrier& barrier_;
  sync_internal::WaitNode node_;
};

inline Barrier::WaitFuture Barrier::Wait() { return WaitFuture(*this); }

}  // namespace weft::sync

#endif  // WEFT_SYNC_BARRIER_H_
