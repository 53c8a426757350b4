// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/select/join_ok_range.h"

#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "weft/sync/event.h"
#include "weft/task/await_trace.h"
#include "weft/task/block_on.h"
#include "weft/task/context.h"
#include "weft/task/counting_waker.h"
#include "weft/task/drop_at_every_poll.h"
#include "weft/task/live_counter.h"
#include "weft/task/ready.h"
#include "weft/task/status.h"
#include "weft/task/status_matchers.h"
#include "weft/task/task.h"
#include "weft/task/yield_now.h"

namespace weft {
namespace {

constexpr int kSizes[] = {3, 8, 9, 100};

Task<absl::StatusOr<int>> Give(absl::StatusOr<int> value, int yields) {
  for (int i = 0; i < yields; ++i) co_await YieldNow();
  co_return value;
}
Task<absl::StatusOr<int>> Wait(LiveCounter::Object) {
  co_await Pending();
  co_return 1;
}

TEST(JoinOkRangeTest, OfNothingIsOk) {
  const auto values = BlockOn(JoinOk(std::vector<Task<absl::StatusOr<int>>>()));

  ASSERT_TRUE(values.ok());
  EXPECT_TRUE(values->empty());
  EXPECT_EQ(BlockOn(JoinOk(std::vector<Task<absl::Status>>())),
            absl::OkStatus());
}

TEST(JoinOkRangeTest, GivesValuesInTheOrderOfTheRange) {
  for (const int size : kSizes) {
    std::vector<Task<absl::StatusOr<int>>> tasks;
    for (int i = 0; i < size; ++i) tasks.push_back(Give(i, (size - i) % 4));

    const auto values = BlockOn(JoinOk(std::move(tasks)));

    ASSERT_TRUE(values.ok());
    ASSERT_EQ(values->size(), static_cast<size_t>(size));
    for (int i = 0; i < size; ++i) EXPECT_EQ((*values)[i], i);
  }
}

TEST(JoinOkRangeTest, OfStatusesIsAStatus) {
  for (const int size : kSizes) {
    std::vector<ReadyFuture<absl::Status>> all_ok(size,
                                                  Ready(absl::OkStatus()));
    auto one_not_ok = all_ok;
    one_not_ok[1] = Ready(ClosedStatus());

    EXPECT_EQ(BlockOn(JoinOk(all_ok)), absl::OkStatus());
    EXPECT_EQ(BlockOn(JoinOk(std::move(one_not_ok))), ClosedStatus());
  }
}

TEST(JoinOkRangeTest, TheFirstErrorDropsTheRestAtOnce) {
  for (const int size : kSizes) {
    LiveCounter counter;
    std::vector<Task<absl::StatusOr<int>>> tasks;
    for (int i = 2; i < size; ++i) tasks.push_back(Wait(counter.Make()));
    tasks.push_back(Give(ClosedStatus(), 1));
    tasks.push_back(Give(CancelledStatus(), 2));
    auto join = JoinOk(std::move(tasks));
    CountingWaker waker;
    Context cx(waker.waker());
    EXPECT_TRUE(join.Poll(cx).IsPending());

    const auto values = join.Poll(cx);

    ASSERT_TRUE(values.IsReady());
    EXPECT_EQ(values->status(), ClosedStatus());
    EXPECT_EQ(counter.live(), 0);
    EXPECT_EQ(waker.outstanding(), 0);
  }
}

TEST(JoinOkRangeTest, CanBeDroppedAtEveryPoll) {
  auto branch = [](sync::Event* event, LiveCounter::Object object)
      -> Task<absl::StatusOr<LiveCounter::Object>> {
    co_await event->Wait();
    co_return object;
  };
  for (const int size : {3, 12}) {
    LiveCounter counter;
    sync::Event event;
    EXPECT_THAT(
        DropAtEveryPoll(
            [&] {
              std::vector<Task<absl::StatusOr<LiveCounter::Object>>> tasks;
              for (int i = 0; i < size; ++i) {
                tasks.push_back(branch(&event, counter.Make()));
              }
              return JoinOk(std::move(tasks));
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

TEST(JoinOkRangeTest, IsTraced) {
  std::vector<Task<absl::StatusOr<int>>> tasks;
  tasks.push_back(Give(1, 1));
  auto join = JoinOk(std::move(tasks));
  AwaitTrace trace;

  TraceFuture(join, trace);

  ASSERT_EQ(trace.lines().size(), 2u);
  EXPECT_EQ(trace.lines()[0].what, "JoinOk");
}

TEST(JoinOkRangeTest, PollingItAgainDies) {
  std::vector<ReadyFuture<absl::Status>> futures(1, Ready(ClosedStatus()));
  auto join = JoinOk(std::move(futures));
  CountingWaker waker;
  Context cx(waker.waker());
  EXPECT_TRUE(join.Poll(cx).IsReady());

  EXPECT_DEATH(static_cast<void>(join.Poll(cx).IsReady()),
               "polled after it was ready");
}

}  // namespace
}  // namespace weft
