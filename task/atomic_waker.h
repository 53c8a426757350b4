// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// AtomicWaker: a slot for one waker, filled by one side, fired by any other.
//
// State, one word of two bits:
//   0                      idle: the slot belongs to whoever sets a bit.
//   kRegistering           Register() owns the slot.
//   kWaking                Take() owns the slot.
//   kRegistering|kWaking   Register() owns it and will wake on Take()'s behalf.
//
// A Wake() that comes during Register() is not lost: either it takes the waker,
// old or new, or Register() sees kWaking when it is done and wakes the new one.
// Set the condition before Wake(), and look at it after Register().
// (The algorithm is that of the Rust crate atomic-waker.)
//
// Thread safety: Register from one thread at a time; the rest from any thread.
//
//   waker_.Register(cx.waker());
//   return done_.load() ? Polled<void>(Unit()) : kPending;
#ifndef WEFT_TASK_ATOMIC_WAKER_H_
#define WEFT_TASK_ATOMIC_WAKER_H_

#include <atomic>
#include <cstdint>
#include <utility>

#include "weft/task/task_state.h"
#include "weft/task/waker.h"

namespace weft {

// `Atomics` and `W` let a model checker run this code.
template <class Atomics = task_internal::StdAtomics, class W = Waker>
class BasicAtomicWaker {
 public:
  BasicAtomicWaker() : state_(0) {}
  BasicAtomicWaker(const BasicAtomicWaker&) = delete;
  BasicAtomicWaker& operator=(const BasicAtomicWaker&) = delete;

  // Keeps a clone of `waker` in place of an earlier one.
  void Register(const W& waker) {
    uint32_t state = 0;
    // Acquire: what the last owner of the slot left in it is ours now.
    if (!state_.compare_exchange_strong(state, kRegistering,
                                        std::memory_order_acq_rel,
                                        std::memory_order_acquire)) {
      // Somebody is waking right now, the old waker perhaps: this one too.
      waker.WakeByRef();
      return;
    }
    W old;
    if (!slot_.WillWake(waker)) old = std::exchange(slot_, W(waker));
    state = kRegistering;
    // Release: publishes the slot; acquire: a Take that came meanwhile.
    if (state_.compare_exchange_strong(state, 0, std::memory_order_acq_rel,
                                       std::memory_order_acquire)) {
      return;
    }
    W missed = std::exchange(slot_, W());
    state_.exchange(0, std::memory_order_acq_rel);
    std::move(missed).Wake();
  }

  // Removes the waker and returns it, or an empty one if there is none or if it
  // will be woken by a Register() that is under way.
  W Take() {
    // Acquire: the slot's content; release: the condition, for Register to see.
    if (state_.fetch_or(kWaking, std::memory_order_acq_rel) != 0) return W();
    W waker = std::exchange(slot_, W());
    // Release: gives the slot back.
    state_.fetch_and(~kWaking, std::memory_order_release);
    return waker;
  }

  void Wake() { Take().Wake(); }

 private:
  static constexpr uint32_t kRegistering = 1;
  static constexpr uint32_t kWaking = 2;

  typename Atomics::template Atomic<uint32_t> state_;
  W slot_;
};

using AtomicWaker = BasicAtomicWaker<>;

}  // namespace weft

#endif  // WEFT_TASK_ATOMIC_WAKER_H_
