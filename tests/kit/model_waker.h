// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// ModelWaker: a waker of a Relacy model, which wakes by setting a flag.
//
//   rl::atomic<int> woken;
//   while (!core->Poll(ModelWaker(&woken))) {
//     while (woken(RL_INFO).exchange(0, rl::mo_acquire) == 0) {
//       rl::yield(1, RL_INFO);
//     }
//   }
//
// Include it after every other header, as relacy_atomics.h.
//
// Thread safety: as a Waker.
// Lifetime: the flag outlives it.
#ifndef WEFT_TESTS_KIT_MODEL_WAKER_H_
#define WEFT_TESTS_KIT_MODEL_WAKER_H_

#include <utility>

#include "weft/tests/kit/relacy_atomics.h"

namespace weft {

class ModelWaker {
 public:
  ModelWaker() = default;
  explicit ModelWaker(rl::atomic<int>* flag) : flag_(flag) {}
  ModelWaker(const ModelWaker&) = default;
  ModelWaker(ModelWaker&& other) : flag_(std::exchange(other.flag_, nullptr)) {}
  ModelWaker& operator=(ModelWaker other) {
    std::swap(flag_, other.flag_);
    return *this;
  }

  void Wake() && { WakeByRef(); }
  void WakeByRef() const {
    if (flag_ != nullptr) (*flag_)(RL_INFO).store(1, rl::mo_release);
  }
  bool WillWake(const ModelWaker& other) const { return flag_ == other.flag_; }

 private:
  rl::atomic<int>* flag_ = nullptr;
};

}  // namespace weft

#endif  // WEFT_TESTS_KIT_MODEL_WAKER_H_
