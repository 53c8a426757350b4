// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// WakeFlag: lets one system call stand for any number of wakes.
//
// One word:
//   kAwake      The driver's thread runs, and will look before it sleeps.
//   kIdle       It sleeps in the kernel, or is about to.
//   kNotified   Somebody wants it; it will not sleep, or has been told.
//
//   Notify():    swap in kNotified; only who finds kIdle makes the system call.
//   BeginWait(): kAwake -> kIdle, or false if kNotified: do not sleep.
//   EndWait():   swap in kAwake, before looking at what the wakes were about.
//
// Why no wake is lost: all three are read-modify-writes of one word, so a
// Notify() is either before the BeginWait(), which then refuses; or between it
// and the EndWait(), and then the first such one ends the sleep; or after the
// EndWait(), and is found by the next BeginWait(). What happened before any of
// the notifies is seen after the EndWait() that swallowed it.
//
// Thread safety: Notify from any thread, the rest from one at a time.
#ifndef WEFT_IO_WAKE_FLAG_H_
#define WEFT_IO_WAKE_FLAG_H_

#include <atomic>
#include <cstdint>

#include "weft/task/task_state.h"

namespace weft::io::io_internal {

// `Atomics` names the atomic template, so that a model checker can run this
// code.
template <class Atomics = task_internal::StdAtomics>
class BasicWakeFlag {
 public:
  BasicWakeFlag() : word_(kAwake) {}

  // True if the caller must end the sleep in the kernel. A plain load that
  // found kNotified would not do: the swap also publishes what the caller did.
  bool Notify() {
    // Release: publishes what the wake is about; acquire: carries on what the
    // notifies before it published.
    return word_.exchange(kNotified, std::memory_order_acq_rel) == kIdle;
  }

  // True if the caller may sleep; it calls EndWait() in any case.
  bool BeginWait() {
    uint32_t word = kAwake;
    // Relaxed: nothing is looked at before EndWait().
    return word_.compare_exchange_strong(word, kIdle, std::memory_order_relaxed,
                                         std::memory_order_relaxed);
  }

  void EndWait() {
    // Acquire: pairs with Notify.
    word_.exchange(kAwake, std::memory_order_acq_rel);
  }

 private:
  static constexpr uint32_t kAwake = 0;
  static constexpr uint32_t kIdle = 1;
  static constexpr uint32_t kNotified = 2;

  typename Atomics::template Atomic<uint32_t> word_;
};

using WakeFlag = BasicWakeFlag<>;

}  // namespace weft::io::io_internal

#endif  // WEFT_IO_WAKE_FLAG_H_
