// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/select/join.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "weft/sync/event.h"
#include "weft/task/block_on.h"
#include "weft/task/budget.h"
#include "weft/task/context.h"
#include "weft/task/counting_waker.h"
#include "weft/task/drop_at_every_poll.h"
#include "weft/task/live_counter.h"
#include "weft/task/ready.h"
#include "weft/task/status_matchers.h"
#include "weft/task/task.h"
#include "weft/tests/select/script.h"

namespace weft {
namespace {

TEST(JoinTest, GivesAllOutputs) {
  int n = 0;
  auto reference = PollFn([&](Context&) -> Polled<int&> { return n; });

  auto all = BlockOn(Join(Ready(5), Ready(), Ready(std::make_unique<int>(3)),
                          reference, Ready(std::string("s"))));

  EXPECT_EQ(std::get<0>(all), 5);
  EXPECT_EQ(std::get<1>(all), Unit());
  EXPECT_EQ(*std::get<2>(all), 3);
  EXPECT_EQ(&std::get<3>(all).get(), &n);
  EXPECT_EQ(std::get<4>(all), "s");
}

TEST(JoinTest, OfNothingIsReady) { EXPECT_EQ(BlockOn(Join()), std::tuple<>()); }

// For each combination of pending polls: every branch is polled until it is
// ready and not once more, and is destroyed when it is ready.
TEST(JoinTest, TruthTable) {
  for (int code = 0; code < 4 * 4 * 4; ++code) {
    std::array<Script, 3> scripts;
    int rounds = 0;
    for (int i = 0; i < 3; ++i) {
      scripts[i].pending = (code >> (2 * i)) % 4;
      scripts[i].value = i;
      rounds = std::max(rounds, scripts[i].pending);
    }
    CountingWaker waker;
    Context cx(waker.waker());
    auto join = Join(scripts[0].Make(), scripts[1].Make(), scripts[2].Make());

    for (int round = 0; round < rounds; ++round) {
      EXPECT_TRUE(join.Poll(cx).IsPending());
      for (const Script& script : scripts) {
        EXPECT_EQ(script.live, script.pending > round);
        EXPECT_EQ(script.polls, std::min(round, script.pending) + 1);
      }
    }
    auto all = join.Poll(cx);

    ASSERT_TRUE(all.IsReady());
    EXPECT_EQ(*all, std::make_tuple(0, 1, 2));
    for (const Script& script : scripts) {
      EXPECT_EQ(script.live, 0);
      EXPECT_EQ(script.polls, script.pending + 1);
    }
  }
}

TEST(JoinTest, CanBeDroppedAtEveryPoll) {
  for (int drop_after = 0; drop_after < 3; ++drop_after) {
    Script a{.pending = 1};
    Script b{.pending = 2};
    CountingWaker waker;
    Context cx(waker.waker());
    {
      auto join = Join(a.Make(), b.Make());
      for (int i = 0; i < drop_after; ++i) {
        EXPECT_TRUE(join.Poll(cx).IsPending());
      }
    }
    EXPECT_EQ(a.live + b.live, 0);
  }
  LiveCounter counter;
  sync::Event event;
  auto branch = [](sync::Event* event,
                   LiveCounter::Object object) -> Task<LiveCounter::Object> {
    co_await event->Wait();
    co_return object;
  };
  EXPECT_THAT(DropAtEveryPoll(
                  [&] {
                    return Join(branch(&event, counter.Make()),
                                branch(&event, counter.Make()));
                  },
                  {.step =
                       [&] {
                         event.Notify();
                         return true;
                       },
                   .live = [&] { return counter.live(); }}),
              IsOkAndHolds(3));
}

TEST(JoinTest, NamedFuturesStayWhereTheyAre) {
  Script script{.pending = 1};
  auto future = script.Make();
  CountingWaker waker;
  Context cx(waker.waker());
  auto join = Join(future, Ready());
  EXPECT_TRUE(join.Poll(cx).IsPending());

  EXPECT_TRUE(join.Poll(cx).IsReady());

  EXPECT_EQ(script.live, 1);
}

TEST(JoinTest, ASpentBudgetPollsNobody) {
  Script script;
  CountingWaker waker;
  Budget budget(0);
  Context cx(waker.waker(), &budget);

  EXPECT_TRUE(Join(script.Make(), script.Make()).Poll(cx).IsPending());

  EXPECT_EQ(script.polls, 0);
  EXPECT_EQ(waker.wakes(), 1);
}

// The first branch uses up the whole budget of each poll.
TEST(JoinTest, ABusyBranchDoesNotKeepTheTurn) {
  bool stop = false;
  int steps = 0;
  auto busy = [](const bool* stop) -> Task<> {
    while (!*stop) co_await ConsumeBudget();
  };
  auto modest = [](bool* stop, int* steps) -> Task<> {
    for (; *steps < 3; ++*steps) co_await ConsumeBudget();
    *stop = true;
  };
  CountingWaker waker;
  auto join = Join(busy(&stop), modest(&stop, &steps));

  int polls = 0;
  for (;;) {
    Budget budget;
    Context cx(waker.waker(), &budget);
    if (join.Poll(cx).IsReady()) break;
    ASSERT_LT(++polls, 10);
    EXPECT_GE(waker.TakeWakes(), 1);
  }

  EXPECT_EQ(steps, 3);
}

TEST(JoinTest, PollsAreCountedInATask) {
  Script a{.pending = 2};
  Script b{.pending = 5};
  auto task = [](Script* a, Script* b) -> Task<int> {
    auto both = co_await Join(a->Make(), b->Make());
    auto& [first, second] = both;
    co_return first + second;
  };
  CountingWaker waker;
  Context cx(waker.waker());
  Task<int> running = task(&a, &b);

  int polls = 1;
  while (running.Poll(cx).IsPending()) ++polls;

  EXPECT_EQ(polls, 6);
  EXPECT_EQ(a.polls, 3);
  EXPECT_EQ(b.polls, 6);
}

TEST(JoinTest, PollingItAgainDies) {
  auto join = Join(Ready(), Ready());
  CountingWaker waker;
  Context cx(waker.waker());
  EXPECT_TRUE(join.Poll(cx).IsReady());

  EXPECT_DEATH(static_cast<void>(join.Poll(cx).IsReady()),
               "polled after it was ready");
}

}  // namespace
}  // namespace weft
