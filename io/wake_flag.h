// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// WakeFlag: lets one system call stand for any number of wakes.
//
// One word:
//   kAwake      The driver's thread runs, and will look before it sleeps.
//   kInEpoll,   It sleeps there, or is about to. On the word itself it sleeps while
//   kOnWord     it watches no descriptor, which is cheaper on both sides.
//   kNotified   Somebody wants it; it will not sleep, or has been told.
//
//   Notify():    swap in kNotified; only who finds it asleep makes the system call.
//   BeginWait(): kAwake -> asleep, or false if kNotified: do not sleep.
//   EndWait():   swap in kAwake, before looking at what the wakes were about.
//   LeaveWord(): kOnWord -> kNotified.
//
// Why no wake is lost: all are read-modify-writes of one word (LeaveWord() where it
// matters), so a Notify() is either before the BeginWait(), which then refuses; or
// between it and the EndWait(), and then the first such one ends the sleep; or after
// the EndWait(), and is found by the next BeginWait(). What happened before any of
// the notifies is seen after the EndWait() that swallowed it.
//
// Why nobody sleeps on the word beside a descriptor: who registers one counts it
// first and calls LeaveWord() then; who sleeps calls BeginWait() first and looks at
// the count then. All four are sequentially consistent, so one sees the other.
//
// Thread safety: Notify from any thread, the rest from one at a time.
#ifndef WEFT_IO_WAKE_FLAG_H_
#define WEFT_IO_WAKE_FLAG_H_

#include <atomic>
#include <cstdint>

#include "weft/task/task_state.h"

namespace weft::io::io_internal {

enum class Sleep : uint32_t { kNone = 0, kInEpoll = 1, kOnWord = 2 };

// `Atomics` names the atomic template, so that a model checker can run this
// code.
template <class Atomics = task_internal::StdAtomics>
class BasicWakeFlag {
 public:
  BasicWakeFlag() : word_(kAwake) {}

  // The sleep that the caller must end in the kernel. A plain load that found
  // kNotified would not do: the swap also publishes what the caller did.
  Sleep Notify() {
    // Release: publishes what the wake is about; acquire: carries on what the
    // notifies before it published.
    const uint32_t word = word_.exchange(kNotified, std::memory_order_acq_rel);
    return word == kNotified ? Sleep::kNone : static_cast<Sleep>(word);
  }

  // True if the caller may sleep; it calls EndWait() in any case.
  bool BeginWait(Sleep sleep) {
    uint32_t word = kAwake;
    return word_.compare_exchange_strong(word, static_cast<uint32_t>(sleep),
                                         std::memory_order_seq_cst,
                                         std::memory_order_relaxed);
  }

  // True if the caller must end a sleep on the word.
  bool LeaveWord() {
    uint32_t word = static_cast<uint32_t>(Sleep::kOnWord);
    return word_.compare_exchange_strong(
        word, kNotified, std::memory_order_seq_cst, std::memory_order_seq_cst);
  }

  void EndWait() {
    // Acquire: pairs with Notify.
    word_.exchange(kAwake, std::memory_order_acq_rel);
  }

  // To sleep on while it is Sleep::kOnWord.
  auto& word() { return word_; }

 private:
  static constexpr uint32_t kAwake = static_cast<uint32_t>(Sleep::kNone);
  static constexpr uint32_t kNotified = 3;

  typename Atomics::template Atomic<uint32_t> word_;
};

using WakeFlag = BasicWakeFlag<>;

}  // namespace weft::io::io_internal

#endif  // WEFT_IO_WAKE_FLAG_H_
