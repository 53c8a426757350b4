// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/task/instant.h"

#include <chrono>
#include <cstdint>
#include <limits>
#include <random>

#include "absl/numeric/int128.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

namespace weft {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

Instant At(int64_t nanoseconds) {
  return Instant::FromNanoseconds(nanoseconds);
}

TEST(InstantTest, NowDoesNotGoBackwards) {
  const Instant a = Instant::Now();
  const Instant b = Instant::Now();

  EXPECT_LE(a, b);
  EXPECT_GT(a, Instant::Past());
  EXPECT_LT(b, Instant::Infinite());
}

TEST(InstantTest, DefaultIsPast) {
  EXPECT_EQ(Instant(), Instant::Past());
  EXPECT_FALSE(Instant().IsInfinite());
  EXPECT_TRUE(Instant::Infinite().IsInfinite());
}

TEST(InstantTest, AddsDurations) {
  EXPECT_EQ(At(5) + absl::Nanoseconds(3), At(8));
  EXPECT_EQ(At(5) - absl::Nanoseconds(8), At(-3));
  EXPECT_EQ(At(5) + absl::Milliseconds(-1), At(5 - 1'000'000));
  EXPECT_EQ(At(5) + std::chrono::seconds(1), At(5 + 1'000'000'000));
  EXPECT_EQ(At(5) - std::chrono::microseconds(1), At(5 - 1'000));
  Instant instant = At(1);
  instant += absl::Nanoseconds(1);
  EXPECT_EQ(instant, At(2));
}

TEST(InstantTest, TakesEveryKindOfChronoDuration) {
  EXPECT_EQ(At(0) + std::chrono::days(1), At(86'400'000'000'000));
  EXPECT_EQ(At(0) + std::chrono::duration<double>(0.5), At(500'000'000));
  EXPECT_EQ((At(0) + std::chrono::duration<int, std::ratio<1, 3>>(3)),
            At(1'000'000'000));
  EXPECT_EQ(At(0) + std::chrono::hours::max(), Instant::Infinite());
  EXPECT_EQ(At(0) + std::chrono::years(1000), Instant::Infinite());
  EXPECT_EQ(At(0) - std::chrono::years(1000), Instant::Past());
  EXPECT_EQ(At(0) + std::chrono::duration<double>(1e300), Instant::Infinite());
}

TEST(InstantTest, RoundsUpSoThatNoTimerIsEarly) {
  EXPECT_EQ(At(5) + absl::Nanoseconds(1) / 4, At(6));
  EXPECT_EQ(At(5) + absl::Nanoseconds(1), At(6));
  EXPECT_EQ(At(5) - absl::Nanoseconds(1) / 4, At(5));
  EXPECT_EQ(Instant::ToNanoseconds(absl::Nanoseconds(7) / 2), 4);
  EXPECT_EQ(Instant::ToNanoseconds(absl::Nanoseconds(-7) / 2), -3);
  EXPECT_EQ(Instant::ToNanoseconds(absl::ZeroDuration()), 0);
}

TEST(InstantTest, ThreeHundredYearsSaturate) {
  const absl::Duration years = 300 * 365.25 * absl::Hours(24);

  EXPECT_EQ(Instant::Now() + years, Instant::Infinite());
  EXPECT_EQ(At(0) - years, Instant::Past());
  EXPECT_EQ(At(0) + 100 * 365 * absl::Hours(24),
            At(100LL * 365 * 24 * 3600 * 1'000'000'000));
}

TEST(InstantTest, InfiniteDurationsSaturate) {
  EXPECT_EQ(At(0) + absl::InfiniteDuration(), Instant::Infinite());
  EXPECT_EQ(At(0) - absl::InfiniteDuration(), Instant::Past());
  EXPECT_EQ(At(kMax - 1) + -absl::InfiniteDuration(), Instant::Past());
  EXPECT_EQ(Instant::ToNanoseconds(absl::InfiniteDuration()), kMax);
  EXPECT_EQ(Instant::ToNanoseconds(-absl::InfiniteDuration()), kMin);
}

TEST(InstantTest, TheEndsAbsorb) {
  for (const absl::Duration d :
       {absl::ZeroDuration(), absl::Nanoseconds(1), absl::Nanoseconds(-1),
        absl::InfiniteDuration(), -absl::InfiniteDuration()}) {
    EXPECT_EQ(Instant::Infinite() + d, Instant::Infinite());
    EXPECT_EQ(Instant::Past() + d, Instant::Past());
  }
}

TEST(InstantTest, TheEdgesOfTheCounterSaturate) {
  EXPECT_EQ(At(kMax - 1) + absl::Nanoseconds(1), Instant::Infinite());
  EXPECT_EQ(At(kMax - 1) + absl::Nanoseconds(2), Instant::Infinite());
  EXPECT_EQ(At(kMin + 1) - absl::Nanoseconds(1), Instant::Past());
  EXPECT_EQ(At(kMin + 1) - absl::Nanoseconds(2), Instant::Past());
  EXPECT_EQ(At(kMax - 1) + absl::Nanoseconds(-1), At(kMax - 2));
  EXPECT_EQ(At(1) + absl::Nanoseconds(kMax - 1), Instant::Infinite());
  EXPECT_EQ(At(-1) + absl::Nanoseconds(kMax - 1), At(kMax - 2));
  EXPECT_EQ(At(kMax - 1) - absl::Nanoseconds(kMax - 1), At(0));
  EXPECT_EQ(At(0) - absl::Nanoseconds(kMin), Instant::Infinite());
}

TEST(InstantTest, Subtracts) {
  EXPECT_EQ(At(7) - At(3), absl::Nanoseconds(4));
  EXPECT_EQ(At(3) - At(7), absl::Nanoseconds(-4));
  EXPECT_EQ(At(kMax - 1) - At(kMin + 1),
            absl::Nanoseconds(kMax - 1) - absl::Nanoseconds(kMin + 1));
  EXPECT_EQ(Instant::Infinite() - At(3), absl::InfiniteDuration());
  EXPECT_EQ(At(3) - Instant::Infinite(), -absl::InfiniteDuration());
  EXPECT_EQ(Instant::Past() - At(3), -absl::InfiniteDuration());
  EXPECT_EQ(At(3) - Instant::Past(), absl::InfiniteDuration());
  EXPECT_EQ(Instant::Infinite() - Instant::Past(), absl::InfiniteDuration());
  EXPECT_EQ(Instant::Infinite() - Instant::Infinite(), absl::ZeroDuration());
  EXPECT_EQ(Instant::Past() - Instant::Past(), absl::ZeroDuration());
}

// Random sums agree with arithmetic that cannot overflow.
TEST(InstantTest, AgreesWithWideArithmetic) {
  constexpr uint64_t kSeed = 20260101;
  SCOPED_TRACE(kSeed);
  std::mt19937_64 random(kSeed);
  for (int i = 0; i < 100'000; ++i) {
    const int64_t a = static_cast<int64_t>(random()) >> (random() % 64);
    const int64_t d = static_cast<int64_t>(random()) >> (random() % 64);
    if (a == kMax || a == kMin || d == kMax || d == kMin) continue;

    const absl::int128 sum = absl::int128(a) + absl::int128(d);
    const int64_t wanted = sum > kMax   ? kMax
                           : sum < kMin ? kMin
                                        : static_cast<int64_t>(sum);
    ASSERT_EQ((At(a) + absl::Nanoseconds(d)).nanoseconds(), wanted)
        << a << " + " << d;
  }
}

}  // namespace
}  // namespace weft
