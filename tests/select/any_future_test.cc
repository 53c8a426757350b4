// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/select/any_future.h"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "weft/select/join_range.h"
#include "weft/sync/event.h"
#include "weft/task/await_trace.h"
#include "weft/task/block_on.h"
#include "weft/task/context.h"
#include "weft/task/counting_waker.h"
#include "weft/task/drop_at_every_poll.h"
#include "weft/task/future.h"
#include "weft/task/live_counter.h"
#include "weft/task/polled.h"
#include "weft/task/ready.h"
#include "weft/task/status_matchers.h"
#include "weft/task/task.h"
#include "weft/task/waker.h"
#include "weft/task/yield_now.h"
#include "weft/tests/kit/signal.h"
#include "weft/tests/select/allocation_counter.h"
#include "weft/tests/select/script.h"

namespace weft {
namespace {

static_assert(Future<AnyFuture<int>>);
static_assert(kMovableAfterPoll<AnyFuture<int>>);
static_assert(sizeof(AnyFuture<int>) == 4 * sizeof(void*));

Task<int> Slow(int n) {
  co_await YieldNow();
  co_return n;
}

TEST(AnyFutureTest, HoldsFuturesOfAllKinds) {
  int n = 0;
  Script script{.value = 3};
  std::vector<AnyFuture<int>> futures;
  futures.push_back(Ready(1));
  futures.push_back(Slow(2));
  futures.push_back(script.Make());

  EXPECT_THAT(BlockOn(Join(std::move(futures))), testing::ElementsAre(1, 2, 3));
  EXPECT_EQ(script.live, 0);
  BlockOn(AnyFuture<>(YieldNow()));
  AnyFuture<int&> reference =
      PollFn([&](Context&) -> Polled<int&> { return n; });
  EXPECT_EQ(&BlockOn(std::move(reference)), &n);
}

TEST(AnyFutureTest, SmallMovableFuturesAreInPlace) {
  Task<int> task = Slow(1);
  const int64_t before = TotalAllocations();

  AnyFuture<int> small = std::move(task);
  AnyFuture<int> moved = std::move(small);

  EXPECT_EQ(TotalAllocations(), before);
  EXPECT_EQ(BlockOn(std::move(moved)), 1);
}

TEST(AnyFutureTest, MovesBetweenPollsWhateverIsInIt) {
  Signal signal;  // its wait may not move
  CountingWaker waker;
  Context cx(waker.waker());
  AnyFuture<int> future = signal.Wait();
  EXPECT_TRUE(future.Poll(cx).IsPending());

  AnyFuture<int> moved = std::move(future);
  signal.Set(5);

  EXPECT_EQ(waker.TakeWakes(), 1);
  EXPECT_EQ(*moved.Poll(cx), 5);
}

TEST(AnyFutureTest, AssigningDropsWhatItHeld) {
  Script first;
  Script second{.value = 2};
  AnyFuture<int> future = first.Make();
  AnyFuture<int>& same = future;

  future = std::move(same);
  EXPECT_EQ(first.live, 1);
  future = second.Make();

  EXPECT_EQ(first.live, 0);
  EXPECT_EQ(BlockOn(std::move(future)), 2);
}

TEST(AnyFutureTest, SurvivesADropAtEveryPoll) {
  LiveCounter counter;
  sync::Event event;
  auto branch = [](sync::Event* event, LiveCounter::Object) -> Task<> {
    co_await event->Wait();
  };
  EXPECT_THAT(
      DropAtEveryPoll(
          [&]() -> AnyFuture<> { return branch(&event, counter.Make()); },
          {.step =
               [&] {
                 event.Notify();
                 return true;
               },
           .live = [&] { return counter.live(); }}),
      IsOkAndHolds(2));
  EXPECT_THAT(DropAtEveryPoll([&]() -> AnyFuture<> { return event.Wait(); },
                              {.step =
                                   [&] {
                                     event.Notify();
                                     return true;
                                   }}),
              IsOkAndHolds(2));
}

TEST(AnyFutureTest, TracesWhatIsInIt) {
  AnyFuture<> in_place = Pending();
  sync::Event event;
  AnyFuture<> on_the_heap = event.Wait();
  AwaitTrace trace;

  TraceFuture(in_place, trace);
  TraceFuture(on_the_heap, trace);

  ASSERT_EQ(trace.lines().size(), 2u);
  EXPECT_NE(trace.lines()[0].what.find("PendingFuture"), std::string::npos);
  EXPECT_NE(trace.lines()[1].what.find("WaitFuture"), std::string::npos);
}

TEST(AnyFutureTest, PollingOneThatWasMovedFromDies) {
  AnyFuture<> future = YieldNow();
  AnyFuture<> moved = std::move(future);
  Context cx(NoopWaker());

  EXPECT_DEATH(static_cast<void>(future.Poll(cx).IsReady()), "was moved from");
}

}  // namespace
}  // namespace weft
