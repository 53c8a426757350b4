// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// weft-lint: allow-file(R22): the tests' tasks end before what they refer to.

#include "weft/timer/sleep.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "weft/select/select.h"
#include "weft/task/clock.h"
#include "weft/task/context.h"
#include "weft/task/counting_waker.h"
#include "weft/task/drop_at_every_poll.h"
#include "weft/task/environment.h"
#include "weft/task/instant.h"
#include "weft/task/join_handle.h"
#include "weft/task/manual_executor.h"
#include "weft/task/polled.h"
#include "weft/task/ready.h"
#include "weft/task/status_matchers.h"
#include "weft/task/task.h"
#include "weft/timer/fake_clock.h"

namespace weft::timer {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr absl::Duration kYear = absl::Hours(24 * 365);

// A FakeClock is current, which only the test moves.
class SleepTest : public testing::Test {
 protected:
  static Environment WithClock(const Clock* clock) {
    Environment environment = Environment::Current();
    environment.clock = clock;
    return environment;
  }

  FakeClock clock_;
  const Environment environment_ = WithClock(&clock_);
  const EnvironmentScope scope_{environment_};
  ManualExecutor executor_;
  CountingWaker waker_;
  Context cx_{waker_.waker()};
};

TEST_F(SleepTest, IsReadyWhenItsDeadlineHasCome) {
  Sleep sleep = After(absl::Milliseconds(10));
  EXPECT_EQ(sleep.deadline(), clock_.Now() + absl::Milliseconds(10));
  EXPECT_TRUE(sleep.Poll(cx_).IsPending());
  EXPECT_FALSE(sleep.IsElapsed());

  clock_.Advance(absl::Milliseconds(10) - absl::Nanoseconds(1));
  EXPECT_EQ(waker_.wakes(), 0);
  EXPECT_TRUE(sleep.Poll(cx_).IsPending());

  clock_.Advance(absl::Nanoseconds(1));
  EXPECT_EQ(waker_.wakes(), 1);
  EXPECT_TRUE(sleep.IsElapsed());
  EXPECT_TRUE(sleep.Poll(cx_).IsReady());
  EXPECT_EQ(waker_.outstanding(), 0);
}

TEST_F(SleepTest, TakesChronoDurations) {
  EXPECT_EQ(After(std::chrono::milliseconds(3)).deadline(),
            clock_.Now() + absl::Milliseconds(3));
  EXPECT_EQ(After(std::chrono::hours::max()).deadline(), Instant::Infinite());
}

TEST_F(SleepTest, ComputesItsDeadlineWhenItIsMade) {
  Sleep sleep = After(absl::Seconds(1));
  clock_.Advance(absl::Seconds(1));
  EXPECT_TRUE(sleep.Poll(cx_).IsReady());
}

TEST_F(SleepTest, ZeroNegativeAndPastAreReadyAtOnce) {
  EXPECT_TRUE(After(absl::ZeroDuration()).Poll(cx_).IsReady());
  EXPECT_TRUE(After(-absl::Nanoseconds(1)).Poll(cx_).IsReady());
  EXPECT_TRUE(After(-absl::InfiniteDuration()).Poll(cx_).IsReady());
  EXPECT_TRUE(At(clock_.Now()).Poll(cx_).IsReady());
  EXPECT_TRUE(At(Instant::Past()).Poll(cx_).IsReady());
  EXPECT_EQ(waker_.clones(), 0);
}

TEST_F(SleepTest, ReadyChargesTheBudgetAndASpentBudgetIsPending) {
  Budget budget(2);
  Context cx(waker_.waker(), &budget);
  EXPECT_TRUE(After(absl::ZeroDuration()).Poll(cx).IsReady());
  EXPECT_TRUE(After(absl::Seconds(1)).Poll(cx).IsPending());
  EXPECT_EQ(budget.units(), 1u);  // pending is free
  EXPECT_TRUE(After(absl::ZeroDuration()).Poll(cx).IsReady());

  EXPECT_TRUE(After(absl::ZeroDuration()).Poll(cx).IsPending());
  EXPECT_EQ(waker_.wakes(), 1);  // to be polled again
}

TEST_F(SleepTest, NeverIsNeverReadyUnlessItIsReset) {
  Sleep sleep = Never();
  EXPECT_TRUE(sleep.Poll(cx_).IsPending());
  clock_.Set(Instant::FromNanoseconds(kMax - 1));
  EXPECT_EQ(waker_.wakes(), 0);
  EXPECT_TRUE(sleep.Poll(cx_).IsPending());

  sleep.Reset(clock_.Now());
  EXPECT_EQ(waker_.wakes(), 1);
  EXPECT_TRUE(sleep.Poll(cx_).IsReady());
}

TEST_F(SleepTest, ResetMovesAPendingSleepAndKeepsItsWaker) {
  Sleep sleep = After(absl::Seconds(10));
  EXPECT_TRUE(sleep.Poll(cx_).IsPending());

  sleep.Reset(absl::Seconds(20));
  clock_.Advance(absl::Seconds(15));
  EXPECT_EQ(waker_.wakes(), 0);

  sleep.Reset(absl::Seconds(1));
  clock_.Advance(absl::Seconds(1));
  EXPECT_EQ(waker_.wakes(), 1);
  EXPECT_TRUE(sleep.Poll(cx_).IsReady());
}

TEST_F(SleepTest, ResetAfterTheEndStartsAnew) {
  Sleep sleep = After(absl::Seconds(1));
  EXPECT_TRUE(sleep.Poll(cx_).IsPending());
  clock_.Advance(absl::Seconds(1));
  EXPECT_TRUE(sleep.Poll(cx_).IsReady());

  sleep.Reset(absl::Seconds(1));
  EXPECT_FALSE(sleep.IsElapsed());
  EXPECT_TRUE(sleep.Poll(cx_).IsPending());
  clock_.Advance(absl::Seconds(1));
  EXPECT_TRUE(sleep.Poll(cx_).IsReady());
}

TEST_F(SleepTest, ResetOfAFiredSleepThatWasNotPolledSinceTakesTheEventBack) {
  Sleep sleep = After(absl::Seconds(1));
  EXPECT_TRUE(sleep.Poll(cx_).IsPending());
  clock_.Advance(absl::Seconds(1));
  EXPECT_EQ(waker_.TakeWakes(), 1);

  sleep.Reset(absl::Seconds(1));
  EXPECT_TRUE(sleep.Poll(cx_).IsPending());
  clock_.Advance(absl::Seconds(1));
  EXPECT_EQ(waker_.TakeWakes(), 1);
  EXPECT_TRUE(sleep.Poll(cx_).IsReady());
}

TEST_F(SleepTest, ClearLeavesItPending) {
  Sleep sleep = After(absl::Seconds(1));
  EXPECT_TRUE(sleep.Poll(cx_).IsPending());
  sleep.Clear();
  clock_.Advance(kYear);
  EXPECT_EQ(waker_.wakes(), 0);
  EXPECT_TRUE(sleep.Poll(cx_).IsPending());
  EXPECT_TRUE(sleep.deadline().IsInfinite());
}

TEST_F(SleepTest, DroppingTakesItOutAndDropsTheWaker) {
  {
    Sleep sleep = After(absl::Seconds(1));
    EXPECT_TRUE(sleep.Poll(cx_).IsPending());
    EXPECT_EQ(waker_.outstanding(), 1);
  }
  EXPECT_EQ(waker_.outstanding(), 0);
  EXPECT_FALSE(clock_.AdvanceToNext());
}

TEST_F(SleepTest, TheLastWakerCounts) {
  Sleep sleep = After(absl::Seconds(1));
  EXPECT_TRUE(sleep.Poll(cx_).IsPending());
  EXPECT_TRUE(sleep.Poll(cx_).IsPending());
  EXPECT_EQ(waker_.clones(), 1);  // the same one is not cloned again

  CountingWaker other;
  Context other_cx(other.waker());
  EXPECT_TRUE(sleep.Poll(other_cx).IsPending());
  EXPECT_EQ(waker_.outstanding(), 0);
  clock_.Advance(absl::Seconds(1));
  EXPECT_EQ(waker_.wakes(), 0);
  EXPECT_EQ(other.wakes(), 1);
}

Task<> Nap(absl::Duration d) { co_await After(d); }

// A Task that waits in a sleep was polled by a first task, which gives it up.
TEST_F(SleepTest, APendingSleepHandedOverInsideATaskWakesTheNewOwner) {
  auto waiting = std::make_unique<Task<>>(Nap(absl::Seconds(1)));
  auto first = executor_.Spawn([&]() -> Task<> {
    co_await PollOnce(*waiting);
    co_await Pending();
  });
  executor_.RunUntilIdle();
  const size_t runs = executor_.runs();

  auto second = executor_.Spawn(std::move(*waiting));
  executor_.RunUntilIdle();
  EXPECT_FALSE(second.IsFinished());
  EXPECT_EQ(executor_.runs(), runs + 1);

  clock_.Advance(absl::Seconds(1));
  executor_.RunUntilIdle();
  EXPECT_TRUE(second.IsFinished());
  EXPECT_FALSE(first.IsFinished());
  EXPECT_EQ(executor_.runs(), runs + 2);  // the first was left alone
}

Task<> SleepAndNote(Instant deadline, std::vector<int>* log, int number) {
  co_await At(deadline);
  log->push_back(number);
}

// The same, where the first task waits for it in a Select that it loses.
TEST_F(SleepTest, APendingSleepThatLostASelectWakesTheNewOwner) {
  auto waiting = std::make_unique<Task<>>(Nap(absl::Seconds(2)));
  auto first = executor_.Spawn([&]() -> Task<> {
    auto select = Select(*waiting, After(absl::Seconds(1)));
    co_await select;
    co_await Pending();
  });
  executor_.RunUntilIdle();
  clock_.Advance(absl::Seconds(1));
  executor_.RunUntilIdle();
  const size_t runs = executor_.runs();

  auto second = executor_.Spawn(std::move(*waiting));
  executor_.RunUntilIdle();
  clock_.Advance(absl::Seconds(1));
  executor_.RunUntilIdle();
  EXPECT_TRUE(second.IsFinished());
  EXPECT_FALSE(first.IsFinished());
  EXPECT_EQ(executor_.runs(), runs + 2);  // the first was left alone
}

TEST_F(SleepTest, WakesInOrderOfDeadlinesThenOfFirstPolls) {
  std::vector<int> log;
  const Instant start = clock_.Now();
  std::vector<JoinHandle<void>> handles;
  int number = 0;
  for (int ns : {500, 3, 500, 1, 3, 100'000'000}) {
    handles.push_back(executor_.SpawnBorrowing(
        SleepAndNote(start + absl::Nanoseconds(ns), &log, number++)));
  }
  executor_.RunUntilIdle();
  clock_.Advance(absl::Seconds(1));
  executor_.RunUntilIdle();
  EXPECT_THAT(log, testing::ElementsAre(3, 1, 4, 0, 2, 5));
}

// Durations and deadlines at the ends of what there is, each beside a timer of
// 20 ms.
TEST_F(SleepTest, NothingOverflows) {
  const std::vector<std::pair<absl::Duration, bool>> cases = {
      {absl::ZeroDuration(), true},
      {-absl::Nanoseconds(1), true},
      {-300 * kYear, true},
      {-absl::InfiniteDuration(), true},
      {absl::Nanoseconds(kMax), false},
      {absl::Nanoseconds(kMax) - absl::Nanoseconds(1), false},
      {absl::Nanoseconds(kMax) + absl::Nanoseconds(1), false},
      {absl::Nanoseconds(kMax) / 10, false},
      {absl::Nanoseconds(kMax) - (clock_.Now() - Instant::FromNanoseconds(0)),
       false},
      {300 * kYear, false},
      {absl::Milliseconds((int64_t{1} << 32) - 1), false},
      {absl::Milliseconds(int64_t{1} << 32), false},
      {absl::Milliseconds((int64_t{1} << 32) + 1), false},
      {absl::InfiniteDuration(), false},
  };
  for (const auto& [d, first] : cases) {
    SCOPED_TRACE(absl::FormatDuration(d));
    CountingWaker short_waker;
    Context short_cx(short_waker.waker());
    Sleep tested = After(d);
    Sleep short_one = After(absl::Milliseconds(20));
    EXPECT_TRUE(short_one.Poll(short_cx).IsPending());
    EXPECT_EQ(tested.Poll(cx_).IsReady(), first);

    clock_.Advance(absl::Milliseconds(20));
    EXPECT_EQ(short_waker.wakes(), 1);
    EXPECT_EQ(waker_.wakes(), 0);
    EXPECT_EQ(tested.Poll(cx_).IsReady(), first);
  }
}

TEST_F(SleepTest, CanBeDroppedAtEveryPoll) {
  DropAtEveryPollOptions options;
  options.step = [&] { return clock_.AdvanceToNext(); };
  EXPECT_THAT(DropAtEveryPoll([] { return After(absl::Seconds(1)); }, options),
              IsOkAndHolds(2));
  EXPECT_THAT(DropAtEveryPoll([] { return Nap(absl::Seconds(1)); }, options),
              IsOkAndHolds(2));
  EXPECT_FALSE(clock_.AdvanceToNext());
}

TEST_F(SleepTest, MovesUntilFirstPolled) {
  Sleep a = After(absl::Seconds(1));
  Sleep b = std::move(a);
  EXPECT_TRUE(b.Poll(cx_).IsPending());
  EXPECT_DEATH({ Sleep c = std::move(b); }, "moved after its first poll");
}

}  // namespace
}  // namespace weft::timer
