// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Clock: where "now" comes from.
//
// Whatever computes or compares deadlines asks the clock of its environment, so
// that a test can put a clock of its own there.
//
// Thread safety: all methods from any thread.
// Lifetime: must outlive every environment that names it.
#ifndef WEFT_TASK_CLOCK_H_
#define WEFT_TASK_CLOCK_H_

#include "weft/task/instant.h"

namespace weft {

namespace timer {
class FakeClock;  // timer/fake_clock.h
}

class Clock {
 public:
  virtual ~Clock() = default;

  // The current moment. Never goes backwards.
  virtual Instant Now() const = 0;

  // The FakeClock that this is. Null for clocks that run with the real one:
  // only on these does a thread sleep until a moment comes.
  virtual timer::FakeClock* AsFake() const { return nullptr; }

  // The real monotonic clock. Lives forever.
  static const Clock& Real();
};

}  // namespace weft

#endif  // WEFT_TASK_CLOCK_H_
