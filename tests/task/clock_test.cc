// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/task/clock.h"

#include "gtest/gtest.h"
#include "weft/task/instant.h"

namespace weft {
namespace {

TEST(ClockTest, TheRealOneIsTheMonotonicClock) {
  const Instant before = Instant::Now();
  const Instant now = Clock::Real().Now();
  const Instant after = Instant::Now();

  EXPECT_LE(before, now);
  EXPECT_LE(now, after);
}

TEST(ClockTest, ThereIsOneRealOne) {
  EXPECT_EQ(&Clock::Real(), &Clock::Real());
}

}  // namespace
}  // namespace weft
