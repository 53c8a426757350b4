// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Backoff: waiting for another thread that is in the middle of a few instructions.
// Internal.
//
// Spins at first, and gives the processor away from then on, in case the other
// thread has lost its own.
//
// Thread safety: one thread at a time.
#ifndef WEFT_SYNC_BACKOFF_H_
#define WEFT_SYNC_BACKOFF_H_

#include <cstdint>
#include <thread>

#include "weft/task/task_state.h"

namespace weft::sync_internal {

template <class Atomics = task_internal::StdAtomics>
class Backoff {
 public:
  // Some 1 to 64 looks; longer than a move of a value takes.
  static constexpr uint32_t kSpins = 64;

  // True while spinning has not been given up.
  bool IsSpinning() const { return waits_ < kSpins; }

  void Wait() {
    if constexpr (requires { Atomics::Yield(); }) {
      Atomics::Yield();  // a model checker's
    } else if (IsSpinning()) {
      ++waits_;
      Relax();
    } else {
      std::this_thread::yield();
    }
  }

 private:
  static void Relax() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("isb");
#endif
  }

  uint32_t waits_ = 0;
};

}  // namespace weft::sync_internal

#endif  // WEFT_SYNC_BACKOFF_H_
