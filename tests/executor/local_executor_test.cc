// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/executor/local_executor.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "weft/task/block_on.h"
#include "weft/task/context.h"
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
