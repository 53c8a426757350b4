// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/select/futures_ordered.h"

#include <optional>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "weft/sync/event.h"
#include "weft/task/await_trace.h"
#include "weft/task/block_on.h"
#include "weft/task/budget.h"
#include "weft/task/context.h"
#include "weft/task/counting_waker.h"
#include "weft/task/drop_at_every_poll.h"
#include "weft/task/future.h"
#include "weft/task/live_counter.h"
#include "weft/task/ready.h"
#include "weft/task/status_matchers.h"
#include "weft/task/task.h"
#include "weft/task/yield_now.h"
#include "weft/tests/kit/signal.h"

namespace weft {
namespace {

using testing::ElementsAre;

using Set = FuturesOrdered<Signal::WaitFuture>;
using Tasks = FuturesOrdered<Task<int>>;

static_assert(Stream<Set>);

Task<int> Give(int value, int yields) {
  for (int i = 0; i < yields; ++i) co_await YieldNow();
  co_return value;
}

Task<std::vector<int>> Drain(Tasks* set) {
  std::vector<int> items;
  while (std::optional<int> item = co_await set->Next()) {
    items.push_back(*item);
  }
  co_return items;
}

TEST(FuturesOrderedTest, GivesOutputsInTheOrderOfPushes) {
  Tasks set;
  for (int yields : {3, 1, 2, 0}) set.Push(Give(yields, yields));
  EXPECT_EQ(set.size(), 4u);

  EXPECT_THAT(BlockOn(Drain(&set)), ElementsAre(3, 1, 2, 0));

  EXPECT_TRUE(set.empty());
  EXPECT_EQ(BlockOn(set.Next()), std::nullopt);
}

TEST(FuturesOrderedTest, MayBePushedToInBetween) {
  Tasks set;
  set.Push(Give(1, 2));
  set.Push(Give(2, 0));
  EXPECT_EQ(BlockOn(set.Next()), 1);

  set.Push(Give(3, 0));

  EXPECT_THAT(BlockOn(Drain(&set)), ElementsAre(2, 3));
}

TEST(FuturesOrderedTest, AFinishedFutureIsDestroyedBeforeItsTurn) {
  LiveCounter counter;
  auto task = [](LiveCounter::Object, bool wait) -> Task<int> {
    if (wait) co_await Pending();
    co_return 1;
  };
  Tasks set;
  set.Push(task(counter.Make(), true));
  set.Push(task(counter.Make(), false));
  CountingWaker waker;
  Context cx(waker.waker());

  EXPECT_TRUE(set.PollNext(cx).IsPending());

  EXPECT_EQ(counter.live(), 1);
  EXPECT_EQ(set.size(), 2u);
}

TEST(FuturesOrderedTest, PollsOnlyTheChildThatWasWoken) {
  std::vector<Signal> signals(100);
  Set set;
  for (Signal& signal : signals) set.Push(signal.Wait());
  CountingWaker waker;
  Context cx(waker.waker());
  EXPECT_TRUE(set.PollNext(cx).IsPending());

  signals[61].Set(61);
  EXPECT_EQ(waker.TakeWakes(), 1);
  EXPECT_TRUE(set.PollNext(cx).IsPending());
  signals[0].Set(0);
  EXPECT_EQ(*set.PollNext(cx), 0);

  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(signals[i].polls(), i == 0 || i == 61 ? 2 : 1);
  }
}

TEST(FuturesOrderedTest, OnePollKeepsSoManyOutputsAndGoesOnLater) {
  FuturesOrdered<Task<int>> set;
  set.Push(Give(-1, 3));
  for (int i = 0; i < 1'000; ++i) set.Push(Give(i, 0));
  CountingWaker waker;
  Context cx(waker.waker());

  EXPECT_TRUE(set.PollNext(cx).IsPending());
  EXPECT_EQ(waker.TakeWakes(), 1);
  int polls = 1;
  while (set.PollNext(cx).IsPending()) ++polls;

  EXPECT_LE(polls, 6);
  EXPECT_EQ(set.size(), 1'000u);
}

TEST(FuturesOrderedTest, ASpentBudgetPollsNobody) {
  Signal signal;
  Set set;
  set.Push(signal.Wait());
  CountingWaker waker;
  Budget budget(0);
  Context cx(waker.waker(), &budget);

  EXPECT_TRUE(set.PollNext(cx).IsPending());

  EXPECT_EQ(signal.polls(), 0);
  EXPECT_EQ(waker.wakes(), 1);
}

TEST(FuturesOrderedTest, ClearDropsAllAndEndsAPendingNext) {
  LiveCounter counter;
  auto task = [](LiveCounter::Object object,
                 bool wait) -> Task<LiveCounter::Object> {
    if (wait) co_await Pending();
    co_return object;
  };
  FuturesOrdered<Task<LiveCounter::Object>> set;
  set.Push(task(counter.Make(), true));
  set.Push(task(counter.Make(), false));
  CountingWaker waker;
  Context cx(waker.waker());
  EXPECT_TRUE(set.PollNext(cx).IsPending());

  set.Clear();

  EXPECT_EQ(counter.live(), 0);
  EXPECT_EQ(waker.TakeWakes(), 1);
  auto end = set.PollNext(cx);
  ASSERT_TRUE(end.IsReady());
  EXPECT_FALSE((*end).has_value());
  set.Push(task(counter.Make(), false));
  EXPECT_TRUE(BlockOn(set.Next()).has_value());
}

// futures-intrusive#19 (C057).
TEST(FuturesOrderedTest, AMovedSetWakesWhoeverPolledItLast) {
  Signal signal;
  Set set;
  set.Push(signal.Wait());
  CountingWaker a;
  CountingWaker b;
  Context in_a(a.waker());
  Context in_b(b.waker());
  EXPECT_TRUE(set.PollNext(in_a).IsPending());

  Set moved = std::move(set);
  EXPECT_TRUE(moved.PollNext(in_b).IsPending());
  signal.Set(4);

  EXPECT_EQ(a.wakes(), 0);
  EXPECT_EQ(b.wakes(), 1);
  EXPECT_EQ(*moved.PollNext(in_b), 4);
}

TEST(FuturesOrderedTest, SurvivesADropAtEveryPoll) {
  LiveCounter counter;
  sync::Event event;
  auto child = [](sync::Event* event,
                  LiveCounter::Object object) -> Task<LiveCounter::Object> {
    co_await event->Wait();
    co_return object;
  };
  using Objects = FuturesOrdered<Task<LiveCounter::Object>>;
  auto drain = [](Objects set) -> Task<> {
    while (co_await set.Next()) {
    }
  };
  EXPECT_THAT(DropAtEveryPoll(
                  [&] {
                    Objects set;
                    for (int i = 0; i < 3; ++i) {
                      set.Push(child(&event, counter.Make()));
                    }
                    return drain(std::move(set));
                  },
                  {.step =
                       [&] {
                         event.Notify();
                         return true;
                       },
                   .live = [&] { return counter.live(); }}),
              IsOkAndHolds(4));
}

TEST(FuturesOrderedTest, IsTraced) {
  Signal signal;
  Set set;
  set.Push(signal.Wait());
  AwaitTrace trace;

  set.Trace(trace);

  ASSERT_EQ(trace.lines().size(), 2u);
  EXPECT_EQ(trace.lines()[0].what, "FuturesOrdered");
  EXPECT_EQ(trace.lines()[1].depth, 1);
}

}  // namespace
}  // namespace weft
