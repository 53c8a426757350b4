// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/task/manual_executor.h"

#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "weft/task/context.h"
#include "weft/task/environment.h"
#include "weft/task/join_handle.h"
#include "weft/task/live_counter.h"
#include "weft/task/polled.h"
#include "weft/task/ready.h"
#include "weft/task/spawner.h"
#include "weft/task/task.h"
#include "weft/task/waker.h"
#include "weft/task/yield_now.h"

namespace weft {
namespace {

Task<int> Yield(int times) {
  for (int i = 0; i < times; ++i) co_await YieldNow();
  co_return times;
}

Task<> Append(std::vector<int>* log, int number) {
  log->push_back(number);
  co_await YieldNow();
  log->push_back(number);
}

Task<> HoldForever(LiveCounter::Object) { co_await Pending(); }

// Keeps its waker where the test finds it; ready at the second poll.
class KeepWaker {
 public:
  using Output = void;

  explicit KeepWaker(std::shared_ptr<Waker> slot) : slot_(std::move(slot)) {}

  Polled<void> Poll(Context& cx) {
    if (std::exchange(polled_, true)) return Unit();
    *slot_ = cx.waker();
    return kPending;
  }

 private:
  std::shared_ptr<Waker> slot_;
  bool polled_ = false;
};

Task<> WaitFor(std::shared_ptr<Waker> slot) {
  KeepWaker wait(slot);
  co_await wait;
}

TEST(ManualExecutorTest, RunsNothingByItself) {
  ManualExecutor executor;
  EXPECT_TRUE(executor.IsIdle());
  EXPECT_FALSE(executor.RunOne());

  const JoinHandle<int> handle = executor.Spawn(Yield(0));
  EXPECT_FALSE(executor.IsIdle());
  EXPECT_FALSE(handle.IsFinished());
  EXPECT_EQ(executor.live(), 1u);

  EXPECT_TRUE(executor.RunOne());
  EXPECT_TRUE(handle.IsFinished());
  EXPECT_TRUE(executor.IsIdle());
  EXPECT_EQ(executor.live(), 0u);
  EXPECT_EQ(executor.runs(), 1u);
}

TEST(ManualExecutorTest, RunsInTheOrderOfWakes) {
  ManualExecutor executor;
  std::vector<int> log;
  const JoinHandle<> first = executor.SpawnBorrowing(Append(&log, 1));
  const JoinHandle<> second = executor.SpawnBorrowing(Append(&log, 2));

  EXPECT_EQ(executor.RunUntilIdle(), 4u);

  EXPECT_EQ(log, (std::vector<int>{1, 2, 1, 2}));
}

TEST(ManualExecutorTest, DrainTellsWhatIsPending) {
  LiveCounter counter;
  ManualExecutor executor;
  const JoinHandle<> stuck = executor.Spawn(HoldForever(counter.Make()));
  const JoinHandle<int> done = executor.Spawn(Yield(3));

  EXPECT_EQ(executor.Drain(), 1u);
  EXPECT_EQ(executor.runs(), 1u + 4u);
  EXPECT_EQ(counter.live(), 1);
}

TEST(ManualExecutorTest, DestroysTasksWhenDestroyed) {
  LiveCounter counter;
  std::optional<ManualExecutor> executor(std::in_place);
  const JoinHandle<> polled = executor->Spawn(HoldForever(counter.Make()));
  executor->RunUntilIdle();
  const JoinHandle<> unpolled = executor->Spawn(HoldForever(counter.Make()));
  EXPECT_EQ(counter.live(), 2);

  executor.reset();

  EXPECT_EQ(counter.live(), 0);
  EXPECT_TRUE(polled.IsFinished());
  EXPECT_TRUE(unpolled.IsFinished());
}

TEST(ManualExecutorTest, DestroysWhatADestructorSpawns) {
  LiveCounter counter;
  struct SpawnsWhenDestroyed {
    explicit SpawnsWhenDestroyed(LiveCounter& counter) : counter(counter) {}
    ~SpawnsWhenDestroyed() { Spawn(HoldForever(counter.Make())).Detach(); }
    LiveCounter& counter;
  };
  {
    ManualExecutor executor;
    auto task = [](std::unique_ptr<SpawnsWhenDestroyed>) -> Task<> {
      co_await Pending();
    };
    executor.Spawn(task(std::make_unique<SpawnsWhenDestroyed>(counter)))
        .Detach();
    executor.RunUntilIdle();
  }
  EXPECT_EQ(counter.made(), 1);
  EXPECT_EQ(counter.live(), 0);
}

TEST(ManualExecutorTest, WakersMayOutliveIt) {
  auto slot = std::make_shared<Waker>();
  {
    ManualExecutor executor;
    executor.Spawn(WaitFor(slot)).Detach();
    executor.RunUntilIdle();
  }
  slot->WakeByRef();

  // The next one is not disturbed by it.
  ManualExecutor executor;
  slot->WakeByRef();
  EXPECT_TRUE(executor.IsIdle());
}

TEST(ManualExecutorTest, ATaskMaySpawn) {
  ManualExecutor executor;
  auto parent = []() -> Task<int> {
    JoinHandle<int> child = Spawn(Yield(2));
    co_return co_await child;
  };

  EXPECT_EQ(executor.Run(parent()), 2);
  EXPECT_EQ(Environment::Current().spawner, nullptr);
}

TEST(ManualExecutorTest, RunTurnsTheOtherTasks) {
  ManualExecutor executor;
  JoinHandle<int> handle = executor.Spawn(Yield(5));

  EXPECT_EQ(executor.Run(handle), 5);
}

TEST(ManualExecutorTest, RunAsksForHelpWhenNothingIsWoken) {
  ManualExecutor executor;
  auto slot = std::make_shared<Waker>();
  int helped = 0;

  executor.Run(WaitFor(slot), [&] {
    ++helped;
    std::exchange(*slot, Waker()).Wake();
    return true;
  });

  EXPECT_EQ(helped, 1);
}

TEST(ManualExecutorDeathTest, RunStopsWhereATestWouldHang) {
  EXPECT_DEATH(ManualExecutor().Run(Pending()), "nothing is left");
}

TEST(ManualExecutorDeathTest, ATaskThatNeverRestsIsNoticed) {
  ManualExecutor executor;
  executor.Spawn(Yield(1'000'000)).Detach();
  EXPECT_DEATH(executor.RunUntilIdle(100), "do not come to rest");
}

TEST(ManualExecutorTest, AnyThreadMayWake) {
  ManualExecutor executor;
  auto slot = std::make_shared<Waker>();
  const JoinHandle<> handle = executor.Spawn(WaitFor(slot));
  executor.RunUntilIdle();

  std::thread([&] { slot->WakeByRef(); }).join();

  EXPECT_EQ(executor.Drain(), 0u);
  EXPECT_TRUE(handle.IsFinished());
}

// A Runnable on its way from another thread is waited for.
TEST(ManualExecutorTest, MayBeDestroyedWhileOtherThreadsWake) {
  for (int round = 0; round < 200; ++round) {
    LiveCounter counter;
    std::optional<ManualExecutor> executor(std::in_place);
    auto slot = std::make_shared<Waker>();
    auto task = [](std::shared_ptr<Waker> slot, LiveCounter::Object) -> Task<> {
      co_await WaitFor(slot);
      co_await Pending();
    };
    executor->Spawn(task(slot, counter.Make())).Detach();
    executor->RunUntilIdle();

    std::thread waking([waker = *slot]() mutable { std::move(waker).Wake(); });
    executor.reset();
    EXPECT_EQ(counter.live(), 0);
    waking.join();
  }
}

}  // namespace
}  // namespace weft
