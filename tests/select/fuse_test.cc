// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/select/fuse.h"

#include <memory>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "weft/select/select.h"
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

static_assert(kMovableAfterPoll<FuseFuture<Task<int>>>);
static_assert(!kMovableAfterPoll<FuseFuture<Script::Future>>);
static_assert(kMovableAfterPoll<FuseFuture<Script::Future&>>);

TEST(FuseTest, IsPendingForEverAfterItsEnd) {
  Script script{.pending = 1, .value = 3};
  auto fused = Fuse(script.Make());
  Context cx(NoopWaker());
  EXPECT_TRUE(fused.Poll(cx).IsPending());
  EXPECT_FALSE(fused.IsTerminated());

  EXPECT_EQ(*fused.Poll(cx), 3);

  EXPECT_TRUE(fused.IsTerminated());
  EXPECT_EQ(script.live, 0);
  EXPECT_TRUE(fused.Poll(cx).IsPending());
  EXPECT_EQ(script.polls, 2);
}

TEST(FuseTest, PassesOnReferencesAndWhatOnlyMoves) {
  int n = 0;
  auto reference = PollFn([&](Context&) -> Polled<int&> { return n; });

  EXPECT_EQ(&BlockOn(Fuse(reference)), &n);
  EXPECT_EQ(*BlockOn(Fuse(Ready(std::make_unique<int>(3)))), 3);
  BlockOn(Fuse(Ready()));
}

TEST(FuseTest, StaysInALoopOfSelects) {
  Script once{.value = 1};
  Script often{.pending = 2, .value = 2};
  auto first = Fuse(once.Make());
  auto second = Fuse(often.Make());
  Context cx(NoopWaker());
  std::string order;
  while (!first.IsTerminated() || !second.IsTerminated()) {
    auto select =
        Select(On(first, [&](int n) { order += std::to_string(n); }),
               On(second, [&](int n) { order += std::to_string(n); }));
    static_cast<void>(select.Poll(cx).IsReady());
  }

  EXPECT_EQ(order, "12");
}

TEST(FuseTest, SurvivesADropAtEveryPoll) {
  LiveCounter counter;
  sync::Event event;
  auto branch = [](sync::Event* event, LiveCounter::Object) -> Task<> {
    co_await event->Wait();
  };
  EXPECT_THAT(
      DropAtEveryPoll([&] { return Fuse(branch(&event, counter.Make())); },
                      {.step =
                           [&] {
                             event.Notify();
                             return true;
                           },
                       .live = [&] { return counter.live(); }}),
      IsOkAndHolds(2));
}

TEST(FuseTest, TracesWhatIsInIt) {
  auto fused = Fuse(Pending());
  AwaitTrace trace;

  TraceFuture(fused, trace);

  ASSERT_EQ(trace.lines().size(), 1u);
  EXPECT_NE(trace.lines()[0].what.find("PendingFuture"), std::string::npos);
}

}  // namespace
}  // namespace weft
