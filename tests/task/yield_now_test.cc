// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/task/yield_now.h"

#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "weft/task/context.h"
#include "weft/task/counting_waker.h"
#include "weft/task/drop_at_every_poll.h"
#include "weft/task/join_handle.h"
#include "weft/task/manual_executor.h"
#include "weft/task/status_matchers.h"
#include "weft/task/task.h"

namespace weft {
namespace {

TEST(YieldNowTest, IsPendingOnceAndWakes) {
  CountingWaker waker;
  Context cx(waker.waker());
  YieldNow yield;

  EXPECT_TRUE(yield.Poll(cx).IsPending());
  EXPECT_EQ(waker.wakes(), 1);
  EXPECT_TRUE(yield.Poll(cx).IsReady());
  EXPECT_EQ(waker.wakes(), 1);
  EXPECT_EQ(waker.clones(), 0);
}

TEST(YieldNowTest, MayBeMovedBetweenPolls) {
  CountingWaker waker;
  Context cx(waker.waker());
  YieldNow yield;
  EXPECT_TRUE(yield.Poll(cx).IsPending());

  YieldNow moved = std::move(yield);

  EXPECT_TRUE(moved.Poll(cx).IsReady());
}

TEST(YieldNowTest, LetsTheOthersRun) {
  ManualExecutor executor;
  std::vector<int> log;
  auto task = [](std::vector<int>* log, int number) -> Task<> {
    for (int i = 0; i < 3; ++i) {
      log->push_back(number);
      co_await YieldNow();
    }
  };
  const JoinHandle<> a = executor.SpawnBorrowing(task(&log, 1));
  const JoinHandle<> b = executor.SpawnBorrowing(task(&log, 2));

  executor.RunUntilIdle();

  EXPECT_EQ(log, (std::vector<int>{1, 2, 1, 2, 1, 2}));
}

TEST(YieldNowTest, DroppedAnywhereLosesNothing) {
  EXPECT_THAT(DropAtEveryPoll([] { return YieldNow(); }), IsOkAndHolds(2));
}

}  // namespace
}  // namespace weft
