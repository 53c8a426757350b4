// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/task/budget.h"

#include <utility>

#include "gtest/gtest.h"
#include "weft/task/context.h"
#include "weft/task/counting_waker.h"
#include "weft/task/join_handle.h"
#include "weft/task/manual_executor.h"
#include "weft/task/polled.h"
#include "weft/task/ready.h"
#include "weft/task/task.h"

namespace weft {
namespace {

Task<> Consume(int times) {
  for (int i = 0; i < times; ++i) co_await ConsumeBudget();
}

TEST(ConsumeBudgetTest, ChargesOneUnit) {
  CountingWaker waker;
  Budget budget(1);
  Context cx(waker.waker(), &budget);

  EXPECT_TRUE(ConsumeBudget().Poll(cx).IsReady());
  EXPECT_TRUE(ConsumeBudget().Poll(cx).IsPending());
  EXPECT_EQ(waker.wakes(), 1);
}

// 128 operations go through in one poll; the 129th is in the next.
TEST(ConsumeBudgetTest, ASpawnedTaskYieldsOnceInItsBudget) {
  for (const auto& [operations, polls] :
       {std::pair(0, 1), {127, 1}, {128, 1}, {129, 2}, {256, 2}, {257, 3}}) {
    ManualExecutor executor;
    const JoinHandle<> handle = executor.Spawn(Consume(operations));

    executor.RunUntilIdle();

    EXPECT_TRUE(handle.IsFinished());
    EXPECT_EQ(executor.runs(), static_cast<size_t>(polls)) << operations;
  }
}

TEST(ConsumeBudgetTest, ARunMayGiveAnotherBudget) {
  ManualExecutor executor;
  const JoinHandle<> handle = executor.Spawn(Consume(10));

  executor.RunOne(/*budget=*/4);
  executor.RunOne(/*budget=*/4);
  EXPECT_FALSE(handle.IsFinished());
  executor.RunOne(/*budget=*/4);
  EXPECT_TRUE(handle.IsFinished());
}

TEST(UnconstrainedTest, IsNotInterrupted) {
  ManualExecutor executor;
  const JoinHandle<> handle = executor.Spawn(Unconstrained(Consume(100'000)));

  EXPECT_EQ(executor.RunUntilIdle(), 1u);
  EXPECT_TRUE(handle.IsFinished());
}

TEST(UnconstrainedTest, OfAnLvaluePollsItWhereItStands) {
  CountingWaker waker;
  Budget budget(1);
  Context cx(waker.waker(), &budget);
  Task<> task = Consume(3);
  {
    auto unconstrained = Unconstrained(task);
    EXPECT_TRUE(unconstrained.Poll(cx).IsReady());
  }
  EXPECT_EQ(budget.units(), 1u);
}

TEST(UnconstrainedTest, GivesTheOutput) {
  CountingWaker waker;
  Context cx(waker.waker());

  EXPECT_EQ(*Unconstrained(Ready(7)).Poll(cx), 7);
}

}  // namespace
}  // namespace weft
