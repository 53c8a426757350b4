// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/task/ready.h"

#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "gtest/gtest.h"
#include "weft/task/budget.h"
#include "weft/task/context.h"
#include "weft/task/counting_waker.h"
#include "weft/task/future.h"
#include "weft/task/join_handle.h"
#include "weft/task/manual_executor.h"
#include "weft/task/polled.h"
#include "weft/task/task.h"
#include "weft/task/waker.h"
#include "weft/task/yield_now.h"
#include "weft/tests/kit/signal.h"

namespace weft {
namespace {

static_assert(Future<ReadyFuture<int>>);
static_assert(Future<ReadyFuture<void>>);
static_assert(Future<PendingFuture<int&>>);
static_assert(kMovableAfterPoll<ReadyFuture<int>>);

TEST(ReadyTest, IsReadyAtOnce) {
  Context cx(NoopWaker());

  EXPECT_EQ(*Ready(7).Poll(cx), 7);
  EXPECT_EQ(**Ready(std::make_unique<int>(7)).Poll(cx), 7);
  EXPECT_TRUE(Ready().Poll(cx).IsReady());
}

TEST(PendingTest, IsNeverReadyAndKeepsNoWaker) {
  CountingWaker waker;
  Context cx(waker.waker());
  auto pending = Pending<int>();

  for (int i = 0; i < 3; ++i) EXPECT_TRUE(pending.Poll(cx).IsPending());

  EXPECT_EQ(waker.clones(), 0);
}

TEST(PollFnTest, PollsTheFunction) {
  Context cx(NoopWaker());
  int polls = 0;
  auto future = PollFn([&](Context& given) -> Polled<int> {
    EXPECT_EQ(&given, &cx);
    if (++polls < 3) return kPending;
    return polls;
  });

  EXPECT_TRUE(future.Poll(cx).IsPending());
  EXPECT_TRUE(future.Poll(cx).IsPending());
  EXPECT_EQ(*future.Poll(cx), 3);
}

TEST(PollFnTest, OwnsAMoveOnlyFunction) {
  Context cx(NoopWaker());
  auto future = PollFn(
      [n = std::make_unique<int>(3)](Context&) { return Polled<int>(*n); });
  auto moved = std::move(future);

  EXPECT_EQ(*moved.Poll(cx), 3);
}

TEST(PollOnceTest, GivesTheOutputOrNothing) {
  Context cx(NoopWaker());

  EXPECT_EQ(*PollOnce(Ready(7)).Poll(cx), std::optional(7));
  EXPECT_EQ(*PollOnce(Pending<int>()).Poll(cx), std::nullopt);
  EXPECT_EQ(*PollOnce(Ready()).Poll(cx), std::optional(Unit()));
  EXPECT_EQ(*PollOnce(Pending()).Poll(cx), std::nullopt);
}

TEST(PollOnceTest, AnLvalueMayBeAwaitedLater) {
  CountingWaker waker;
  Context cx(waker.waker());
  Signal signal;
  auto wait = signal.Wait();

  EXPECT_EQ(*PollOnce(wait).Poll(cx), std::nullopt);
  EXPECT_TRUE(signal.HasWaiter());
  signal.Set(7);

  EXPECT_EQ(*PollOnce(wait).Poll(cx), std::optional(7));
  EXPECT_EQ(waker.wakes(), 1);
}

TEST(PollOnceTest, AnRvalueIsDropped) {
  CountingWaker waker;
  Context cx(waker.waker());
  Signal signal;
  {
    auto once = PollOnce(signal.Wait());
    EXPECT_EQ(*once.Poll(cx), std::nullopt);
  }
  EXPECT_EQ(waker.outstanding(), 0);
}

TEST(PollOnceTest, OfAReferenceWrapsIt) {
  Context cx(NoopWaker());
  int number = 1;
  auto once = PollOnce(
      PollFn([&](Context&) -> Polled<int&> { return Polled<int&>(number); }));

  std::optional<std::reference_wrapper<int>> output = *once.Poll(cx);

  ASSERT_TRUE(output.has_value());
  EXPECT_EQ(&output->get(), &number);
}

TEST(PollOnceTest, ASpentBudgetIsNotTakenForNotReady) {
  CountingWaker waker;
  Budget budget(0);
  Context cx(waker.waker(), &budget);
  auto once = PollOnce(Ready(7));

  EXPECT_TRUE(once.Poll(cx).IsPending());
  EXPECT_EQ(waker.wakes(), 1);

  Budget fresh;
  Context again = cx.WithBudget(&fresh);
  EXPECT_EQ(*once.Poll(again), std::optional(7));
  EXPECT_EQ(fresh.units(), Budget::kPerPoll - 1);
}

Task<> ConsumeThenWait(int units) {
  for (int i = 0; i < units; ++i) co_await ConsumeBudget();
  co_await Pending();
}

// However much the future does before it waits, the answer is "not ready" in
// the end, and the task is polled until then.
TEST(PollOnceTest, AFutureThatDoesALotIsPolledOn) {
  for (const int units : {0, 1, 127, 128, 129, 256, 257}) {
    ManualExecutor executor;
    auto task = [](int units) -> Task<bool> {
      Task<> work = ConsumeThenWait(units);
      const std::optional<Unit> done = co_await PollOnce(work);
      co_return done.has_value();
    };
    JoinHandle<bool> handle = executor.Spawn(task(units));

    executor.RunUntilIdle();

    ASSERT_TRUE(handle.IsFinished()) << units;
    EXPECT_FALSE(executor.Run(handle)) << units;
  }
}

}  // namespace
}  // namespace weft
