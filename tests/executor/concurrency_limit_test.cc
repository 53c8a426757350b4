// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/executor/concurrency_limit.h"

#include <atomic>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "weft/executor/executor.h"
#include "weft/task/block_on.h"
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

using executor_testing::Hammer;
using executor_testing::RoundsOrLong;
using executor_testing::Runners;
using executor_testing::SpinUntil;

using Log = std::vector<int>;

// Notes when it starts, and waits.
Task<> Start(Log* log, int n, Signal* signal) {
  log->push_back(n);
  co_await signal->Wait();
}

Task<> YieldALot(int* polls) {
  for (; *polls < 1'000'000; ++*polls) co_await YieldNow();
}

Task<> Hold(LiveCounter::Object) { co_await Pending(); }

absl::StatusCode CodeOf(JoinHandle<> handle) {
  return BlockOn(std::move(handle).Outcome()).code();
}

TEST(ConcurrencyLimitTest, ATaskRunsAndGivesItsOutput) {
  ManualExecutor executor;
  ConcurrencyLimit limit(executor.spawner(), 1);

  EXPECT_EQ(executor.Run(limit.Spawn(Ready(7))), 7);
  EXPECT_EQ(limit.running(), 0u);
  EXPECT_EQ(executor.live(), 0u);
}

TEST(ConcurrencyLimitTest, TheOthersWaitInOrder) {
  ManualExecutor executor;
  ConcurrencyLimit limit(executor.spawner(), 2);
  Log log;
  std::vector<Signal> signals(6);
  std::vector<JoinHandle<>> handles;
  for (int i = 0; i < 6; ++i) {
    handles.push_back(limit.SpawnBorrowing(Start(&log, i, &signals[i])));
  }
  EXPECT_EQ(limit.running(), 2u);
  EXPECT_EQ(limit.waiting(), 4u);

  executor.RunUntilIdle();
  EXPECT_EQ(log, (Log{0, 1}));
  signals[1].Set();
  executor.RunUntilIdle();
  EXPECT_EQ(log, (Log{0, 1, 2}));
  signals[0].Set();
  signals[2].Set();
  executor.RunUntilIdle();

  EXPECT_EQ(log, (Log{0, 1, 2, 3, 4}));
  EXPECT_EQ(limit.running(), 2u);
  EXPECT_EQ(limit.waiting(), 1u);
  for (Signal& signal : signals) signal.Set();
  executor.RunUntilIdle();
  EXPECT_EQ(log.size(), 6u);
  EXPECT_EQ(limit.running(), 0u);
  EXPECT_EQ(executor.live(), 0u);
}

TEST(ConcurrencyLimitTest, TasksThatNeverSuspendGoThroughAllTheSame) {
  ManualExecutor executor;
  ConcurrencyLimit limit(executor.spawner(), 3);
  std::vector<JoinHandle<int>> handles;
  for (int i = 0; i < 100; ++i) handles.push_back(limit.Spawn(Ready(i)));

  executor.RunUntilIdle();

  for (int i = 0; i < 100; ++i) EXPECT_EQ(executor.Run(handles[i]), i);
  EXPECT_EQ(executor.live(), 0u);
}

TEST(ConcurrencyLimitTest, ATaskThatYieldsLetsOthersRun) {
  ManualExecutor executor;
  ConcurrencyLimit limit(executor.spawner(), 1);
  int polls = 0;
  auto busy = limit.SpawnBorrowing(YieldALot(&polls));
  auto other = executor.Spawn(Ready());

  executor.RunOne();
  executor.RunOne();

  EXPECT_TRUE(other.IsFinished());
  EXPECT_EQ(polls, 0);  // it is in its first YieldNow
}

TEST(ConcurrencyLimitTest, ACancelledTaskMakesRoom) {
  LiveCounter counter;
  ManualExecutor executor;
  ConcurrencyLimit limit(executor.spawner(), 1);
  std::optional<JoinHandle<>> first(limit.Spawn(Hold(counter.Make())));
  std::optional<JoinHandle<>> second(limit.Spawn(Hold(counter.Make())));
  JoinHandle<int> third = limit.Spawn(Ready(3));
  executor.RunUntilIdle();
  second.reset();
  executor.RunUntilIdle();
  EXPECT_EQ(counter.live(), 2);
  EXPECT_FALSE(third.IsFinished());

  first.reset();
  executor.RunUntilIdle();

  EXPECT_EQ(counter.live(), 0);
  EXPECT_EQ(executor.Run(third), 3);
}

// Nothing can wake what waits in Pending(), so detached it goes at once, and the
// place is the next one's.
TEST(ConcurrencyLimitTest, ADetachedTaskThatNothingCanWakeMakesRoom) {
  LiveCounter counter;
  ManualExecutor executor;
  ConcurrencyLimit limit(executor.spawner(), 1);
  limit.Spawn(Hold(counter.Make())).Detach();
  std::optional<JoinHandle<>> second(limit.Spawn(Hold(counter.Make())));
  JoinHandle<int> third = limit.Spawn(Ready(3));

  executor.RunUntilIdle();
  EXPECT_EQ(counter.live(), 1);
  EXPECT_FALSE(third.IsFinished());
  std::move(*second).Detach();
  executor.RunUntilIdle();

  EXPECT_EQ(counter.live(), 0);
  EXPECT_EQ(executor.Run(third), 3);
  EXPECT_EQ(limit.running(), 0u);
  EXPECT_EQ(executor.live(), 0u);
}

TEST(ConcurrencyLimitTest, ATaskMayWaitForWhatItSpawns) {
  ManualExecutor executor;
  ConcurrencyLimit limit(executor.spawner(), 1);
  auto parent = []() -> Task<int> {
    JoinHandle<int> child = weft::Spawn(Ready(7));
    co_return co_await child;
  };

  EXPECT_EQ(executor.Run(limit.Spawn(parent())), 7);
}

TEST(ConcurrencyLimitTest, WithoutTheObjectItsTasksGoOn) {
  ManualExecutor executor;
  std::optional<ConcurrencyLimit> limit(std::in_place, executor.spawner(), 1);
  Log log;
  std::vector<Signal> signals(2);
  auto first = limit->SpawnBorrowing(Start(&log, 0, &signals[0]));
  auto second = limit->SpawnBorrowing(Start(&log, 1, &signals[1]));
  executor.RunUntilIdle();

  limit.reset();
  signals[0].Set();
  executor.RunUntilIdle();

  EXPECT_EQ(log, (Log{0, 1}));
  signals[1].Set();
  executor.RunUntilIdle();
  EXPECT_EQ(executor.live(), 0u);
}

TEST(ConcurrencyLimitTest, TheEndOfTheSpawnerBelowDestroysAllTasks) {
  for (const bool polled : {false, true}) {
    LiveCounter counter;
    auto executor = std::make_unique<ManualExecutor>();
    ConcurrencyLimit limit(executor->spawner(), 3);
    std::vector<JoinHandle<>> handles;
    for (int i = 0; i < 10; ++i) {
      handles.push_back(limit.Spawn(Hold(counter.Make())));
    }
    if (polled) executor->RunUntilIdle();
    EXPECT_EQ(counter.live(), 10);

    executor.reset();

    EXPECT_EQ(counter.live(), 0);
    handles.push_back(limit.Spawn(Hold(counter.Make())));
    for (JoinHandle<>& handle : handles) {
      EXPECT_EQ(CodeOf(std::move(handle)), absl::StatusCode::kCancelled);
    }
    EXPECT_EQ(limit.running(), 0u);
    EXPECT_EQ(limit.waiting(), 0u);
  }
}

// Spawns on the same spawner when it is destroyed.
class SpawnsAtExit {
 public:
  SpawnsAtExit(Spawner& spawner, int left) : spawner_(&spawner), left_(left) {}
  SpawnsAtExit(SpawnsAtExit&& other) noexcept
      : spawner_(std::exchange(other.spawner_, nullptr)), left_(other.left_) {}
  ~SpawnsAtExit() {
    if (spawner_ != nullptr && left_ > 0) Start(*spawner_, left_ - 1);
  }

  static void Start(Spawner& spawner, int left) {
    auto hold = [](SpawnsAtExit) -> Task<> { co_await Pending(); };
    spawner.Spawn(hold(SpawnsAtExit(spawner, left))).Detach();
  }

 private:
  Spawner* spawner_;
  int left_;
};

TEST(ConcurrencyLimitTest, DestructorsThatSpawnAtTheEndEnd) {
  for (const bool polled : {false, true}) {
    Executor executor;
    ConcurrencyLimit limit(executor.spawner(), 2);
    for (int i = 0; i < 5; ++i) SpawnsAtExit::Start(limit.spawner(), 1000);
    while (polled && executor.TryTick()) {
    }
  }
}

#if defined(__cpp_exceptions)
TEST(ConcurrencyLimitTest, ATaskThatThrowsMakesRoom) {
  ManualExecutor executor;
  ConcurrencyLimit limit(executor.spawner(), 1);
  auto fail = []() -> Task<> {
    co_await YieldNow();
    throw std::runtime_error("failed");
  };
  JoinHandle<> failing = limit.Spawn(fail());
  JoinHandle<int> good = limit.Spawn(Ready(1));
  executor.RunUntilIdle();

  EXPECT_THROW(executor.Run(failing), std::runtime_error);
  EXPECT_EQ(executor.Run(good), 1);
}
#endif

TEST(ConcurrencyLimitDeathTest, LetsAtLeastOneTaskRun) {
  ManualExecutor executor;
  EXPECT_DEATH(ConcurrencyLimit(executor.spawner(), 0), "at least one task");
}

TEST(ConcurrencyLimitDeathTest, IsNotUsedAfterAMove) {
  ManualExecutor executor;
  ConcurrencyLimit limit(executor.spawner(), 1);
  const ConcurrencyLimit other = std::move(limit);

  EXPECT_DEATH(static_cast<void>(limit.spawner()), "was moved from");
  EXPECT_DEATH(static_cast<void>(limit.running()), "was moved from");
  EXPECT_DEATH(static_cast<void>(limit.waiting()), "was moved from");
}

class ConcurrencyLimitThreadsTest : public testing::TestWithParam<int> {};

INSTANTIATE_TEST_SUITE_P(Threads, ConcurrencyLimitThreadsTest,
                         testing::Values(1, 2, 4, 8));

// Counts those that are between begin and end, and the most that ever were.
struct Inside {
  std::atomic<int> now{0};
  std::atomic<int> most{0};
};

Task<> CountInside(Inside* inside, int yields) {
  const int now = inside->now.fetch_add(1) + 1;
  int before = inside->most.load();
  while (before < now && !inside->most.compare_exchange_weak(before, now)) {
  }
  for (int i = 0; i < yields; ++i) co_await YieldNow();
  inside->now.fetch_sub(1);
}

TEST_P(ConcurrencyLimitThreadsTest, NoMoreAreAliveThanTheLimit) {
  Executor executor;
  Runners runners(executor, GetParam());
  ConcurrencyLimit limit(executor.spawner(), 3);
  Inside inside;
  std::vector<JoinHandle<>> handles;
  for (int i = 0; i < RoundsOrLong(1000, 100'000); ++i) {
    handles.push_back(limit.SpawnBorrowing(CountInside(&inside, i % 5)));
  }

  for (JoinHandle<>& handle : handles) BlockOn(handle);

  EXPECT_LE(inside.most.load(), 3);
}

TEST_P(ConcurrencyLimitThreadsTest, NoTaskIsForgottenWhileLanesComeAndGo) {
  Executor executor;
  Runners runners(executor, GetParam());
  ConcurrencyLimit limit(executor.spawner(), 2);
  Inside inside;
  for (int i = 0; i < RoundsOrLong(1000, 100'000); ++i) {
    std::vector<JoinHandle<>> handles;
    for (int j = 0; j <= i % 4; ++j) {
      handles.push_back(limit.SpawnBorrowing(CountInside(&inside, j)));
    }
    for (JoinHandle<>& handle : handles) BlockOn(handle);
  }
  SpinUntil([&] { return executor.IsEmpty(); });

  EXPECT_LE(inside.most.load(), 2);
}

TEST_P(ConcurrencyLimitThreadsTest, TasksAreWokenWhileTheSpawnerBelowEnds) {
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
      ConcurrencyLimit limit(executor.spawner(), 6);
      for (int i = 0; i < 12; ++i) {
        handles.push_back(limit.SpawnBorrowing(wait(&hammer, counter.Make())));
      }
      SpinUntil([&] { return hammer.targets() >= 3; });
    }
    EXPECT_EQ(counter.live(), 0);
    for (JoinHandle<>& handle : handles) {
      EXPECT_EQ(CodeOf(std::move(handle)), absl::StatusCode::kCancelled);
    }
  }
}

}  // namespace
}  // namespace weft
