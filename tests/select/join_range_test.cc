// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/select/join_range.h"

#include <array>
#include <deque>
#include <memory>
#include <ranges>
#include <span>
#include <string>
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
#include "weft/tests/select/script.h"

namespace weft {
namespace {

using testing::ElementsAre;

// Few are all polled; of many, those that were woken.
constexpr int kSizes[] = {1, 8, 9, 1'000};

static_assert(kMovableAfterPoll<JoinRangeFuture<Script::Future>>);

Task<int> Give(int value, int yields) {
  for (int i = 0; i < yields; ++i) co_await YieldNow();
  co_return value;
}

std::vector<Signal::WaitFuture> Waits(std::vector<Signal>& signals) {
  std::vector<Signal::WaitFuture> waits;
  for (Signal& signal : signals) waits.push_back(signal.Wait());
  return waits;
}

TEST(JoinRangeTest, OfNothingIsNothing) {
  EXPECT_THAT(BlockOn(Join(std::vector<Task<int>>())), ElementsAre());
  EXPECT_THAT(BlockOn(JoinAll(std::vector<Task<int>>())), ElementsAre());
}

TEST(JoinRangeTest, GivesOutputsInTheOrderOfTheRange) {
  for (const int size : kSizes) {
    std::vector<Task<int>> tasks;
    for (int i = 0; i < size; ++i) tasks.push_back(Give(i, (size - i) % 5));

    const std::vector<int> outputs = BlockOn(Join(std::move(tasks)));

    ASSERT_EQ(outputs.size(), static_cast<size_t>(size));
    for (int i = 0; i < size; ++i) EXPECT_EQ(outputs[i], i);
  }
}

TEST(JoinRangeTest, HoldsVoidReferencesAndWhatOnlyMoves) {
  int n = 0;
  std::vector<YieldNow> yields(12);
  auto refer = [&](Context&) -> Polled<int&> { return n; };
  std::deque<PollFnFuture<decltype(refer)>> references;
  references.push_back(PollFn(refer));
  std::vector<ReadyFuture<std::unique_ptr<int>>> pointers;
  pointers.push_back(Ready(std::make_unique<int>(3)));

  EXPECT_EQ(BlockOn(Join(std::move(yields))).size(), 12u);
  EXPECT_EQ(&BlockOn(Join(references))[0].get(), &n);
  EXPECT_EQ(*BlockOn(JoinAll(std::move(pointers)))[0], 3);
}

TEST(JoinRangeTest, TakesWhatAViewMakes) {
  auto gives = std::views::iota(0, 20) |
               std::views::transform([](int i) { return Give(i, i % 3); });

  const std::vector<int> outputs = BlockOn(Join(gives));

  ASSERT_EQ(outputs.size(), 20u);
  EXPECT_EQ(outputs[13], 13);
}

TEST(JoinRangeTest, NamedFuturesStayWhereTheyAre) {
  for (const int size : kSizes) {
    std::vector<Signal> signals(size);
    std::vector<Signal::WaitFuture> waits = Waits(signals);
    CountingWaker waker;
    Context cx(waker.waker());
    {
      auto join = Join(waits);
      EXPECT_TRUE(join.Poll(cx).IsPending());
    }
    for (Signal& signal : signals)
      EXPECT_TRUE(signal.HasWaiter() || size > 256);

    for (Signal& signal : signals) signal.Set(3);
    const auto outputs = BlockOn(Join(std::span(waits)));

    EXPECT_EQ(outputs.size(), static_cast<size_t>(size));
  }
}

// futures-lite#105.
TEST(JoinRangeTest, AFinishedFutureIsDestroyedAtOnce) {
  for (const int size : kSizes) {
    Script ready;
    Script pending{.pending = Script::kForever};
    std::vector<Script::Future> futures;
    futures.push_back(pending.Make());
    for (int i = 1; i < size; ++i) futures.push_back(ready.Make());
    auto join = Join(std::move(futures));
    CountingWaker waker;
    Context cx(waker.waker());

    do {
      EXPECT_TRUE(join.Poll(cx).IsPending());
    } while (waker.TakeWakes() != 0);

    EXPECT_EQ(ready.live, 0);
    EXPECT_EQ(pending.live, 1);
  }
}

TEST(JoinRangeTest, PollsOnlyTheChildThatWasWoken) {
  std::vector<Signal> signals(1'000);
  auto join = Join(Waits(signals));
  CountingWaker waker;
  Context cx(waker.waker());
  do {
    EXPECT_TRUE(join.Poll(cx).IsPending());
  } while (waker.TakeWakes() != 0);

  signals[512].WakeSpuriously();
  EXPECT_EQ(waker.TakeWakes(), 1);
  EXPECT_TRUE(join.Poll(cx).IsPending());
  EXPECT_TRUE(join.Poll(cx).IsPending());  // a spurious one

  for (int i = 0; i < 1'000; ++i) {
    EXPECT_EQ(signals[i].polls(), i == 512 ? 2 : 1);
  }
}

TEST(JoinRangeTest, ASpentBudgetPollsNobody) {
  for (const int size : kSizes) {
    std::vector<Signal> signals(size);
    auto join = Join(Waits(signals));
    CountingWaker waker;
    Budget budget(0);
    Context cx(waker.waker(), &budget);

    EXPECT_TRUE(join.Poll(cx).IsPending());

    for (Signal& signal : signals) EXPECT_EQ(signal.polls(), 0);
    EXPECT_EQ(waker.wakes(), 1);
  }
}

// The first future uses up the whole budget of each poll.
TEST(JoinRangeTest, ABusyFutureDoesNotKeepTheTurn) {
  for (const int size : {2, 20}) {
    bool stop = false;
    auto busy = [](const bool* stop) -> Task<> {
      while (!*stop) co_await ConsumeBudget();
    };
    auto modest = [](bool* stop) -> Task<> {
      for (int i = 0; i < 3; ++i) co_await ConsumeBudget();
      *stop = true;
    };
    std::vector<Task<>> tasks;
    for (int i = 1; i < size; ++i) tasks.push_back(busy(&stop));
    tasks.push_back(modest(&stop));
    auto join = Join(std::move(tasks));
    CountingWaker waker;

    for (int polls = 0;; ++polls) {
      Budget budget;
      Context cx(waker.waker(), &budget);
      if (join.Poll(cx).IsReady()) break;
      ASSERT_LT(polls, 3 * size);
      EXPECT_GE(waker.TakeWakes(), 1);
    }
  }
}

// futures-intrusive#19 (C057).
TEST(JoinRangeTest, AMovedJoinWakesWhoeverPolledItLast) {
  for (const int size : {8, 9}) {
    std::vector<Signal> signals(size);
    CountingWaker a;
    CountingWaker b;
    Context in_a(a.waker());
    Context in_b(b.waker());
    auto join = Join(Waits(signals));
    EXPECT_TRUE(join.Poll(in_a).IsPending());

    auto moved = std::move(join);
    EXPECT_TRUE(moved.Poll(in_b).IsPending());
    EXPECT_EQ(a.outstanding(), 0);
    for (Signal& signal : signals) signal.Set(4);

    EXPECT_EQ(a.wakes(), 0);
    EXPECT_GE(b.wakes(), 1);
    EXPECT_TRUE(moved.Poll(in_b).IsReady());
    EXPECT_EQ(b.outstanding(), 0);
  }
}

TEST(JoinRangeTest, CanBeDroppedAtEveryPoll) {
  auto branch = [](sync::Event* event,
                   LiveCounter::Object object) -> Task<LiveCounter::Object> {
    co_await event->Wait();
    co_return object;
  };
  for (const int size : {3, 12}) {
    LiveCounter counter;
    sync::Event event;
    EXPECT_THAT(DropAtEveryPoll(
                    [&] {
                      std::vector<Task<LiveCounter::Object>> tasks;
                      for (int i = 0; i < size; ++i) {
                        tasks.push_back(branch(&event, counter.Make()));
                      }
                      return Join(std::move(tasks));
                    },
                    {.step =
                         [&] {
                           event.Notify();
                           return true;
                         },
                     .live = [&] { return counter.live(); }}),
                IsOkAndHolds(size + 1));
  }
}

TEST(JoinRangeTest, IsTraced) {
  for (const int size : {2, 9}) {
    std::vector<Signal> signals(size);
    auto join = Join(Waits(signals));
    AwaitTrace trace;

    TraceFuture(join, trace);

    ASSERT_EQ(trace.lines().size(), static_cast<size_t>(1 + size));
    EXPECT_EQ(trace.lines()[0].what, "Join");
    EXPECT_EQ(trace.lines()[1].depth, 1);
    EXPECT_EQ(trace.own_wakers(), 0);
  }
}

TEST(JoinRangeTest, PollingItAgainDies) {
  std::vector<YieldNow> yields(2);
  auto join = Join(std::move(yields));
  CountingWaker waker;
  Context cx(waker.waker());
  EXPECT_TRUE(join.Poll(cx).IsPending());
  EXPECT_TRUE(join.Poll(cx).IsReady());

  EXPECT_DEATH(static_cast<void>(join.Poll(cx).IsReady()),
               "polled after it was ready");
}

}  // namespace
}  // namespace weft
