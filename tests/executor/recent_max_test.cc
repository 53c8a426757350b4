// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/executor/recent_max.h"

#include "absl/time/time.h"
#include "gtest/gtest.h"

namespace weft::executor_internal {
namespace {

TEST(RecentMaxTest, NothingIsZero) {
  EXPECT_EQ(RecentMax().Get(), absl::ZeroDuration());
}

TEST(RecentMaxTest, RemembersTheLargestFor64ValuesAndForgetsItAfter128) {
  RecentMax max;
  max.Add(absl::Seconds(9));
  for (int i = 0; i < 64; ++i) max.Add(absl::Seconds(1));
  EXPECT_EQ(max.Get(), absl::Seconds(9));
  for (int i = 0; i < 64; ++i) max.Add(absl::Seconds(2));
  EXPECT_EQ(max.Get(), absl::Seconds(2));
}

}  // namespace
}  // namespace weft::executor_internal
