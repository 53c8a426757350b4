// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/task/log_histogram.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "weft/task/metrics.h"

namespace weft {
namespace {

constexpr double kNanosecondsPerSecond = 1e9;

// Relaxed, here and below: a number for people, which orders nothing.
void AddTo(std::atomic<uint64_t>& sum, uint64_t n) {
  sum.store(sum.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
}

// In the sum nothing is longer than 13 days, or a few that are endless would make it
// wrap.
constexpr int64_t kLongest = int64_t{1} << 50;

uint64_t Weighted(int64_t ns, uint64_t weight) {
  return static_cast<uint64_t>(std::clamp<int64_t>(ns, 0, kLongest)) * weight;
}

}  // namespace

void LogHistogram::Add(int64_t ns, uint64_t weight) {
  AddTo(counts_[BucketOf(ns)], weight);
  AddTo(sum_, Weighted(ns, weight));
}

void LogHistogram::AddShared(int64_t ns, uint64_t weight) {
  // Relaxed: as above.
  counts_[BucketOf(ns)].fetch_add(weight, std::memory_order_relaxed);
  sum_.fetch_add(Weighted(ns, weight), std::memory_order_relaxed);
}

HistogramSnapshot LogHistogram::Read() const {
  HistogramSnapshot snapshot;
  snapshot.buckets.reserve(kBuckets);
  for (size_t i = 0; i < kBuckets; ++i) {
    // Relaxed, as the sum: see above.
    const double upper =
        i + 1 < kBuckets
            ? static_cast<double>(UpperBoundOf(i)) / kNanosecondsPerSecond
            : std::numeric_limits<double>::infinity();
    snapshot.buckets.push_back(
        {upper, counts_[i].load(std::memory_order_relaxed)});
  }
  snapshot.sum = static_cast<double>(sum_.load(std::memory_order_relaxed)) /
                 kNanosecondsPerSecond;
  return snapshot;
}

void LogHistogram::Reset() {
  // Relaxed: as above.
  for (std::atomic<uint64_t>& count : counts_) {
    count.store(0, std::memory_order_relaxed);
  }
  sum_.store(0, std::memory_order_relaxed);
}

}  // namespace weft
