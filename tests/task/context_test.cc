// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/task/context.h"

#include "gtest/gtest.h"
#include "weft/task/clock.h"
#include "weft/task/counting_waker.h"
#include "weft/task/environment.h"
#include "weft/task/instant.h"
#include "weft/task/parker.h"
#include "weft/task/random.h"
#include "weft/task/waker.h"

namespace weft {
namespace {

class StoppedClock final : public Clock {
 public:
  Instant Now() const override { return Instant::FromNanoseconds(7); }
};

TEST(BudgetTest, CountsDownToNothing) {
  Budget budget(2);
  EXPECT_EQ(budget.units(), 2u);

  budget.Charge();
  EXPECT_FALSE(budget.IsSpent());
  budget.Charge();
  EXPECT_TRUE(budget.IsSpent());
  budget.Charge();
  EXPECT_EQ(budget.units(), 0u);
  EXPECT_EQ(Budget().units(), 128u);
}

TEST(ContextTest, WithoutABudgetIsUnlimited) {
  CountingWaker waker;
  const Context cx(waker.waker());

  for (int i = 0; i < 1000; ++i) {
    EXPECT_TRUE(cx.HasBudget());
    EXPECT_TRUE(cx.PeekBudget());
    cx.Charge();
  }
  EXPECT_EQ(waker.wakes(), 0);
}

TEST(ContextTest, ASpentBudgetWakes) {
  CountingWaker waker;
  Budget budget(1);
  const Context cx(waker.waker(), &budget);

  EXPECT_TRUE(cx.HasBudget());
  EXPECT_EQ(waker.wakes(), 0);
  cx.Charge();
  EXPECT_FALSE(cx.HasBudget());
  EXPECT_EQ(waker.wakes(), 1);
  EXPECT_EQ(waker.clones(), 0);
}

// The promise is the waker's owner's: another waker has another owner.
TEST(ContextTest, PromptnessGoesWithTheWaker) {
  CountingWaker waker, other;
  Budget budget;
  const Environment environment;
  const Context plain(waker.waker());
  EXPECT_FALSE(plain.IsPrompt());

  const Context prompt = plain.WithPromptness(true);

  EXPECT_TRUE(prompt.IsPrompt());
  EXPECT_TRUE(prompt.WithBudget(&budget).IsPrompt());
  EXPECT_TRUE(prompt.WithEnvironment(&environment).IsPrompt());
  EXPECT_FALSE(prompt.WithWaker(other.waker()).IsPrompt());
  EXPECT_FALSE(prompt.WithPromptness(false).IsPrompt());
}

TEST(ContextTest, APeekAtASpentBudgetWakesNobody) {
  CountingWaker waker;
  Budget budget(1);
  const Context cx(waker.waker(), &budget);

  EXPECT_TRUE(cx.PeekBudget());
  cx.Charge();
  EXPECT_FALSE(cx.PeekBudget());
  EXPECT_EQ(waker.wakes(), 0);
}

TEST(ContextTest, VariantsShareTheRest) {
  CountingWaker waker;
  CountingWaker other;
  Budget budget;
  const Environment environment;
  const Context cx(waker.waker(), &budget, &environment);

  const Context woken = cx.WithWaker(other.waker());
  EXPECT_EQ(&woken.waker(), &other.waker());
  EXPECT_EQ(woken.budget(), &budget);
  EXPECT_EQ(&woken.environment(), &environment);

  const Context unlimited = cx.WithBudget(nullptr);
  EXPECT_EQ(&unlimited.waker(), &waker.waker());
  EXPECT_EQ(unlimited.budget(), nullptr);
  EXPECT_EQ(&unlimited.environment(), &environment);
}

TEST(ContextTest, FindsServicesInItsEnvironmentThenInTheThreads) {
  Parker mine;
  Parker threads;
  StoppedClock threads_clock;
  Environment of_thread;
  of_thread.driver = &threads;
  of_thread.clock = &threads_clock;
  const EnvironmentScope scope(of_thread);
  Environment environment;
  environment.driver = &mine;
  const Context cx(NoopWaker(), nullptr, &environment);

  EXPECT_EQ(cx.Find(&Environment::driver), &mine);
  EXPECT_EQ(cx.Find(&Environment::clock), &threads_clock);
  EXPECT_EQ(cx.Find(&Environment::spawner), nullptr);
  EXPECT_EQ(&cx.clock(), &threads_clock);
  EXPECT_EQ(Context(NoopWaker()).Find(&Environment::driver), &threads);
}

TEST(ContextTest, DefaultsStandIn) {
  const Context cx(NoopWaker());

  EXPECT_EQ(&cx.environment(), &Environment::Current());
  EXPECT_EQ(&cx.clock(), &Clock::Real());
  EXPECT_EQ(&cx.random(), &Random::OfThread());
}

TEST(ContextTest, RandomNumbersComeFromTheEnvironment) {
  Random random(5);
  Environment environment;
  environment.random = &random;
  const Context cx(NoopWaker(), nullptr, &environment);

  EXPECT_EQ(&cx.random(), &random);
  EXPECT_EQ(cx.random().Next(), Random(5).Next());
}

}  // namespace
}  // namespace weft
