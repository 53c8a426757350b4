// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/select/then.h"

#include <memory>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "weft/sync/event.h"
#include "weft/task/await_trace.h"
#include "weft/task/block_on.h"
#include "weft/task/context.h"
#include "weft/task/drop_at_every_poll.h"
#include "weft/task/future.h"
#include "weft/task/live_counter.h"
#include "weft/task/ready.h"
#include "weft/task/status_matchers.h"
#include "weft/task/task.h"
#include "weft/task/waker.h"
#include "weft/task/yield_now.h"
#include "weft/tests/select/script.h"

namespace weft {
namespace {

TEST(ThenTest, GoesOnWithTheSecondFuture) {
  EXPECT_EQ(BlockOn(Then(Ready(5), [](int n) { return Ready(n + 1); })), 6);
  EXPECT_EQ(*BlockOn(Then(YieldNow(),
                          [] { return Ready(std::make_unique<int>(3)); })),
            3);
  BlockOn(Then(Ready(1), [](int) { return YieldNow(); }));
}

TEST(ThenTest, EachIsDestroyedAsSoonAsItIsReady) {
  Script first{.pending = 1};
  Script second{.pending = 1, .value = 8};
  auto then = Then(first.Make(), [&](int) {
    EXPECT_EQ(first.live, 0);
    return second.Make();
  });
  Context cx(NoopWaker());
  EXPECT_TRUE(then.Poll(cx).IsPending());
  EXPECT_EQ(second.live, 0);
  EXPECT_TRUE(then.Poll(cx).IsPending());
  EXPECT_EQ(second.live, 1);

  EXPECT_EQ(*then.Poll(cx), 8);

  EXPECT_EQ(second.live, 0);
  EXPECT_EQ(first.polls + second.polls, 4);
}

TEST(ThenTest, MovesIfBothFuturesDo) {
  auto move = [](int) { return YieldNow(); };
  auto stay = [](int) { return Script().Make(); };
  static_assert(kMovableAfterPoll<ThenFuture<Task<int>, decltype(move)>>);
  static_assert(!kMovableAfterPoll<ThenFuture<Task<int>, decltype(stay)>>);
}

TEST(ThenTest, SurvivesADropAtEveryPoll) {
  LiveCounter counter;
  sync::Event event;
  auto branch = [](sync::Event* event,
                   LiveCounter::Object object) -> Task<LiveCounter::Object> {
    co_await event->Wait();
    co_return object;
  };
  EXPECT_THAT(DropAtEveryPoll(
                  [&] {
                    return Then(branch(&event, counter.Make()),
                                [&](LiveCounter::Object object) {
                                  return branch(&event, std::move(object));
                                });
                  },
                  {.step =
                       [&] {
                         event.Notify();
                         return true;
                       },
                   .live = [&] { return counter.live(); }}),
              IsOkAndHolds(3));
}

TEST(ThenTest, TracesWhatItHasComeTo) {
  auto then = Then(Ready(1), [](int) { return Pending<int>(); });
  Context cx(NoopWaker());
  AwaitTrace before;
  AwaitTrace after;

  TraceFuture(then, before);
  EXPECT_TRUE(then.Poll(cx).IsPending());
  TraceFuture(then, after);

  ASSERT_EQ(before.lines().size(), 1u);
  ASSERT_EQ(after.lines().size(), 1u);
  EXPECT_NE(before.lines()[0].what, after.lines()[0].what);
}

TEST(ThenTest, PollingItAgainDies) {
  auto then = Then(Ready(), [] { return Ready(); });
  Context cx(NoopWaker());
  EXPECT_TRUE(then.Poll(cx).IsReady());

  EXPECT_DEATH(static_cast<void>(then.Poll(cx).IsReady()),
               "polled after it was ready");
}

}  // namespace
}  // namespace weft
