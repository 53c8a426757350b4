// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/io/readiness.h"

#include <cstdint>

#include "gtest/gtest.h"

namespace weft::io::io_internal {
namespace {

constexpr Direction kRead = Direction::kRead;
constexpr Direction kWrite = Direction::kWrite;

TEST(ReadinessTest, StartsWithNothing) {
  Readiness readiness;

  EXPECT_FALSE(readiness.Load().IsReady(kRead));
  EXPECT_FALSE(readiness.Load().IsReady(kWrite));
  EXPECT_EQ(readiness.Load().generation(), 0u);
}

TEST(ReadinessTest, ClearsOneDirection) {
  Readiness readiness;
  readiness.Set(0, kReadable | kWritable);

  readiness.ClearBlocked(readiness.Load(), kRead);

  EXPECT_FALSE(readiness.Load().IsReady(kRead));
  EXPECT_TRUE(readiness.Load().IsReady(kWrite));
}

TEST(ReadinessTest, AnEventInBetweenForbidsToClear) {
  Readiness readiness;
  readiness.Set(0, kReadable);
  const ReadinessSnapshot seen = readiness.Load();
  readiness.Set(0, kReadable);

  readiness.ClearBlocked(seen, kRead);
  readiness.ClearDrained(seen, kRead);

  EXPECT_TRUE(readiness.Load().IsReady(kRead));
}

TEST(ReadinessTest, ClearingOneDirectionDoesNotForbidTheOther) {
  Readiness readiness;
  readiness.Set(0, kReadable | kWritable);
  const ReadinessSnapshot seen = readiness.Load();

  readiness.ClearBlocked(seen, kRead);
  readiness.ClearBlocked(seen, kWrite);

  EXPECT_FALSE(readiness.Load().IsReady(kRead));
  EXPECT_FALSE(readiness.Load().IsReady(kWrite));
}

TEST(ReadinessTest, DrainedLeavesTheEndToBeRead) {
  Readiness readiness;
  readiness.Set(0, kReadable | kReadClosed);

  readiness.ClearDrained(readiness.Load(), kRead);
  EXPECT_TRUE(readiness.Load().IsReady(kRead));

  readiness.ClearBlocked(readiness.Load(), kRead);
  EXPECT_FALSE(readiness.Load().IsReady(kRead));
}

TEST(ReadinessTest, UrgentDataMakesShortReadsProveNothing) {
  Readiness readiness;
  readiness.Set(0, kReadable | kUrgent);

  readiness.ClearDrained(readiness.Load(), kRead);

  EXPECT_TRUE(readiness.Load().IsReady(kRead));
}

TEST(ReadinessTest, FinalBitsStayAndMakeBothDirectionsReady) {
  for (uint32_t bit : {kAlways, kClosed, kShutdown}) {
    Readiness readiness;
    readiness.Set(0, bit);
    readiness.ClearBlocked(readiness.Load(), kRead);
    readiness.ClearBlocked(readiness.Load(), kWrite);

    EXPECT_TRUE(readiness.Load().IsReady(kRead));
    EXPECT_TRUE(readiness.Load().IsReady(kWrite));
  }
}

TEST(ReadinessTest, OtherGenerationsAreIgnored) {
  Readiness readiness;
  readiness.Set(0, kReadable | kClosed);
  readiness.Reset();

  EXPECT_EQ(readiness.Load().generation(), 1u);
  EXPECT_FALSE(readiness.Set(0, kReadable));
  EXPECT_FALSE(readiness.Load().IsReady(kRead));
  EXPECT_TRUE(readiness.Set(1, kReadable));
}

TEST(ReadinessTest, TickWrapsWithoutTouchingTheGeneration) {
  Readiness readiness((uint64_t{1} << 32) | 0xfffffe00);
  const ReadinessSnapshot before = readiness.Load();
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(readiness.Set(1, kReadable));
  readiness.ClearBlocked(before, kRead);

  EXPECT_EQ(readiness.Load().generation(), 1u);
  EXPECT_TRUE(readiness.Load().IsReady(kRead));
  EXPECT_FALSE(readiness.Load().Has(kClosed | kShutdown | kAlways));
}

}  // namespace
}  // namespace weft::io::io_internal
