// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/task/time_histogram.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <thread>
#include <vector>

#include "absl/time/time.h"
#include "gtest/gtest.h"

namespace weft {
namespace {

using task_internal::TimeRecorder;

TEST(TimeHistogramTest, IsEmptyAtFirst) {
  const TimeHistogram times = TimeRecorder().Read();
  EXPECT_EQ(times.count(), 0u);
  EXPECT_EQ(times.total(), absl::ZeroDuration());
  EXPECT_EQ(times.Mean(), absl::ZeroDuration());
  EXPECT_EQ(times.Quantile(0.5), absl::ZeroDuration());
  EXPECT_EQ(times, TimeHistogram());
}

TEST(TimeHistogramTest, ABucketEndsWhereTheNextBegins) {
  EXPECT_EQ(TimeHistogram::BucketOf(0), 0u);
  for (size_t i = 1; i + 1 < TimeHistogram::kBuckets; ++i) {
    const int64_t first = int64_t{1} << (i - 1);
    EXPECT_EQ(TimeHistogram::BucketOf(first), i);
    EXPECT_EQ(TimeHistogram::BucketOf(2 * first - 1), i);
    EXPECT_EQ(TimeHistogram::UpperBound(i), absl::Nanoseconds(2 * first - 1));
  }
  constexpr size_t kLast = TimeHistogram::kBuckets - 1;
  EXPECT_EQ(TimeHistogram::BucketOf(std::numeric_limits<int64_t>::max()),
            kLast);
  EXPECT_EQ(TimeHistogram::UpperBound(kLast), absl::InfiniteDuration());
}

TEST(TimeHistogramTest, MeanIsExactAndQuantilesAreUpperBounds) {
  TimeRecorder recorder;
  for (int i = 0; i < 90; ++i) recorder.Add(100);
  for (int i = 0; i < 10; ++i) recorder.Add(5'000);
  const TimeHistogram times = recorder.Read();
  EXPECT_EQ(times.count(), 100u);
  EXPECT_EQ(times.count(TimeHistogram::BucketOf(100)), 90u);
  EXPECT_EQ(times.total(), absl::Nanoseconds(59'000));
  EXPECT_EQ(times.Mean(), absl::Nanoseconds(590));
  EXPECT_EQ(times.Quantile(0), absl::Nanoseconds(127));
  EXPECT_EQ(times.Quantile(0.9), absl::Nanoseconds(127));
  EXPECT_EQ(times.Quantile(0.91), absl::Nanoseconds(8191));
  EXPECT_EQ(times.Quantile(1), absl::Nanoseconds(8191));
}

TEST(TimeHistogramTest, ADifferenceIsWhatCameSince) {
  TimeRecorder recorder;
  recorder.Add(100);
  const TimeHistogram earlier = recorder.Read();
  recorder.Add(7);
  TimeRecorder alone;
  alone.Add(7);
  EXPECT_EQ(recorder.Read() - earlier, alone.Read());
  EXPECT_EQ(earlier - earlier, TimeHistogram());
}

TEST(TimeHistogramTest, ThreadsAddWithoutLoss) {
  constexpr int kThreads = 4;
  constexpr int kTimes = 10'000;
  TimeRecorder recorder;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&recorder] {
      for (int j = 0; j < kTimes; ++j) recorder.Add(3);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(recorder.Read().count(), uint64_t{kThreads * kTimes});
  EXPECT_EQ(recorder.Read().total(), absl::Nanoseconds(3 * kThreads * kTimes));
}

}  // namespace
}  // namespace weft
