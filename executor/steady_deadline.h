// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// SteadyDeadline: a deadline as condition variables take it. Internal.
//
// Thread safety: any thread.
#ifndef WEFT_EXECUTOR_STEADY_DEADLINE_H_
#define WEFT_EXECUTOR_STEADY_DEADLINE_H_

#include <algorithm>
#include <chrono>

#include "absl/time/time.h"
#include "weft/task/instant.h"

namespace weft::executor_internal {

// steady_clock is the real clock of Instant in libstdc++; a year stands for ever,
// and now for what is past.
inline std::chrono::steady_clock::time_point SteadyDeadline(Instant deadline) {
  const Instant now = Instant::Now();
  deadline = std::clamp(deadline, now, now + absl::Hours(24 * 365));
  return std::chrono::steady_clock::time_point(
      std::chrono::nanoseconds(deadline.nanoseconds()));
}

}  // namespace weft::executor_internal

#endif  // WEFT_EXECUTOR_STEADY_DEADLINE_H_
