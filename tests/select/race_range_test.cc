// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/select/race_range.h"

#include <memory>
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
#include "weft/task/live_counter.h"
#include "weft/task/ready.h"
#include "weft/task/status_matchers.h"
#include "weft/task/task.h"
#include "weft/tests/kit/signal.h"
#include "weft/tests/select/script.h"

namespace weft {
namespace {

constexpr int kSizes[] = {1, 8, 9, 200};

std::vector<Signal::WaitFuture> Waits(std::vector<Signal>& signals) {
  std::vector<Signal::WaitFuture> waits;
  for (Signal& signal : signals) waits.push_back(signal.Wait());
  return waits;
}

TEST(RaceRangeTest, GivesTheFirstOutput) {
  for (const int size : kSizes) {
    std::vector<Signal> signals(size);
    auto race = Race(Waits(signals));
    CountingWaker waker;
    Context cx(waker.waker());
    EXPECT_TRUE(race.Poll(cx).IsPending());

    signals[size / 2].Set(7);

    EXPECT_EQ(waker.TakeWakes(), 1);
    EXPECT_EQ(*race.Poll(cx), 7);
    EXPECT_EQ(waker.outstanding(), 0);
  }
}

TEST(RaceRangeTest, GivesReferencesAndWhatOnlyMoves) {
  int n = 0;
  auto refer = [&](Context&) -> Polled<int&> { return n; };
  std::vector<PollFnFuture<decltype(refer)>> references(10, PollFn(refer));
  std::vector<ReadyFuture<std::unique_ptr<int>>> pointers;
  pointers.push_back(Ready(std::make_unique<int>(3)));
  std::vector<ReadyFuture<void>> nothing(3);

  EXPECT_EQ(&BlockOn(Race(references)), &n);
  EXPECT_EQ(*BlockOn(Race(std::move(pointers))), 3);
  BlockOn(Race(std::move(nothing)));
}

TEST(RaceRangeTest, DropsLosersAndWinnerAtOnce) {
  for (const int size : kSizes) {
    Script loser{.pending = Script::kForever};
    Script winner{.value = 3};
    std::vector<Script::Future> futures;
    for (int i = 1; i < size; ++i) futures.push_back(loser.Make());
    futures.push_back(winner.Make());
    CountingWaker waker;
    Context cx(waker.waker());
    auto race = Race(std::move(futures));

    EXPECT_EQ(*race.Poll(cx), 3);

    EXPECT_EQ(loser.live, 0);
    EXPECT_EQ(winner.live, 0);
  }
}

TEST(RaceRangeTest, NamedLosersStayPending) {
  for (const int size : {2, 9}) {
    std::vector<Signal> signals(size);
    std::vector<Signal::WaitFuture> waits = Waits(signals);
    CountingWaker waker;
    Context cx(waker.waker());
    auto race = Race(Biased(), waits);
    EXPECT_TRUE(race.Poll(cx).IsPending());
    signals[0].Set(1);
    EXPECT_EQ(*race.Poll(cx), 1);
    signals[0].Reset();
    signals[1].WakeSpuriously();  // by the waker of the race that is over

    auto again = Race(Biased(), waits);
    EXPECT_TRUE(again.Poll(cx).IsPending());
    waker.TakeWakes();
    signals[1].Set(2);
    EXPECT_EQ(waker.TakeWakes(), 1);

    EXPECT_EQ(*again.Poll(cx), 2);
  }
}

TEST(RaceRangeTest, BiasedPollsInTheGivenOrder) {
  for (const int size : {8, 9, 200}) {
    std::vector<Signal> signals(size);
    std::vector<Signal::WaitFuture> waits = Waits(signals);
    CountingWaker waker;
    Context cx(waker.waker());
    auto race = Race(Biased(), waits);
    EXPECT_TRUE(race.Poll(cx).IsPending());

    for (const int i : {5, 7, 3, 6}) signals[i].Set(i);

    EXPECT_EQ(*race.Poll(cx), 3);
    EXPECT_EQ(signals[5].polls(), 1);
  }
}

TEST(RaceRangeTest, ASpentBudgetPollsNobody) {
  for (const int size : kSizes) {
    std::vector<Signal> signals(size);
    CountingWaker waker;
    Budget budget(0);
    Context cx(waker.waker(), &budget);

    EXPECT_TRUE(Race(Waits(signals)).Poll(cx).IsPending());

    for (Signal& signal : signals) EXPECT_EQ(signal.polls(), 0);
    EXPECT_EQ(waker.wakes(), 1);
  }
}

// futures-intrusive#19 (C057).
TEST(RaceRangeTest, AMovedRaceWakesWhoeverPolledItLast) {
  for (const int size : {8, 9}) {
    std::vector<Signal> signals(size);
    CountingWaker a;
    CountingWaker b;
    Context in_a(a.waker());
    Context in_b(b.waker());
    auto race = Race(Waits(signals));
    EXPECT_TRUE(race.Poll(in_a).IsPending());

    auto moved = std::move(race);
    EXPECT_TRUE(moved.Poll(in_b).IsPending());
    signals[3].Set(4);

    EXPECT_EQ(a.wakes(), 0);
    EXPECT_EQ(b.wakes(), 1);
    EXPECT_EQ(*moved.Poll(in_b), 4);
  }
}

TEST(RaceRangeTest, SurvivesADropAtEveryPoll) {
  auto branch = [](sync::Event* event, LiveCounter::Object) -> Task<> {
    co_await event->Wait();
  };
  for (const int size : {3, 12}) {
    LiveCounter counter;
    sync::Event event;
    EXPECT_THAT(DropAtEveryPoll(
                    [&] {
                      std::vector<Task<>> tasks;
                      for (int i = 0; i < size; ++i) {
                        tasks.push_back(branch(&event, counter.Make()));
                      }
                      return Race(std::move(tasks));
                    },
                    {.step =
                         [&] {
                           event.Notify();
                           return true;
                         },
                     .live = [&] { return counter.live(); }}),
                IsOkAndHolds(2));
  }
}

TEST(RaceRangeTest, IsTraced) {
  std::vector<Signal> signals(9);
  auto race = Race(Waits(signals));
  AwaitTrace trace;

  TraceFuture(race, trace);

  ASSERT_EQ(trace.lines().size(), 10u);
  EXPECT_EQ(trace.lines()[0].what, "Race");
  EXPECT_EQ(trace.lines()[9].depth, 1);
}

TEST(RaceRangeTest, OfNothingDies) {
  EXPECT_DEATH(static_cast<void>(Race(std::vector<Task<>>())),
               "a Race of nothing is never ready");
}

TEST(RaceRangeTest, PollingItAgainDies) {
  for (const int size : {1, 9}) {
    std::vector<ReadyFuture<void>> ready(size);
    auto race = Race(std::move(ready));
    CountingWaker waker;
    Context cx(waker.waker());
    EXPECT_TRUE(race.Poll(cx).IsReady());

    EXPECT_DEATH(static_cast<void>(race.Poll(cx).IsReady()),
                 "polled after it was ready");
  }
}

}  // namespace
}  // namespace weft
