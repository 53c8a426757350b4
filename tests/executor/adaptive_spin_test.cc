// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/executor/adaptive_spin.h"

#include "gtest/gtest.h"

namespace weft::executor_internal {
namespace {

TEST(AdaptiveSpinTest, VainSeriesHalveItDownToTheLeast) {
  AdaptiveSpin spin;
  EXPECT_EQ(spin.looks(), AdaptiveSpin::kMax);
  spin.Ended(false);
  EXPECT_EQ(spin.looks(), AdaptiveSpin::kMax / 2);
  for (int i = 0; i < 20; ++i) spin.Ended(false);
  EXPECT_EQ(spin.looks(), AdaptiveSpin::kMin);
}

TEST(AdaptiveSpinTest, FindsDoubleItUpToTheMost) {
  AdaptiveSpin spin(AdaptiveSpin::kMin);
  spin.Ended(true);
  EXPECT_EQ(spin.looks(), 2 * AdaptiveSpin::kMin);
  for (int i = 0; i < 20; ++i) spin.Ended(true);
  EXPECT_EQ(spin.looks(), AdaptiveSpin::kMax);
}

}  // namespace
}  // namespace weft::executor_internal
