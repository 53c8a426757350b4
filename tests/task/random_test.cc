// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/task/random.h"

#include <array>
#include <cstdint>
#include <set>
#include <thread>

#include "gtest/gtest.h"

namespace weft {
namespace {

TEST(RandomTest, IsSplitMix64) {
  // The first outputs for seed 1234567, from the algorithm's reference program.
  Random random(1234567);

  EXPECT_EQ(random.Next(), 6457827717110365317u);
  EXPECT_EQ(random.Next(), 3203168211198807973u);
  EXPECT_EQ(random.Next(), 9817491932198370423u);
}

TEST(RandomTest, OneSeedOneSequence) {
  Random a(42);
  Random b(42);
  Random c(43);

  for (int i = 0; i < 100; ++i) {
    const uint64_t n = a.Next();
    EXPECT_EQ(n, b.Next());
    EXPECT_NE(n, c.Next());
  }
}

TEST(RandomTest, BelowIsBelowAndReachesAll) {
  Random random(1);
  std::array<int, 7> seen = {};

  for (int i = 0; i < 7000; ++i) ++seen[random.Below(7)];

  for (const int count : seen) EXPECT_NEAR(count, 1000, 200);
  EXPECT_EQ(random.Below(1), 0u);
  for (int i = 0; i < 100; ++i) EXPECT_LT(random.Below(0xffffffff), 0xffffffff);
}

TEST(RandomTest, ThreadsHaveTheirOwn) {
  const uint64_t here = Random::OfThread().Next();
  std::set<uint64_t> numbers = {here};
  for (int i = 0; i < 4; ++i) {
    uint64_t there = 0;
    std::thread([&] { there = Random::OfThread().Next(); }).join();
    numbers.insert(there);
  }

  EXPECT_EQ(numbers.size(), 5u);
  EXPECT_EQ(&Random::OfThread(), &Random::OfThread());
}

}  // namespace
}  // namespace weft
