// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// One home thread, and others that wake, spawn, join, cancel and drop its tasks.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "weft/executor/local_executor.h"
#include "weft/task/atomic_waker.h"
#include "weft/task/block_on.h"
#include "weft/task/context.h"
#include "weft/task/join_handle.h"
#include "weft/task/live_counter.h"
#include "weft/task/polled.h"
#include "weft/task/random.h"
#include "weft/task/ready.h"
#include "weft/task/spawner.h"
#include "weft/task/task.h"
#include "weft/task/waker.h"
#include "weft/task/yield_now.h"

namespace weft {
namespace {

constexpr int kThreads = 3;

int Rounds(int rounds) {
  return std::getenv("WEFT_LONG") != nullptr ? rounds * 50 : rounds;
}

// A number that goes up, and one task that waits for it.
struct Counter {
  std::atomic<int> value = 0;
  AtomicWaker waiter;

  void Add() {
    value.fetch_add(1);
    waiter.Wake();
  }
  auto Reach(int goal) {
    return PollFn([this, goal](Context& cx) -> Polled<void> {
      waiter.Register(cx.waker());
      if (value.load() >= goal) return Unit();
      return kPending;
    });
  }
};

// A live task that is woken from `counter`'s threads and by itself.
Task<int> Follow(std::shared_ptr<Counter> counter, LiveCounter::Object,
                 int to) {
  for (int goal = 1; goal <= to; ++goal) {
    co_await counter->Reach(goal);
    if (goal % 3 == 0) co_await YieldNow();
  }
  co_return to;
}

// What another thread does with a handle.
void Use(JoinHandle<int> handle, int expected, Random& random) {
  switch (random.Below(5)) {
    case 0:
      EXPECT_EQ(BlockOn(std::move(handle)), expected);
      return;
    case 1:
      return;  // drops it
    case 2:
      std::move(handle).Detach();
      return;
    case 3:
      BlockOn(std::move(handle).Cancel());
      return;
    default: {
      Context cx(NoopWaker());
      static_cast<void>(handle.Poll(cx));
      JoinHandle<int> moved = std::move(handle);
      EXPECT_EQ(BlockOn(std::move(moved).Outcome()).value_or(expected),
                expected);
    }
  }
}

// Tasks of one home, woken and used by others.
template <class RunUntil>
void WakeAndUse(LocalExecutor& executor, LiveCounter& live, RunUntil run) {
  constexpr int kGoal = 20;
  auto counter = std::make_shared<Counter>();
  auto done = std::make_shared<Counter>();
  std::vector<std::thread> threads;
  threads.emplace_back([counter, done] {
    for (int i = 0; i < kGoal; ++i) counter->Add();
    done->Add();
  });
  for (int i = 1; i < kThreads; ++i) {
    auto own = std::make_shared<Counter>();
    auto elsewhere = std::make_shared<Counter>();
    JoinHandle<int> handle = executor.Spawn(Follow(own, live.Make(), kGoal));
    threads.emplace_back([&executor, &live, own, elsewhere, done, i,
                          h = std::move(handle)]() mutable {
      Random random(static_cast<uint64_t>(i));
      JoinHandle<int> second =
          executor.spawner().Spawn(Follow(elsewhere, live.Make(), kGoal));
      for (int n = 0; n < kGoal; ++n) {
        own->Add();
        elsewhere->Add();
      }
      Use(std::move(h), kGoal, random);
      Use(std::move(second), kGoal, random);
      done->Add();
    });
  }
  JoinHandle<int> local = executor.Spawn(Follow(counter, live.Make(), kGoal));
  run(done->Reach(kThreads));
  EXPECT_EQ(executor.Run(local), kGoal);
  for (std::thread& thread : threads) thread.join();
}

TEST(LocalExecutorStressTest, OthersUseItsTasksWhileItRuns) {
  LiveCounter live;
  for (int round = 0; round < Rounds(300); ++round) {
    LocalExecutor executor;
    WakeAndUse(executor, live,
               [&executor](auto future) { executor.Run(std::move(future)); });
  }
  EXPECT_EQ(live.live(), 0);
}

TEST(LocalExecutorStressTest, OthersUseItsTasksWhileItIsDriven) {
  LiveCounter live;
  LocalExecutor executor;
  for (int round = 0; round < Rounds(300); ++round) {
    WakeAndUse(executor, live, [&executor](auto future) {
      BlockOn(executor.Drive(std::move(future)));
    });
  }
  const int64_t left = live.live();
  EXPECT_EQ(executor.Close(), static_cast<size_t>(left));
  EXPECT_EQ(live.live(), 0);
}

// Threads that are still waking tasks while the executor ends, and while the
// memory of its core belongs to the next one already.
TEST(LocalExecutorStressTest, LateWakesOutliveIt) {
  LiveCounter live;
  for (int round = 0; round < Rounds(200); ++round) {
    auto counter = std::make_shared<Counter>();
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([counter] {
        for (int n = 0; n < 50; ++n) counter->Add();
      });
    }
    std::vector<JoinHandle<int>> handles;
    for (int i = 0; i < 5; ++i) {
      LocalExecutor executor;
      handles.push_back(executor.Spawn(Follow(counter, live.Make(), 1000)));
      while (executor.TryTick()) {
      }
    }
    EXPECT_EQ(live.live(), 0);
    for (std::thread& thread : threads) thread.join();
    for (JoinHandle<int>& handle : handles) EXPECT_TRUE(handle.IsFinished());
  }
}

// The same with the wakers of the future in Run(): another thread wakes that of
// an executor that is gone, and then the one that waits.
TEST(LocalExecutorStressTest, LateWakesOfMainFuturesAreHarmless) {
  Waker late;
  auto keep_waker = [&late](Context& cx) -> Polled<void> {
    late = cx.waker();
    return Unit();
  };
  {
    LocalExecutor executor;
    executor.Run(PollFn(keep_waker));
  }
  const int rounds = Rounds(1000);
  std::atomic<int> asked = 0;
  Counter counter;
  std::thread other([&] {
    for (int round = 1; round <= rounds; ++round) {
      while (asked.load() < round) late.WakeByRef();
      counter.Add();
    }
  });
  for (int round = 1; round <= rounds; ++round) {
    LocalExecutor executor;
    asked.store(round);
    executor.Run(counter.Reach(round));
  }
  other.join();
  EXPECT_EQ(counter.value.load(), rounds);
}

// An executor per thread, whose tasks wake each other's.
TEST(LocalExecutorStressTest, ExecutorsWakeEachOther) {
  LiveCounter live;
  const int rounds = Rounds(2000);
  std::vector<std::shared_ptr<Counter>> turns;
  for (int i = 0; i < kThreads; ++i) {
    turns.push_back(std::make_shared<Counter>());
  }
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      LocalExecutor executor;
      auto pass = [](std::shared_ptr<Counter> mine,
                     std::shared_ptr<Counter> next, LiveCounter::Object,
                     int rounds) -> Task<> {
        for (int round = 1; round <= rounds; ++round) {
          co_await mine->Reach(round);
          next->Add();
        }
      };
      JoinHandle<> task = executor.Spawn(
          pass(turns[i], turns[(i + 1) % kThreads], live.Make(), rounds));
      executor.Run(task);
    });
  }
  turns[0]->Add();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(turns[0]->value.load(), rounds + 1);
  EXPECT_EQ(live.live(), 0);
}

}  // namespace
}  // namespace weft
