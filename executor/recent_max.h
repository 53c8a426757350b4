// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// RecentMax: the largest of the last 64 durations, or of up to twice as many.
// Internal.
//
// Thread safety: one thread at a time.
#ifndef WEFT_EXECUTOR_RECENT_MAX_H_
#define WEFT_EXECUTOR_RECENT_MAX_H_

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/time/time.h"

namespace weft::executor_internal {

class RecentMax {
 public:
  void Add(absl::Duration value) {
    if (count_++ % 64 == 0) {
      previous_ = std::exchange(current_, absl::ZeroDuration());
    }
    current_ = std::max(current_, value);
  }
  absl::Duration Get() const { return std::max(previous_, current_); }

 private:
  absl::Duration previous_;  // of the 64 before
  absl::Duration current_;
  uint64_t count_ = 0;
};

}  // namespace weft::executor_internal

#endif  // WEFT_EXECUTOR_RECENT_MAX_H_
