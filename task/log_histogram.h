// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// LogHistogram: how many durations were about how long.
//
// Buckets are log-linear: each power of two of nanoseconds is cut into four equal
// parts, so a bound is at most a fourth above the values that it stands for,
// whatever their size. The first bucket ends at 64 ns, the last but one at 2^36 ns
// (69 s), and the last one has the rest; 122 in all, a kilobyte. (The scheme is that
// of HdrHistogram by Gil Tene, http://hdrhistogram.org.) A bound belongs to the
// bucket below it, as Prometheus wants it.
//
//   LogHistogram times;
//   times.Add(1500);                        // ns
//   double p99 = times.Read().Quantile(0.99);  // s
//
// Thread safety: Add() and Reset() by one thread at a time, without a locked
// instruction; AddShared() from any thread, but not beside Add(); Read() from any.
#ifndef WEFT_TASK_LOG_HISTOGRAM_H_
#define WEFT_TASK_LOG_HISTOGRAM_H_

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "weft/task/metrics.h"

namespace weft {

class LogHistogram {
 public:
  static constexpr int kSubBits = 2;
  static constexpr size_t kPerPowerOfTwo = size_t{1} << kSubBits;
  static constexpr int kMinBits = 6;
  static constexpr int kMaxBits = 36;
  static constexpr size_t kBuckets = (kMaxBits - kMinBits) * kPerPowerOfTwo + 2;

  // Where a duration belongs; one below zero counts as zero.
  static constexpr size_t BucketOf(int64_t ns) {
    if (ns <= int64_t{1} << kMinBits) return 0;
    if (ns > int64_t{1} << kMaxBits) return kBuckets - 1;
    const auto below = static_cast<uint64_t>(ns - 1);
    const int power = std::bit_width(below) - 1;
    const auto part =
        static_cast<size_t>(below >> (power - kSubBits)) & (kPerPowerOfTwo - 1);
    return static_cast<size_t>(power - kMinBits) * kPerPowerOfTwo + part + 1;
  }
  // The longest duration, in nanoseconds, of a bucket that is not the last.
  static constexpr int64_t UpperBoundOf(size_t bucket) {
    const size_t power = bucket / kPerPowerOfTwo;
    const size_t part = bucket % kPerPowerOfTwo;
    const int64_t unit = int64_t{1} << (kMinBits - kSubBits + power);
    return unit * static_cast<int64_t>(kPerPowerOfTwo + part);
  }

  // Counts a duration as `weight` of them; one of more than 13 days, for the sum, as
  // of that length.
  void Add(int64_t ns, uint64_t weight = 1);
  void AddShared(int64_t ns, uint64_t weight = 1);

  // In seconds. What is added meanwhile is in it or not.
  HistogramSnapshot Read() const;
  void Reset();

 private:
  std::array<std::atomic<uint64_t>, kBuckets> counts_{};
  std::atomic<uint64_t> sum_{0};  // nanoseconds
};

}  // namespace weft

#endif  // WEFT_TASK_LOG_HISTOGRAM_H_
