// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/task/log_histogram.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "weft/task/metrics.h"
#include "weft/task/random.h"

namespace weft {
namespace {

constexpr int64_t kLastBound = int64_t{1} << LogHistogram::kMaxBits;

TEST(LogHistogramTest, TheFirstBucketsAreAQuarterOfAPowerOfTwoWide) {
  EXPECT_EQ(LogHistogram::kBuckets, 122u);

  EXPECT_EQ(LogHistogram::UpperBoundOf(0), 64);
  EXPECT_EQ(LogHistogram::UpperBoundOf(1), 80);
  EXPECT_EQ(LogHistogram::UpperBoundOf(2), 96);
  EXPECT_EQ(LogHistogram::UpperBoundOf(3), 112);
  EXPECT_EQ(LogHistogram::UpperBoundOf(4), 128);
  EXPECT_EQ(LogHistogram::UpperBoundOf(5), 160);
  EXPECT_EQ(LogHistogram::UpperBoundOf(LogHistogram::kBuckets - 2), kLastBound);
}

TEST(LogHistogramTest, ABoundBelongsToTheBucketBelow) {
  for (size_t i = 0; i + 1 < LogHistogram::kBuckets; ++i) {
    const int64_t bound = LogHistogram::UpperBoundOf(i);
    EXPECT_EQ(LogHistogram::BucketOf(bound - 1), i);
    EXPECT_EQ(LogHistogram::BucketOf(bound), i);
    EXPECT_EQ(LogHistogram::BucketOf(bound + 1), i + 1);
  }
}

TEST(LogHistogramTest, WhatIsOutsideGoesToTheEnds) {
  EXPECT_EQ(LogHistogram::BucketOf(0), 0u);
  EXPECT_EQ(LogHistogram::BucketOf(-1), 0u);
  EXPECT_EQ(LogHistogram::BucketOf(std::numeric_limits<int64_t>::min()), 0u);
  EXPECT_EQ(LogHistogram::BucketOf(std::numeric_limits<int64_t>::max()),
            LogHistogram::kBuckets - 1);
}

TEST(LogHistogramTest, ABoundIsAtMostAQuarterAboveWhatItStandsFor) {
  Random random(1);
  for (int i = 0; i < 10'000; ++i) {
    const auto ns =
        static_cast<int64_t>(random.Next() >> (28 + random.Below(30)));
    if (ns <= 64 || ns > kLastBound) continue;
    const int64_t bound =
        LogHistogram::UpperBoundOf(LogHistogram::BucketOf(ns));
    EXPECT_GE(bound, ns);
    EXPECT_LE(bound - ns, ns / 4 + 1);
  }
}

TEST(LogHistogramTest, WhatIsAddedIsRead) {
  LogHistogram times;
  EXPECT_EQ(times.Read().Count(), 0u);

  times.Add(100);
  times.Add(1'000'000'000, /*weight=*/3);
  times.Add(-5);
  times.AddShared(kLastBound + 1);

  const HistogramSnapshot read = times.Read();
  ASSERT_EQ(read.buckets.size(), LogHistogram::kBuckets);
  EXPECT_EQ(read.Count(), 6u);
  EXPECT_EQ(read.buckets[0].count, 1u);
  EXPECT_EQ(read.buckets[3].count, 1u);
  EXPECT_EQ(read.buckets[LogHistogram::BucketOf(1'000'000'000)].count, 3u);
  EXPECT_EQ(read.buckets.back().count, 1u);
  EXPECT_TRUE(std::isinf(read.buckets.back().upper));
  EXPECT_DOUBLE_EQ(read.buckets[3].upper, 112e-9);
  EXPECT_DOUBLE_EQ(
      read.sum,
      static_cast<double>(100 + 3'000'000'000 + kLastBound + 1) / 1e9);
}

TEST(LogHistogramTest, TheMeanIsExactAndQuantilesAreBounds) {
  LogHistogram times;
  times.Add(100, /*weight=*/90);
  times.Add(5'000, /*weight=*/10);

  const HistogramSnapshot read = times.Read();

  EXPECT_EQ(read.Mean(), 590e-9);
  EXPECT_EQ(read.Quantile(0), 112e-9);
  EXPECT_EQ(read.Quantile(0.9), 112e-9);
  EXPECT_EQ(read.Quantile(0.91), 5120e-9);
  EXPECT_EQ(read.Quantile(1), 5120e-9);
}

TEST(LogHistogramTest, CoarseBoundsArePowersOfTwo) {
  LogHistogram times;
  times.Add(65);
  times.Add(128);
  times.Add(129);

  const HistogramSnapshot coarse =
      times.Read().Coarsened(LogHistogram::kPerPowerOfTwo);

  ASSERT_EQ(coarse.buckets.size(), 32u);
  EXPECT_DOUBLE_EQ(coarse.buckets[1].upper, 128e-9);
  EXPECT_EQ(coarse.buckets[1].count, 2u);
  EXPECT_EQ(coarse.buckets[2].count, 1u);
  EXPECT_EQ(coarse.Count(), 3u);
  EXPECT_DOUBLE_EQ(coarse.buckets[30].upper, 68.719476736);
  EXPECT_TRUE(std::isinf(coarse.buckets[31].upper));
}

TEST(LogHistogramTest, EndlessDurationsDoNotMakeTheSumFall) {
  LogHistogram histogram;
  double last = 0;
  for (int i = 0; i < 1000; ++i) {
    histogram.Add(std::numeric_limits<int64_t>::max());
    histogram.AddShared(std::numeric_limits<int64_t>::max());
    const double sum = histogram.Read().sum;
    EXPECT_GT(sum, last);
    last = sum;
  }
}

TEST(LogHistogramTest, ResetForgetsAll) {
  LogHistogram times;
  times.Add(100);

  times.Reset();

  EXPECT_EQ(times.Read().Count(), 0u);
  EXPECT_EQ(times.Read().sum, 0);
}

TEST(LogHistogramTest, ThreadsMayAddAtOnce) {
  constexpr int kThreads = 4;
  constexpr int kTimes = 1000;
  const auto times = std::make_unique<LogHistogram>();
  std::vector<std::thread> threads;

  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&times] {
      for (int64_t ns = 0; ns < kTimes; ++ns) times->AddShared(ns, 2);
    });
  }
  uint64_t last = 0;
  while (last < 2u * kThreads * kTimes) {
    const uint64_t count = times->Read().Count();
    EXPECT_GE(count, last);
    last = count;
    std::this_thread::yield();
  }
  for (std::thread& thread : threads) thread.join();

  const HistogramSnapshot read = times->Read();
  EXPECT_EQ(read.Count(), 2u * kThreads * kTimes);
  EXPECT_DOUBLE_EQ(read.sum, kThreads * kTimes * (kTimes - 1) * 1e-9);
}

}  // namespace
}  // namespace weft
