// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/task/instant.h"

#include <time.h>

#include <cstdint>
#include <limits>

#include "absl/time/time.h"

namespace weft {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

}  // namespace

Instant Instant::Now() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return Instant(int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec);
}

int64_t Instant::ToNanoseconds(absl::Duration d) {
  // absl::Duration counts quarter nanoseconds; ToInt64Nanoseconds truncates
  // towards zero and saturates.
  int64_t nanoseconds = absl::ToInt64Nanoseconds(d);
  if (nanoseconds != kMax && absl::Nanoseconds(nanoseconds) < d) ++nanoseconds;
  return nanoseconds;
}

Instant Instant::Plus(int64_t nanoseconds) const {
  if (*this == Infinite() || *this == Past()) return *this;
  if (nanoseconds == kMax) return Infinite();
  if (nanoseconds == kMin) return Past();
  int64_t sum;
  if (__builtin_add_overflow(nanoseconds_, nanoseconds, &sum)) {
    return nanoseconds > 0 ? Infinite() : Past();
  }
  return Instant(sum);
}

absl::Duration operator-(Instant a, Instant b) {
  if (a == b) return absl::ZeroDuration();
  if (a == Instant::Infinite() || b == Instant::Past()) {
    return absl::InfiniteDuration();
  }
  if (b == Instant::Infinite() || a == Instant::Past()) {
    return -absl::InfiniteDuration();
  }
  return absl::Nanoseconds(a.nanoseconds_) - absl::Nanoseconds(b.nanoseconds_);
}

}  // namespace weft
