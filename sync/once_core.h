// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// OnceCore: a OnceCell without its value: whether there is one, whose turn it is
// to make it, and who waits for either. Internal; sync/once_cell.h is the cell.
//
// A turn has one owner at a time, until it ends: with a value, for good, or
// without, and then it is the next one's in the queue. A node in the state
// kNotified owns the turn; in kReleased, there is a value.
//
// Thread safety: all methods from any thread. Constant-initialized.
// Lifetime: outlives its nodes. Whoever sees the value may destroy it at once.
#ifndef WEFT_SYNC_ONCE_CORE_H_
#define WEFT_SYNC_ONCE_CORE_H_

#include <atomic>

#include "weft/sync/small_mutex.h"
#include "weft/sync/wait_queue.h"
#include "weft/task/context.h"

namespace weft::sync_internal {

class OnceCore {
 public:
  enum class Turn { kNotYet, kMine, kHasValue };

  constexpr OnceCore() = default;
  OnceCore(const OnceCore&) = delete;
  OnceCore& operator=(const OnceCore&) = delete;
  // Requires: nobody waits.
  ~OnceCore();

  bool HasValue() const {
    // Acquire: pairs with the release in EndTurnWithValue.
    return has_value_.load(std::memory_order_acquire);
  }

  // Takes the turn if nobody has it.
  Turn TryTurn();
  Turn PollTurn(WaitNode& node, Context& cx);
  void DropTurnWait(WaitNode& node);

  // Requires, of both: the caller has the turn.
  void EndTurnWithValue();
  void EndTurn();

  // True once there is a value.
  bool PollValue(WaitNode& node, Context& cx);
  void DropValueWait(WaitNode& node);

  // There is no value any more. Requires: nobody uses this at the same time.
  void Clear() {
    // Relaxed: see above.
    has_value_.store(false, std::memory_order_relaxed);
  }

 private:
  // Written under `mutex_`, read anywhere; set last in a turn.
  std::atomic<bool> has_value_{false};

  SmallMutex mutex_;
  // Guarded by `mutex_`. While nobody has the turn, nobody waits for it.
  bool turn_taken_ = false;
  WaitQueue turn_waiters_;
  WaitQueue value_waiters_;
};

}  // namespace weft::sync_internal

#endif  // WEFT_SYNC_ONCE_CORE_H_
