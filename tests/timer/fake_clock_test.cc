// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/timer/fake_clock.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "weft/task/block_on.h"
#include "weft/task/clock.h"
#include "weft/task/context.h"
#include "weft/task/counting_waker.h"
#include "weft/task/driver.h"
#include "weft/task/environment.h"
#include "weft/task/instant.h"
#include "weft/task/manual_executor.h"
#include "weft/task/parker.h"
#include "weft/task/polled.h"
#include "weft/task/task.h"
#include "weft/task/waker.h"
#include "weft/tests/kit/signal.h"
#include "weft/timer/sleep.h"
#include "weft/timer/timers.h"

namespace weft::timer {
namespace {

using testing::ElementsAre;

// What a thread of a runtime has: timers of its own around a driver.
class OwnTimers {
 public:
  explicit OwnTimers(const Clock& clock) : timers_(parker_, clock) {}

  Timers& timers() { return timers_; }
  Environment environment() {
    Environment environment;
    environment.driver = &timers_;
    environment.timers = &timers_;
    environment.clock = &timers_.clock();
    return environment;
  }

 private:
  Parker parker_;
  Timers timers_;
};

Environment WithClock(const Clock& clock) {
  Environment environment;
  environment.clock = &clock;
  return environment;
}

TEST(FakeClockTest, MovesWhenTold) {
  FakeClock clock;
  EXPECT_EQ(clock.Now(), FakeClock::kStart);
  clock.Advance(absl::Seconds(1));
  EXPECT_EQ(clock.Now(), FakeClock::kStart + absl::Seconds(1));
  clock.Advance(absl::ZeroDuration());
  clock.Set(FakeClock::kStart + absl::Seconds(5));
  EXPECT_EQ(clock.Now(), FakeClock::kStart + absl::Seconds(5));

  FakeClock other(Instant::FromNanoseconds(-7));
  EXPECT_EQ(other.Now(), Instant::FromNanoseconds(-7));
}

TEST(FakeClockTest, SaysThatItIsOne) {
  FakeClock clock;
  const Clock& as_clock = clock;
  EXPECT_EQ(as_clock.AsFake(), &clock);
  EXPECT_EQ(Clock::Real().AsFake(), nullptr);
}

Task<> Retry(int attempts, std::vector<double>* minutes) {
  const Instant start = Environment::CurrentClock().Now();
  absl::Duration pause = absl::Minutes(1);
  for (int i = 0; i < attempts; ++i) {
    co_await After(pause);
    const Instant now = Environment::CurrentClock().Now();
    minutes->push_back(absl::ToDoubleMinutes(now - start));
    pause *= 2;
  }
}

TEST(FakeClockTest, AdvanceByHandAndThenPoll) {
  FakeClock clock;
  const Environment environment = WithClock(clock);
  const EnvironmentScope scope(environment);
  ManualExecutor executor;
  std::vector<double> minutes;
  auto handle = executor.SpawnBorrowing(Retry(3, &minutes));
  executor.RunUntilIdle();

  clock.Advance(absl::Minutes(1));
  EXPECT_THAT(minutes, ElementsAre());
  executor.RunUntilIdle();
  EXPECT_THAT(minutes, ElementsAre(1));
  clock.Advance(absl::Minutes(1));
  executor.RunUntilIdle();
  EXPECT_THAT(minutes, ElementsAre(1));

  while (!handle.IsFinished()) {
    ASSERT_TRUE(clock.AdvanceToNext());
    executor.RunUntilIdle();
  }
  EXPECT_THAT(minutes, ElementsAre(1, 3, 7));
  EXPECT_FALSE(clock.AdvanceToNext());
}

TEST(FakeClockTest, AManualExecutorCanMoveItWheneverItIsIdle) {
  FakeClock clock;
  const Environment environment = WithClock(clock);
  const EnvironmentScope scope(environment);
  ManualExecutor executor;
  std::vector<double> minutes;
  executor.Run(Retry(3, &minutes), [&] { return clock.AdvanceToNext(); });
  EXPECT_THAT(minutes, ElementsAre(1, 3, 7));
}

TEST(FakeClockTest, AdvanceFiresWhatIsInTimers) {
  FakeClock clock;
  OwnTimers own(clock);
  const Environment environment = own.environment();
  const EnvironmentScope scope(environment);
  CountingWaker waker;
  Context cx(waker.waker());
  Sleep sleep = After(absl::Seconds(1));
  EXPECT_TRUE(sleep.Poll(cx).IsPending());
  EXPECT_EQ(own.timers().NextDeadline(), sleep.deadline());

  clock.Advance(absl::Seconds(1));
  EXPECT_EQ(waker.wakes(), 1);
  EXPECT_TRUE(sleep.Poll(cx).IsReady());
  EXPECT_TRUE(own.timers().NextDeadline().IsInfinite());
}

TEST(FakeClockTest, BlockOnTakesNoRealTimeForALongSleep) {
  FakeClock clock;
  OwnTimers own(clock);
  const Environment environment = own.environment();
  const EnvironmentScope scope(environment);
  std::vector<double> minutes;
  BlockOn(Retry(10, &minutes));
  EXPECT_THAT(minutes, ElementsAre(1, 3, 7, 15, 31, 63, 127, 255, 511, 1023));
  EXPECT_EQ(clock.Now(), FakeClock::kStart + absl::Minutes(1023));
}

TEST(FakeClockTest, TimeStandsStillWhileThereIsSomethingToDo) {
  FakeClock clock;
  OwnTimers own(clock);
  const Environment environment = own.environment();
  const EnvironmentScope scope(environment);
  CountingWaker waker;
  Context cx(waker.waker());
  Sleep sleep = After(absl::Hours(1));
  EXPECT_TRUE(sleep.Poll(cx).IsPending());

  own.timers().Unparker().Wake();  // somebody made a task runnable
  own.timers().Park(Instant::Infinite());
  EXPECT_EQ(clock.Now(), FakeClock::kStart);
  own.timers().Park(Instant::Past());  // a look at the descriptors
  EXPECT_EQ(clock.Now(), FakeClock::kStart);
  own.timers().Park(clock.Now() + absl::Minutes(1));
  EXPECT_EQ(clock.Now(), FakeClock::kStart + absl::Minutes(1));
  EXPECT_EQ(waker.wakes(), 0);

  own.timers().Park(Instant::Infinite());
  EXPECT_EQ(clock.Now(), sleep.deadline());
  EXPECT_EQ(waker.wakes(), 1);
}

// A driver for which something is ready a few times.
class EventfulDriver : public Driver {
 public:
  void Park(Instant) override {
    if (events < 3) ++events;
  }
  Waker Unparker() override { return Waker(); }
  uint64_t HandledEvents() const override { return events; }

  uint64_t events = 0;
};

TEST(FakeClockTest, WhatIsReadyComesBeforeTimeGoesOn) {
  FakeClock clock;
  EventfulDriver driver;
  Timers timers(driver, clock);
  Environment environment;
  environment.timers = &timers;
  CountingWaker waker;
  Context cx(waker.waker(), nullptr, &environment);
  Sleep sleep(clock.Now() + absl::Hours(1));
  EXPECT_TRUE(sleep.Poll(cx).IsPending());
  for (int i = 0; i < 3; ++i) {
    timers.Park(Instant::Infinite());
    EXPECT_EQ(clock.Now(), FakeClock::kStart);
    EXPECT_EQ(timers.HandledEvents(), driver.events);
  }
  timers.Park(Instant::Infinite());
  EXPECT_EQ(clock.Now(), sleep.deadline());
  EXPECT_EQ(timers.HandledEvents(), driver.events + 1);
}

TEST(FakeClockTest, ManySleepsOfOneInstantAreReachedInOneStep) {
  FakeClock clock;
  OwnTimers own(clock);
  const Environment environment = own.environment();
  const EnvironmentScope scope(environment);
  CountingWaker waker;
  Context cx(waker.waker());
  std::vector<Sleep> sleeps;
  for (int i = 0; i < 100; ++i) sleeps.push_back(After(absl::Hours(1)));
  for (Sleep& sleep : sleeps) EXPECT_TRUE(sleep.Poll(cx).IsPending());

  own.timers().Park(Instant::Infinite());
  EXPECT_EQ(clock.Now(), FakeClock::kStart + absl::Hours(1));
  EXPECT_EQ(waker.wakes(), 100);
}

// Counts where the clock is not exactly at the deadline of a sleep that ended.
Task<> SleepOften(int times, absl::Duration d, std::atomic<int>* inexact) {
  for (int i = 0; i < times; ++i) {
    Sleep sleep = After(d);
    co_await sleep;
    const Clock& clock = Environment::CurrentClock();
    if (clock.Now() != sleep.deadline()) inexact->fetch_add(1);
    // The clock stands still while this thread runs, whatever others do.
    for (int n = 0; n < 5; ++n) std::this_thread::yield();
    if (clock.Now() != sleep.deadline()) inexact->fetch_add(1);
  }
}

TEST(FakeClockTest, TimeGoesOnWhenEveryThreadWouldSleep) {
  FakeClock clock;
  constexpr int kThreads = 4;
  std::atomic<int> inexact{0};
  std::atomic<int> ready{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      OwnTimers own(clock);
      const Environment environment = own.environment();
      const EnvironmentScope scope(environment);
      own.timers().Park(Instant::Past());  // takes part from here on
      ready.fetch_add(1);
      while (ready.load() < kThreads) std::this_thread::yield();
      BlockOn(SleepOften(50, absl::Seconds(i + 1), &inexact));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(inexact.load(), 0);
  EXPECT_EQ(clock.Now(), FakeClock::kStart + absl::Seconds(50 * kThreads));
}

// Waits until somebody sleeps until `deadline` in `timers`.
void AwaitSleeper(const Timers& timers, Instant deadline) {
  while (timers.NextDeadline() != deadline) std::this_thread::yield();
}

TEST(FakeClockTest, AutoAdvanceCanBeSwitchedOffAndOn) {
  FakeClock clock;
  clock.SetAutoAdvance(false);
  OwnTimers own(clock);
  std::atomic<int> done{0};
  std::thread thread([&] {
    const Environment environment = own.environment();
    const EnvironmentScope scope(environment);
    for (int i = 0; i < 2; ++i) {
      BlockOn(After(absl::Hours(1)));
      done.fetch_add(1);
    }
  });
  AwaitSleeper(own.timers(), FakeClock::kStart + absl::Hours(1));
  clock.Advance(absl::Minutes(59));
  EXPECT_EQ(done.load(), 0);
  clock.Advance(absl::Minutes(1));
  AwaitSleeper(own.timers(), FakeClock::kStart + absl::Hours(2));
  EXPECT_EQ(done.load(), 1);

  clock.SetAutoAdvance(true);
  thread.join();
  EXPECT_EQ(done.load(), 2);
  EXPECT_EQ(clock.Now(), FakeClock::kStart + absl::Hours(2));
}

TEST(FakeClockTest, ASleepFromElsewhereReachesAThreadThatSleepsForGood) {
  FakeClock clock;
  OwnTimers own(clock);
  Signal signal;
  std::thread thread([&] {
    const Environment environment = own.environment();
    const EnvironmentScope scope(environment);
    BlockOn(signal.Wait());
  });
  while (!signal.HasWaiter()) std::this_thread::yield();
  const Environment environment = own.environment();
  CountingWaker waker;
  Context cx(waker.waker(), nullptr, &environment);
  Sleep sleep(clock.Now() + absl::Hours(1));
  while (sleep.Poll(cx).IsPending()) std::this_thread::yield();
  EXPECT_EQ(clock.Now(), sleep.deadline());
  signal.Set();
  thread.join();
}

TEST(FakeClockTest, OneThatWaitsForAnotherGoesOnWhenThatOneIsGone) {
  FakeClock clock;
  auto busy = std::make_unique<OwnTimers>(clock);
  busy->timers().Park(Instant::Past());
  OwnTimers own(clock);
  std::atomic<bool> done{false};
  std::thread thread([&] {
    const Environment environment = own.environment();
    const EnvironmentScope scope(environment);
    BlockOn(After(absl::Hours(1)));
    done = true;
  });
  AwaitSleeper(own.timers(), FakeClock::kStart + absl::Hours(1));
  for (int i = 0; i < 20; ++i) std::this_thread::yield();
  EXPECT_FALSE(done);
  EXPECT_EQ(clock.Now(), FakeClock::kStart);

  busy.reset();
  thread.join();
  EXPECT_TRUE(done);
}

TEST(FakeClockTest, TimeDoesNotGoBackwards) {
  FakeClock clock;
  EXPECT_DEATH(clock.Advance(-absl::Nanoseconds(1)), "backwards");
  EXPECT_DEATH(clock.Set(clock.Now() - absl::Nanoseconds(1)), "backwards");
  EXPECT_DEATH(clock.Advance(absl::InfiniteDuration()), "infinity");
}

TEST(FakeClockTest, OutlivesItsTimers) {
  EXPECT_DEATH(
      {
        auto clock = std::make_unique<FakeClock>();
        OwnTimers own(*clock);
        clock.reset();
      },
      "before the Timers that use it");
}

}  // namespace
}  // namespace weft::timer
