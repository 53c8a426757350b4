// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/task/spawner.h"

#include <deque>
#include <memory>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "weft/task/block_on.h"
#include "weft/task/current_task.h"
#include "weft/task/environment.h"
#include "weft/task/join_handle.h"
#include "weft/task/live_counter.h"
#include "weft/task/manual_executor.h"
#include "weft/task/ready.h"
#include "weft/task/runnable.h"
#include "weft/task/spawn_builder.h"
#include "weft/task/task.h"
#include "weft/task/yield_now.h"
#include "weft/tests/kit/signal.h"

namespace weft {
namespace {

// Logs what is asked of it.
class LoggingSpawner final : public Spawner {
 public:
  void RunAll() {
    while (!queue.empty()) {
      Runnable<SpawnedTask> runnable = std::move(queue.front());
      queue.pop_front();
      std::move(runnable).Run();
    }
  }

  int scheduled = 0;
  int woken_while_running = 0;
  int registered = 0;
  int unregistered = 0;
  SpawnedTask* last_registered = nullptr;
  std::deque<Runnable<SpawnedTask>> queue;

 private:
  void Schedule(Runnable<SpawnedTask> runnable, ScheduleInfo info) override {
    EXPECT_EQ(runnable.metadata().spawner, this);
    ++scheduled;
    woken_while_running += info.woken_while_running;
    queue.push_back(std::move(runnable));
  }
  void Register(SpawnedTask& task) override {
    ++registered;
    last_registered = &task;
  }
  void Unregister(SpawnedTask& task) override {
    ++unregistered;
    EXPECT_EQ(&task, last_registered);
  }
};

// Has two others spawn in turn.
class RoutingSpawner final : public Spawner {
 public:
  RoutingSpawner(Spawner& a, Spawner& b)
      : Spawner(Routes()), spawners_{&a, &b} {}

 private:
  Spawner& Route() override { return *spawners_[turn_++ % 2]; }
  void Schedule(Runnable<SpawnedTask>, ScheduleInfo) override {
    ADD_FAILURE() << "it has no tasks of its own";
  }

  Spawner* const spawners_[2];
  int turn_ = 0;
};

// Refuses.
class ClosedSpawner final : public Spawner {
 public:
  ClosedSpawner() : Spawner(Routes()) {}

 private:
  void Schedule(Runnable<SpawnedTask> runnable, ScheduleInfo) override {
    const Runnable<SpawnedTask> dropped = std::move(runnable);
  }
};

Task<> Yield(int times) {
  for (int i = 0; i < times; ++i) co_await YieldNow();
}

std::vector<int> OutputsOf(std::vector<JoinHandle<int>>& handles) {
  std::vector<int> outputs;
  for (JoinHandle<int>& handle : handles) outputs.push_back(BlockOn(handle));
  return outputs;
}

TEST(SpawnerTest, SchedulesTheFirstRunAtOnce) {
  LoggingSpawner spawner;
  const JoinHandle<> handle = spawner.Spawn(Yield(0));

  EXPECT_EQ(spawner.scheduled, 1);
  spawner.RunAll();
  EXPECT_TRUE(handle.IsFinished());
}

TEST(SpawnerTest, SaysWhereATaskWasWoken) {
  LoggingSpawner spawner;
  const JoinHandle<> handle = spawner.Spawn(Yield(3));

  spawner.RunAll();

  EXPECT_EQ(spawner.scheduled, 4);
  EXPECT_EQ(spawner.woken_while_running, 3);
}

TEST(SpawnerTest, ATaskThatNeverSuspendsIsNotRegistered) {
  LoggingSpawner spawner;
  const JoinHandle<> finished = spawner.Spawn(Yield(0));
  const JoinHandle<> dropped = spawner.Spawn(Yield(1));
  spawner.queue.pop_back();
  spawner.RunAll();

  EXPECT_EQ(spawner.registered, 0);
  EXPECT_EQ(spawner.unregistered, 0);
}

TEST(SpawnerTest, ATaskIsRegisteredAtItsFirstPendingPollUntilItIsGone) {
  LoggingSpawner spawner;
  Signal signal;
  auto wait = [](Signal* signal) -> Task<> { co_await signal->Wait(); };
  JoinHandle<> handle = spawner.SpawnBorrowing(wait(&signal));
  spawner.RunAll();
  EXPECT_EQ(spawner.registered, 1);
  signal.WakeSpuriously();
  spawner.RunAll();
  EXPECT_EQ(spawner.registered, 1);
  EXPECT_EQ(spawner.unregistered, 0);

  signal.Set();
  spawner.RunAll();

  EXPECT_EQ(spawner.registered, 1);
  EXPECT_EQ(spawner.unregistered, 1);
}

TEST(SpawnerTest, KeepsTheLambdaOfACoroutine) {
  ManualExecutor executor;
  auto handle = [&executor] {
    std::string text = "captured, and too long to be kept in place";
    // weft-lint: allow(R4): the spawner keeps it
    auto lambda = [text = std::move(text)]() -> Task<std::string> {
      co_await YieldNow();
      co_return text;
    };
    return executor.Spawn(std::move(lambda));
  }();

  EXPECT_EQ(executor.Run(handle), "captured, and too long to be kept in place");
}

TEST(SpawnerTest, TakesAFunctionThatGivesAnyFuture) {
  ManualExecutor executor;
  JoinHandle<int> handle = executor.Spawn([] { return Ready(7); });

  EXPECT_EQ(executor.Run(handle), 7);
}

TEST(SpawnerTest, SpawnUsesTheCurrentSpawner) {
  LoggingSpawner spawner;
  Environment environment;
  environment.spawner = &spawner;
  const EnvironmentScope scope(environment);
  int number = 0;
  auto borrow = [](int* number) -> Task<> {
    ++*number;
    co_return;
  };

  const JoinHandle<> a = Spawn(Yield(0));
  const JoinHandle<> b = SpawnBorrowing(borrow(&number));
  EXPECT_EQ(spawner.scheduled, 2);

  spawner.RunAll();
  EXPECT_TRUE(a.IsFinished());
  EXPECT_TRUE(b.IsFinished());
  EXPECT_EQ(number, 1);
}

TEST(SpawnerTest, SpawnBorrowingTakesALambdaThatCapturesByReference) {
  ManualExecutor executor;
  Environment environment;
  environment.spawner = &executor.spawner();
  const EnvironmentScope scope(environment);
  int number = 0;
  // weft-lint: allow(R4): the spawner keeps it
  auto add = [&number]() -> Task<> {
    co_await YieldNow();
    ++number;
  };

  executor.Run(executor.SpawnBorrowing(add));
  executor.Run(SpawnBorrowing(add));
  executor.Run(SpawnBuilder().SpawnBorrowing(add));
  executor.Run(executor.SpawnBorrowing([&] { return add(); }));

  EXPECT_EQ(number, 4);
}

TEST(SpawnerTest, SpawnManyTakesARangeThatMakesItsElements) {
  LoggingSpawner spawner;
  auto squares = std::views::iota(0, 4) |
                 std::views::transform([](int n) { return Ready(n * n); });

  std::vector<JoinHandle<int>> handles = spawner.SpawnMany(squares);

  EXPECT_EQ(spawner.scheduled, 4);
  spawner.RunAll();
  EXPECT_EQ(OutputsOf(handles), std::vector<int>({0, 1, 4, 9}));
}

TEST(SpawnerTest, SpawnManyTakesFunctions) {
  LoggingSpawner spawner;
  RoutingSpawner router(spawner, spawner);
  const auto make = [](int n) {
    // weft-lint: allow(R4): the spawner keeps it
    return [n]() -> Task<int> { co_return n; };
  };
  std::vector<decltype(make(0))> functions = {make(1), make(2)};
  const auto constant = functions;

  std::vector<JoinHandle<int>> kept = spawner.SpawnMany(constant);
  std::vector<JoinHandle<int>> moved = spawner.SpawnMany(functions);
  std::vector<JoinHandle<int>> routed = router.SpawnMany(constant);
  std::vector<JoinHandle<int>> made =
      router.SpawnMany(std::views::iota(3, 5) | std::views::transform(make));

  spawner.RunAll();
  EXPECT_EQ(OutputsOf(kept), std::vector<int>({1, 2}));
  EXPECT_EQ(OutputsOf(moved), std::vector<int>({1, 2}));
  EXPECT_EQ(OutputsOf(routed), std::vector<int>({1, 2}));
  EXPECT_EQ(OutputsOf(made), std::vector<int>({3, 4}));
}

TEST(SpawnerTest, ARouteIsAskedForEachTask) {
  LoggingSpawner a;
  LoggingSpawner b;
  RoutingSpawner router(a, b);

  const JoinHandle<> first = router.Spawn(Yield(0));
  EXPECT_EQ(a.scheduled, 1);
  EXPECT_EQ(b.scheduled, 0);
  const JoinHandle<> second = router.SpawnBorrowing(Yield(0));
  const JoinHandle<std::string> third =
      SpawnBuilder().On(router).Name("x").Spawn([]() -> Task<std::string> {
        co_return std::string(CurrentTaskName());
      });
  EXPECT_EQ(third.name(), "x");
  std::vector<Task<>> many;
  for (int i = 0; i < 5; ++i) many.push_back(Yield(0));
  const std::vector<JoinHandle<>> handles = router.SpawnMany(std::move(many));
  EXPECT_EQ(handles.size(), 5u);
  EXPECT_EQ(a.scheduled, 4);
  EXPECT_EQ(b.scheduled, 4);

  a.RunAll();
  b.RunAll();
  EXPECT_TRUE(first.IsFinished());
  EXPECT_TRUE(second.IsFinished());
  EXPECT_TRUE(third.IsFinished());
  for (const JoinHandle<>& handle : handles) EXPECT_TRUE(handle.IsFinished());
}

TEST(SpawnerTest, ARouteMayEndWhereItBegan) {
  ClosedSpawner closed;
  LiveCounter counter;
  auto hold = [](LiveCounter::Object) -> Task<> { co_await Pending(); };

  const JoinHandle<> handle = closed.Spawn(hold(counter.Make()));

  EXPECT_TRUE(handle.IsFinished());
  EXPECT_EQ(counter.live(), 0);
}

TEST(SpawnerTest, DroppedRunnablesDestroyTheFutures) {
  LiveCounter counter;
  LoggingSpawner spawner;
  auto hold = [](LiveCounter::Object) -> Task<> { co_await Pending(); };
  const JoinHandle<> handle = spawner.Spawn(hold(counter.Make()));

  spawner.queue.clear();

  EXPECT_EQ(counter.live(), 0);
  EXPECT_TRUE(handle.IsFinished());
}

#ifndef NDEBUG
TEST(SpawnerDeathTest, ABorrowingCoroutineIsNotSpawned) {
  ManualExecutor executor;
  int number = 0;
  auto borrow = [](int& number) -> Task<> {
    ++number;
    co_return;
  };

  EXPECT_DEATH(static_cast<void>(executor.Spawn(borrow(number))),
               "SpawnBorrowing\\(\\)");
  auto lend = [&](int) { return borrow(number); };
  EXPECT_DEATH(
      executor.SpawnMany(std::views::iota(0, 2) | std::views::transform(lend)),
      "SpawnBorrowing\\(\\)");
}
#endif

}  // namespace
}  // namespace weft
