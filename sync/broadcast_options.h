// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// BroadcastOptions: what a broadcast does where a sender is faster than a
// receiver. sync/broadcast.h is the broadcast.
//
// Thread safety: as an int.
#ifndef WEFT_SYNC_BROADCAST_OPTIONS_H_
#define WEFT_SYNC_BROADCAST_OPTIONS_H_

namespace weft::sync {

struct BroadcastOptions {
  enum class Overflow {
    // The oldest message makes room. A receiver that has not read it lags, and
    // is told so.
    kDropOldest,
    // Senders wait for the slowest receiver; TrySend() refuses. Nobody lags.
    kWait,
  };
  Overflow overflow = Overflow::kDropOldest;

  // What is sent while all receivers are inactive waits for one that is active;
  // else nobody gets it.
  bool await_active = false;
};

}  // namespace weft::sync

#endif  // WEFT_SYNC_BROADCAST_OPTIONS_H_
