// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/select/map.h"

#include <memory>
#include <string>
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
#include "weft/tests/select/script.h"

namespace weft {
namespace {

TEST(MapTest, GivesWhatTheFunctionReturns) {
  int n = 4;
  auto reference = PollFn([&](Context&) -> Polled<int&> { return n; });

  EXPECT_EQ(BlockOn(Map(Ready(5), [](int i) { return std::to_string(i); })),
            "5");
  EXPECT_EQ(BlockOn(Map(Ready(), [] { return 1; })), 1);
  BlockOn(Map(Ready(2), [&](int i) { n = i; }));
  EXPECT_EQ(n, 2);
  EXPECT_EQ(&BlockOn(Map(reference, [](int& i) -> int& { return i; })), &n);
  auto add = [p = std::make_unique<int>(3)](std::unique_ptr<int> q) {
    return *p + *q;
  };
  EXPECT_EQ(BlockOn(Map(Ready(std::make_unique<int>(4)), std::move(add))), 7);
}

TEST(MapTest, TheFutureIsDestroyedBeforeTheCall) {
  Script script{.pending = 1};
  Context cx(NoopWaker());
  auto mapped = Map(script.Make(), [&](int) { return script.live; });
  EXPECT_TRUE(mapped.Poll(cx).IsPending());
  EXPECT_EQ(script.live, 1);

  EXPECT_EQ(*mapped.Poll(cx), 0);
}

TEST(MapTest, MovesIfItsFutureDoes) {
  auto same = [](int i) { return i; };
  static_assert(kMovableAfterPoll<MapFuture<Task<int>, decltype(same)>>);
  static_assert(!kMovableAfterPoll<MapFuture<Script::Future, decltype(same)>>);
}

TEST(MapTest, SurvivesADropAtEveryPoll) {
  LiveCounter counter;
  sync::Event event;
  auto branch = [](sync::Event* event,
                   LiveCounter::Object object) -> Task<LiveCounter::Object> {
    co_await event->Wait();
    co_return object;
  };
  EXPECT_THAT(DropAtEveryPoll(
                  [&] {
                    return Map(
                        branch(&event, counter.Make()),
                        [object = counter.Make()](LiveCounter::Object other) {
                          return std::make_pair(object, std::move(other));
                        });
                  },
                  {.step =
                       [&] {
                         event.Notify();
                         return true;
                       },
                   .live = [&] { return counter.live(); }}),
              IsOkAndHolds(2));
}

TEST(MapTest, TracesWhatIsInIt) {
  auto mapped = Map(Pending<int>(), [](int) {});
  AwaitTrace trace;

  TraceFuture(mapped, trace);

  ASSERT_EQ(trace.lines().size(), 1u);
  EXPECT_NE(trace.lines()[0].what.find("PendingFuture"), std::string::npos);
}

TEST(MapTest, PollingItAgainDies) {
  auto mapped = Map(Ready(), [] {});
  Context cx(NoopWaker());
  EXPECT_TRUE(mapped.Poll(cx).IsReady());

  EXPECT_DEATH(static_cast<void>(mapped.Poll(cx).IsReady()),
               "polled after it was ready");
}

}  // namespace
}  // namespace weft
