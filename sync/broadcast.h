// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Broadcast: each message to every receiver.
//
//   auto [sender, receiver] = sync::Broadcast<Event>(64);
//   Spawn(Log(receiver)).Detach();   // a copy is one more receiver
//   sender.TrySend(Event{...}).IgnoreError();
//
//   Task<> Log(sync::BroadcastReceiver<Event> receiver) {
//     for (;;) {
//       auto event = co_await receiver.Receive();
//       if (event.ok()) Print(**event);
//       else if (absl::IsDataLoss(event.status())) Print(receiver.lag(), " lost");
//       else co_return;              // closed
//     }
//   }
//
// Up to `capacity` messages are kept until all receivers have read them. What then
// happens the options say: the oldest is dropped, and whoever has not read it lags,
// or senders wait. A receiver gets what is sent while it exists, in order.
//
// A message is read as a std::shared_ptr<const T>, one object for all receivers:
// nothing is copied, and no code of T's runs under a lock.
//
// What happened before a message was sent happens before it is received.
//
// Thread safety, lifetime, dropping: sync/broadcast_sender.h,
// sync/broadcast_receiver.h. The ring is allocated at once, 24 bytes a message; each
// message is an allocation of its own.
#ifndef WEFT_SYNC_BROADCAST_H_
#define WEFT_SYNC_BROADCAST_H_

#include <cstddef>
#include <memory>
#include <utility>

#include "weft/sync/broadcast_core.h"
#include "weft/sync/broadcast_options.h"
#include "weft/sync/broadcast_receiver.h"
#include "weft/sync/broadcast_sender.h"

namespace weft::sync {

// Requires: 0 < capacity <= 2^32.
template <class T>
std::pair<BroadcastSender<T>, BroadcastReceiver<T>> Broadcast(
    size_t capacity, const BroadcastOptions& options) {
  using Core = sync_internal::BroadcastCore;
  auto core = std::make_shared<Core>(capacity, options);
  return {BroadcastSender<T>(core),
          BroadcastReceiver<T>({core, Core::Position()})};
}
template <class T>
std::pair<BroadcastSender<T>, BroadcastReceiver<T>> Broadcast(size_t capacity) {
  return Broadcast<T>(capacity, BroadcastOptions());
}

}  // namespace weft::sync

#endif  // WEFT_SYNC_BROADCAST_H_
