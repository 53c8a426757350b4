// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/compat/stop_token.h"

#include <atomic>
#include <cstdlib>
#include <memory>
#include <optional>
#include <stop_token>
#include <thread>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "weft/select/cancellation_token.h"
#include "weft/task/block_on.h"
#include "weft/task/context.h"
#include "weft/task/counting_waker.h"

namespace weft::compat {
namespace {

TEST(CancellationFromStopTest, IsCancelledWhenStopped) {
  std::stop_source stop;
  const CancellationFromStop cancellation(stop.get_token());
  CountingWaker waker;
  Context cx(waker.waker());
  auto wait = cancellation.token().Cancelled();
  EXPECT_TRUE(wait.Poll(cx).IsPending());

  stop.request_stop();

  EXPECT_EQ(waker.wakes(), 1);
  EXPECT_TRUE(wait.Poll(cx).IsReady());
  EXPECT_TRUE(absl::IsCancelled(cancellation.token().reason()));
}

TEST(CancellationFromStopTest, OfAStoppedOneIsCancelledAtOnce) {
  std::stop_source stop;
  stop.request_stop();

  EXPECT_TRUE(CancellationFromStop(stop.get_token()).token().IsCancelled());
}

TEST(CancellationFromStopTest, OfOneThatCannotBeStoppedIsNot) {
  CancellationSource parent;
  const CancellationFromStop alone{std::stop_token()};
  const CancellationFromStop child(std::stop_token(), parent.token());

  parent.Cancel();

  EXPECT_FALSE(alone.token().IsCancelled());
  EXPECT_TRUE(child.token().IsCancelled());
}

TEST(CancellationFromStopTest, CancelledByItsParentItStopsNothing) {
  std::stop_source stop;
  CancellationSource parent;
  const CancellationFromStop cancellation(stop.get_token(), parent.token());

  parent.Cancel();

  EXPECT_FALSE(stop.stop_requested());
}

TEST(CancellationFromStopTest, DroppedItDoesNotFollowAnyMore) {
  std::stop_source stop;
  std::optional<CancellationFromStop> cancellation(stop.get_token());
  const CancellationToken token = cancellation->token();

  cancellation.reset();
  stop.request_stop();

  EXPECT_FALSE(token.IsCancelled());
}

TEST(CancellationFromStopTest, OutlivesTheStopSource) {
  std::optional<std::stop_source> stop(std::in_place);
  const CancellationFromStop cancellation(stop->get_token());

  stop.reset();

  EXPECT_FALSE(cancellation.token().IsCancelled());
}

TEST(CancellationFromStopTest, AThreadThatIsStoppedEndsItsTask) {
  std::jthread thread([](std::stop_token stop) {
    const CancellationFromStop cancellation(stop);
    BlockOn(cancellation.token().Cancelled());
  });

  thread.request_stop();

  thread.join();
}

TEST(StopFromCancellationTest, IsStoppedWhenCancelled) {
  CancellationSource source;
  const StopFromCancellation stop(source.token());
  int calls = 0;
  const std::stop_callback callback(stop.stop_token(), [&] { ++calls; });
  EXPECT_FALSE(stop.stop_token().stop_requested());

  source.Cancel();

  EXPECT_TRUE(stop.stop_token().stop_requested());
  EXPECT_EQ(calls, 1);
}

TEST(StopFromCancellationTest, OfACancelledTokenIsStoppedAtOnce) {
  CancellationSource source;
  source.Cancel();

  EXPECT_TRUE(
      StopFromCancellation(source.token()).stop_token().stop_requested());
}

TEST(StopFromCancellationTest, StoppingItCancelsNothing) {
  CancellationSource source;
  const StopFromCancellation stop(source.token());

  EXPECT_TRUE(stop.stop_source().request_stop());

  EXPECT_TRUE(stop.stop_token().stop_requested());
  EXPECT_FALSE(source.IsCancelled());
}

TEST(StopFromCancellationTest, DroppedItDoesNotFollowAnyMore) {
  CancellationSource source;
  std::optional<StopFromCancellation> stop(source.token());
  const std::stop_token token = stop->stop_token();

  stop.reset();
  source.Cancel();

  EXPECT_FALSE(token.stop_requested());
}

TEST(StopFromCancellationTest, OfATokenWithoutASourceIsNotStopped) {
  EXPECT_FALSE(
      StopFromCancellation(CancellationToken()).stop_token().stop_requested());
}

// There and back again: each link passes it on in the same call.
TEST(StopFromCancellationTest, LinksMayFormALine) {
  std::stop_source stop;
  const CancellationFromStop first(stop.get_token());
  const StopFromCancellation second(first.token());
  const CancellationFromStop third(second.stop_token());

  stop.request_stop();

  EXPECT_TRUE(third.token().IsCancelled());
}

TEST(StopFromCancellationTest, StoppingAndDroppingMayMeet) {
  const int rounds = std::getenv("WEFT_LONG") != nullptr ? 50'000 : 500;
  for (int round = 0; round < rounds; ++round) {
    std::stop_source stop;
    auto first = std::make_unique<CancellationFromStop>(stop.get_token());
    auto second = std::make_unique<StopFromCancellation>(first->token());
    std::atomic<int> ready{0};
    const auto meet = [&ready] {
      ++ready;
      while (ready < 2) std::this_thread::yield();
    };
    std::thread dropper([&] {
      meet();
      if (round % 2 == 0) second.reset();
      first.reset();
    });
    meet();
    stop.request_stop();
    dropper.join();
  }
}

}  // namespace
}  // namespace weft::compat
