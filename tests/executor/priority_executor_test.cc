// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/executor/priority_executor.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "weft/executor/executor.h"
#include "weft/task/block_on.h"
#include "weft/task/environment.h"
#include "weft/task/join_handle.h"
#include "weft/task/live_counter.h"
#include "weft/task/manual_executor.h"
#include "weft/task/ready.h"
#include "weft/task/spawner.h"
#include "weft/task/task.h"
#include "weft/task/yield_now.h"
#include "weft/tests/executor/hammer.h"
#include "weft/tests/executor/runners.h"
#include "weft/tests/kit/signal.h"

namespace weft {
namespace {

using executor_testing::Gate;
using executor_testing::Hammer;
using executor_testing::RoundsOrLong;
using executor_testing::Runners;
using executor_testing::SpinUntil;

Task<> Append(std::string* log, char c) {
  log->push_back(c);
  co_return;
}

// Appends each time it is polled.
Task<> AppendAndYield(std::string* log, char c, int times) {
  for (int i = 0; i < times; ++i) {
    log->push_back(c);
    co_await YieldNow();
  }
}

Task<> AppendWhenSet(std::string* log, char c, Signal* signal) {
  co_await signal->Wait();
  log->push_back(c);
}

Task<> Hold(LiveCounter::Object) { co_await Pending(); }

absl::StatusCode CodeOf(JoinHandle<> handle) {
  return BlockOn(std::move(handle).Outcome()).code();
}

TEST(PriorityExecutorTest, HasTwoStrictLevelsByDefault) {
  ManualExecutor executor;
  PriorityExecutor tasks(executor.spawner());

  EXPECT_EQ(tasks.levels(), 2);
  EXPECT_EQ(executor.Run(tasks.Spawn(1, Ready(7))), 7);
}

TEST(PriorityExecutorTest, TheHighestLevelRunsFirst) {
  ManualExecutor executor;
  PriorityExecutor tasks(executor.spawner(),
                         PriorityExecutorOptions().Strict(3));
  std::string log;
  std::vector<JoinHandle<>> handles;
  for (const int level : {2, 1, 0, 2, 0, 1}) {
    const char c = static_cast<char>('0' + level);
    handles.push_back(tasks.SpawnBorrowing(level, Append(&log, c)));
  }

  executor.RunUntilIdle();

  EXPECT_EQ(log, "001122");
}

TEST(PriorityExecutorTest, AWokenTaskOvertakesLowerOnes) {
  ManualExecutor executor;
  PriorityExecutor tasks(executor.spawner(),
                         PriorityExecutorOptions().Strict(2).Parallelism(1));
  std::string log;
  Signal signal;
  auto high = tasks.SpawnBorrowing(0, AppendWhenSet(&log, 'h', &signal));
  executor.RunUntilIdle();
  auto low = tasks.SpawnBorrowing(1, AppendAndYield(&log, 'l', 100));
  executor.RunOne();
  const size_t before = log.size();
  EXPECT_LT(before, 100u);

  signal.Set();
  executor.RunUntilIdle();

  EXPECT_EQ(log.find('h'), before);
  EXPECT_EQ(log.size(), 101u);
}

TEST(PriorityExecutorTest, StrictLetsLowLevelsStarve) {
  ManualExecutor executor;
  PriorityExecutor tasks(executor.spawner());
  std::string log;
  auto low = tasks.SpawnBorrowing(1, Append(&log, 'l'));
  auto high = tasks.SpawnBorrowing(0, AppendAndYield(&log, 'h', 1000));

  executor.RunUntilIdle();

  EXPECT_EQ(log.find('l'), 1000u);
}

TEST(PriorityExecutorTest, WeightedSharesThePolls) {
  ManualExecutor executor;
  PriorityExecutor tasks(executor.spawner(),
                         PriorityExecutorOptions().Weighted({3, 1}));
  std::string log;
  auto low = tasks.SpawnBorrowing(1, AppendAndYield(&log, 'l', 1000));
  auto high = tasks.SpawnBorrowing(0, AppendAndYield(&log, 'h', 1000));

  executor.RunUntilIdle();

  const auto end = log.begin() + 1000;
  EXPECT_NEAR(std::count(log.begin(), end, 'h'), 750, 2);
}

TEST(PriorityExecutorTest, SpawnInsideATaskSpawnsOnItsLevel) {
  ManualExecutor executor;
  PriorityExecutor tasks(executor.spawner());
  auto ask = []() -> Task<Spawner*> {
    co_return &Environment::CurrentSpawner();
  };
  for (const int level : {0, 1}) {
    EXPECT_EQ(executor.Run(tasks.Spawn(level, ask())), &tasks.spawner(level));
  }
}

TEST(PriorityExecutorTest, OtherTasksBelowHaveTheirTurn) {
  ManualExecutor executor;
  PriorityExecutor tasks(executor.spawner(),
                         PriorityExecutorOptions().Strict(1).Parallelism(4));
  std::string log;
  std::vector<JoinHandle<>> busy;
  for (int i = 0; i < 8; ++i) {
    busy.push_back(tasks.SpawnBorrowing(0, AppendAndYield(&log, 'b', 100'000)));
  }
  auto other = executor.SpawnBorrowing(Append(&log, 'o'));

  for (int i = 0; i < 5; ++i) executor.RunOne();

  EXPECT_TRUE(other.IsFinished());
}

TEST(PriorityExecutorTest, WithoutTasksItHasNoneBelow) {
  ManualExecutor executor;
  PriorityExecutor tasks(executor.spawner(),
                         PriorityExecutorOptions().Parallelism(4));
  std::string log;
  for (int round = 0; round < 3; ++round) {
    std::vector<Signal> signals(8);
    std::vector<JoinHandle<>> handles;
    for (Signal& signal : signals) {
      handles.push_back(
          tasks.SpawnBorrowing(0, AppendWhenSet(&log, 'x', &signal)));
    }
    executor.RunUntilIdle();
    EXPECT_EQ(executor.live(), 4u);
    for (Signal& signal : signals) signal.Set();
    executor.RunUntilIdle();
    EXPECT_EQ(executor.live(), 0u);
  }

  EXPECT_EQ(log.size(), 24u);
}

TEST(PriorityExecutorTest, WithoutTheObjectItsTasksGoOn) {
  ManualExecutor executor;
  std::optional<PriorityExecutor> tasks(executor.spawner());
  std::string log;
  Signal signal;
  auto suspended = tasks->SpawnBorrowing(1, AppendWhenSet(&log, 's', &signal));
  executor.RunUntilIdle();
  auto queued = tasks->SpawnBorrowing(0, Append(&log, 'q'));

  tasks.reset();
  executor.RunUntilIdle();
  signal.Set();
  executor.RunUntilIdle();

  EXPECT_EQ(log, "qs");
}

TEST(PriorityExecutorTest, TheEndOfTheSpawnerBelowDestroysAllTasks) {
  LiveCounter counter;
  auto executor = std::make_unique<ManualExecutor>();
  PriorityExecutor tasks(executor->spawner(),
                         PriorityExecutorOptions().Parallelism(4));
  std::vector<JoinHandle<>> handles;
  for (int i = 0; i < 16; ++i) {
    handles.push_back(tasks.Spawn(i % 2, Hold(counter.Make())));
    if (i == 7) executor->RunUntilIdle();
  }
  EXPECT_EQ(counter.live(), 16);

  executor.reset();

  EXPECT_EQ(counter.live(), 0);
  handles.push_back(tasks.Spawn(0, Hold(counter.Make())));
  for (JoinHandle<>& handle : handles) {
    EXPECT_EQ(CodeOf(std::move(handle)), absl::StatusCode::kCancelled);
  }
}

#if defined(__cpp_exceptions)
TEST(PriorityExecutorTest, WhatATaskThrowsGoesToItsHandle) {
  ManualExecutor executor;
  PriorityExecutor tasks(executor.spawner());
  auto fail = []() -> Task<> {
    co_await YieldNow();
    throw std::runtime_error("failed");
  };
  JoinHandle<> failing = tasks.Spawn(0, fail());
  JoinHandle<int> good = tasks.Spawn(1, Ready(1));
  executor.RunUntilIdle();

  EXPECT_THROW(executor.Run(failing), std::runtime_error);
  EXPECT_EQ(executor.Run(good), 1);
}
#endif

TEST(PriorityExecutorDeathTest, IsNotUsedAfterAMove) {
  ManualExecutor executor;
  PriorityExecutor tasks(executor.spawner());
  const PriorityExecutor other = std::move(tasks);

  EXPECT_DEATH(static_cast<void>(tasks.levels()), "was moved from");
  EXPECT_DEATH(static_cast<void>(tasks.spawner(0)), "was moved from");
}

TEST(PriorityExecutorDeathTest, ChecksItsArguments) {
  ManualExecutor executor;
  Spawner& below = executor.spawner();
  EXPECT_DEATH(PriorityExecutor(below, PriorityExecutorOptions().Strict(0)),
               "at least one level");
  EXPECT_DEATH(PriorityExecutor(below, PriorityExecutorOptions().Weighted({})),
               "at least one level");
  EXPECT_DEATH(
      PriorityExecutor(below, PriorityExecutorOptions().Weighted({1, -1})),
      "weight is from 1");
  EXPECT_DEATH(PriorityExecutorOptions().Parallelism(0), "at least one task");
  PriorityExecutor tasks(below);
  EXPECT_DEATH(static_cast<void>(tasks.spawner(2)), "no such level");
  EXPECT_DEATH(static_cast<void>(tasks.spawner(-1)), "no such level");
}

class PriorityExecutorThreadsTest : public testing::TestWithParam<int> {};

INSTANTIATE_TEST_SUITE_P(Threads, PriorityExecutorThreadsTest,
                         testing::Values(1, 2, 4, 8));

// Ready once `expected` tasks are inside this at the same time.
Task<> Meet(std::atomic<int>* inside, int expected, Gate* gate) {
  co_await gate->Wait();
  inside->fetch_add(1);
  SpinUntil([&] { return inside->load() >= expected; });
}

TEST_P(PriorityExecutorThreadsTest, AsManyTasksRunAtOnceAsAreAllowed) {
  const int threads = GetParam();
  Executor executor;
  Runners runners(executor, threads);
  PriorityExecutor tasks(executor.spawner(),
                         PriorityExecutorOptions().Parallelism(threads));
  for (int round = 0; round < RoundsOrLong(20, 1000); ++round) {
    // Some are suspended, some have not been polled when they are woken.
    std::atomic<int> inside{0};
    Gate gate;
    std::vector<JoinHandle<>> handles;
    for (int i = 0; i < threads; ++i) {
      handles.push_back(
          tasks.SpawnBorrowing(i % 2, Meet(&inside, threads, &gate)));
    }
    gate.Open();
    for (JoinHandle<>& handle : handles) BlockOn(handle);
  }
}

TEST_P(PriorityExecutorThreadsTest, AFirstPollThatLastsKeepsNoOtherTask) {
  const int threads = GetParam();
  Executor executor;
  Runners runners(executor, threads);
  PriorityExecutor tasks(executor.spawner(),
                         PriorityExecutorOptions().Parallelism(threads));
  std::atomic<int> inside{0};
  Gate gate;
  gate.Open();
  std::vector<JoinHandle<>> handles;
  for (int i = 0; i < threads; ++i) {
    handles.push_back(tasks.SpawnBorrowing(0, Meet(&inside, threads, &gate)));
    SpinUntil([&] { return inside.load() > i; });
  }

  for (JoinHandle<>& handle : handles) BlockOn(handle);
}

Task<> CountInside(std::atomic<int>* inside, std::atomic<int>* most,
                   int rounds) {
  for (int i = 0; i < rounds; ++i) {
    const int now = inside->fetch_add(1) + 1;
    int before = most->load();
    while (before < now && !most->compare_exchange_weak(before, now)) {
    }
    std::this_thread::yield();
    inside->fetch_sub(1);
    co_await YieldNow();
  }
}

TEST_P(PriorityExecutorThreadsTest, NoMoreTasksRunAtOnceThanAreAllowed) {
  Executor executor;
  Runners runners(executor, GetParam());
  PriorityExecutor tasks(executor.spawner(),
                         PriorityExecutorOptions().Parallelism(2));
  std::atomic<int> inside{0};
  std::atomic<int> most{0};
  std::vector<JoinHandle<>> handles;
  for (int i = 0; i < 16; ++i) {
    handles.push_back(tasks.SpawnBorrowing(
        i % 2, CountInside(&inside, &most, RoundsOrLong(100, 10'000))));
  }

  for (JoinHandle<>& handle : handles) BlockOn(handle);

  EXPECT_LE(most.load(), 2);
}

TEST_P(PriorityExecutorThreadsTest, NoTaskIsForgottenWhilePumpsComeAndGo) {
  Executor executor;
  Runners runners(executor, GetParam());
  PriorityExecutor tasks(executor.spawner(),
                         PriorityExecutorOptions().Parallelism(4));
  std::atomic<int> inside{0};
  std::atomic<int> most{0};
  for (int i = 0; i < RoundsOrLong(1000, 100'000); ++i) {
    std::vector<JoinHandle<>> handles;
    for (int j = 0; j <= i % 6; ++j) {
      handles.push_back(
          tasks.SpawnBorrowing(j % 2, CountInside(&inside, &most, j % 3)));
    }
    for (JoinHandle<>& handle : handles) BlockOn(handle);
  }
  SpinUntil([&] { return executor.IsEmpty(); });
}

TEST_P(PriorityExecutorThreadsTest, TasksAreWokenWhileTheSpawnerBelowEnds) {
  for (int round = 0; round < RoundsOrLong(100, 5000); ++round) {
    LiveCounter counter;
    Hammer hammer(2);
    auto wait = [](Hammer* hammer, LiveCounter::Object) -> Task<> {
      co_await hammer->Wait();
    };
    std::vector<JoinHandle<>> handles;
    {
      Executor executor;
      Runners runners(executor, GetParam());
      PriorityExecutor tasks(executor.spawner(),
                             PriorityExecutorOptions().Parallelism(3));
      for (int i = 0; i < 12; ++i) {
        handles.push_back(
            tasks.SpawnBorrowing(i % 2, wait(&hammer, counter.Make())));
      }
      SpinUntil([&] { return hammer.targets() >= 6; });
    }
    EXPECT_EQ(counter.live(), 0);
    for (JoinHandle<>& handle : handles) {
      EXPECT_EQ(CodeOf(std::move(handle)), absl::StatusCode::kCancelled);
    }
  }
}

}  // namespace
}  // namespace weft
