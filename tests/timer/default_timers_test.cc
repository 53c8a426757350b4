// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Sleeps on the real clock, on threads that have no Timers.
#include "weft/timer/default_timers.h"

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "weft/task/block_on.h"
#include "weft/task/context.h"
#include "weft/task/counting_waker.h"
#include "weft/task/environment.h"
#include "weft/task/instant.h"
#include "weft/task/parker.h"
#include "weft/task/polled.h"
#include "weft/task/ready.h"
#include "weft/task/status_matchers.h"
#include "weft/task/task.h"
#include "weft/timer/interval.h"
#include "weft/timer/sleep.h"
#include "weft/timer/timeout.h"
#include "weft/timer/timers.h"

namespace weft::timer {
namespace {

TEST(DefaultTimersTest, AreTheSameForEverybody) {
  Timers* const timers = &timer_internal::DefaultTimers();
  Timers* other = nullptr;
  std::thread([&] { other = &timer_internal::DefaultTimers(); }).join();
  EXPECT_EQ(other, timers);
}

TEST(DefaultTimersTest, ServeABareThread) {
  ASSERT_EQ(Environment::Current().timers, nullptr);
  const Instant deadline = Instant::Now() + absl::Milliseconds(2);
  BlockOn(At(deadline));
  EXPECT_GE(Instant::Now(), deadline);
  EXPECT_THAT(BlockOn(Timeout(absl::Milliseconds(1), Pending<int>())),
              StatusIs(absl::StatusCode::kDeadlineExceeded));
}

Task<> SleepInTurn(int count, int64_t nanoseconds, int64_t* early) {
  for (int i = 0; i < count; ++i) {
    Sleep sleep = After(absl::Nanoseconds(nanoseconds));
    co_await sleep;
    if (Instant::Now() < sleep.deadline()) ++*early;
  }
}

TEST(DefaultTimersTest, NoSleepIsEarly) {
  int64_t early = 0;
  for (int64_t nanoseconds : {1, 999, 50'000, 1'000'001, 1'500'000}) {
    BlockOn(SleepInTurn(50, nanoseconds, &early));
    // On timers of the thread's own.
    Parker parker;
    Timers timers(parker);
    Environment environment;
    environment.driver = &timers;
    environment.timers = &timers;
    const EnvironmentScope scope(environment);
    BlockOn(SleepInTurn(50, nanoseconds, &early));
  }
  EXPECT_EQ(early, 0);
}

// A sleep, a timeout and an interval, of `d` each.
struct Tested {
  explicit Tested(absl::Duration d)
      : sleep(After(d)), timeout(Timeout(d, Pending<int>())) {
    if (d > absl::ZeroDuration()) interval.emplace(Every(d));
  }

  // How many are not ready.
  int CountPending(Context& cx) {
    return sleep.Poll(cx).IsPending() + timeout.Poll(cx).IsPending() +
           (interval.has_value() && interval->PollNext(cx).IsPending());
  }

  Sleep sleep;
  TimeoutFuture<PendingFuture<int>> timeout;
  std::optional<Interval> interval;
};

TEST(DefaultTimersTest, AShortTimerWinsAgainstEveryLongOne) {
  const absl::Duration max =
      absl::Nanoseconds(std::numeric_limits<int64_t>::max());
  const absl::Duration ns = absl::Nanoseconds(1);
  const absl::Duration years = absl::Hours(24 * 365 * 300);
  const absl::Duration since_boot =
      Instant::Now() - Instant::FromNanoseconds(0);
  std::vector<std::unique_ptr<Tested>> long_ones;
  for (absl::Duration d :
       {max, max - ns, max + ns, max / 10, max - since_boot, years,
        absl::Milliseconds((int64_t{1} << 32) - 1),
        absl::Milliseconds(int64_t{1} << 32),
        absl::Milliseconds((int64_t{1} << 32) + 1), absl::InfiniteDuration()}) {
    long_ones.push_back(std::make_unique<Tested>(d));
  }
  CountingWaker waker;
  Context cx(waker.waker());
  for (auto& tested : long_ones) EXPECT_EQ(tested->CountPending(cx), 3);
  for (absl::Duration d :
       {absl::ZeroDuration(), -ns, -years, -max, -absl::InfiniteDuration()}) {
    EXPECT_EQ(std::make_unique<Tested>(d)->CountPending(cx), 0);
  }

  BlockOn(After(absl::Milliseconds(20)));
  EXPECT_EQ(waker.wakes(), 0);
  for (auto& tested : long_ones) EXPECT_EQ(tested->CountPending(cx), 3);
}

TEST(DefaultTimersTest, KeepTheSleepsOfTimersThatAreGone) {
  CountingWaker waker;
  std::optional<Sleep> sleep(After(absl::Milliseconds(3)));
  {
    Parker parker;
    Timers timers(parker);
    Environment environment;
    environment.timers = &timers;
    Context cx(waker.waker(), nullptr, &environment);
    EXPECT_TRUE(sleep->Poll(cx).IsPending());
  }
  EXPECT_EQ(waker.wakes(), 1);
  BlockOn(*sleep);
  EXPECT_GE(Instant::Now(), sleep->deadline());
}

}  // namespace
}  // namespace weft::timer
