// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/select/join_ok.h"

#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
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
#include "weft/task/polled.h"
#include "weft/task/ready.h"
#include "weft/task/status.h"
#include "weft/task/status_matchers.h"
#include "weft/task/task.h"
#include "weft/task/yield_now.h"

namespace weft {
namespace {

template <class T>
Task<absl::StatusOr<T>> Give(T value, int yields) {
  for (int i = 0; i < yields; ++i) co_await YieldNow();
  co_return std::move(value);
}
Task<absl::Status> End(absl::Status status, int yields) {
  for (int i = 0; i < yields; ++i) co_await YieldNow();
  co_return status;
}
Task<absl::Status> Wait(LiveCounter::Object) {
  co_await Pending();
  co_return absl::OkStatus();
}

TEST(JoinOkTest, GivesTheValuesOfAll) {
  auto all = BlockOn(JoinOk(Give(5, 2), End(absl::OkStatus(), 0),
                            Give(std::make_unique<int>(3), 1)));

  ASSERT_TRUE(all.ok());
  EXPECT_EQ(std::get<0>(*all), 5);
  EXPECT_EQ(std::get<1>(*all), Unit());
  EXPECT_EQ(*std::get<2>(*all), 3);
}

TEST(JoinOkTest, OfStatusesIsAStatus) {
  const absl::Status all =
      BlockOn(JoinOk(End(absl::OkStatus(), 0), End(absl::OkStatus(), 1)));

  EXPECT_EQ(all, absl::OkStatus());
  EXPECT_EQ(BlockOn(JoinOk()), absl::OkStatus());
}

TEST(JoinOkTest, TheFirstErrorDropsTheRestAtOnce) {
  LiveCounter counter;
  auto join = JoinOk(Wait(counter.Make()), End(ClosedStatus(), 1),
                     Wait(counter.Make()), End(CancelledStatus(), 2));
  CountingWaker waker;
  Context cx(waker.waker());
  EXPECT_TRUE(join.Poll(cx).IsPending());

  const auto all = join.Poll(cx);

  ASSERT_TRUE(all.IsReady());
  EXPECT_EQ(*all, ClosedStatus());
  EXPECT_EQ(counter.live(), 0);
}

TEST(JoinOkTest, OfSeveralErrorsTheFirstPolledIsGiven) {
  EXPECT_EQ(BlockOn(JoinOk(Give(1, 0), End(ClosedStatus(), 0),
                           End(CancelledStatus(), 0)))
                .status(),
            ClosedStatus());
}

TEST(JoinOkTest, ANamedFutureOutlivesAnothersError) {
  auto named = Give(std::string("kept"), 1);

  EXPECT_EQ(BlockOn(JoinOk(named, End(ClosedStatus(), 0))).status(),
            ClosedStatus());

  EXPECT_EQ(*BlockOn(named), "kept");
}

TEST(JoinOkTest, ASpentBudgetPollsNobody) {
  bool polled = false;
  auto future = PollFn([&](Context&) -> Polled<absl::Status> {
    polled = true;
    return absl::OkStatus();
  });
  CountingWaker waker;
  Budget budget(0);
  Context cx(waker.waker(), &budget);

  EXPECT_TRUE(JoinOk(future).Poll(cx).IsPending());

  EXPECT_FALSE(polled);
  EXPECT_EQ(waker.wakes(), 1);
}

TEST(JoinOkTest, CanBeDroppedAtEveryPoll) {
  LiveCounter counter;
  sync::Event event;
  auto branch = [](sync::Event* event, LiveCounter::Object object)
      -> Task<absl::StatusOr<LiveCounter::Object>> {
    co_await event->Wait();
    co_return object;
  };
  EXPECT_THAT(DropAtEveryPoll(
                  [&] {
                    return JoinOk(branch(&event, counter.Make()),
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

TEST(JoinOkTest, IsTraced) {
  auto join = JoinOk(End(absl::OkStatus(), 1), End(absl::OkStatus(), 1));
  AwaitTrace trace;

  TraceFuture(join, trace);

  ASSERT_EQ(trace.lines().size(), 3u);
  EXPECT_EQ(trace.lines()[0].what, "JoinOk");
  EXPECT_EQ(trace.lines()[1].depth, 1);
}

TEST(JoinOkTest, PollingItAgainDies) {
  auto join = JoinOk(Ready(absl::OkStatus()));
  CountingWaker waker;
  Context cx(waker.waker());
  EXPECT_TRUE(join.Poll(cx).IsReady());

  EXPECT_DEATH(static_cast<void>(join.Poll(cx).IsReady()),
               "polled after it was ready");
}

}  // namespace
}  // namespace weft
