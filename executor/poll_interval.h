// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// PollInterval: after how many polls a runner looks at the injector although it
// has work of its own. Internal to the executor.
//
// What comes from outside should wait for about kTarget, however long the
// polls of this runner take: interval = kTarget / mean poll, where the mean is a
// moving average over batches of polls. (After Tokio's, whose target is 200 us and
// whose least interval is 2; but a look costs a load here, there a lock.)
//
// Thread safety: none.
#ifndef WEFT_EXECUTOR_POLL_INTERVAL_H_
#define WEFT_EXECUTOR_POLL_INTERVAL_H_

#include <algorithm>
#include <cstdint>

namespace weft::executor_internal {

class PollInterval {
 public:
  static constexpr int32_t kMin = 1;
  static constexpr int32_t kMax = 127;
  static constexpr int32_t kInitial = 61;
  static constexpr int64_t kTargetNanoseconds = 5'000;

  int32_t polls() const { return polls_; }

  // `polls` polls in a row have taken `nanoseconds`.
  void Measured(int32_t polls, int64_t nanoseconds) {
    if (polls <= 0 || nanoseconds < 0) return;
    const double mean = static_cast<double>(nanoseconds) / polls;
    // One poll moves the average by a tenth, a batch by as much as its polls
    // one after the other.
    double weight = 1;
    for (int32_t i = 0; i < polls; ++i) weight *= 0.9;
    mean_ = mean + (mean_ - mean) * weight;
    const double ideal = std::clamp(
        static_cast<double>(kTargetNanoseconds) / std::max(mean_, 1.0),
        static_cast<double>(kMin), static_cast<double>(kMax));
    polls_ = static_cast<int32_t>(ideal);
  }

 private:
  double mean_ = static_cast<double>(kTargetNanoseconds) / kInitial;
  int32_t polls_ = kInitial;
};

}  // namespace weft::executor_internal

#endif  // WEFT_EXECUTOR_POLL_INTERVAL_H_
