// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/executor/poll_interval.h"

#include <cstdint>

#include "gtest/gtest.h"

namespace weft::executor_internal {
namespace {

PollInterval After(int batches, int64_t nanoseconds_per_poll) {
  PollInterval interval;
  for (int i = 0; i < batches; ++i) {
    interval.Measured(interval.polls(),
                      interval.polls() * nanoseconds_per_poll);
  }
  return interval;
}

TEST(PollIntervalTest, ComesToTheTargetDividedByTheMeanPoll) {
  EXPECT_EQ(After(0, 0).polls(), PollInterval::kInitial);
  EXPECT_NEAR(After(20, 250).polls(), 20, 1);
  EXPECT_NEAR(After(20, 100).polls(), 50, 1);
}

TEST(PollIntervalTest, StaysWithinItsLimits) {
  EXPECT_EQ(After(20, 30).polls(), PollInterval::kMax);
  EXPECT_EQ(After(20, 0).polls(), PollInterval::kMax);
  EXPECT_EQ(After(200, 1'000'000).polls(), PollInterval::kMin);
}

TEST(PollIntervalTest, ForgetsALongPollSlowly) {
  PollInterval interval = After(20, 250);
  interval.Measured(1, 2'500);
  EXPECT_NEAR(interval.polls(), 10, 1);
  for (int i = 0; i < 5; ++i) interval.Measured(20, 20 * 250);
  EXPECT_NEAR(interval.polls(), 20, 1);
}

TEST(PollIntervalTest, IgnoresWhatCannotBe) {
  PollInterval interval = After(20, 250);
  const int32_t polls = interval.polls();
  interval.Measured(0, 1'000'000);
  interval.Measured(10, -1);
  EXPECT_EQ(interval.polls(), polls);
}

}  // namespace
}  // namespace weft::executor_internal
