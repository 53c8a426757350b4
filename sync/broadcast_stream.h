// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// BroadcastStream: the messages of a broadcast, as a stream.
//
//   sync::BroadcastStream<Event> events(std::move(receiver));
//   while (auto event = co_await Next(events)) {
//     if (event->ok()) Print(***event);
//   }
//
// Items are what BroadcastReceiver::Receive() gives, lags included; the stream ends
// where the broadcast does.
//
// Thread safety: one thread at a time. Movable until it is polled.
// Dropping: of the next item, no effect; of the stream, drops its receiver.
#ifndef WEFT_SYNC_BROADCAST_STREAM_H_
#define WEFT_SYNC_BROADCAST_STREAM_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "weft/sync/broadcast_core.h"
#include "weft/sync/broadcast_cursor.h"
#include "weft/sync/broadcast_receiver.h"
#include "weft/sync/wait_queue.h"
#include "weft/task/context.h"
#include "weft/task/polled.h"

namespace weft::sync {

template <class T>
class BroadcastStream {
  using Core = sync_internal::BroadcastCore;

 public:
  using Item = absl::StatusOr<std::shared_ptr<const T>>;

  explicit BroadcastStream(BroadcastReceiver<T> receiver)
      : cursor_(std::move(receiver.cursor_)) {}
  BroadcastStream(BroadcastStream&&) = default;
  BroadcastStream& operator=(BroadcastStream&&) = delete;
  ~BroadcastStream() {
    if (node_.polled) cursor_.core().DropTake(node_);
  }

  Polled<std::optional<Item>> PollNext(Context& cx) {
    Core::Message message;
    const Core::Taken taken =
        cursor_.core().PollTake(node_, cursor_.position(), &message, cx);
    if (taken == Core::Taken::kNothing) return kPending;
    if (taken == Core::Taken::kClosed) return std::optional<Item>();
    return std::optional<Item>(
        BroadcastReceiveFuture<T>::ToOutput(taken, std::move(message)));
  }
  // How many messages the last DataLoss stands for.
  uint64_t lag() const { return cursor_.position().lag; }

 private:
  sync_internal::BroadcastCursor cursor_;
  sync_internal::WaitNode node_;
};

}  // namespace weft::sync

#endif  // WEFT_SYNC_BROADCAST_STREAM_H_
