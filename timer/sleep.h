// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Sleep: a future that is ready when a moment has come.
//
//   co_await After(absl::Milliseconds(50));
//   co_await After(std::chrono::seconds(2));
//   co_await At(deadline);
//
// Never early, by not a nanosecond; zero, negative and past are ready at the
// first poll; an infinite one never is. Nothing overflows.
//
// The deadline is computed when the Sleep is made, from the clock of the
// environment that is current then. At its first pending poll a Sleep is put
// into the Timers of the environment it is polled in, else those of a FakeClock
// there, else a service thread's. That is where it stays, whoever polls it
// later; if those Timers are destroyed, it goes to the next poller's.
//
// The clock is CLOCK_MONOTONIC unless the environment has another: it does not
// jump when the time of day is set, and stands still while the machine sleeps.
//
// Thread safety: one thread at a time; any thread each time.
// Lifetime: independent of Timers and of clocks. Movable until first polled.
// Dropping: takes it out of its Timers; nothing is lost.
#ifndef WEFT_TIMER_SLEEP_H_
#define WEFT_TIMER_SLEEP_H_

#include <chrono>

#include "absl/time/time.h"
#include "weft/task/context.h"
#include "weft/task/environment.h"
#include "weft/task/instant.h"
#include "weft/task/polled.h"
#include "weft/timer/timer_core.h"

namespace weft::timer {

class [[nodiscard]] Sleep {
 public:
  using Output = void;

  explicit Sleep(Instant deadline) { entry_.deadline = deadline.nanoseconds(); }
  // CHECK-fails if `other` has been polled: its Timers hold its address.
  Sleep(Sleep&& other) noexcept;
  Sleep& operator=(Sleep&& other) = delete;
  ~Sleep() { timer_internal::TimerCore::Remove(entry_); }

  // Ready once the deadline has come.
  Polled<void> Poll(Context& cx);

  Instant deadline() const { return Instant::FromNanoseconds(entry_.deadline); }

  // True once the deadline has come, whether or not this has been polled since.
  bool IsElapsed() const;

  // Sets another deadline, also after this one has come: then it may be polled
  // again. Whoever polled it last is woken at the new one, or at once if that
  // has come; after it was ready, poll it again for that.
  void Reset(Instant deadline);
  // From now, on the current environment's clock.
  void Reset(absl::Duration d) { Reset(Environment::CurrentClock().Now() + d); }
  // No deadline: never ready until it is Reset.
  void Clear() { Reset(Instant::Infinite()); }

 private:
  bool Link(Context& cx);

  timer_internal::TimerEntry entry_;
};

// Ready at `deadline`.
inline Sleep At(Instant deadline) { return Sleep(deadline); }

// Ready `d` from now, on the current environment's clock.
inline Sleep After(absl::Duration d) {
  return Sleep(Environment::CurrentClock().Now() + d);
}
template <class Rep, class Period>
Sleep After(std::chrono::duration<Rep, Period> d) {
  return After(absl::FromChrono(d));
}

// Never ready, unless it is Reset.
inline Sleep Never() { return Sleep(Instant::Infinite()); }

}  // namespace weft::timer

#endif  // WEFT_TIMER_SLEEP_H_
