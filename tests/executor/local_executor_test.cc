// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// weft-lint: allow-file(R22): the tests' tasks end before what they refer to.

#include "weft/executor/local_executor.h"

#include <atomic>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "weft/task/block_on.h"
#include "weft/task/context.h"
#include "weft/task/counting_waker.h"
#include "weft/task/driver.h"
#include "weft/task/environment.h"
#include "weft/task/instant.h"
#include "weft/task/join_handle.h"
#include "weft/task/parker.h"
#include "weft/task/polled.h"
#include "weft/task/ready.h"
#include "weft/task/spawn_builder.h"
#include "weft/task/spawner.h"
#include "weft/task/task.h"
#include "weft/task/waker.h"
#include "weft/task/yield_now.h"
#include "weft/timer/fake_clock.h"
#include "weft/timer/sleep.h"

namespace weft {
namespace {

// A flag that a task waits for and another thread sets.
class Flag {
 public:
  auto Wait() {
    return PollFn([this](Context& cx) -> Polled<void> {
      const std::lock_guard lock(mutex_);
      if (set_) return Unit();
      waker_ = cx.waker();
      return kPending;
    });
  }
  void Set() {
    Waker waker;
    {
      const std::lock_guard lock(mutex_);
      set_ = true;
      waker = std::exchange(waker_, Waker());
    }
    std::move(waker).Wake();
  }

 private:
  std::mutex mutex_;
  bool set_ = false;
  Waker waker_;
};

// A driver that does something in place of each sleep, and counts unparks.
class ScriptedDriver final : public Driver {
 public:
  void Park(Instant deadline) override {
    if (deadline == Instant::Infinite()) on_sleep();
  }
  Waker Unparker() override { return unparks.waker(); }

  std::function<void()> on_sleep;
  CountingWaker unparks;
};

TEST(LocalExecutorTest, RunGivesTheOutput) {
  LocalExecutor executor;
  EXPECT_EQ(executor.Run(Ready(3)), 3);
}

TEST(LocalExecutorTest, TasksRunInOrderOnTheHomeThread) {
  LocalExecutor executor;
  std::vector<int> order;
  auto task = [&order](int n) -> Task<> {
    EXPECT_EQ(order.size(), static_cast<size_t>(n));
    order.push_back(n);
    co_await YieldNow();
    order.push_back(n + 10);
  };
  JoinHandle<> a = executor.SpawnBorrowing(task(0));
  JoinHandle<> b = executor.SpawnBorrowing(task(1));
  executor.Run(b);
  EXPECT_EQ(order, (std::vector<int>{0, 1, 10, 11}));
  EXPECT_TRUE(a.IsFinished());
  EXPECT_TRUE(executor.IsEmpty());
}

TEST(LocalExecutorTest, AWakeFromAnotherThreadArrives) {
  LocalExecutor executor;
  for (int round = 0; round < 1000; ++round) {
    Flag flag;
    JoinHandle<> task =
        executor.Spawn([&flag]() -> Task<> { co_await flag.Wait(); });
    std::thread other([&flag] { flag.Set(); });
    executor.Run(task);
    other.join();
  }
}

TEST(LocalExecutorTest, OtherThreadsSpawnOnItsSpawner) {
  LocalExecutor executor;
  const auto home = std::this_thread::get_id();
  Flag done;
  std::thread other([&executor, &done, home] {
    executor.spawner()
        .Spawn([&done, home]() -> Task<> {
          EXPECT_EQ(std::this_thread::get_id(), home);
          done.Set();
          co_return;
        })
        .Detach();
  });
  executor.Run(done.Wait());
  other.join();
}

TEST(LocalExecutorTest, FreeSpawnInsideUsesIt) {
  LocalExecutor executor;
  JoinHandle<int> outer = executor.Spawn([]() -> Task<int> {
    JoinHandle<int> inner = Spawn(Ready(4));
    co_return co_await inner;
  });
  EXPECT_EQ(executor.Run(outer), 4);
}

TEST(LocalExecutorTest, TryTickRunsOneTask) {
  LocalExecutor executor;
  int runs = 0;
  auto task = [&runs]() -> Task<> {
    ++runs;
    co_return;
  };
  JoinHandle<> a = executor.Spawn(task);
  JoinHandle<> b = executor.Spawn(task);
  EXPECT_TRUE(executor.TryTick());
  EXPECT_EQ(runs, 1);
  EXPECT_TRUE(executor.TryTick());
  EXPECT_EQ(runs, 2);
  EXPECT_FALSE(executor.TryTick());
}

// Counts how often it was polled without waiting.
class CountingDriver final : public Driver {
 public:
  void Park(Instant deadline) override {
    if (deadline == Instant::Past()) ++polls;
    parker_.Park(deadline);
  }
  Waker Unparker() override { return parker_.Unparker(); }

  int polls = 0;

 private:
  Parker parker_;
};

TEST(LocalExecutorTest, TheDriverIsPolledBeforeAYieldedTaskRunsAgain) {
  CountingDriver driver;
  Environment environment;
  environment.driver = &driver;
  const EnvironmentScope scope(environment);
  LocalExecutor executor;
  JoinHandle<> task = executor.Spawn([&driver]() -> Task<> {
    for (int i = 0; i < 10; ++i) {
      const int before = driver.polls;
      co_await YieldNow();
      EXPECT_GT(driver.polls, before);
    }
  });
  executor.Run(task);
}

TEST(LocalExecutorTest, TheDriverIsPolledWhileTasksKeepEachOtherBusy) {
  CountingDriver driver;
  Environment environment;
  environment.driver = &driver;
  const EnvironmentScope scope(environment);
  LocalExecutor executor;
  int left = 10000;
  auto chain = [&left](auto self) -> Task<> {
    if (--left > 0) Spawn([self] { return self(self); }).Detach();
    co_return;
  };
  executor.Spawn([chain] { return chain(chain); }).Detach();
  executor.Run(PollFn([&left](Context& cx) -> Polled<void> {
    if (left <= 0) return Unit();
    cx.waker().WakeByRef();
    return kPending;
  }));
  EXPECT_GE(driver.polls, 10000 / 128);
}

TEST(LocalExecutorTest, DestructionDestroysTasks) {
  auto token = std::make_shared<int>(0);
  std::optional<JoinHandle<>> started;
  std::optional<JoinHandle<>> fresh;
  {
    LocalExecutor executor;
    started.emplace(
        executor.Spawn([token]() -> Task<> { co_await Pending(); }));
    EXPECT_TRUE(executor.TryTick());
    fresh.emplace(executor.Spawn([token]() -> Task<> { co_await Pending(); }));
    EXPECT_EQ(token.use_count(), 3);
  }
  EXPECT_EQ(token.use_count(), 1);
  EXPECT_EQ(BlockOn(std::move(*started).Outcome()).code(),
            absl::StatusCode::kCancelled);
  EXPECT_EQ(BlockOn(std::move(*fresh).Outcome()).code(),
            absl::StatusCode::kCancelled);
}

struct SpawnsWhenDestroyed {
  explicit SpawnsWhenDestroyed(std::shared_ptr<int> token)
      : token(std::move(token)) {}
  SpawnsWhenDestroyed(SpawnsWhenDestroyed&&) = default;
  ~SpawnsWhenDestroyed() {
    if (token == nullptr) return;
    Spawn([token = token]() -> Task<> {
      ++*token;
      co_return;
    }).Detach();
  }
  std::shared_ptr<int> token;
};

TEST(LocalExecutorTest, WhatDestructorsSpawnIsDestroyedUnrun) {
  auto token = std::make_shared<int>(0);
  {
    LocalExecutor executor;
    executor
        .Spawn([s = SpawnsWhenDestroyed(token)]() -> Task<> {
          co_await Pending();
        })
        .Detach();
    executor.TryTick();
  }
  EXPECT_EQ(*token, 0);
  EXPECT_EQ(token.use_count(), 1);
}

TEST(LocalExecutorTest, ALongChainOfHandlesIsDestroyedWithoutRecursion) {
  LocalExecutor executor;
  JoinHandle<> last = executor.Spawn(Pending());
  for (int i = 0; i < 200000; ++i) {
    last = executor.Spawn(
        [next = std::move(last)]() mutable -> Task<> { co_await next; });
    executor.TryTick();
  }
}

TEST(LocalExecutorTest, WakersMayOutliveIt) {
  Waker waker;
  {
    LocalExecutor executor;
    executor
        .Spawn([&waker]() -> Task<> {
          co_await PollFn([&waker](Context& cx) -> Polled<void> {
            waker = cx.waker();
            return kPending;
          });
        })
        .Detach();
    executor.TryTick();
  }
  waker.WakeByRef();
}

TEST(LocalExecutorTest, ForeignWakesDuringDestructionAreSafe) {
  for (int round = 0; round < 500; ++round) {
    auto flag = std::make_shared<Flag>();
    std::thread other;
    {
      LocalExecutor executor;
      executor.Spawn([flag]() -> Task<> { co_await flag->Wait(); }).Detach();
      executor.TryTick();
      other = std::thread([flag] { flag->Set(); });
    }
    other.join();
    EXPECT_EQ(flag.use_count(), 1);
  }
}

TEST(LocalExecutorTest, ABuildersLocalTasksAreSpawnedAtHomeOnly) {
  LocalExecutor executor;
  auto parent = []() -> Task<int> {
    auto child = []() -> Task<int> { co_return 7; };
    co_return co_await SpawnBuilder().Local().Spawn(child());
  };
  EXPECT_EQ(executor.Run(executor.Spawn(parent())), 7);

  EXPECT_TRUE(executor.spawner().IsLocal());
  bool elsewhere = true;
  std::thread([&] { elsewhere = executor.spawner().IsLocal(); }).join();
  EXPECT_FALSE(elsewhere);
}

TEST(LocalExecutorTest, RunLooksAtItsFutureThoughTasksAreReady) {
  LocalExecutor executor;
  Flag flag;
  int ran = 0;
  std::vector<JoinHandle<>> tasks;
  for (int i = 0; i < 10; ++i) {
    tasks.push_back(executor.Spawn([&flag, &ran]() -> Task<> {
      if (ran++ == 0) std::thread([&flag] { flag.Set(); }).join();
      co_return;
    }));
  }

  executor.Run(flag.Wait());

  EXPECT_EQ(ran, 1);
}

TEST(LocalExecutorTest, CountsWhatOtherThreadsSend) {
  LocalExecutor executor;
  JoinHandle<> here = executor.Spawn(Ready());
  executor.Run(here);
  EXPECT_EQ(executor.arrivals(), 0u);

  Flag flag;
  JoinHandle<> waits = executor.Spawn(flag.Wait());
  std::thread([&] { executor.spawner().Spawn(Ready()).Detach(); }).join();
  EXPECT_FALSE(executor.IsEmpty());
  EXPECT_EQ(executor.arrivals(), 1u);
  while (executor.TryTick()) {
  }
  std::thread([&] { flag.Set(); }).join();
  executor.Run(waits);

  EXPECT_TRUE(executor.IsEmpty());
  EXPECT_EQ(executor.arrivals(), 2u);
}

TEST(LocalExecutorTest, AnyThreadSeesHowManyTasksAreSuspended) {
  LocalExecutor executor;
  std::vector<JoinHandle<>> tasks;
  for (int i = 0; i < 3; ++i) tasks.push_back(executor.Spawn(Pending()));
  EXPECT_EQ(executor.suspended(), 0u);
  while (executor.TryTick()) {
  }
  size_t seen = 0;
  std::thread([&] { seen = executor.suspended(); }).join();
  EXPECT_EQ(seen, 3u);
  EXPECT_EQ(executor.Close(), 3u);
  EXPECT_EQ(executor.suspended(), 0u);
}

TEST(LocalExecutorDeathTest, RunAfterCloseIsNamed) {
  EXPECT_DEATH(
      {
        LocalExecutor executor;
        executor.Close();
        executor.Run(Pending());
      },
      "LocalExecutor after Close");
}

// ---- Drive ----

Task<> Count(int& count, int times) {
  for (int i = 0; i < times; ++i) {
    ++count;
    co_await YieldNow();
  }
}

TEST(LocalExecutorDriveTest, GivesTheOutput) {
  LocalExecutor executor;
  JoinHandle<int> task = executor.Spawn([]() -> Task<int> {
    JoinHandle<int> inner = Spawn(Ready(4));  // here, too
    co_return co_await inner;
  });
  EXPECT_EQ(BlockOn(executor.Drive(std::move(task))), 4);
}

TEST(LocalExecutorDriveTest, IsAFutureOfAnotherExecutor) {
  LocalExecutor outer;
  LocalExecutor inner;
  Flag flag;
  JoinHandle<> waits =
      inner.Spawn([&flag]() -> Task<> { co_await flag.Wait(); });
  // Wakes the inner task at home, while the inner executor is not polled.
  JoinHandle<> sets = outer.Spawn([&flag]() -> Task<> {
    for (int i = 0; i < 10; ++i) co_await YieldNow();
    flag.Set();
  });
  JoinHandle<> drives =
      outer.Spawn([&]() -> Task<> { co_await inner.Drive(std::move(waits)); });
  outer.Run(drives);
  EXPECT_TRUE(inner.IsEmpty());
  EXPECT_TRUE(sets.IsFinished());
}

TEST(LocalExecutorDriveTest, AWakeFromAnotherThreadArrives) {
  LocalExecutor executor;
  for (int round = 0; round < 1000; ++round) {
    Flag flag;
    JoinHandle<> task =
        executor.Spawn([&flag]() -> Task<> { co_await flag.Wait(); });
    std::thread other([&flag] { flag.Set(); });
    BlockOn(executor.Drive(std::move(task)));
    other.join();
  }
}

TEST(LocalExecutorDriveTest, ItsOwnRunMayDriveIt) {
  LocalExecutor executor;
  Flag flag;
  JoinHandle<> task =
      executor.Spawn([&flag]() -> Task<> { co_await flag.Wait(); });
  std::thread other([&flag] { flag.Set(); });
  executor.Run(executor.Drive(std::move(task)));
  other.join();
}

TEST(LocalExecutorDriveTest, ABusyOneLetsItsPollerBreathe) {
  LocalExecutor executor;
  int count = 0;
  JoinHandle<> busy = executor.SpawnBorrowing(Count(count, 1'000'000));
  auto drive = executor.Drive(Pending());
  const CountingWaker waker;
  Context cx(waker.waker());
  for (int poll = 1; poll < 10; ++poll) {
    EXPECT_TRUE(drive.Poll(cx).IsPending());
    EXPECT_GE(count, poll);
    EXPECT_LE(count, 200 * poll);
    EXPECT_EQ(waker.wakes(), poll);
  }
}

TEST(LocalExecutorDriveTest, RunsAFairShareOfManyTasks) {
  LocalExecutor executor;
  std::vector<JoinHandle<>> tasks;
  for (int i = 0; i < 1000; ++i) tasks.push_back(executor.Spawn(Ready()));
  auto drive = executor.Drive(Pending());
  CountingWaker waker;
  Context cx(waker.waker());
  int polls = 0;
  do {
    EXPECT_TRUE(drive.Poll(cx).IsPending());
    ++polls;
  } while (waker.TakeWakes() != 0);
  EXPECT_EQ(polls, 1000 / 200 + 1);
  EXPECT_TRUE(executor.IsEmpty());
}

TEST(LocalExecutorDriveTest, EachOfTwoIsToldAndRunsAllTasks) {
  LocalExecutor executor;
  CountingWaker a;
  CountingWaker b;
  Context cx_a(a.waker());
  Context cx_b(b.waker());
  auto drive_a = executor.Drive(Pending());
  std::optional<decltype(executor.Drive(Pending()))> drive_b(
      executor.Drive(Pending()));
  EXPECT_TRUE(drive_a.Poll(cx_a).IsPending());
  EXPECT_TRUE(drive_b->Poll(cx_b).IsPending());
  EXPECT_EQ(a.wakes(), 0);
  EXPECT_EQ(b.wakes(), 0);

  JoinHandle<> task = executor.Spawn(Ready());
  EXPECT_EQ(a.TakeWakes(), 1);
  EXPECT_EQ(b.TakeWakes(), 1);
  EXPECT_TRUE(drive_b->Poll(cx_b).IsPending());
  EXPECT_TRUE(task.IsFinished());

  // The one that was polled last goes; the other is told all the same.
  EXPECT_TRUE(drive_a.Poll(cx_a).IsPending());
  EXPECT_TRUE(drive_b->Poll(cx_b).IsPending());
  drive_b.reset();
  EXPECT_EQ(b.outstanding(), 0);
  std::thread([&executor] {
    executor.spawner().Spawn(Ready()).Detach();
  }).join();
  EXPECT_EQ(a.TakeWakes(), 1);
}

// Pending once; `later` gets its waker.
auto SleepOnce(Waker& later) {
  return PollFn([&later, slept = false](Context& cx) mutable -> Polled<void> {
    if (std::exchange(slept, true)) return Unit();
    later = cx.waker();
    return kPending;
  });
}

// Run() sleeps beside it, and is not woken by a letter.
TEST(LocalExecutorDriveTest, IsToldAfterAnotherRunHasSlept) {
  ScriptedDriver driver;
  Waker main;
  driver.on_sleep = [&main] { std::exchange(main, Waker()).Wake(); };
  Environment environment;
  environment.driver = &driver;
  const EnvironmentScope scope(environment);
  LocalExecutor executor;
  CountingWaker waker;
  Context cx(waker.waker());
  auto drive = executor.Drive(Pending());
  EXPECT_TRUE(drive.Poll(cx).IsPending());
  executor.Run(SleepOnce(main));
  EXPECT_EQ(waker.TakeWakes(), 0);

  std::thread([&executor] {
    executor.spawner().Spawn(Ready()).Detach();
  }).join();
  EXPECT_EQ(waker.TakeWakes(), 1);
}

TEST(LocalExecutorDriveTest, DroppingItLeavesTheTasks) {
  LocalExecutor executor;
  int count = 0;
  JoinHandle<> task = executor.SpawnBorrowing(Count(count, 3));
  {
    const CountingWaker waker;
    Context cx(waker.waker());
    auto drive = executor.Drive(Pending());
    EXPECT_TRUE(drive.Poll(cx).IsPending());
    EXPECT_EQ(count, 1);
  }
  EXPECT_FALSE(executor.IsEmpty());
  executor.Run(task);
  EXPECT_EQ(count, 3);
}

TEST(LocalExecutorDriveTest, UsesTheClockOfWhoPollsIt) {
  LocalExecutor executor;
  timer::FakeClock clock;
  Environment environment;
  environment.clock = &clock;
  const EnvironmentScope scope(environment);
  JoinHandle<> task =
      executor.Spawn([]() -> Task<> { co_await timer::After(absl::Hours(1)); });
  auto drive = executor.Drive(timer::After(absl::Hours(2)));
  CountingWaker waker;
  Context cx(waker.waker());
  EXPECT_TRUE(drive.Poll(cx).IsPending());
  EXPECT_EQ(waker.TakeWakes(), 0);

  clock.Advance(absl::Hours(1));
  EXPECT_EQ(waker.TakeWakes(), 1);
  EXPECT_TRUE(drive.Poll(cx).IsPending());
  EXPECT_TRUE(task.IsFinished());

  clock.Advance(absl::Hours(1));
  EXPECT_EQ(waker.TakeWakes(), 1);
  EXPECT_TRUE(drive.Poll(cx).IsReady());
}

// ---- Handles elsewhere ----

TEST(LocalExecutorTest, AnotherThreadAwaitsAHandle) {
  LocalExecutor executor;
  for (int round = 0; round < 500; ++round) {
    JoinHandle<std::unique_ptr<int>> task =
        executor.Spawn([]() -> Task<std::unique_ptr<int>> {
          co_await YieldNow();
          co_return std::make_unique<int>(7);
        });
    Flag done;
    std::thread other([&done, task = std::move(task)]() mutable {
      EXPECT_EQ(*BlockOn(std::move(task)), 7);
      done.Set();
    });
    executor.Run(done.Wait());
    other.join();
  }
  EXPECT_TRUE(executor.IsEmpty());
}

TEST(LocalExecutorTest, AnotherThreadDropsOrCancelsAHandle) {
  LocalExecutor executor;
  auto token = std::make_shared<int>(0);
  for (int round = 0; round < 500; ++round) {
    JoinHandle<> dropped =
        executor.Spawn([token]() -> Task<> { co_await Pending(); });
    JoinHandle<> cancelled =
        executor.Spawn([token]() -> Task<> { co_await Pending(); });
    Flag done;
    std::thread other(
        [&done, d = std::move(dropped), c = std::move(cancelled)]() mutable {
          {
            const JoinHandle<> gone = std::move(d);
          }
          EXPECT_EQ(BlockOn(std::move(c).Cancel()), std::nullopt);
          done.Set();
        });
    executor.Run(done.Wait());
    other.join();
  }
  EXPECT_TRUE(executor.IsEmpty());
  EXPECT_EQ(token.use_count(), 1);
}

TEST(LocalExecutorTest, SpawnedElsewhereAfterTheEndIsDestroyedThere) {
  auto token = std::make_shared<int>(0);
  LocalExecutor executor;
  executor.Close();
  std::thread([&] {
    JoinHandle<> task =
        executor.spawner().Spawn([token]() -> Task<> { co_await Pending(); });
    EXPECT_EQ(token.use_count(), 1);
    EXPECT_TRUE(task.IsFinished());
  }).join();
  EXPECT_EQ(token.use_count(), 1);
}

TEST(LocalExecutorTest, CloseCountsTasks) {
  LocalExecutor executor;
  JoinHandle<> idle = executor.Spawn(Pending());
  while (executor.TryTick()) {
  }
  JoinHandle<> fresh = executor.Spawn(Pending());
  std::thread([&] { executor.spawner().Spawn(Pending()).Detach(); }).join();
  EXPECT_EQ(executor.Close(), 3u);
  EXPECT_EQ(executor.Close(), 0u);
}

TEST(LocalExecutorTest, OnlyTheFirstLetterToASleepingOwnerUnparksIt) {
  ScriptedDriver driver;
  Environment environment;
  environment.driver = &driver;
  const EnvironmentScope scope(environment);
  LocalExecutor executor;
  int run = 0;
  Flag both;
  auto spawn_elsewhere = [&] {
    std::thread([&] {
      auto count = [&]() -> Task<> {
        if (++run == 2) both.Set();
        co_return;
      };
      executor.spawner().Spawn(count).Detach();
      executor.spawner().Spawn(count).Detach();
    }).join();
  };
  driver.on_sleep = spawn_elsewhere;
  JoinHandle<> task = executor.Spawn([&]() -> Task<> {
    co_await both.Wait();
    EXPECT_EQ(driver.unparks.TakeWakes(), 1);
    // Now it is awake.
    for (int i = 0; i < 10; ++i) spawn_elsewhere();
    while (run < 22) co_await YieldNow();
    EXPECT_EQ(driver.unparks.TakeWakes(), 0);
  });
  executor.Run(task);
}

TEST(LocalExecutorTest, AnOwnerThatWokeByItselfIsNotUnparked) {
  ScriptedDriver driver;
  Waker sleeper;
  driver.on_sleep = [&sleeper] { std::exchange(sleeper, Waker()).Wake(); };
  Environment environment;
  environment.driver = &driver;
  const EnvironmentScope scope(environment);
  LocalExecutor executor;
  JoinHandle<> task = executor.Spawn([&]() -> Task<> {
    co_await SleepOnce(sleeper);
    std::thread([&] { executor.spawner().Spawn(Ready()).Detach(); }).join();
  });
  executor.Run(task);
  EXPECT_EQ(driver.unparks.wakes(), 0);
}

// A waker as others make them: its functions may take locks of their own.
struct ForeignWaker {
  static Waker Make() { return Waker(&kTable, nullptr); }
  static void Reset() { clones = wakes = 0; }

  static Waker Clone(void*) {
    ++clones;
    return Make();
  }
  static void Wake(void*) { ++wakes; }
  static void Drop(void*) {}

  static constexpr WakerVTable kTable = {
      .clone = &Clone, .wake = &Wake, .wake_by_ref = &Wake, .drop = &Drop};
  inline static std::atomic<int> clones{0};
  inline static std::atomic<int> wakes{0};
};

// A clone is foreign code: made where the executor's state is locked, it could
// not use the executor.
TEST(LocalExecutorTest, AWakeFromElsewhereClonesNoWaker) {
  constexpr int kDrives = 100;
  LocalExecutor executor;
  std::deque<decltype(executor.Drive(Pending()))> drives;
  const Waker waker = ForeignWaker::Make();
  Context cx(waker, nullptr, &Environment::Current());
  for (int i = 0; i < kDrives; ++i) {
    drives.push_back(executor.Drive(Pending()));
    EXPECT_TRUE(drives.back().Poll(cx).IsPending());
  }
  ForeignWaker::Reset();

  Spawner& spawner = executor.spawner();
  std::thread([&] { spawner.Spawn(Ready()).Detach(); }).join();

  EXPECT_EQ(ForeignWaker::wakes, kDrives);
  EXPECT_EQ(ForeignWaker::clones, 0);
  EXPECT_TRUE(drives[0].Poll(cx).IsPending());
  EXPECT_TRUE(executor.IsEmpty());
}

// Unparked by ForeignWaker; runs a function in place of each sleep.
class ForeignDriver final : public Driver {
 public:
  void Park(Instant deadline) override {
    if (deadline == Instant::Infinite()) on_sleep();
  }
  Waker Unparker() override { return ForeignWaker::Make(); }

  std::function<void()> on_sleep;
};

TEST(LocalExecutorTest, AnUnparkFromElsewhereClonesNoWaker) {
  LocalExecutor executor;
  ForeignDriver driver;
  Environment environment;
  environment.driver = &driver;
  const EnvironmentScope scope(environment);
  Flag flag;
  int sleeps = 0;
  driver.on_sleep = [&] {
    ForeignWaker::Reset();
    if (++sleeps < 3) {
      Spawner& spawner = executor.spawner();
      std::thread([&] { spawner.Spawn(Ready()).Detach(); }).join();
    } else {
      std::thread([&] { flag.Set(); }).join();
    }
    EXPECT_EQ(ForeignWaker::wakes, 1);
    EXPECT_EQ(ForeignWaker::clones, 0);
  };

  executor.Run(flag.Wait());

  EXPECT_EQ(sleeps, 3);
}

// ---- Wakers of the future in Run() that come too late ----

class LateWakeTest : public testing::Test {
 protected:
  LateWakeTest() {
    LocalExecutor executor;
    executor.Run(PollFn([&](Context& cx) -> Polled<void> {
      late_ = cx.waker();
      return Unit();
    }));
  }

  // The core of the executor that is gone is the next one's.
  bool HasTheSameCore(LocalExecutor& executor) {
    return late_.data() == static_cast<void*>(&executor.spawner());
  }
  static void WakeElsewhere(const Waker& waker) {
    std::thread([&waker] { waker.WakeByRef(); }).join();
  }
  // Runs a future that ends when done_ is set and it is polled.
  void Run(LocalExecutor& executor) {
    Environment environment;
    environment.driver = &driver_;
    const EnvironmentScope scope(environment);
    executor.Run(PollFn([this](Context& cx) -> Polled<void> {
      ++polls_;
      main_ = cx.waker();
      if (done_) return Unit();
      return kPending;
    }));
  }

  Waker late_;
  Waker main_;
  ScriptedDriver driver_;
  int polls_ = 0;
  bool done_ = false;
};

TEST_F(LateWakeTest, IsASparePollOfTheNextExecutorsFuture) {
  LocalExecutor executor;
  ASSERT_TRUE(HasTheSameCore(executor));
  int sleeps = 0;
  driver_.on_sleep = [&] {
    EXPECT_EQ(polls_, ++sleeps);
    done_ = sleeps >= 3;
    if (sleeps == 2) return WakeElsewhere(late_);
    if (sleeps == 3) return WakeElsewhere(main_);
    late_.WakeByRef();
  };
  Run(executor);
  EXPECT_EQ(polls_, 4);
  EXPECT_EQ(driver_.unparks.wakes(), 2);
}

TEST_F(LateWakeTest, KeepsNoWakeOfTheNextExecutorAway) {
  WakeElsewhere(late_);  // the core is nobody's
  LocalExecutor executor;
  ASSERT_TRUE(HasTheSameCore(executor));
  driver_.on_sleep = [&] {
    EXPECT_FALSE(done_) << "the wake from elsewhere was lost";
    if (done_) return main_.WakeByRef();
    done_ = true;
    WakeElsewhere(main_);
  };
  Run(executor);
  EXPECT_EQ(polls_, 2);
}

TEST_F(LateWakeTest, BeforeTheNextRunItCostsNothing) {
  LocalExecutor executor;
  ASSERT_TRUE(HasTheSameCore(executor));
  WakeElsewhere(late_);
  driver_.on_sleep = [&] {
    done_ = true;
    main_.WakeByRef();
  };
  Run(executor);
  EXPECT_EQ(polls_, 2);
}

TEST(LocalExecutorDriveDeathTest, MustNotOutliveItsExecutor) {
  auto outlive = [] {
    const CountingWaker waker;
    Context cx(waker.waker());
    std::optional<LocalExecutor> executor(std::in_place);
    auto drive = executor->Drive(Pending());
    EXPECT_TRUE(drive.Poll(cx).IsPending());
    executor.reset();
  };
  EXPECT_DEATH(outlive(), "outlived its LocalExecutor");
}

TEST(LocalExecutorDeathTest, OtherThreadsMayNotUseIt) {
  LocalExecutor executor;
  EXPECT_DEATH(std::thread([&executor] { executor.Run(Ready(1)); }).join(),
               "another thread");
}

TEST(LocalExecutorDeathTest, ATaskDoesNotCloseItsExecutor) {
  LocalExecutor executor;
  auto task = executor.Spawn([&executor]() -> Task<> {
    executor.Close();
    co_return;
  });
  EXPECT_DEATH(executor.TryTick(), "cannot close its executor");
}

TEST(LocalExecutorDeathTest, RunInsideRunIsRefused) {
  LocalExecutor executor;
  EXPECT_DEATH(executor.Run(executor.Spawn([&executor]() -> Task<> {
    executor.Run(Ready(1));
    co_return;
  })),
               "inside another Run");
}

}  // namespace
}  // namespace weft
