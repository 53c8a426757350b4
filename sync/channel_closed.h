// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// ChannelClosedFuture: what the Closed() of a channel's sender returns.
//
// Thread safety: one thread at a time.
// Lifetime: the sender that made it outlives it.
// Dropping: loses nothing.
#ifndef WEFT_SYNC_CHANNEL_CLOSED_H_
#define WEFT_SYNC_CHANNEL_CLOSED_H_

#include "weft/sync/channel_waits.h"
#include "weft/task/context.h"
#include "weft/task/polled.h"

namespace weft::sync {

// Ready when nobody will receive any more. `State` is what the ends share.
template <class State>
class [[nodiscard]] ChannelClosedFuture {
 public:
  using Output = void;

  explicit ChannelClosedFuture(State* state) : state_(state) {}
  ChannelClosedFuture(ChannelClosedFuture&&) = default;
  ChannelClosedFuture& operator=(ChannelClosedFuture&&) = delete;
  ~ChannelClosedFuture() {
    if (wait_.polled) state_->DropCloser(wait_);
  }

  Polled<void> Poll(Context& cx) {
    if (!cx.HasBudget()) return kPending;
    if (state_->SleepUntilClosed(wait_, cx)) return kPending;
    state_->DropCloser(wait_);
    cx.Charge();
    return Unit();
  }

 private:
  State* state_;
  sync_internal::ChannelNode wait_;
};

}  // namespace weft::sync

#endif  // WEFT_SYNC_CHANNEL_CLOSED_H_
