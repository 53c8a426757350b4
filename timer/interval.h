// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Interval: a stream of ticks, one in each period.
//
//   Interval interval = Every(absl::Seconds(1));
//   for (;;) {
//     co_await interval.Tick();
//     Report();
//   }
//
// Ticks lie on a grid: start, start + period, start + 2 period... so lateness
// does not add up. A tick is the moment for which it was scheduled; it is given
// out then or later, never before. What happens when ticks were missed, because
// nobody asked for them or the thread was busy, is up to MissedTicks.
//
// An Interval is a stream that does not end.
//
// Thread safety: one thread at a time. Movable until first polled.
// Dropping: of a pending Tick(), loses nothing: the tick is still to come, and
// still wakes whoever waited for it last.
#ifndef WEFT_TIMER_INTERVAL_H_
#define WEFT_TIMER_INTERVAL_H_

#include <chrono>
#include <optional>

#include "absl/time/time.h"
#include "weft/task/context.h"
#include "weft/task/instant.h"
#include "weft/task/polled.h"
#include "weft/timer/sleep.h"

namespace weft::timer {

// With a period of 10 and a stall until 47 after the tick at 10:
enum class MissedTicks {
  // Missed ticks are left out; the next is on the grid: 20 (given at 47), 50,
  // 60. The default.
  kSkip,
  // The next is a whole period after the late one was given out, and the grid
  // starts anew there: 20 (given at 47), 57, 67. A tick counts as late after
  // 5 ms (as in Tokio) or half a period, if that is less; so without a stall
  // nothing drifts.
  kDelay,
  // Missed ticks are made up for at once: 20, 30, 40 (all given at 47), 50.
  kBurst,
};

class Interval {
 public:
  using Item = Instant;

  // Ticks at `start`, then every `period`, which is rounded up to nanoseconds.
  // CHECK-fails if `period` is not positive.
  Interval(Instant start, absl::Duration period, MissedTicks missed);

  // Ready with the next tick once it is due. Never with nullopt.
  Polled<std::optional<Instant>> PollNext(Context& cx);

  class [[nodiscard]] TickFuture {
   public:
    using Output = Instant;
    static constexpr bool kMovableAfterPoll = true;
    static constexpr bool kBorrows = true;

    explicit TickFuture(Interval& interval) : interval_(&interval) {}
    Polled<Instant> Poll(Context& cx);

   private:
    Interval* interval_;
  };
  // The next tick, as a future that refers to this.
  TickFuture Tick() { return TickFuture(*this); }

  // The next tick comes a whole period from now, and the grid starts anew.
  void Reset() { sleep_.Reset(period_); }

  absl::Duration period() const { return period_; }
  // When the next tick is scheduled.
  Instant next() const { return sleep_.deadline(); }

 private:
  Instant Following(Instant tick, Instant now) const;

  absl::Duration period_;
  MissedTicks missed_;
  Sleep sleep_;
};

// The first tick comes at `start`, at once if that is past.
inline Interval EveryAt(Instant start, absl::Duration period,
                        MissedTicks missed = MissedTicks::kSkip) {
  return Interval(start, period, missed);
}

// The first tick comes one period from now, on the current environment's clock.
inline Interval Every(absl::Duration period,
                      MissedTicks missed = MissedTicks::kSkip) {
  return Interval(After(period).deadline(), period, missed);
}
template <class Rep, class Period>
Interval Every(std::chrono::duration<Rep, Period> period,
               MissedTicks missed = MissedTicks::kSkip) {
  return Every(absl::FromChrono(period), missed);
}

}  // namespace weft::timer

#endif  // WEFT_TIMER_INTERVAL_H_
