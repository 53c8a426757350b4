// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Watchers: which sleeping runners look after the drivers of those who are in
// long polls. Internal to the executor; docs/design/executor.md says what for.
//
// State: how many runners watch, and per runner a flag: it is awake, that is, has
// polled something since it parked.
//
// Protocol:
//   awake     is set first; then the runner looks whether somebody watches, and if
//             not wakes a sleeper.
//   sleepers  for good stop watching first, then look whether somebody is awake,
//             and if so watch again.
// All of it is sequentially consistent, so of two that race at least one sees the
// other: while a runner is awake and another sleeps, somebody watches or is being
// woken for it.
//
// Thread safety: any thread.
#ifndef WEFT_EXECUTOR_WATCHERS_H_
#define WEFT_EXECUTOR_WATCHERS_H_

#include <atomic>

#include "weft/task/task_state.h"

namespace weft::executor_internal {

// At most `max` watch at a time. One, since a sleep with a deadline costs more than
// one without. `Atomics` lets a model checker run this code.
template <int max = 1, class Atomics = task_internal::StdAtomics>
class Watchers {
 public:
  using Flag = typename Atomics::template Atomic<bool>;

  Watchers() : count_(0) {}
  Watchers(const Watchers&) = delete;
  Watchers& operator=(const Watchers&) = delete;

  // A runner, whose flag `awake` is, is about to poll for the first time since it
  // parked. True if it must wake a sleeper, if there is one.
  bool WakeUp(Flag& awake) {
    awake.store(true, std::memory_order_seq_cst);
    return count_.load(std::memory_order_seq_cst) == 0;
  }

  // A runner that others can wake is going to sleep. True if it watches: it wakes
  // soon, looks after the others and calls Stop(). Where it is `tired` it does so
  // only if others_awake() says that some flag is set.
  template <class OthersAwake>
  bool TryStart(bool tired, OthersAwake others_awake) {
    if (tired && !others_awake()) return false;
    for (;;) {
      if (count_.fetch_add(1, std::memory_order_seq_cst) < max) return true;
      // Too many. If they have gone meanwhile, somebody may have counted on this
      // one.
      if (count_.fetch_sub(1, std::memory_order_seq_cst) != 1) return false;
    }
  }

  void Stop() { count_.fetch_sub(1, std::memory_order_seq_cst); }

 private:
  typename Atomics::template Atomic<int> count_;
};

}  // namespace weft::executor_internal

#endif  // WEFT_EXECUTOR_WATCHERS_H_
