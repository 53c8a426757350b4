// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/executor/strand.h"

#include <atomic>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "weft/executor/executor.h"
#include "weft/executor/local_executor.h"
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

using executor_testing::Hammer;
using executor_testing::RoundsOrLong;
using executor_testing::Runners;
using executor_testing::SpinUntil;

using Log = std::vector<int>;

Task<> Append(Log* log, int n) {
  log->push_back(n);
  co_return;
}

// Appends each time it is polled.
Task<> AppendAndYield(Log* log, int n, int times) {
  for (int i = 0; i < times; ++i) {
    log->push_back(n);
    co_await YieldNow();
  }
}

Task<> AppendWhenSet(Log* log, int n, Signal* signal) {
  co_await signal->Wait();
  log->push_back(n);
}

Task<> Hold(LiveCounter::Object) { co_await Pending(); }

absl::StatusCode CodeOf(JoinHandle<> handle) {
  return BlockOn(std::move(handle).Outcome()).code();
}

TEST(StrandTest, ATaskRunsAndGivesItsOutput) {
  ManualExecutor executor;
  Strand strand(executor.spawner());

  EXPECT_EQ(executor.Run(strand.Spawn(Ready(7))), 7);
}

TEST(StrandTest, TasksRunInTheOrderOfTheSpawns) {
  ManualExecutor executor;
  Strand strand(executor.spawner());
  Log log;
  std::vector<JoinHandle<>> handles;
  for (int i = 0; i < 40; ++i) {
    handles.push_back(strand.SpawnBorrowing(Append(&log, i)));
  }
  EXPECT_TRUE(log.empty());

  executor.RunUntilIdle();

  ASSERT_EQ(log.size(), 40u);
  for (int i = 0; i < 40; ++i) EXPECT_EQ(log[i], i);
}

TEST(StrandTest, TasksRunInTheOrderOfTheWakes) {
  ManualExecutor executor;
  Strand strand(executor.spawner());
  Log log;
  std::vector<Signal> signals(4);
  std::vector<JoinHandle<>> handles;
  for (int i = 0; i < 4; ++i) {
    handles.push_back(
        strand.SpawnBorrowing(AppendWhenSet(&log, i, &signals[i])));
  }
  executor.RunUntilIdle();
  EXPECT_TRUE(log.empty());

  for (const int i : {2, 0, 3, 1}) signals[i].Set();
  executor.RunUntilIdle();

  EXPECT_EQ(log, (Log{2, 0, 3, 1}));
}

TEST(StrandTest, ATaskThatYieldsGoesToTheEnd) {
  ManualExecutor executor;
  Strand strand(executor.spawner());
  Log log;
  auto a = strand.SpawnBorrowing(AppendAndYield(&log, 0, 3));
  auto b = strand.SpawnBorrowing(AppendAndYield(&log, 1, 2));

  executor.RunUntilIdle();

  EXPECT_EQ(log, (Log{0, 1, 0, 1, 0}));
}

TEST(StrandTest, ABusyStrandTakesTurnsWithOtherTasks) {
  ManualExecutor executor;
  Strand strand(executor.spawner());
  Log log;
  auto busy = strand.SpawnBorrowing(AppendAndYield(&log, 0, 1'000'000));
  auto other = executor.SpawnBorrowing(Append(&log, 1));

  executor.RunOne();
  executor.RunOne();

  EXPECT_TRUE(other.IsFinished());
  EXPECT_LE(log.size(), 17u);
}

TEST(StrandTest, WithoutTasksItHasNoneBelow) {
  ManualExecutor executor;
  Strand strand(executor.spawner());
  Signal signal;
  Log log;
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(executor.live(), 0u);
    signal.Reset();
    auto handle = strand.SpawnBorrowing(AppendWhenSet(&log, 0, &signal));
    executor.RunUntilIdle();
    EXPECT_EQ(executor.live(), 1u);
    signal.Set();
    executor.RunUntilIdle();
  }

  EXPECT_EQ(executor.live(), 0u);
  EXPECT_EQ(log.size(), 3u);
}

TEST(StrandTest, SpawnInsideATaskSpawnsOnTheStrand) {
  ManualExecutor executor;
  Strand strand(executor.spawner());
  auto outer = [](Spawner* expected) -> Task<bool> {
    auto inner = []() -> Task<Spawner*> {
      co_return &Environment::CurrentSpawner();
    };
    JoinHandle<Spawner*> handle = weft::Spawn(inner());
    Spawner* const spawner = co_await handle;
    co_return spawner == expected;
  };

  EXPECT_TRUE(executor.Run(strand.SpawnBorrowing(outer(&strand.spawner()))));
}

TEST(StrandTest, ADroppedHandleCancelsItsTask) {
  LiveCounter counter;
  ManualExecutor executor;
  Strand strand(executor.spawner());
  std::optional<JoinHandle<>> handle(strand.Spawn(Hold(counter.Make())));
  executor.RunUntilIdle();
  EXPECT_EQ(counter.live(), 1);

  handle.reset();
  executor.RunUntilIdle();

  EXPECT_EQ(counter.live(), 0);
  EXPECT_EQ(executor.live(), 0u);
}

TEST(StrandTest, WithoutTheStrandItsTasksGoOn) {
  ManualExecutor executor;
  std::optional<Strand> strand(executor.spawner());
  Log log;
  Signal signal;
  auto suspended = strand->SpawnBorrowing(AppendWhenSet(&log, 0, &signal));
  executor.RunUntilIdle();
  auto queued = strand->SpawnBorrowing(Append(&log, 1));

  strand.reset();
  executor.RunUntilIdle();
  EXPECT_EQ(log, (Log{1}));
  signal.Set();
  executor.RunUntilIdle();

  EXPECT_EQ(log, (Log{1, 0}));
  EXPECT_EQ(executor.live(), 0u);
}

TEST(StrandTest, ATaskMayOwnItsStrand) {
  ManualExecutor executor;
  auto strand = std::make_unique<Strand>(executor.spawner());
  Spawner& spawner = strand->spawner();
  auto own = [](std::unique_ptr<Strand>) -> Task<int> {
    co_await YieldNow();
    co_return 1;
  };

  EXPECT_EQ(executor.Run(spawner.Spawn(own(std::move(strand)))), 1);
}

TEST(StrandTest, TheEndOfTheSpawnerBelowDestroysAllTasks) {
  LiveCounter counter;
  auto executor = std::make_unique<ManualExecutor>();
  Strand strand(executor->spawner());
  JoinHandle<> suspended = strand.Spawn(Hold(counter.Make()));
  executor->RunUntilIdle();
  JoinHandle<> queued = strand.Spawn(Hold(counter.Make()));
  EXPECT_EQ(counter.live(), 2);

  executor.reset();

  EXPECT_EQ(counter.live(), 0);
  EXPECT_EQ(CodeOf(std::move(suspended)), absl::StatusCode::kCancelled);
  EXPECT_EQ(CodeOf(std::move(queued)), absl::StatusCode::kCancelled);
  JoinHandle<> late = strand.Spawn(Hold(counter.Make()));
  EXPECT_EQ(counter.live(), 0);
  EXPECT_EQ(CodeOf(std::move(late)), absl::StatusCode::kCancelled);
}

TEST(StrandTest, ATaskThatWasNeverPolledIsDestroyedToo) {
  LiveCounter counter;
  auto executor = std::make_unique<ManualExecutor>();
  Strand strand(executor->spawner());
  JoinHandle<> queued = strand.Spawn(Hold(counter.Make()));

  executor.reset();

  EXPECT_EQ(counter.live(), 0);
  EXPECT_EQ(CodeOf(std::move(queued)), absl::StatusCode::kCancelled);
}

// Spawns another of its kind when it is destroyed.
class SpawnsAtExit {
 public:
  SpawnsAtExit(Spawner& spawner, int left, int& destroyed)
      : spawner_(&spawner), left_(left), destroyed_(&destroyed) {}
  SpawnsAtExit(SpawnsAtExit&& other) noexcept
      : spawner_(std::exchange(other.spawner_, nullptr)),
        left_(other.left_),
        destroyed_(other.destroyed_) {}
  ~SpawnsAtExit() {
    if (spawner_ == nullptr) return;
    ++*destroyed_;
    if (left_ > 0) Start(*spawner_, left_ - 1, *destroyed_);
  }

  static void Start(Spawner& spawner, int left, int& destroyed) {
    auto hold = [](SpawnsAtExit) -> Task<> { co_await Pending(); };
    spawner.Spawn(hold(SpawnsAtExit(spawner, left, destroyed))).Detach();
  }

 private:
  Spawner* spawner_;
  int left_;
  int* destroyed_;
};

TEST(StrandTest, DestructorsThatSpawnAtTheEndEnd) {
  for (const bool polled : {false, true}) {
    int destroyed = 0;
    {
      Executor executor;
      Strand strand(executor.spawner());
      SpawnsAtExit::Start(strand.spawner(), 1000, destroyed);
      if (polled) executor.TryTick();
    }
    EXPECT_EQ(destroyed, 1001);
  }
}

TEST(StrandTest, AChainOfHandlesIsDestroyedWithoutRecursion) {
  LiveCounter counter;
  {
    Executor executor;
    Strand strand(executor.spawner());
    JoinHandle<> last = strand.Spawn(Hold(counter.Make()));
    for (int i = 0; i < 20'000; ++i) {
      auto body = [](JoinHandle<> next) -> Task<> { co_await next; };
      last = strand.Spawn(body(std::move(last)));
    }
    while (executor.TryTick()) {
    }
    std::move(last).Detach();
  }

  EXPECT_EQ(counter.live(), 0);
}

TEST(StrandTest, StandsOnALocalExecutorAndOnAStrand) {
  LocalExecutor executor;
  Strand below(executor.spawner());
  Strand strand(below.spawner());
  Log log;
  auto a = strand.SpawnBorrowing(AppendAndYield(&log, 0, 2));
  auto b = strand.SpawnBorrowing(AppendAndYield(&log, 1, 2));

  executor.Run(a);
  executor.Run(b);

  EXPECT_EQ(log, (Log{0, 1, 0, 1}));
  while (executor.TryTick()) {
  }
  EXPECT_TRUE(executor.IsEmpty());
}

#if defined(__cpp_exceptions)
TEST(StrandTest, WhatATaskThrowsGoesToItsHandle) {
  ManualExecutor executor;
  Strand strand(executor.spawner());
  auto fail = []() -> Task<> {
    co_await YieldNow();
    throw std::runtime_error("failed");
  };
  JoinHandle<> failing = strand.Spawn(fail());
  JoinHandle<int> good = strand.Spawn(Ready(1));
  executor.RunUntilIdle();

  EXPECT_THROW(executor.Run(failing), std::runtime_error);
  EXPECT_EQ(executor.Run(good), 1);
}
#endif

TEST(StrandDeathTest, IsNotUsedAfterAMove) {
  ManualExecutor executor;
  Strand strand(executor.spawner());
  const Strand other = std::move(strand);

  EXPECT_DEATH(static_cast<void>(strand.spawner()), "was moved from");
}

class StrandThreadsTest : public testing::TestWithParam<int> {};

INSTANTIATE_TEST_SUITE_P(Threads, StrandThreadsTest,
                         testing::Values(1, 2, 4, 8));

// What the tasks of one strand share, without a lock.
struct Shared {
  int count = 0;
  std::atomic<int> inside{0};  // how many tasks are being polled
};

Task<> CountUnguarded(Shared* shared, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    EXPECT_EQ(shared->inside.fetch_add(1), 0);
    ++shared->count;
    std::this_thread::yield();  // another thread may try
    shared->inside.fetch_sub(1);
    co_await YieldNow();
  }
}

TEST_P(StrandThreadsTest, NoTwoTasksRunAtTheSameTime) {
  const int kTasks = 50;
  const int rounds = RoundsOrLong(200, 20'000);
  Executor executor;
  Runners runners(executor, GetParam());
  Strand strand(executor.spawner());
  Shared shared;
  std::vector<JoinHandle<>> handles;
  for (int i = 0; i < kTasks; ++i) {
    handles.push_back(strand.SpawnBorrowing(CountUnguarded(&shared, rounds)));
  }

  for (JoinHandle<>& handle : handles) BlockOn(handle);

  EXPECT_EQ(shared.count, kTasks * rounds);
}

TEST_P(StrandThreadsTest, ManyStrandsShareTheThreads) {
  constexpr int kStrands = 32;
  const int rounds = RoundsOrLong(100, 10'000);
  Executor executor;
  Runners runners(executor, GetParam());
  std::vector<Shared> shared(kStrands);
  std::vector<JoinHandle<>> handles;
  for (int i = 0; i < kStrands; ++i) {
    Strand strand(executor.spawner());
    for (int j = 0; j < 4; ++j) {
      handles.push_back(
          strand.SpawnBorrowing(CountUnguarded(&shared[i], rounds)));
    }
  }

  for (JoinHandle<>& handle : handles) BlockOn(handle);

  for (const Shared& s : shared) EXPECT_EQ(s.count, 4 * rounds);
}

// The pump ends and begins again all the time.
TEST_P(StrandThreadsTest, NoTaskIsForgottenWhileTheStrandFallsAsleep) {
  const int rounds = RoundsOrLong(2000, 200'000);
  Executor executor;
  Runners runners(executor, GetParam());
  Strand strand(executor.spawner());
  Shared shared;
  for (int i = 0; i < rounds; ++i) {
    auto a = strand.SpawnBorrowing(CountUnguarded(&shared, i % 3));
    auto b = strand.SpawnBorrowing(CountUnguarded(&shared, 1));
    BlockOn(a);
    BlockOn(b);
  }

  EXPECT_GE(shared.count, rounds);
}

TEST_P(StrandThreadsTest, TasksAreWokenWhileTheSpawnerBelowEnds) {
  const int rounds = RoundsOrLong(100, 5000);
  for (int round = 0; round < rounds; ++round) {
    LiveCounter counter;
    Hammer hammer(2);
    auto wait = [](Hammer* hammer, LiveCounter::Object) -> Task<> {
      co_await hammer->Wait();
    };
    std::optional<Strand> strand;
    std::vector<JoinHandle<>> handles;
    {
      Executor executor;
      Runners runners(executor, GetParam());
      strand.emplace(executor.spawner());
      for (int i = 0; i < 8; ++i) {
        handles.push_back(
            strand->SpawnBorrowing(wait(&hammer, counter.Make())));
      }
      SpinUntil([&] { return hammer.targets() >= 4; });
    }
    EXPECT_EQ(counter.live(), 0);
    for (JoinHandle<>& handle : handles) {
      EXPECT_EQ(CodeOf(std::move(handle)), absl::StatusCode::kCancelled);
    }
  }
}

}  // namespace
}  // namespace weft
