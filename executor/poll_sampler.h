// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// PollSampler: which polls are timed, so that timing them costs little. Internal.
//
// Polls are counted off in blocks of 2^k; one of each block, at random, is timed,
// and stands for all of them. So each poll is timed with a chance of 1 in 2^k,
// whatever pattern the polls have, and what is timed, weighted by 2^k, is right on
// average. The position is drawn when the block before it ends, so that polls are
// counted down to it, and nothing else happens at those in between.
//
// k follows the mean length of what has been timed: a block lasts for about
// kBlockNanoseconds, so that three looks at the clock of 20 ns each cost some 0.7 %,
// but has at most 512 polls. Where polls take longer than that each one is timed.
//
// Thread safety: one thread at a time.
#ifndef WEFT_EXECUTOR_POLL_SAMPLER_H_
#define WEFT_EXECUTOR_POLL_SAMPLER_H_

#include <algorithm>
#include <cstdint>

#include "weft/task/random.h"

namespace weft::executor_internal {

class PollSampler {
 public:
  static constexpr int kMaxShift = 9;
  static constexpr int64_t kBlockNanoseconds = 8192;
  static constexpr int kSkip = -1;

  explicit constexpr PollSampler(uint64_t seed) : random_(seed) {}

  // A poll is coming: kSkip, or the k of its block if it is to be timed.
  int Next() {
    if (--left_ != 0) return kSkip;
    const int shift = shift_;
    StartBlock();
    return shift;
  }

  // A poll that was timed has taken so long.
  void Measured(int64_t nanoseconds) {
    // An eighth of it, since one may be far from the others.
    mean_ +=
        (std::min(std::max<int64_t>(nanoseconds, 1), kLongest) - mean_) / 8;
  }

 private:
  // What counts as no longer than this: one long poll does not make the next
  // hundred short ones be timed.
  static constexpr int64_t kLongest = 2 * kBlockNanoseconds;

  // `left_` and `rest_` go from the poll that was drawn to the one of the next block.
  [[gnu::noinline]] void StartBlock() {
    shift_ = 0;
    while (shift_ < kMaxShift && (mean_ << shift_) < kBlockNanoseconds) {
      ++shift_;
    }
    const uint32_t size = uint32_t{1} << shift_;
    const uint32_t position = random_.Below(size);
    left_ = rest_ + position + 1;
    rest_ = size - 1 - position;
  }

  uint32_t left_ = 1;  // until the poll that is to be timed, with it
  uint32_t rest_ = 0;  // of its block, behind it
  int shift_ = 0;      // the k of its block
  int64_t mean_ = kBlockNanoseconds;
  Random random_;
};

}  // namespace weft::executor_internal

#endif  // WEFT_EXECUTOR_POLL_SAMPLER_H_
