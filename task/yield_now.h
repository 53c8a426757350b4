// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// YieldNow: lets everything else run once.
//
// Pending at its first poll, having woken its own task; ready at the second.
// The task goes to the end of its executor's queue, and a thread's driver is
// polled before the task runs again, so that a loop of yields starves no I/O.
//
//   for (const Block& block : blocks) {
//     Hash(block);
//     co_await YieldNow();
//   }
//
// Thread safety: one thread at a time.
// Dropping: no effect.
#ifndef WEFT_TASK_YIELD_NOW_H_
#define WEFT_TASK_YIELD_NOW_H_

#include <utility>

#include "weft/task/context.h"
#include "weft/task/polled.h"

namespace weft {

class [[nodiscard]] YieldNow {
 public:
  using Output = void;
  static constexpr bool kMovableAfterPoll = true;

  Polled<void> Poll(Context& cx) {
    if (std::exchange(yielded_, true)) return Unit();
    cx.waker().WakeByRef();
    return kPending;
  }

 private:
  bool yielded_ = false;
};

}  // namespace weft

#endif  // WEFT_TASK_YIELD_NOW_H_
