// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/net/accept_backoff.h"

#include <cstdint>

#include "gtest/gtest.h"
#include "weft/task/instant.h"

namespace weft::net_internal {
namespace {

TEST(AcceptBackoffTest, PausesLongerEachTimeUntilASuccess) {
  AcceptBackoff backoff;
  EXPECT_FALSE(backoff.IsActive());
  int64_t now = 5;
  for (const int64_t ms : {10, 20, 40, 80, 160, 320, 640, 1000, 1000}) {
    backoff.OnShortage(Instant::FromNanoseconds(now));
    EXPECT_TRUE(backoff.IsActive());
    EXPECT_EQ(backoff.retry_at().nanoseconds(), now + ms * 1'000'000);
    now += 3'000'000'000;
  }
  backoff.OnAccepted();
  EXPECT_FALSE(backoff.IsActive());
  backoff.OnShortage(Instant::FromNanoseconds(now));
  EXPECT_EQ(backoff.retry_at().nanoseconds(), now + 10'000'000);
}

}  // namespace
}  // namespace weft::net_internal
