// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/executor/poll_sampler.h"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "weft/task/random.h"

namespace weft::executor_internal {
namespace {

constexpr uint64_t kMaxBlock = uint64_t{1} << PollSampler::kMaxShift;

// What the next polls, of `nanoseconds` each, are sampled with.
uint64_t WeightOf(PollSampler& sampler, int64_t nanoseconds) {
  const int shift = sampler.Next();
  if (shift == PollSampler::kSkip) return 0;
  sampler.Measured(nanoseconds);
  return uint64_t{1} << shift;
}

// The size of blocks that polls of one length lead to.
uint64_t BlockSize(int64_t nanoseconds) {
  PollSampler sampler(1);
  for (int i = 0; i < 100'000; ++i) WeightOf(sampler, nanoseconds);
  for (;;) {
    if (const uint64_t weight = WeightOf(sampler, nanoseconds)) return weight;
  }
}

TEST(PollSamplerTest, TheFirstPollIsTimed) {
  PollSampler sampler(1);

  EXPECT_EQ(sampler.Next(), 0);
}

TEST(PollSamplerTest, BlocksLastForAboutAsLongWhateverThePolls) {
  EXPECT_EQ(BlockSize(1), 512u);
  EXPECT_EQ(BlockSize(16), 512u);
  EXPECT_EQ(BlockSize(100), 128u);
  EXPECT_EQ(BlockSize(1000), 16u);
  EXPECT_EQ(BlockSize(8192), 1u);
  EXPECT_EQ(BlockSize(1'000'000'000), 1u);
}

TEST(PollSamplerTest, OneLongPollChangesLittle) {
  PollSampler sampler(1);
  for (int i = 0; i < 100'000; ++i) WeightOf(sampler, 20);

  sampler.Measured(1'000'000'000);

  uint64_t timed = 0;
  for (int i = 0; i < 10'000; ++i) timed += WeightOf(sampler, 20) != 0;
  EXPECT_LE(timed, 200u);
}

TEST(PollSamplerTest, WeightsAddUpToTheNumberOfPolls) {
  // Whatever the lengths, as each block has one sample that counts for all of it.
  for (const uint64_t seed : {1, 2, 3}) {
    PollSampler sampler(seed);
    Random random(seed);
    uint64_t sum = 0;
    for (uint64_t polls = 1; polls <= 200'000; ++polls) {
      const int64_t length = int64_t{1} << random.Below(13);
      sum += WeightOf(sampler, length);
      ASSERT_LE(sum, polls + kMaxBlock);
      ASSERT_GE(sum + kMaxBlock, polls);
    }
  }
}

// A poll's chance does not depend on where it stands in a pattern: of polls that
// repeat after `period`, each one gets its share of the weights.
TEST(PollSamplerTest, NoPatternIsPreferred) {
  for (const size_t period : {2u, 3u, 16u, 64u, 256u}) {
    PollSampler sampler(7);
    std::vector<double> shares(period);
    constexpr size_t kPolls = size_t{1} << 22;
    for (size_t i = 0; i < kPolls; ++i) {
      shares[i % period] += static_cast<double>(WeightOf(sampler, 20));
    }
    // The number of samples of each is binomial: within five deviations, less the
    // short blocks at first.
    const double mean =
        static_cast<double>(kPolls) / static_cast<double>(period);
    const double samples = mean / static_cast<double>(kMaxBlock);
    for (const double share : shares) {
      const double off = (share - mean) / static_cast<double>(kMaxBlock);
      EXPECT_LE(off * off, 25 * samples) << "period " << period;
    }
  }
}

// Polls of two lengths in turn: both the counts and the sum of times come out right.
TEST(PollSamplerTest, TimesOfMixedPollsAreUnbiased) {
  PollSampler sampler(11);
  Random random(12);
  double estimate = 0;
  double truth = 0;

  for (int i = 0; i < 2'000'000; ++i) {
    const int64_t length = random.Below(10) == 0 ? 3000 : 30;
    truth += static_cast<double>(length);
    estimate += static_cast<double>(WeightOf(sampler, length)) *
                static_cast<double>(length);
  }

  EXPECT_NEAR(estimate / truth, 1, 0.02);
}

}  // namespace
}  // namespace weft::executor_internal
