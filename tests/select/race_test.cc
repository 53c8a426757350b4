// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/select/race.h"

#include <memory>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "weft/sync/event.h"
#include "weft/task/block_on.h"
#include "weft/task/budget.h"
#include "weft/task/context.h"
#include "weft/task/counting_waker.h"
#include "weft/task/drop_at_every_poll.h"
#include "weft/task/environment.h"
#include "weft/task/random.h"
#include "weft/task/ready.h"
#include "weft/task/status_matchers.h"
#include "weft/task/task.h"
#include "weft/tests/select/script.h"

namespace weft {
namespace {

class RaceTest : public testing::Test {
 protected:
  RaceTest() { environment_.random = &random_; }

  Context MakeContext(Budget* budget = nullptr) {
    return Context(waker_.waker(), budget, &environment_);
  }

  CountingWaker waker_;
  Random random_{4711};
  Environment environment_;
};

TEST_F(RaceTest, GivesTheFirstOutput) {
  int n = 0;
  auto reference = PollFn([&](Context&) -> Polled<int&> { return n; });

  EXPECT_EQ(BlockOn(Race(Pending<int>(), Ready(5), Pending<int>())), 5);
  EXPECT_EQ(*BlockOn(Race(Ready(std::make_unique<int>(3)))), 3);
  EXPECT_EQ(&BlockOn(Race(Pending<int&>(), reference)), &n);
  BlockOn(Race(Pending(), Ready()));
}

TEST_F(RaceTest, DropsLosersAndWinnerAtOnce) {
  Script loser{.pending = Script::kForever};
  Script winner{.pending = 1, .value = 3};
  Context cx = MakeContext();
  auto race = Race(loser.Make(), winner.Make());

  EXPECT_TRUE(race.Poll(cx).IsPending());
  EXPECT_EQ(*race.Poll(cx), 3);

  EXPECT_EQ(loser.live, 0);
  EXPECT_EQ(winner.live, 0);
  EXPECT_EQ(winner.polls, 2);
}

TEST_F(RaceTest, ANamedLoserStaysPending) {
  Script script{.pending = 1, .value = 7};
  auto slow = script.Make();
  Context cx = MakeContext();

  EXPECT_EQ(*Race(Biased(), slow, Ready(1)).Poll(cx), 1);
  EXPECT_EQ(*Race(Biased(), slow, Ready(1)).Poll(cx), 7);
}

TEST_F(RaceTest, StartsAtRandomUnlessBiased) {
  int first = 0;
  int biased_first = 0;
  Context cx = MakeContext();
  for (int i = 0; i < 10'000; ++i) {
    first += *Race(Ready(1), Ready(0)).Poll(cx);
    biased_first += *Race(Biased(), Ready(1), Ready(0)).Poll(cx);
  }

  EXPECT_GT(first, 4'500);
  EXPECT_LT(first, 5'500);
  EXPECT_EQ(biased_first, 10'000);
}

TEST_F(RaceTest, ASpentBudgetPollsNobody) {
  Script script;
  Budget budget(0);
  Context cx = MakeContext(&budget);

  EXPECT_TRUE(Race(script.Make(), script.Make()).Poll(cx).IsPending());

  EXPECT_EQ(script.polls, 0);
  EXPECT_EQ(waker_.wakes(), 1);
}

TEST_F(RaceTest, SurvivesADropAtEveryPoll) {
  sync::Event event;
  auto task = [](sync::Event* event) -> Task<> {
    co_await Race(event->Wait(), Pending());
    co_await Race(Pending(), event->Wait());
  };

  EXPECT_THAT(
      DropAtEveryPoll([&] { return task(&event); }, {.step =
                                                         [&] {
                                                           event.Notify();
                                                           return true;
                                                         }}),
      IsOkAndHolds(3));
}

}  // namespace
}  // namespace weft
