// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/tests/kit/weft_test.h"

#include <optional>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "weft/task/instant.h"
#include "weft/task/join_handle.h"
#include "weft/task/ready.h"
#include "weft/task/spawner.h"
#include "weft/task/task.h"
#include "weft/task/yield_now.h"
#include "weft/timer/sleep.h"

namespace weft {
namespace {

Task<int> SleepThenReturn(absl::Duration d, int value) {
  co_await timer::After(d);
  co_return value;
}

WEFT_TEST(WeftTestTest, AwaitsInItsBody) {
  co_await YieldNow();
  const int seven = co_await Ready(7);

  EXPECT_EQ(seven, 7);
}

WEFT_TEST(WeftTestTest, ADaysSleepTakesADayOfItsClock) {
  const Instant before = clock().Now();

  co_await timer::After(absl::Hours(24));

  EXPECT_EQ(clock().Now() - before, absl::Hours(24));
}

WEFT_TEST(WeftTestTest, SpawnsOnItsExecutor) {
  const Instant before = clock().Now();
  JoinHandle<int> slow = Spawn(SleepThenReturn(absl::Seconds(2), 2));
  JoinHandle<int> fast = executor().Spawn(SleepThenReturn(absl::Seconds(1), 1));

  const int two = co_await slow;
  EXPECT_TRUE(fast.IsFinished());
  const int one = co_await fast;

  EXPECT_EQ(one + two, 3);
  EXPECT_EQ(clock().Now() - before, absl::Seconds(2));
}

WEFT_TEST(WeftTestTest, WhatItLeavesIsDestroyed) {
  Spawn(SleepThenReturn(absl::InfiniteDuration(), 1)).Detach();
  co_return;
}

class HangingBody final : public WeftTestBody {
  Task<> Body() override { co_await Pending(); }
};

TEST(WeftTestDeathTest, ABodyThatWouldHangStops) {
  EXPECT_DEATH(HangingBody().Run(), "nothing is left that could wake it");
}

}  // namespace
}  // namespace weft
