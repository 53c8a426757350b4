// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// AcceptBackoff: when a listener that ran out of descriptors tries again.
// Internal.
//
// A listener without a free descriptor stays readable, so accepting would fail
// again and again without a pause. After a failure the next attempt waits:
// 10 ms, then twice as long each time, at most 1 s. The first success ends
// that.
//
// Thread safety: all methods from any thread. What they say is a hint for a
// pause; two tasks that change it at the same time may lengthen or shorten one.
// That is why every order is relaxed.
#ifndef WEFT_NET_ACCEPT_BACKOFF_H_
#define WEFT_NET_ACCEPT_BACKOFF_H_

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "weft/task/instant.h"

namespace weft::net_internal {

class AcceptBackoff {
 public:
  static constexpr int64_t kFirstDelay = 10'000'000;  // nanoseconds
  static constexpr int64_t kLongestDelay = 1'000'000'000;

  // True if there must be no attempt before retry_at(). Relaxed: see above.
  bool IsActive() const { return delay_.load(std::memory_order_relaxed) != 0; }
  Instant retry_at() const {
    // Relaxed: see above.
    return Instant::FromNanoseconds(retry_at_.load(std::memory_order_relaxed));
  }

  // An attempt at `now` found no descriptor or no memory.
  void OnShortage(Instant now) {
    // Relaxed, all three: see above.
    const int64_t last = delay_.load(std::memory_order_relaxed);
    const int64_t delay =
        last == 0 ? kFirstDelay : std::min(2 * last, kLongestDelay);
    retry_at_.store(now.nanoseconds() + delay, std::memory_order_relaxed);
    delay_.store(delay, std::memory_order_relaxed);
  }

  // An attempt succeeded. Relaxed: see above.
  void OnAccepted() {
    if (IsActive()) delay_.store(0, std::memory_order_relaxed);
  }

 private:
  std::atomic<int64_t> delay_{0};  // of the present pause; 0: none
  std::atomic<int64_t> retry_at_{0};
};

}  // namespace weft::net_internal

#endif  // WEFT_NET_ACCEPT_BACKOFF_H_
