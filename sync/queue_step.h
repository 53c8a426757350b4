// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// What an operation of a channel's queue came to. Internal.
#ifndef WEFT_SYNC_QUEUE_STEP_H_
#define WEFT_SYNC_QUEUE_STEP_H_

#include <cstdint>

namespace weft::sync_internal {

enum class QueueResult : uint8_t {
  kDone,
  kNotNow,  // full, or empty
  kBusy,    // another thread is about to make it possible
  kClosed,  // and empty, for a receiver
};

struct QueueStep {
  QueueResult result;
  // Somebody sleeps on the other side and has to be woken.
  bool wake = false;
};

}  // namespace weft::sync_internal

#endif  // WEFT_SYNC_QUEUE_STEP_H_
