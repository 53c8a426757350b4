// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// weft-lint: allow-file(R22): the tests' tasks end before what they refer to.

// The end of an executor: every future goes, exactly once, under no lock.

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "weft/executor/executor.h"
#include "weft/task/block_on.h"
#include "weft/task/context.h"
#include "weft/task/join_handle.h"
#include "weft/task/polled.h"
#include "weft/task/ready.h"
#include "weft/task/spawner.h"
#include "weft/task/task.h"
#include "weft/task/waker.h"
#include "weft/task/yield_now.h"
#include "weft/tests/executor/runners.h"

namespace weft {
namespace {

using executor_testing::Gate;
using executor_testing::RoundsOrLong;
using executor_testing::Runners;
using executor_testing::SpinUntil;

// Calls a function when it is destroyed.
class AtExit {
 public:
  explicit AtExit(std::function<void()> fn) : fn_(std::move(fn)) {}
  AtExit(AtExit&& other) noexcept : fn_(std::exchange(other.fn_, nullptr)) {}
  ~AtExit() {
    if (fn_) fn_();
  }

 private:
  std::function<void()> fn_;
};

// Is pending until it is dropped.
Task<> HoldForever([[maybe_unused]] AtExit held) { co_await Pending<void>(); }

// Puts its waker into `slot` and is pending for ever.
class LeaveWaker {
 public:
  using Output = void;

  explicit LeaveWaker(Waker& slot) : slot_(slot) {}
  Polled<void> Poll(Context& cx) {
    if (!slot_) slot_ = cx.waker();
    return kPending;
  }

 private:
  Waker& slot_;
};

absl::StatusCode CodeOf(JoinHandle<> handle) {
  return BlockOn(std::move(handle).Outcome()).code();
}

TEST(ExecutorTeardownTest, WhatADestructorSpawnsIsDestroyedUnrun) {
  for (int round = 0; round < 200; ++round) {
    std::optional<JoinHandle<>> late;
    bool ran = false;
    auto token = std::make_shared<int>(0);
    {
      Executor executor;
      JoinHandle<> holder =
          executor.Spawn(HoldForever(AtExit([&late, &ran, token] {
            auto body = [&ran, token]() -> Task<> {
              ran = true;
              co_return;
            };
            late.emplace(weft::Spawn(std::move(body)));
          })));
      // Polled in one round, still queued in the next.
      if (round % 2 == 0) executor.TryTick();
      std::move(holder).Detach();
    }

    ASSERT_TRUE(late.has_value());
    EXPECT_EQ(CodeOf(*std::move(late)), absl::StatusCode::kCancelled);
    late.reset();
    EXPECT_FALSE(ran);
    EXPECT_EQ(token.use_count(), 1);
  }
}

TEST(ExecutorTeardownTest, DestructorsThatSpawnSpawnersEnd) {
  struct Chain {
    static void SpawnNext(Executor& executor, int left, int& destroyed) {
      if (left == 0) return;
      executor
          .Spawn(HoldForever(AtExit([&executor, left, &destroyed] {
            ++destroyed;
            SpawnNext(executor, left - 1, destroyed);
          })))
          .Detach();
    }
  };
  int destroyed = 0;
  {
    Executor executor;
    Chain::SpawnNext(executor, 1000, destroyed);
    executor.TryTick();
  }

  EXPECT_EQ(destroyed, 1000);
}

TEST(ExecutorTeardownTest, ALongChainOfHandlesIsDestroyedWithoutRecursion) {
  auto token = std::make_shared<int>(0);
  {
    Executor executor;
    JoinHandle<> last =
        executor.Spawn([token]() -> Task<> { co_await Pending<void>(); });
    for (int i = 0; i < 50'000; ++i) {
      auto body = [token, next = std::move(last)]() mutable -> Task<> {
        co_await next;
      };
      last = executor.Spawn(std::move(body));
    }
    while (executor.TryTick()) {
    }
    EXPECT_EQ(executor.Stats().suspended, 50'001u);
    std::move(last).Detach();
  }

  EXPECT_EQ(token.use_count(), 1);
}

TEST(ExecutorTeardownTest, TasksThatWaitForEachOtherAreDestroyed) {
  auto token = std::make_shared<int>(0);
  {
    auto handles = std::make_shared<std::vector<JoinHandle<>>>();
    Executor executor;
    for (int self = 0; self < 2; ++self) {
      auto body = [token, handles, self]() -> Task<> {
        // Both have been spawned by now.
        JoinHandle<> other = std::move((*handles)[1 - self]);
        co_await other;
      };
      handles->push_back(executor.Spawn(std::move(body)));
    }
    for (int i = 0; i < 10; ++i) executor.TryTick();
    EXPECT_EQ(executor.Stats().suspended, 2u);
  }

  EXPECT_EQ(token.use_count(), 1);
}

TEST(ExecutorTeardownTest, FinishedTasksCostNothing) {
  Executor executor;
  auto token = std::make_shared<int>(0);
  std::vector<JoinHandle<>> handles;
  const int tasks = RoundsOrLong(20'000, 100'000);
  for (int i = 0; i < tasks; ++i) {
    handles.push_back(
        executor.Spawn([token]() -> Task<> { co_await YieldNow(); }));
  }

  while (executor.TryTick()) {
  }

  EXPECT_EQ(token.use_count(), 1);
  EXPECT_TRUE(executor.IsEmpty());
  handles.clear();
  EXPECT_TRUE(executor.IsEmpty());
}

TEST(ExecutorTeardownTest, CloseTellsHowManyTasksItDestroyed) {
  Executor executor;
  Gate gate;
  std::vector<JoinHandle<>> handles;
  for (int i = 0; i < 10; ++i) {
    handles.push_back(executor.SpawnBorrowing(gate.Wait()));
  }
  for (int i = 0; i < 4; ++i) executor.TryTick();

  EXPECT_EQ(executor.Close(), 10u);
  EXPECT_TRUE(executor.IsEmpty());
  EXPECT_EQ(executor.Close(), 0u);

  JoinHandle<> late = executor.SpawnBorrowing(gate.Wait());
  EXPECT_EQ(CodeOf(std::move(late)), absl::StatusCode::kCancelled);
  EXPECT_FALSE(executor.TryTick());
}

TEST(ExecutorTeardownTest, WakesFromOtherThreadsDuringDestructionAreSafe) {
  const int rounds = RoundsOrLong(50, 5'000);
  for (int round = 0; round < rounds; ++round) {
    auto token = std::make_shared<int>(0);
    std::vector<Waker> wakers(32);
    std::atomic<bool> stop{false};
    std::atomic<int> waking{0};
    std::vector<std::thread> threads;
    {
      Executor executor;
      for (Waker& slot : wakers) {
        executor
            .Spawn([token, &slot]() -> Task<> { co_await LeaveWaker(slot); })
            .Detach();
      }
      executor.Run([](size_t turns) -> Task<> {
        for (size_t i = 0; i < turns; ++i) co_await YieldNow();
      }(3));
      while (executor.TryTick() && executor.Stats().polls < 200) {
      }
      for (int i = 0; i < 2; ++i) {
        threads.emplace_back([&] {
          ++waking;
          while (!stop.load()) {
            for (const Waker& waker : wakers) waker.WakeByRef();
          }
        });
      }
      SpinUntil([&] { return waking.load() == 2; });
    }
    EXPECT_EQ(token.use_count(), 1);
    stop = true;
    for (std::thread& thread : threads) thread.join();
  }
}

TEST(ExecutorTeardownTest, TasksLeftByRunnersAreDestroyed) {
  auto token = std::make_shared<int>(0);
  {
    Executor executor;
    {
      Runners runners(executor, 4);
      for (int i = 0; i < 1000; ++i) {
        executor
            .Spawn([token]() -> Task<> {
              for (;;) co_await YieldNow();
            })
            .Detach();
      }
      SpinUntil([&] { return executor.Stats().polls > 2000; });
    }
    EXPECT_FALSE(executor.IsEmpty());
  }

  EXPECT_EQ(token.use_count(), 1);
}

// A waker whose destruction uses the executor.
const WakerVTable kMeddling = {
    .clone = [](void* data) { return Waker(&kMeddling, data); },
    .wake = [](void* data) { static_cast<Executor*>(data)->TryTick(); },
    .wake_by_ref = [](void* data) { static_cast<Executor*>(data)->TryTick(); },
    .drop =
        [](void* data) {
          static_cast<Executor*>(data)->TryTick();
          static_cast<void>(static_cast<Executor*>(data)->DebugString());
        },
};

TEST(ExecutorTeardownTest, WakersThatUseTheExecutorAreCalledUnderNoLock) {
  Executor executor;
  const Waker meddling(&kMeddling, &executor);
  const Waker& noop = NoopWaker();
  Context meddling_cx(meddling);
  Context noop_cx(noop);
  TickFuture tick = executor.Tick();
  EXPECT_FALSE(tick.Poll(meddling_cx).IsReady());

  // Replaces the waker, which drops it; wakes one; drops one that waits.
  EXPECT_FALSE(tick.Poll(noop_cx).IsReady());
  EXPECT_FALSE(tick.Poll(meddling_cx).IsReady());
  JoinHandle<> handle = executor.Spawn([]() -> Task<> { co_return; });
  EXPECT_TRUE(handle.IsFinished());
  {
    TickFuture dropped = executor.Tick();
    EXPECT_FALSE(dropped.Poll(meddling_cx).IsReady());
  }
}

TEST(ExecutorTeardownDeathTest, DestroyingItInsideOneOfItsTasksIsRefused) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  auto destroy = [] {
    auto executor = std::make_unique<Executor>();
    JoinHandle<> handle = executor->Spawn([&executor]() -> Task<> {
      executor.reset();
      co_return;
    });
    executor->Run(std::move(handle));
  };

  EXPECT_DEATH(destroy(), "a task cannot close its executor");
}

TEST(ExecutorTeardownDeathTest, DestroyingItUnderARunnerIsRefused) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  auto destroy = [] {
    auto executor = std::make_unique<Executor>();
    Runners runners(*executor, 1);
    SpinUntil([&] { return executor->Stats().runners == 1; });
    executor.reset();
  };

  EXPECT_DEATH(destroy(), "join that thread first");
}

TEST(ExecutorTeardownDeathTest, RunningAClosedOneIsRefused) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  Executor executor;
  executor.Close();

  EXPECT_DEATH(executor.Run(Ready()), "after Close");
}

}  // namespace
}  // namespace weft
