// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Parker: a driver that only sleeps.
//
// State: one futex word {empty, parked, notified}. Unpark stores "notified" and
// makes a system call only if somebody was parked.
//
// Thread safety: Park from one thread at a time, unparkers from any thread.
// Lifetime: unparkers own counted references to the word and may outlive it.
//
//   Parker parker;
//   std::thread t([w = parker.Unparker()]() mutable { std::move(w).Wake(); });
//   parker.Park(Instant::Infinite());
#ifndef WEFT_TASK_PARKER_H_
#define WEFT_TASK_PARKER_H_

#include "weft/task/driver.h"
#include "weft/task/instant.h"
#include "weft/task/waker.h"

namespace weft {

class Parker final : public Driver {
 public:
  Parker();
  Parker(const Parker&) = delete;
  Parker& operator=(const Parker&) = delete;
  ~Parker() override;

  // Sleeps until unparked or until `deadline` on the real monotonic clock.
  void Park(Instant deadline) override;
  Waker Unparker() override;

  // Makes the current or the next Park return.
  void Unpark();

 private:
  struct Core;
  static const WakerVTable kUnparkVTable;

  Core* const core_;
};

}  // namespace weft

#endif  // WEFT_TASK_PARKER_H_
