// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Instant: a point on the monotonic clock, in nanoseconds.
//
// Deadlines are Instants. The clock is CLOCK_MONOTONIC: it never jumps, and it
// stands still while the machine is suspended. Arithmetic saturates: adding too
// much gives Instant::Infinite(), which never comes; subtracting too much gives
// Instant::Past(), which is always over.
//
// Durations are absl::Duration where a person writes them; std::chrono
// durations are accepted wherever one is added to an Instant.
//
//   Instant deadline = Instant::Now() + absl::Milliseconds(5);
//
// Thread safety: as an int.
#ifndef WEFT_TASK_INSTANT_H_
#define WEFT_TASK_INSTANT_H_

#include <chrono>
#include <compare>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "absl/time/time.h"

namespace weft {

class Instant {
 public:
  // The same as Past().
  constexpr Instant() = default;

  // The real monotonic clock, now. Code that must be testable asks a Clock.
  static Instant Now();
  // After every other instant: a deadline that never comes.
  static constexpr Instant Infinite() {
    return Instant(std::numeric_limits<int64_t>::max());
  }
  // Before every other instant: as a deadline, "do not wait".
  static constexpr Instant Past() {
    return Instant(std::numeric_limits<int64_t>::min());
  }
  // `nanoseconds` since the clock's own, arbitrary, origin.
  static constexpr Instant FromNanoseconds(int64_t nanoseconds) {
    return Instant(nanoseconds);
  }

  constexpr int64_t nanoseconds() const { return nanoseconds_; }
  constexpr bool IsInfinite() const { return *this == Infinite(); }

  friend constexpr auto operator<=>(Instant, Instant) = default;

  friend Instant operator+(Instant instant, absl::Duration d) {
    return instant.Plus(ToNanoseconds(d));
  }
  friend Instant operator-(Instant instant, absl::Duration d) {
    return instant + -d;
  }
  template <class Rep, class Period>
  friend Instant operator+(Instant instant,
                           std::chrono::duration<Rep, Period> d) {
    return instant + FromChrono(d);
  }
  template <class Rep, class Period>
  friend Instant operator-(Instant instant,
                           std::chrono::duration<Rep, Period> d) {
    return instant - FromChrono(d);
  }
  Instant& operator+=(absl::Duration d) { return *this = *this + d; }

  // Infinite where either side is Infinite() or Past() and they differ.
  friend absl::Duration operator-(Instant a, Instant b);

  // `d` in whole nanoseconds, rounded up, so that a timer made from it is never
  // early; saturated at the limits of int64_t.
  static int64_t ToNanoseconds(absl::Duration d);

 private:
  // Any period and any arithmetic count; absl::FromChrono knows only six types.
  template <class Rep, class Period>
  static absl::Duration FromChrono(std::chrono::duration<Rep, Period> d) {
    using Count =
        std::conditional_t<std::is_floating_point_v<Rep>, double, int64_t>;
    return absl::Seconds(1) * static_cast<Count>(d.count()) *
           int64_t{Period::num} / int64_t{Period::den};
  }

  explicit constexpr Instant(int64_t nanoseconds) : nanoseconds_(nanoseconds) {}

  // Saturating; Infinite() and Past() absorb.
  Instant Plus(int64_t nanoseconds) const;

  int64_t nanoseconds_ = std::numeric_limits<int64_t>::min();
};

}  // namespace weft

#endif  // WEFT_TASK_INSTANT_H_
