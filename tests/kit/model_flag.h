// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// ModelFlag: what a thread of a Relacy model sleeps by, for code that keeps a Waker.
// (For code that takes the type of its wakers there is model_waker.h.)
//
//   ModelFlag flag;             // flag.Reset() in the model's before()
//   const BorrowedWaker waker = flag.waker();
//   Context cx(waker.get());
//   while (!Poll(cx)) flag.Wait();
//
// Include it after every other header, as relacy_atomics.h.
//
// Thread safety: Wait() by one thread, wakers by any.
// Lifetime: outlives its wakers.
#ifndef WEFT_TESTS_KIT_MODEL_FLAG_H_
#define WEFT_TESTS_KIT_MODEL_FLAG_H_

#include "weft/task/waker.h"
#include "weft/tests/kit/relacy_atomics.h"

namespace weft {

class ModelFlag {
 public:
  void Reset() { word_(RL_INFO).store(0, rl::mo_relaxed); }

  BorrowedWaker waker() { return BorrowedWaker(&kVTable, this); }

  // Sleeps until it is woken, which it forgets then.
  void Wait() {
    while (word_(RL_INFO).exchange(0, rl::mo_acquire) == 0) {
      rl::yield(1, RL_INFO);
    }
  }

 private:
  static Waker Clone(void* flag) { return Waker(&kVTable, flag); }
  static void Set(void* flag) {
    static_cast<ModelFlag*>(flag)->word_(RL_INFO).store(1, rl::mo_release);
  }
  static void Drop(void*) {}

  static constexpr WakerVTable kVTable = {
      .clone = Clone, .wake = Set, .wake_by_ref = Set, .drop = Drop};

  rl::atomic<int> word_;
};

}  // namespace weft

#endif  // WEFT_TESTS_KIT_MODEL_FLAG_H_
