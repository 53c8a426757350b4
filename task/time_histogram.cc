// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Algorithm. A time's bucket is the number of its bits, so adding is two
// additions to words of their own. Orders are relaxed throughout: these are
// numbers for people, and nothing else depends on them.
#include "weft/task/time_histogram.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>

#include "absl/time/time.h"

namespace weft {

size_t TimeHistogram::BucketOf(int64_t nanoseconds) {
  const auto bits =
      static_cast<size_t>(std::bit_width(static_cast<uint64_t>(nanoseconds)));
  return std::min(bits, kBuckets - 1);
}

absl::Duration TimeHistogram::UpperBound(size_t bucket) {
  if (bucket + 1 >= kBuckets) return absl::InfiniteDuration();
  return absl::Nanoseconds((int64_t{1} << bucket) - 1);
}

uint64_t TimeHistogram::count() const {
  return std::accumulate(buckets_.begin(), buckets_.end(), uint64_t{0});
}

absl::Duration TimeHistogram::Mean() const {
  const uint64_t n = count();
  return n == 0 ? absl::ZeroDuration() : total() / static_cast<double>(n);
}

absl::Duration TimeHistogram::Quantile(double q) const {
  const uint64_t n = count();
  if (n == 0) return absl::ZeroDuration();
  const double wanted = std::ceil(std::clamp(q, 0.0, 1.0) * n);
  uint64_t below = 0;
  for (size_t i = 0; i < kBuckets; ++i) {
    below += buckets_[i];
    if (below != 0 && static_cast<double>(below) >= wanted) {
      return UpperBound(i);
    }
  }
  return absl::InfiniteDuration();
}

void TimeHistogram::Subtract(const TimeHistogram& earlier) {
  for (size_t i = 0; i < kBuckets; ++i) buckets_[i] -= earlier.buckets_[i];
  total_nanoseconds_ -= earlier.total_nanoseconds_;
}

namespace task_internal {

void TimeRecorder::Add(int64_t nanoseconds) {
  // Relaxed, both: see above.
  buckets_[TimeHistogram::BucketOf(nanoseconds)].fetch_add(
      1, std::memory_order_relaxed);
  total_.fetch_add(nanoseconds, std::memory_order_relaxed);
}

TimeHistogram TimeRecorder::Read() const {
  std::array<uint64_t, TimeHistogram::kBuckets> buckets;
  for (size_t i = 0; i < buckets.size(); ++i) {
    buckets[i] = buckets_[i].load(std::memory_order_relaxed);  // relaxed: above
  }
  // Relaxed: see above.
  return TimeHistogram(buckets, total_.load(std::memory_order_relaxed));
}

}  // namespace task_internal
}  // namespace weft
