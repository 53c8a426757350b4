// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// WaiterCount: how many wait, so that a notifier need not lock a queue that is
// empty. Internal; sync/event.h uses it.
//
// Algorithm (Dekker's). A waiter announces itself, then looks at what it may
// have to wait for. A notifier changes that, then looks for waiters. There is a
// full fence between the two steps of each, and one of the fences comes first:
// the other side sees what was written before it. So either the notifier sees
// the waiter, locks the queue and finds it, or the waiter sees the change.
//
// The waiter announces itself with the queue's lock held, before it joins: who
// sees the count and then locks finds it in the queue.
//
// Thread safety: the methods that write belong to the lock of the queue.
#ifndef WEFT_SYNC_WAITER_COUNT_H_
#define WEFT_SYNC_WAITER_COUNT_H_

#include <atomic>
#include <cstddef>

#include "weft/task/task_state.h"

namespace weft::sync_internal {

struct StdFencedAtomics : task_internal::StdAtomics {
  static void FullFence() {
    std::atomic_thread_fence(std::memory_order_seq_cst);
  }
};

// `Atomics` lets a model checker run this code.
template <class Atomics = StdFencedAtomics>
class BasicWaiterCount {
 public:
  constexpr BasicWaiterCount() : count_(0) {}
  BasicWaiterCount(const BasicWaiterCount&) = delete;
  BasicWaiterCount& operator=(const BasicWaiterCount&) = delete;

  // One more is about to join, and makes it `count`. What the caller looks at
  // afterwards is as new as the last change whose notifier missed this.
  void Announce(size_t count) {
    Update(count);
    Atomics::FullFence();
  }
  // Some have left, and `count` are there.
  void Update(size_t count) {
    // Relaxed: the lock orders those who write, the fences those who read.
    count_.store(count, std::memory_order_relaxed);
  }

  // False if nobody waits for what the caller has changed before this.
  bool MayBeWaiters() const {
    Atomics::FullFence();
    return Get() != 0;
  }
  size_t Get() const {
    // Relaxed: see above.
    return count_.load(std::memory_order_relaxed);
  }

 private:
  typename Atomics::template Atomic<size_t> count_;
};

using WaiterCount = BasicWaiterCount<>;

}  // namespace weft::sync_internal

#endif  // WEFT_SYNC_WAITER_COUNT_H_
