// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Timers: a driver that adds deadlines to another driver.
//
// A thread that waits in Timers waits in the driver inside, no longer than
// until the next deadline, and wakes the sleeps whose deadlines have come. The
// driver inside may be a reactor, a Parker, or a foreign loop's.
//
//   Parker parker;
//   Timers timers(parker, Clock::Real());
//   Environment env;
//   env.driver = &timers;
//   env.timers = &timers;
//   EnvironmentScope scope(env);
//   BlockOn(After(absl::Milliseconds(5)));  // needs no second thread
//
// Each thread of a runtime has its own. Sleeps bind to the Timers of the
// environment in which they are first polled, may be reset and dropped on any
// thread, and interrupt the waiting thread only if theirs is the deadline it
// would otherwise sleep past. Sleeps never come early; how late they come is up
// to the driver inside and to how long the thread runs between two waits.
//
// On a FakeClock time moves instead of the thread sleeping: timer/fake_clock.h.
//
// Thread safety: Park from one thread at a time; the rest from any thread, TryPoll
// while the object lives.
// Lifetime: `inner` and `clock` outlive it. Sleeps may be left over: they are
// woken, and bind to the Timers of whoever polls them next.
#ifndef WEFT_TIMER_TIMERS_H_
#define WEFT_TIMER_TIMERS_H_

#include <cstdint>

#include "weft/task/clock.h"
#include "weft/task/driver.h"
#include "weft/task/instant.h"
#include "weft/task/waker.h"
#include "weft/timer/fake_clock.h"
#include "weft/timer/timer_core.h"

namespace weft::timer {

class Sleep;

// What the sleeps of one Timers did since it was made. A sleep that is reset while it
// waits goes on waiting.
struct TimersStats {
  uint64_t pending = 0;    // that wait, now
  uint64_t started = 0;    // that had to wait
  uint64_t fired = 0;      // whose deadline came
  uint64_t cancelled = 0;  // that were dropped or stopped before
};

class Timers final : public Driver {
 public:
  // Waits in `inner`, with deadlines on `clock`: the real one, one that agrees
  // with it, or a FakeClock.
  explicit Timers(Driver& inner, const Clock& clock = Clock::Real());
  Timers(const Timers&) = delete;
  Timers& operator=(const Timers&) = delete;
  ~Timers() override;

  // Does what destruction does to sleeps, while the object stays: for owners that
  // others may still point to. Requires: nobody parks, now or later.
  void Close() { core_->Close(); }

  // See Driver. `deadline` is on this object's clock. Fires what is due, before
  // it waits and after.
  void Park(Instant deadline) override;
  bool TryPoll() override;
  Waker Unparker() override;
  uint64_t HandledEvents() const override {
    return fired_ + inner_.HandledEvents();
  }

  const Clock& clock() const { return clock_; }

  // The earliest deadline that a sleep waits for, or Infinite(); for a foreign
  // loop that calls Park(Instant::Past()) when it has come. It changes whenever
  // a sleep is polled, reset or dropped; the Unparker is woken where that makes
  // it earlier while a Park waits.
  Instant NextDeadline() const { return core_->NextDeadline(); }

  // From any thread.
  TimersStats stats() const {
    const timer_internal::TimerCounts counts = core_->Counts();
    return {.pending = counts.pending,
            .started = counts.inserted,
            .fired = counts.fired,
            .cancelled = counts.cancelled};
  }

 private:
  friend Sleep;

  void ParkOnFakeClock(Instant deadline);
  bool Fire();

  Driver& inner_;
  const Clock& clock_;
  FakeClock* const fake_;              // `clock_`, if it is one
  FakeClock::Sleeper* const sleeper_;  // this thread, to a FakeClock
  timer_internal::TimerCore* const core_;

  // The parking thread's.
  uint64_t fired_ = 0;       // how often anything was fired
  bool takes_part_ = false;  // the clock knows that a thread waits here
};

}  // namespace weft::timer

#endif  // WEFT_TIMER_TIMERS_H_
