// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// What the receivers of all channels do in the same way. Internal.
//
// Thread safety: one thread at a time.
#ifndef WEFT_SYNC_POLL_POP_H_
#define WEFT_SYNC_POLL_POP_H_

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "weft/sync/channel_waits.h"
#include "weft/sync/queue_step.h"
#include "weft/task/context.h"
#include "weft/task/polled.h"

namespace weft::sync_internal {

// One poll of whoever waits at `node` until pop(), which is a QueueResult, is kDone
// or kClosed. Pending is kNotNow. `state` is what the ends of a channel share.
template <class State, class Pop>
QueueResult PollPop(State& state, ChannelNode& node, Context& cx, Pop pop) {
  if (!cx.HasBudget()) return QueueResult::kNotNow;
  for (;;) {
    const QueueResult result = pop();
    switch (result) {
      case QueueResult::kDone:
      case QueueResult::kClosed:
        state.FinishReceiver(node);
        cx.Charge();
        return result;
      case QueueResult::kBusy:
        cx.waker().WakeByRef();
        return QueueResult::kNotNow;
      case QueueResult::kNotNow:
        if (state.SleepAsReceiver(node, cx)) return result;
    }
  }
}

// One poll of the wait of a stream, for which nullopt is the end.
template <class T, class ReceiveFuture>
Polled<std::optional<T>> PollNextOf(ReceiveFuture& wait, Context& cx) {
  Polled<absl::StatusOr<T>> polled = wait.Poll(cx);
  if (polled.IsPending()) return kPending;
  if (!polled->ok()) return std::optional<T>();
  return std::optional<T>(*std::move(*polled));
}

// Makes room for `count` more; and not only just, for those who go on appending.
template <class T>
void MakeRoom(std::vector<T>& values, size_t count) {
  if (values.capacity() - values.size() >= count) return;
  values.reserve(std::max(values.size() + count, 2 * values.capacity()));
}

}  // namespace weft::sync_internal

#endif  // WEFT_SYNC_POLL_POP_H_
