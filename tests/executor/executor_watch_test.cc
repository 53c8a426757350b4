// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// weft-lint: allow-file(R22): the tests' tasks end before what they refer to.

// A thread in a long poll comes neither to its driver nor to what it has woken: a
// sleeping runner does it instead.
#include <atomic>
#include <cstddef>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "weft/executor/block_in_place.h"
#include "weft/executor/blocking_pool.h"
#include "weft/executor/executor.h"
#include "weft/task/block_on.h"
#include "weft/task/clock.h"
#include "weft/task/context.h"
#include "weft/task/counting_waker.h"
#include "weft/task/driver.h"
#include "weft/task/environment.h"
#include "weft/task/instant.h"
#include "weft/task/join_handle.h"
#include "weft/task/offload.h"
#include "weft/task/parker.h"
#include "weft/task/polled.h"
#include "weft/task/ready.h"
#include "weft/task/spawner.h"
#include "weft/task/task.h"
#include "weft/task/waker.h"
#include "weft/task/yield_now.h"
#include "weft/tests/executor/runners.h"
#include "weft/timer/fake_clock.h"

namespace weft {
namespace {

using executor_testing::Gate;
using executor_testing::RoundsOrLong;
using executor_testing::Runners;
using executor_testing::SpinUntil;

// Its events are ready as soon as they are added; but its thread is not told, so
// only a look finds them.
class EventDriver : public Driver {
 public:
  void Park(Instant deadline) override {
    for_good.store(deadline.IsInfinite());
    parker_.Park(deadline);
    for_good.store(false);
    TryPoll();
  }
  bool TryPoll() override {
    if (in_use.load()) return false;
    std::vector<Waker> wakers;
    {
      const std::lock_guard lock(mutex_);
      wakers = std::exchange(wakers_, {});
    }
    for (Waker& waker : wakers) std::move(waker).Wake();
    return true;
  }
  Waker Unparker() override { return parker_.Unparker(); }

  void Add(Waker waker) {
    const std::lock_guard lock(mutex_);
    wakers_.push_back(std::move(waker));
  }

  std::atomic<bool> for_good{false};  // it sleeps without a deadline
  std::atomic<bool> in_use{false};    // some other thread is in TryPoll()

 private:
  Parker parker_;
  std::mutex mutex_;
  std::vector<Waker> wakers_;  // guarded by mutex_
};

// `count` threads in Run(), each in a driver of its own.
class DrivenRunners {
 public:
  DrivenRunners(Executor& executor, int count, const Clock* clock = nullptr,
                bool in_use = false)
      : drivers_(static_cast<size_t>(count)) {
    SetInUse(in_use);
    for (EventDriver& driver : drivers_) {
      threads_.emplace_back([this, &executor, &driver, clock] {
        Environment environment = Environment::Current();
        environment.driver = &driver;
        environment.clock = clock;
        const EnvironmentScope scope(environment);
        executor.Run(stop_.Wait());
      });
    }
  }
  ~DrivenRunners() {
    stop_.Open();
    for (std::thread& thread : threads_) thread.join();
  }

  void SetInUse(bool in_use) {
    for (EventDriver& driver : drivers_) driver.in_use.store(in_use);
  }
  // Until all sleep without a deadline.
  void WaitUntilQuiet() {
    SpinUntil([this] {
      for (EventDriver& driver : drivers_) {
        if (!driver.for_good.load()) return false;
      }
      return true;
    });
  }

 private:
  std::vector<EventDriver> drivers_;
  std::vector<std::thread> threads_;
  Gate stop_;
};

// Keeps its thread until an event of that thread's own driver has been handled.
Task<> HoldTheThread() {
  auto& driver = static_cast<EventDriver&>(Environment::CurrentDriver());
  CountingWaker event;
  driver.Add(event.waker());
  SpinUntil([&] { return event.wakes() == 1; });
  co_return;
}

class ExecutorWatchTest : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Runners, ExecutorWatchTest, testing::Values(2, 4));

TEST_P(ExecutorWatchTest, ALongPollDoesNotHoldItsDriver) {
  Executor executor;
  DrivenRunners runners(executor, GetParam());
  for (int i = 0; i < RoundsOrLong(20, 500); ++i) {
    BlockOn(executor.Spawn(HoldTheThread()));
  }
}

TEST_P(ExecutorWatchTest, NorWhereEverybodyHadSleptForGood) {
  Executor executor;
  DrivenRunners runners(executor, GetParam());
  for (int i = 0; i < RoundsOrLong(5, 100); ++i) {
    runners.WaitUntilQuiet();
    BlockOn(executor.Spawn(HoldTheThread()));
  }
}

// Who sleeps does not sleep long enough to look: a task comes every few
// microseconds.
TEST_P(ExecutorWatchTest, NorWhereTheOthersAreWokenAllTheTime) {
  Executor executor;
  DrivenRunners runners(executor, GetParam());
  for (int i = 0; i < RoundsOrLong(20, 500); ++i) {
    JoinHandle<> held = executor.Spawn(HoldTheThread());
    while (!held.IsFinished()) BlockOn(executor.Spawn(YieldNow()));
  }
}

// Nobody sleeps.
TEST_P(ExecutorWatchTest, NorWhereTheOthersAreBusy) {
  Executor executor;
  DrivenRunners runners(executor, GetParam());
  Gate stop;
  std::vector<JoinHandle<>> busy;
  for (int i = 0; i < 2 * GetParam(); ++i) {
    busy.push_back(executor.Spawn([&]() -> Task<> {
      while (!stop.IsOpen()) co_await YieldNow();
    }));
  }
  for (int i = 0; i < RoundsOrLong(20, 500); ++i) {
    BlockOn(executor.Spawn(HoldTheThread()));
  }
  stop.Open();
  for (JoinHandle<>& handle : busy) BlockOn(handle);
}

// As many long polls as leave one runner free, one after the other: whoever looks
// after the others is given work himself.
TEST_P(ExecutorWatchTest, WhoWatchesIsReplaced) {
  Executor executor;
  DrivenRunners runners(executor, GetParam());
  for (int round = 0; round < RoundsOrLong(5, 100); ++round) {
    std::vector<JoinHandle<>> held;
    for (int i = 0; i + 1 < GetParam(); ++i) {
      held.push_back(executor.Spawn(HoldTheThread()));
    }
    for (JoinHandle<>& handle : held) BlockOn(handle);
  }
}

// What an event wakes runs where it was handled, not behind the long poll.
TEST_P(ExecutorWatchTest, TheTaskThatWaitedRunsElsewhere) {
  Executor executor;
  DrivenRunners runners(executor, GetParam());
  for (int i = 0; i < RoundsOrLong(20, 500); ++i) {
    Waker waker;
    std::atomic<bool> waits{false};
    std::atomic<bool> ran{false};
    BlockOn(executor.Spawn([&]() -> Task<> {
      JoinHandle<> waiter = weft::Spawn([&]() -> Task<> {
        bool asked = false;
        co_await PollFn([&](Context& cx) -> Polled<void> {
          if (std::exchange(asked, true)) return Unit();
          waker = cx.waker();
          waits.store(true);
          return kPending;
        });
        ran.store(true);
      });
      while (!waits.load()) co_await YieldNow();
      auto& driver = static_cast<EventDriver&>(Environment::CurrentDriver());
      driver.Add(std::move(waker));
      SpinUntil([&] { return ran.load(); });
      co_await waiter;
    }));
  }
}

// It would have come next on this thread; whatever their driver is.
TEST_P(ExecutorWatchTest, WhatALongPollHasWokenRunsElsewhere) {
  Executor executor;
  Runners runners(executor, GetParam());
  for (int i = 0; i < RoundsOrLong(20, 500); ++i) {
    Gate gate;
    std::atomic<bool> waits{false};
    std::atomic<bool> ran{false};
    BlockOn(executor.Spawn([&]() -> Task<> {
      JoinHandle<> waiter = weft::Spawn([&]() -> Task<> {
        waits.store(true);
        co_await gate.Wait();
        ran.store(true);
      });
      while (!waits.load()) co_await YieldNow();
      gate.Open();
      SpinUntil([&] { return ran.load(); });
      co_await waiter;
    }));
  }
}

// Threads come and go with their drivers while others look after these.
TEST_P(ExecutorWatchTest, DriversMayGo) {
  Executor executor;
  DrivenRunners runners(executor, GetParam());
  for (int i = 0; i < RoundsOrLong(100, 2000); ++i) {
    DrivenRunners passing(executor, 1);
    BlockOn(executor.Spawn(YieldNow()));
  }
}

TEST_P(ExecutorWatchTest, ADriverThatWasInUseWhenItsThreadCameIsLookedAfter) {
  Executor executor;
  DrivenRunners runners(executor, GetParam(), /*clock=*/nullptr,
                        /*in_use=*/true);
  runners.WaitUntilQuiet();
  runners.SetInUse(false);
  BlockOn(executor.Spawn(HoldTheThread()));
}

// ---- Threads in BlockInPlace() ----

// Runs `main` on the calling thread, in a driver of its own.
void RunDriven(Executor& executor, EventDriver& driver, Task<> main,
               Offload* offload = nullptr) {
  Environment environment = Environment::Current();
  environment.driver = &driver;
  environment.offload = offload;
  const EnvironmentScope scope(environment);
  executor.Run(std::move(main));
}

// Its stand-in is in a poll that lasts until `go_on` is set.
Task<> WaitForTheDriver(std::atomic<bool>& waits, std::atomic<bool>& go_on) {
  std::atomic<bool> stands_in{false};
  JoinHandle<> poll = weft::Spawn([&]() -> Task<> {
    stands_in.store(true);
    SpinUntil([&] { return go_on.load(); });
    co_return;
  });
  BlockInPlace([&] { SpinUntil([&] { return stands_in.load(); }); });
  waits.store(true);
  co_await poll;
}

TEST(ExecutorStandInWatchTest, AThreadThatWaitsForItsDriverLooksAfterOthers) {
  BlockingPool pool;
  Executor executor;
  EventDriver its_driver;
  EventDriver other;
  std::atomic<bool> waits{false};
  std::atomic<bool> go_on{false};
  std::thread waiting([&] {
    RunDriven(executor, its_driver, WaitForTheDriver(waits, go_on), &pool);
  });
  SpinUntil([&] { return waits.load(); });
  RunDriven(executor, other, HoldTheThread());
  go_on.store(true);
  waiting.join();
}

#if defined(__cpp_exceptions)
// No thread but its own may sleep here.
class OneThreadDriver final : public EventDriver {
 public:
  void Park(Instant deadline) override {
    if (std::this_thread::get_id() == thread_) {
      return EventDriver::Park(deadline);
    }
    thrown.store(true);
    throw 7;
  }

  std::atomic<bool> thrown{false};

 private:
  const std::thread::id thread_ = std::this_thread::get_id();
};

Task<> HoldTheThreadInPlace(OneThreadDriver& driver) {
  CountingWaker event;
  BlockInPlace([&] {
    SpinUntil([&] { return driver.thrown.load(); });
    driver.Add(event.waker());
    SpinUntil([&] { return event.wakes() == 1; });
  });
  co_return;
}

TEST(ExecutorStandInWatchTest, ADriverThatItsStandInHasLeftIsLookedAfter) {
  BlockingPool pool;
  Executor executor;
  DrivenRunners runners(executor, 1);
  OneThreadDriver driver;
  RunDriven(executor, driver, HoldTheThreadInPlace(driver), &pool);
}
#endif

// Nobody looks at what needs no look.
TEST(ExecutorQuietTest, RunnersSleepForGoodWhenNothingRuns) {
  Executor executor;
  DrivenRunners runners(executor, 4);
  BlockOn(executor.Spawn(YieldNow()));
  runners.WaitUntilQuiet();
  EXPECT_EQ(executor.Stats().parked, 4u);
}

TEST(ExecutorQuietTest, OnAFakeClockEverybodySleepsForGoodAtOnce) {
  timer::FakeClock clock;
  Executor executor;
  DrivenRunners runners(executor, 2, &clock);
  BlockOn(executor.Spawn(YieldNow()));
  runners.WaitUntilQuiet();
  EXPECT_LE(executor.Stats().parks, 10u);
}

}  // namespace
}  // namespace weft
