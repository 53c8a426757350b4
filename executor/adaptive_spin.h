// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// AdaptiveSpin: how often a thread looks for work before it sleeps. Internal.
//
// Waking a sleeping thread costs both sides microseconds, a look some 50 ns. A
// series of looks that finds something doubles the number for the next time, a
// vain one halves it, so that a thread with little to do hardly spins.
//
//   for (uint32_t i = 0; i < spin.looks() && !found; ++i) RelaxProcessor();
//   spin.Ended(found);
//
// Thread safety: none.
#ifndef WEFT_EXECUTOR_ADAPTIVE_SPIN_H_
#define WEFT_EXECUTOR_ADAPTIVE_SPIN_H_

#include <algorithm>
#include <cstdint>

namespace weft::executor_internal {

class AdaptiveSpin {
 public:
  static constexpr uint32_t kMin = 4;
  static constexpr uint32_t kMax = 256;

  explicit AdaptiveSpin(uint32_t looks = kMax) : looks_(looks) {}

  uint32_t looks() const { return looks_; }

  // A series of looks has ended.
  void Ended(bool found) {
    looks_ = found ? std::min(2 * looks_, kMax) : std::max(looks_ / 2, kMin);
  }

 private:
  uint32_t looks_;
};

// What a loop does between two looks at a word that another thread will write:
// lets the other hardware thread of the core run, and costs some 50 ns.
inline void RelaxProcessor() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb");
#endif
}

}  // namespace weft::executor_internal

#endif  // WEFT_EXECUTOR_ADAPTIVE_SPIN_H_
