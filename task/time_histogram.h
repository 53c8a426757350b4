// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// TimeHistogram: how long something took each time it happened.
//
// A count for each power of two of nanoseconds, and the sum. So the mean is exact,
// and a quantile is known to a factor of two, from 0 ns to 18 minutes.
//
//   TimeHistogram times = recorder.Read();
//   Report(times.count(), times.Mean(), times.Quantile(0.99));
//
// TimeRecorder is the one that many threads add to.
//
// Thread safety: TimeHistogram as an int; TimeRecorder from any thread.
#ifndef WEFT_TASK_TIME_HISTOGRAM_H_
#define WEFT_TASK_TIME_HISTOGRAM_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "absl/time/time.h"

namespace weft {

class TimeHistogram {
 public:
  // Bucket 0 is for times of 0 ns, bucket i for those from 2^(i-1) to 2^i - 1 ns.
  // The last one takes longer times, too.
  static constexpr size_t kBuckets = 42;

  // The bucket of a time of `nanoseconds`, which is not negative.
  static size_t BucketOf(int64_t nanoseconds);
  // The longest time of a bucket; infinite for the last one.
  static absl::Duration UpperBound(size_t bucket);

  TimeHistogram() = default;
  TimeHistogram(const std::array<uint64_t, kBuckets>& buckets,
                int64_t total_nanoseconds)
      : buckets_(buckets), total_nanoseconds_(total_nanoseconds) {}

  // How many times were added, and how many of these fell into a bucket.
  uint64_t count() const;
  uint64_t count(size_t bucket) const { return buckets_[bucket]; }

  absl::Duration total() const { return absl::Nanoseconds(total_nanoseconds_); }
  // Zero if there is nothing.
  absl::Duration Mean() const;
  // At least the fraction `q` of the times, from 0 to 1, was at most as long as
  // this, which is the upper bound of a bucket. Zero if there is nothing.
  absl::Duration Quantile(double q) const;

  // What has come since `earlier`, a histogram of the same recorder.
  friend TimeHistogram operator-(TimeHistogram later,
                                 const TimeHistogram& earlier) {
    later.Subtract(earlier);
    return later;
  }
  friend bool operator==(const TimeHistogram&, const TimeHistogram&) = default;

 private:
  void Subtract(const TimeHistogram& earlier);

  std::array<uint64_t, kBuckets> buckets_{};
  int64_t total_nanoseconds_ = 0;
};

namespace task_internal {

class TimeRecorder {
 public:
  // Requires: `nanoseconds` is not negative.
  void Add(int64_t nanoseconds);
  // Approximate while others add.
  TimeHistogram Read() const;

 private:
  std::array<std::atomic<uint64_t>, TimeHistogram::kBuckets> buckets_{};
  std::atomic<int64_t> total_{0};  // nanoseconds
};

}  // namespace task_internal
}  // namespace weft

#endif  // WEFT_TASK_TIME_HISTOGRAM_H_
