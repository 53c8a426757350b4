// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/timer/interval.h"

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "weft/task/clock.h"
#include "weft/task/context.h"
#include "weft/task/counting_waker.h"
#include "weft/task/drop_at_every_poll.h"
#include "weft/task/environment.h"
#include "weft/task/future.h"
#include "weft/task/instant.h"
#include "weft/task/polled.h"
#include "weft/task/status_matchers.h"
#include "weft/task/task.h"
#include "weft/timer/fake_clock.h"

namespace weft::timer {
namespace {

using testing::ElementsAre;

static_assert(Stream<Interval>);

constexpr absl::Duration kPeriod = absl::Milliseconds(10);

// A FakeClock is current, which only the test moves.
class IntervalTest : public testing::Test {
 protected:
  static Environment WithClock(const Clock* clock) {
    Environment environment = Environment::Current();
    environment.clock = clock;
    return environment;
  }

  // Milliseconds since the test began.
  double Since(Instant instant) const {
    return absl::ToDoubleMilliseconds(instant - start_);
  }

  // The next `count` ticks: when they were given out.
  std::vector<double> TickTimes(Interval& interval, int count) {
    std::vector<double> times;
    while (count > 0) {
      if (interval.PollNext(cx_).IsReady()) {
        times.push_back(Since(clock_.Now()));
        --count;
      } else if (!clock_.AdvanceToNext()) {
        ADD_FAILURE() << "an interval without a next tick";
        break;
      }
    }
    return times;
  }

  FakeClock clock_;
  const Instant start_ = clock_.Now();
  const Environment environment_ = WithClock(&clock_);
  const EnvironmentScope scope_{environment_};
  CountingWaker waker_;
  Context cx_{waker_.waker()};
};

TEST_F(IntervalTest, TicksOnceInEachPeriod) {
  Interval interval = Every(kPeriod);
  EXPECT_EQ(interval.period(), kPeriod);
  EXPECT_EQ(interval.next(), start_ + kPeriod);
  EXPECT_TRUE(interval.PollNext(cx_).IsPending());

  clock_.Advance(kPeriod - absl::Nanoseconds(1));
  EXPECT_TRUE(interval.PollNext(cx_).IsPending());
  clock_.Advance(absl::Nanoseconds(1));
  EXPECT_EQ(waker_.wakes(), 1);
  EXPECT_EQ(**interval.PollNext(cx_), start_ + kPeriod);
  EXPECT_TRUE(interval.PollNext(cx_).IsPending());
  clock_.Advance(kPeriod);
  EXPECT_EQ(**interval.PollNext(cx_), start_ + 2 * kPeriod);
}

TEST_F(IntervalTest, StartsWhenToldTo) {
  Interval later = EveryAt(start_ + absl::Milliseconds(3), kPeriod);
  EXPECT_THAT(TickTimes(later, 3), ElementsAre(3, 13, 23));
  Interval now = EveryAt(clock_.Now(), kPeriod);
  EXPECT_THAT(TickTimes(now, 2), ElementsAre(23, 33));
}

TEST_F(IntervalTest, TakesChronoDurations) {
  Interval interval = Every(std::chrono::milliseconds(10));
  EXPECT_EQ(interval.period(), kPeriod);
}

Task<Instant> SecondTick() {
  Interval interval = Every(kPeriod);
  co_await interval.Tick();
  co_return co_await interval.Tick();
}

TEST_F(IntervalTest, TickIsAFuture) {
  Task<Instant> task = SecondTick();
  EXPECT_TRUE(task.Poll(cx_).IsPending());
  clock_.Advance(kPeriod);
  EXPECT_TRUE(task.Poll(cx_).IsPending());
  clock_.Advance(kPeriod);
  EXPECT_EQ(*task.Poll(cx_), start_ + 2 * kPeriod);
}

TEST_F(IntervalTest, ADroppedTickIsStillToCome) {
  Interval interval = Every(kPeriod);
  {
    auto tick = interval.Tick();
    EXPECT_TRUE(tick.Poll(cx_).IsPending());
    clock_.Advance(kPeriod);
  }
  EXPECT_EQ(*interval.Tick().Poll(cx_), start_ + kPeriod);
}

// Three ticks on time, a stall of half a second, and when the next come.
class StallTest : public IntervalTest {
 protected:
  std::vector<double> AfterAStall(MissedTicks missed, int count) {
    Interval interval = Every(kPeriod, missed);
    EXPECT_THAT(TickTimes(interval, 3), ElementsAre(10, 20, 30));
    clock_.Advance(absl::Milliseconds(504));
    return TickTimes(interval, count);
  }
};

TEST_F(StallTest, SkipStaysOnTheGridWithoutABurst) {
  EXPECT_THAT(AfterAStall(MissedTicks::kSkip, 10),
              ElementsAre(534, 540, 550, 560, 570, 580, 590, 600, 610, 620));
}

TEST_F(StallTest, DelayKeepsAWholePeriodBetweenTicks) {
  EXPECT_THAT(AfterAStall(MissedTicks::kDelay, 10),
              ElementsAre(534, 544, 554, 564, 574, 584, 594, 604, 614, 624));
}

TEST_F(StallTest, BurstMakesUpForEveryTick) {
  std::vector<double> expected(50, 534);  // those for 40, 50, ... 530
  expected.insert(expected.end(), {540, 550, 560});
  EXPECT_EQ(AfterAStall(MissedTicks::kBurst, 53), expected);
}

TEST_F(StallTest, ATickSaysForWhenItWasScheduled) {
  Interval interval = Every(kPeriod);
  clock_.Advance(absl::Milliseconds(47));
  EXPECT_EQ(**interval.PollNext(cx_), start_ + kPeriod);
  EXPECT_EQ(interval.next(), start_ + 5 * kPeriod);
}

TEST_F(StallTest, LatenessWithoutAStallDoesNotAddUp) {
  for (MissedTicks missed :
       {MissedTicks::kSkip, MissedTicks::kDelay, MissedTicks::kBurst}) {
    const Instant start = clock_.Now();
    Interval interval = Every(kPeriod, missed);
    for (int i = 1; i <= 1000; ++i) {
      EXPECT_TRUE(interval.PollNext(cx_).IsPending());
      clock_.Set(interval.next() + absl::Microseconds(i));
      ASSERT_EQ(**interval.PollNext(cx_), start + i * kPeriod);
    }
  }
}

TEST_F(StallTest, ExactlyOnePeriodLateIsTheNextTick) {
  Interval interval = Every(kPeriod);
  clock_.Advance(2 * kPeriod);
  EXPECT_EQ(**interval.PollNext(cx_), start_ + kPeriod);
  // The one for now is left out, as it is not after now.
  EXPECT_EQ(interval.next(), start_ + 3 * kPeriod);
}

TEST_F(IntervalTest, ResetStartsTheGridAnew) {
  Interval interval = Every(kPeriod);
  EXPECT_TRUE(interval.PollNext(cx_).IsPending());
  clock_.Advance(absl::Milliseconds(7));
  interval.Reset();
  EXPECT_THAT(TickTimes(interval, 2), ElementsAre(17, 27));
}

TEST_F(IntervalTest, NothingOverflows) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  const absl::Duration century = absl::Hours(24 * 365 * 100);
  for (absl::Duration period :
       {absl::InfiniteDuration(), absl::Nanoseconds(kMax),
        absl::Nanoseconds(kMax) - absl::Nanoseconds(1), 3 * century, century}) {
    for (MissedTicks missed :
         {MissedTicks::kSkip, MissedTicks::kDelay, MissedTicks::kBurst}) {
      SCOPED_TRACE(absl::FormatDuration(period));
      Interval never = Every(period, missed);
      EXPECT_TRUE(never.PollNext(cx_).IsPending());
      Interval once = EveryAt(clock_.Now(), period, missed);
      EXPECT_TRUE(once.PollNext(cx_).IsReady());
      EXPECT_TRUE(once.PollNext(cx_).IsPending());
      // A start in the distant past is a stall like another.
      Interval late = EveryAt(
          Instant::FromNanoseconds(std::numeric_limits<int64_t>::min() + 1),
          period, missed);
      EXPECT_TRUE(late.PollNext(cx_).IsReady());
    }
  }
  clock_.Advance(absl::Milliseconds(20));
  EXPECT_EQ(waker_.wakes(), 0);

  Interval shortest = Every(absl::Nanoseconds(1) / 4);  // rounded up
  clock_.Advance(century);
  EXPECT_TRUE(shortest.PollNext(cx_).IsReady());
  EXPECT_EQ(shortest.next(), clock_.Now() + absl::Nanoseconds(1));
}

// A Tick() with its interval, where a waker stays until the tick comes.
class FirstTick {
 public:
  using Output = Instant;
  Polled<Instant> Poll(Context& cx) { return interval_.Tick().Poll(cx); }

 private:
  Interval interval_ = Every(kPeriod);
};

TEST_F(IntervalTest, CanBeDroppedAtEveryPoll) {
  DropAtEveryPollOptions options;
  options.step = [&] { return clock_.AdvanceToNext(); };
  EXPECT_THAT(DropAtEveryPoll([] { return SecondTick(); }, options),
              IsOkAndHolds(3));
  EXPECT_THAT(DropAtEveryPoll([] { return FirstTick(); }, options),
              IsOkAndHolds(2));
}

TEST_F(IntervalTest, APeriodIsPositive) {
  EXPECT_DEATH(Every(absl::ZeroDuration()), "period must be positive");
  EXPECT_DEATH(Every(-kPeriod), "period must be positive");
}

}  // namespace
}  // namespace weft::timer
