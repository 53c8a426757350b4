// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/sync/latch.h"

#include <cstdlib>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "weft/task/context.h"
#include "weft/task/counting_waker.h"
#include "weft/task/drop_at_every_poll.h"
#include "weft/task/live_counter.h"
#include "weft/task/status_matchers.h"
#include "weft/task/task.h"

namespace weft::sync {
namespace {

constinit Latch static_latch(1);

TEST(LatchTest, OpensForGoodAtZero) {
  CountingWaker waker;
  Context cx(waker.waker());
  Latch latch(3);
  auto wait = latch.Wait();
  EXPECT_TRUE(wait.Poll(cx).IsPending());

  latch.CountDown(2);
  EXPECT_EQ(latch.count(), 1u);
  EXPECT_FALSE(latch.TryWait());
  EXPECT_EQ(waker.TakeWakes(), 0);
  latch.CountDown();

  EXPECT_EQ(waker.TakeWakes(), 1);
  EXPECT_TRUE(wait.Poll(cx).IsReady());
  EXPECT_TRUE(latch.TryWait());
  latch.BlockingWait();
  EXPECT_EQ(waker.outstanding(), 0);
}

TEST(LatchTest, IsConstantInitialized) {
  static_latch.BlockingArriveAndWait();

  EXPECT_TRUE(static_latch.TryWait());
}

TEST(LatchTest, ArrivesAtTheFirstPollAndOnce) {
  CountingWaker waker;
  Context cx(waker.waker());
  Latch latch(3);
  auto arrival = latch.ArriveAndWait(2);
  EXPECT_EQ(latch.count(), 3u);

  EXPECT_TRUE(arrival.Poll(cx).IsPending());
  EXPECT_TRUE(arrival.Poll(cx).IsPending());
  EXPECT_EQ(latch.count(), 1u);
  auto last = latch.ArriveAndWait();

  EXPECT_TRUE(last.Poll(cx).IsReady());
  EXPECT_TRUE(arrival.Poll(cx).IsReady());
}

TEST(LatchTest, ADroppedArrivalStaysCounted) {
  CountingWaker waker;
  Context cx(waker.waker());
  Latch latch(2);
  {
    auto never_polled = latch.ArriveAndWait();
    auto arrival = latch.ArriveAndWait();
    EXPECT_TRUE(arrival.Poll(cx).IsPending());
  }

  EXPECT_EQ(latch.count(), 1u);
  EXPECT_EQ(waker.outstanding(), 0);
}

TEST(LatchTest, SurvivesADropAtEveryPoll) {
  std::unique_ptr<Latch> latch;
  LiveCounter counter;
  auto task = [](Latch* latch, LiveCounter::Object) -> Task<> {
    co_await latch->ArriveAndWait();
    co_await latch->Wait();
  };

  EXPECT_THAT(DropAtEveryPoll(
                  [&] {
                    latch = std::make_unique<Latch>(2);
                    return task(latch.get(), counter.Make());
                  },
                  {.step =
                       [&] {
                         latch->CountDown();
                         return true;
                       },
                   .live = [&] { return counter.live(); }}),
              IsOkAndHolds(2));
}

TEST(LatchTest, WhoeverPassesSeesWhatAllHaveDoneAndMayDestroyIt) {
  constexpr int kThreads = 3;
  const int rounds = std::getenv("WEFT_LONG") != nullptr ? 20'000 : 300;
  for (int round = 0; round < rounds; ++round) {
    auto latch = std::make_unique<Latch>(kThreads);
    int done[kThreads] = {};
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([latch = latch.get(), done = &done[i]] {
        *done = 1;
        latch->CountDown();
      });
    }
    latch->BlockingWait();
    latch.reset();
    EXPECT_EQ(done[0] + done[1] + done[2], kThreads);
    for (auto& thread : threads) thread.join();
  }
}

TEST(LatchDeathTest, CountingBelowZeroDies) {
  Latch latch(1);

  EXPECT_DEATH(latch.CountDown(2), "below 0");
}

}  // namespace
}  // namespace weft::sync
