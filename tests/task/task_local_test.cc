// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// weft-lint: allow-file(R22): the tests' tasks end before what they refer to.

#include "weft/task/task_local.h"

#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "weft/task/block_on.h"
#include "weft/task/context.h"
#include "weft/task/counting_waker.h"
#include "weft/task/drop_at_every_poll.h"
#include "weft/task/future.h"
#include "weft/task/invoke.h"
#include "weft/task/join_handle.h"
#include "weft/task/live_counter.h"
#include "weft/task/manual_executor.h"
#include "weft/task/polled.h"
#include "weft/task/ready.h"
#include "weft/task/runnable.h"
#include "weft/task/spawn_builder.h"
#include "weft/task/spawner.h"
#include "weft/task/status_matchers.h"
#include "weft/task/task.h"
#include "weft/task/waker.h"
#include "weft/task/yield_now.h"
#include "weft/tests/kit/signal.h"

namespace weft {
namespace {

constinit TaskLocal<int> number;
constinit TaskLocal<int> other;
constinit TaskLocal<std::unique_ptr<int>> owned;

static_assert(Future<TaskLocalScope<int, Task<>>>);

int Number() {
  const int* value = number.TryGet();
  return value == nullptr ? -1 : *value;
}

Task<int> Read() { co_return Number(); }
Task<int> YieldThenRead() {
  co_await YieldNow();
  co_return Number();
}

TEST(TaskLocalTest, HasNoValueOutside) {
  EXPECT_EQ(number.TryGet(), nullptr);
  EXPECT_EQ(BlockOn(Read()), -1);
}

TEST(TaskLocalTest, IsSetInsideItsScope) {
  EXPECT_EQ(BlockOn(number.Scope(7, YieldThenRead())), 7);
  EXPECT_EQ(number.TryGet(), nullptr);
}

TEST(TaskLocalTest, IsNotSetBetweenPolls) {
  Context cx(NoopWaker());
  auto scope = number.Scope(7, YieldThenRead());
  EXPECT_TRUE(scope.Poll(cx).IsPending());
  EXPECT_EQ(Number(), -1);
  EXPECT_EQ(*scope.Poll(cx), 7);
  EXPECT_EQ(Number(), -1);
}

TEST(TaskLocalTest, ScopesNestAndPutBack) {
  auto nest = []() -> Task<std::vector<int>> {
    std::vector<int> seen = {Number()};
    auto inner = number.Scope(8, YieldThenRead());
    seen.push_back(co_await inner);
    seen.push_back(Number());
    auto beside = other.Scope(9, YieldThenRead());
    seen.push_back(co_await beside);
    seen.push_back(Number());
    co_return seen;
  };
  EXPECT_EQ(BlockOn(number.Scope(7, nest())),
            std::vector<int>({7, 8, 7, 7, 7}));
}

TEST(TaskLocalTest, TheValueMayBeChangedAndStaysChanged) {
  auto change = []() -> Task<int> {
    number.Get() = 8;
    co_await YieldNow();
    co_return ++number.Get();
  };
  EXPECT_EQ(BlockOn(number.Scope(7, change())), 9);
}

TEST(TaskLocalTest, OutputsOfEveryKindPass) {
  int target = 0;
  auto refer = [&]() -> Task<int&> { co_return target; };
  auto own = []() -> Task<std::unique_ptr<int>> {
    co_return std::make_unique<int>(*owned.Get());
  };
  auto nothing = []() -> Task<> { co_await YieldNow(); };

  EXPECT_EQ(&BlockOn(number.Scope(7, Invoke(refer))), &target);
  EXPECT_EQ(*BlockOn(owned.Scope(std::make_unique<int>(5), own())), 5);
  BlockOn(number.Scope(7, nothing()));
}

// Reads the variable where it is destroyed.
class ReadsAtItsEnd {
 public:
  using Output = void;
  ReadsAtItsEnd(int* seen, LiveCounter::Object object)
      : seen_(seen), object_(std::move(object)) {}
  ReadsAtItsEnd(ReadsAtItsEnd&& other) noexcept
      : seen_(std::exchange(other.seen_, nullptr)),
        object_(std::move(other.object_)) {}
  ~ReadsAtItsEnd() {
    if (seen_ != nullptr) *seen_ = Number();
  }
  Polled<void> Poll(Context&) { return kPending; }

 private:
  int* seen_;
  LiveCounter::Object object_;
};

TEST(TaskLocalTest, IsSetWhileTheFutureIsDestroyed) {
  LiveCounter counter;
  int seen = 0;
  {
    auto scope = number.Scope(7, ReadsAtItsEnd(&seen, counter.Make()));
  }
  EXPECT_EQ(seen, 7);
  {
    auto scope = number.Scope(8, ReadsAtItsEnd(&seen, counter.Make()));
    Context cx(NoopWaker());
    EXPECT_TRUE(scope.Poll(cx).IsPending());
  }
  EXPECT_EQ(seen, 8);
  EXPECT_EQ(counter.live(), 0);
  EXPECT_EQ(Number(), -1);
}

TEST(TaskLocalTest, CallSetsItForAFunction) {
  EXPECT_EQ(number.Call(7, [] { return Number(); }), 7);
  int seen = 0;
  number.Call(8, [&] { seen = Number(); });
  EXPECT_EQ(seen, 8);
  EXPECT_EQ(&number.Call(9, [&]() -> int& { return seen; }), &seen);
  EXPECT_EQ(Number(), -1);
}

TEST(TaskLocalTest, SurvivesADropAtEveryPoll) {
  LiveCounter counter;
  constinit static TaskLocal<LiveCounter::Object> local;
  auto inner = [](LiveCounter::Object) -> Task<> {
    co_await YieldNow();
    EXPECT_NE(local.TryGet(), nullptr);
    auto nested = number.Scope(7, YieldThenRead());
    EXPECT_EQ(co_await nested, 7);
  };
  EXPECT_THAT(
      DropAtEveryPoll(
          [&] { return local.Scope(counter.Make(), inner(counter.Make())); },
          {.live = [&] { return counter.live(); }}),
      IsOkAndHolds(3u));
  EXPECT_EQ(local.TryGet(), nullptr);
}

// ---- Tasks ----

TEST(TaskLocalTest, ATaskSeesNothingOfWhoeverPollsIt) {
  ManualExecutor executor;
  Signal signal;
  auto wait_then_read = [&]() -> Task<int> {
    const int first = Number();
    co_await signal.Wait();
    co_return first + Number();
  };
  JoinHandle<int> handle = executor.Spawn(wait_then_read);

  number.Call(7, [&] { executor.RunUntilIdle(); });
  signal.Set();
  const int sum = number.Call(7, [&] { return executor.Run(handle); });

  EXPECT_EQ(sum, -2);
}

TEST(TaskLocalTest, ATaskDestroyedByAnotherSeesNothingOfThatOne) {
  LiveCounter counter;
  int seen = 0;
  {
    auto [runnable, handle] =
        SpawnOn(ReadsAtItsEnd(&seen, counter.Make()), [](Runnable<>) {});
    number.Call(7, [&] { const auto dropped = std::move(runnable); });
    EXPECT_EQ(seen, -1);
    EXPECT_TRUE(handle.IsFinished());
  }
}

TEST(TaskLocalTest, AChildInheritsOnRequestOnly) {
  ManualExecutor executor;
  auto parent = []() -> Task<std::vector<int>> {
    JoinHandle<int> plain = Spawn(YieldThenRead());
    JoinHandle<int> heir =
        SpawnBuilder().InheritLocals().Spawn(YieldThenRead());
    const int first = co_await plain;
    std::vector<int> seen(1, first);
    seen.push_back(co_await heir);
    co_return seen;
  };
  EXPECT_EQ(executor.Run(executor.Spawn(number.Scope(7, parent()))),
            std::vector<int>({-1, 7}));
}

TEST(TaskLocalTest, AHeirHasCopiesOfItsOwnAndHandsThemOn) {
  ManualExecutor executor;
  auto grandchild = []() -> Task<int> { co_return Number() + other.Get(); };
  auto child = [=]() -> Task<int> {
    co_await YieldNow();
    number.Get() += 10;
    co_return co_await SpawnBuilder().InheritLocals().Spawn(grandchild());
  };
  auto parent = [=]() -> Task<std::vector<int>> {
    JoinHandle<int> heir = SpawnBuilder().InheritLocals().Spawn(child);
    number.Get() = 1;  // too late for the child
    const int first = co_await heir;
    std::vector<int> seen(1, first);
    seen.push_back(Number());
    co_return seen;
  };
  auto scope = number.Scope(7, other.Scope(100, Invoke(parent)));
  EXPECT_EQ(executor.Run(executor.Spawn(std::move(scope))),
            std::vector<int>({117, 1}));
}

TEST(TaskLocalTest, WhatCannotBeCopiedIsNotInherited) {
  ManualExecutor executor;
  auto child = []() -> Task<bool> { co_return owned.TryGet() != nullptr; };
  auto parent = [=]() -> Task<bool> {
    co_return co_await SpawnBuilder().InheritLocals().Spawn(child());
  };
  auto scope = owned.Scope(std::make_unique<int>(1), Invoke(parent));
  EXPECT_FALSE(executor.Run(executor.Spawn(std::move(scope))));
}

TEST(TaskLocalTest, InheritedValuesGoWithTheFutureAfterIt) {
  LiveCounter counter;
  constinit static TaskLocal<LiveCounter::Object> local;
  ManualExecutor executor;
  bool set_at_the_end = false;
  Waker late;
  struct AtEnd {
    bool* set;
    ~AtEnd() { *set = local.TryGet() != nullptr; }
  };
  auto child = [&]() -> Task<> {
    const AtEnd at_end{&set_at_the_end};
    co_await PollFn([&](Context& cx) -> Polled<void> {
      late = cx.waker();
      return kPending;
    });
  };
  std::optional<JoinHandle<>> handle = local.Call(counter.Make(), [&] {
    return SpawnBuilder().InheritLocals().On(executor.spawner()).Spawn(child);
  });
  executor.RunUntilIdle();
  EXPECT_EQ(counter.live(), 1);

  handle.reset();
  executor.RunUntilIdle();

  EXPECT_TRUE(set_at_the_end);
  EXPECT_EQ(counter.live(), 0);  // although a waker is left
}

TEST(TaskLocalTest, FollowsItsTaskFromThreadToThread) {
  ManualExecutor executor;
  auto walk = []() -> Task<int> {
    int sum = 0;
    for (int i = 0; i < 10; ++i) {
      sum += number.Get();
      co_await YieldNow();
    }
    co_return sum;
  };
  JoinHandle<int> handle = executor.Spawn(number.Scope(7, walk()));
  while (!handle.IsFinished()) {
    std::thread([&] { executor.RunOne(); }).join();
  }
  EXPECT_EQ(BlockOn(std::move(handle)), 70);
}

TEST(TaskLocalTest, AScopeBorrowsWhatItsFutureBorrows) {
  auto refer = [](const int&) -> Task<> { co_return; };
  EXPECT_TRUE(number.Scope(7, refer(1)).Borrows());
  EXPECT_FALSE(number.Scope(7, Read()).Borrows());
}

TEST(TaskLocalDeathTest, GetWithoutAValueSaysWhatToDo) {
  EXPECT_DEATH(number.Get(), "set it with Scope\\(\\)");
}

TEST(TaskLocalDeathTest, AScopeIsNotMovedAfterItsFirstPoll) {
  Context cx(NoopWaker());
  auto scope = number.Scope(7, YieldThenRead());
  EXPECT_TRUE(scope.Poll(cx).IsPending());
  EXPECT_DEATH(auto moved = std::move(scope), "after its first poll");
}

}  // namespace
}  // namespace weft
