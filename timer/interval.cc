// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/timer/interval.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "absl/time/time.h"
#include "weft/task/check.h"
#include "weft/task/clock.h"
#include "weft/task/context.h"
#include "weft/task/instant.h"
#include "weft/task/polled.h"

namespace weft::timer {

Interval::Interval(Instant start, absl::Duration period, MissedTicks missed)
    : period_(period), missed_(missed), sleep_(start) {
  WEFT_CHECK(period > absl::ZeroDuration(),
             "an Interval's period must be positive; to yield use YieldNow()");
}

// The tick that follows `tick`, which is given out at `now`. Saturates.
Instant Interval::Following(Instant tick, Instant now) const {
  const Instant next = tick + period_;
  switch (missed_) {
    case MissedTicks::kBurst:
      return next;
    case MissedTicks::kDelay: {
      const absl::Duration on_time =
          std::min(period_ / 2, absl::Milliseconds(5));
      return now - tick <= on_time ? next : now + period_;
    }
    case MissedTicks::kSkip:
      break;
  }
  if (next > now) return next;
  const uint64_t late = static_cast<uint64_t>(now.nanoseconds()) -
                        static_cast<uint64_t>(tick.nanoseconds());
  const int64_t period = Instant::ToNanoseconds(period_);
  const int64_t since_last =
      static_cast<int64_t>(late % static_cast<uint64_t>(period));
  return now + absl::Nanoseconds(period - since_last);
}

Polled<std::optional<Instant>> Interval::PollNext(Context& cx) {
  if (sleep_.Poll(cx).IsPending()) return kPending;
  const Instant tick = sleep_.deadline();
  sleep_.Reset(Following(tick, std::max(tick, cx.clock().Now())));
  return std::optional<Instant>(tick);
}

Polled<Instant> Interval::TickFuture::Poll(Context& cx) {
  auto next = interval_->PollNext(cx);
  if (next.IsPending()) return kPending;
  return **next;
}

}  // namespace weft::timer
