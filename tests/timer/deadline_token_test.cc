// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/timer/deadline_token.h"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "weft/select/cancellation_token.h"
#include "weft/task/block_on.h"
#include "weft/task/clock.h"
#include "weft/task/context.h"
#include "weft/task/counting_waker.h"
#include "weft/task/environment.h"
#include "weft/task/instant.h"
#include "weft/task/parker.h"
#include "weft/task/status.h"
#include "weft/timer/fake_clock.h"
#include "weft/timer/timers.h"

namespace weft::timer {
namespace {

// A FakeClock is current, which only the test moves.
class DeadlineTokenTest : public testing::Test {
 protected:
  static Environment WithClock(const Clock* clock) {
    Environment environment = Environment::Current();
    environment.clock = clock;
    return environment;
  }

  FakeClock clock_;
  const Environment environment_ = WithClock(&clock_);
  const EnvironmentScope scope_{environment_};
};

TEST_F(DeadlineTokenTest, IsCancelledWhenItsDeadlineHasCome) {
  const DeadlineToken limit = CancelAfter(absl::Seconds(5));
  const CancellationToken token = limit.token();
  EXPECT_EQ(limit.deadline(), clock_.Now() + absl::Seconds(5));

  clock_.Advance(absl::Seconds(5) - absl::Nanoseconds(1));
  EXPECT_FALSE(token.IsCancelled());
  clock_.Advance(absl::Nanoseconds(1));

  EXPECT_TRUE(token.IsCancelled());
  EXPECT_EQ(token.reason(), DeadlineStatus());
}

TEST_F(DeadlineTokenTest, TakesMomentsAndChronoDurations) {
  const Instant moment = clock_.Now() + absl::Seconds(1);

  EXPECT_EQ(CancelAt(moment).deadline(), moment);
  EXPECT_EQ(CancelAfter(std::chrono::seconds(1)).deadline(), moment);
}

TEST_F(DeadlineTokenTest, OneThatHasComeIsCancelledAtOnce) {
  EXPECT_TRUE(CancelAfter(absl::ZeroDuration()).token().IsCancelled());
  EXPECT_TRUE(CancelAt(Instant::Past()).token().IsCancelled());
  EXPECT_FALSE(CancelAt(Instant::Infinite()).token().IsCancelled());
}

TEST_F(DeadlineTokenTest, WakesWaitersAndCallsCallbacks) {
  const DeadlineToken limit = CancelAfter(absl::Seconds(1));
  CountingWaker waker;
  Context cx(waker.waker());
  auto wait = limit.token().Cancelled();
  EXPECT_TRUE(wait.Poll(cx).IsPending());
  int calls = 0;
  const auto callback = limit.token().OnCancel([&] { ++calls; });

  clock_.Advance(absl::Seconds(1));

  EXPECT_EQ(waker.wakes(), 1);
  EXPECT_EQ(calls, 1);
  EXPECT_TRUE(wait.Poll(cx).IsReady());
}

TEST_F(DeadlineTokenTest, IsAChildOfItsParent) {
  CancellationSource parent;
  const DeadlineToken limit = CancelAfter(absl::Seconds(1), parent.token());
  const DeadlineToken later = CancelAfter(absl::Seconds(2), parent.token());

  clock_.Advance(absl::Seconds(1));
  EXPECT_TRUE(limit.token().IsCancelled());
  EXPECT_FALSE(parent.IsCancelled());
  EXPECT_FALSE(later.token().IsCancelled());
  parent.Cancel(absl::UnavailableError("going down"));
  clock_.Advance(absl::Seconds(1));

  EXPECT_EQ(limit.token().reason(), DeadlineStatus());
  EXPECT_EQ(later.token().reason(), absl::UnavailableError("going down"));
}

TEST_F(DeadlineTokenTest, MayBeCancelledBefore) {
  DeadlineToken limit = CancelAfter(absl::Seconds(1));

  limit.Cancel();
  clock_.Advance(absl::Seconds(1));

  EXPECT_TRUE(absl::IsCancelled(limit.token().reason()));
}

TEST_F(DeadlineTokenTest, DroppingItDisarmsTheTimer) {
  std::optional<DeadlineToken> limit = CancelAfter(absl::Seconds(1));
  const CancellationToken token = limit->token();
  EXPECT_NE(clock_.NextDeadline(), Instant::Infinite());

  limit.reset();
  EXPECT_EQ(clock_.NextDeadline(), Instant::Infinite());
  clock_.Advance(absl::Seconds(1));

  EXPECT_FALSE(token.IsCancelled());
}

TEST_F(DeadlineTokenTest, MovesWhileItIsArmed) {
  DeadlineToken first = CancelAfter(absl::Seconds(1));
  const CancellationToken token = first.token();
  DeadlineToken second = CancelAfter(absl::Seconds(2));

  DeadlineToken moved = std::move(first);
  second = std::move(moved);
  clock_.Advance(absl::Seconds(1));

  EXPECT_TRUE(token.IsCancelled());
  EXPECT_TRUE(second.token().IsCancelled());
}

TEST_F(DeadlineTokenTest, ACallbackMayDropIt) {
  std::optional<DeadlineToken> limit = CancelAfter(absl::Seconds(1));
  const auto callback = limit->token().OnCancel([&] { limit.reset(); });

  clock_.Advance(absl::Seconds(1));

  EXPECT_FALSE(limit.has_value());
}

TEST_F(DeadlineTokenTest, AThreadThatWaitsInItsTimersCancels) {
  Parker parker;
  Timers timers(parker, clock_);
  Environment environment = environment_;
  environment.driver = &timers;
  environment.timers = &timers;
  const EnvironmentScope scope(environment);
  const DeadlineToken limit = CancelAfter(absl::Hours(1));

  BlockOn(limit.token().Cancelled());

  EXPECT_EQ(limit.token().reason(), DeadlineStatus());
}

// Being woken by Timers that go is no deadline.
TEST_F(DeadlineTokenTest, OutlivesItsTimers) {
  const Environment real;
  const EnvironmentScope scope(real);
  std::optional<DeadlineToken> limit;
  std::optional<DeadlineToken> soon;
  {
    Parker parker;
    Timers timers(parker, Clock::Real());
    Environment environment;
    environment.timers = &timers;
    const EnvironmentScope in_timers(environment);
    limit = CancelAfter(absl::Hours(1));
    soon = CancelAfter(absl::Milliseconds(20));
    EXPECT_EQ(timers.stats().pending, 2u);
  }

  EXPECT_FALSE(limit->token().IsCancelled());
  BlockOn(soon->token().Cancelled());
  EXPECT_EQ(soon->token().reason(), DeadlineStatus());
}

// Dropped at about the moment at which it is due, on another thread.
TEST_F(DeadlineTokenTest, FiringAndDroppingMayMeet) {
  const int rounds = std::getenv("WEFT_LONG") != nullptr ? 50'000 : 500;
  for (int round = 0; round < rounds; ++round) {
    auto limit =
        std::make_unique<DeadlineToken>(clock_.Now() + absl::Microseconds(1));
    const CancellationToken token = limit->token();
    std::atomic<int> ready{0};
    const auto meet = [&ready] {
      ++ready;
      while (ready < 2) std::this_thread::yield();
    };
    std::thread dropper([&] {
      meet();
      limit.reset();
    });
    meet();
    clock_.Advance(absl::Microseconds(1));
    dropper.join();
    EXPECT_TRUE(!token.IsCancelled() || token.reason() == DeadlineStatus());
  }
}

}  // namespace
}  // namespace weft::timer
