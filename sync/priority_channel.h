// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// PriorityChannel: values from any number of senders, each to one of any number of
// receivers, those of the greatest priority first.
//
//   auto [sender, receiver] = sync::PriorityChannel<Job>(64);
//   auto sent = co_await sender.Send(Cleanup(), /*priority=*/-1);
//   if (sent.ok()) sent = co_await sender.Send(Request(), /*priority=*/5);
//   while (std::optional<Job> job = co_await Next(receiver)) Do(*job);
//
//   PriorityChannel<T, Priority>(n)        holds up to n values; who sends more waits
//   UnboundedPriorityChannel<T, Priority>  holds as many as memory does
//
// Each Send says the value's priority, an integer or an enum; of two values of equal
// priority the one that was sent first is received first. (For the least first, send
// the negative: a queue of deadlines has `-deadline`.) It is a number so that values
// can be compared while the channel is locked: a comparator, being the user's code,
// might use the channel, and wait for itself. No code of T's runs under the lock
// either; T is moved without throwing.
//
// Full, a channel makes those who Send wait, and wakes them in turn, whatever their
// priorities; ForceSend() instead puts out the value that would come last.
//
// The rest is as for a Channel (sync/channel.h): counted ends, how it closes, tasks
// and threads at either end, and that what happened before a value was sent happens
// before it is received. Each value costs an allocation, and O(log n) comparisons in
// and out under a lock.
//
// Thread safety, lifetime, dropping: sync/priority_sender.h,
// sync/priority_receiver.h.
#ifndef WEFT_SYNC_PRIORITY_CHANNEL_H_
#define WEFT_SYNC_PRIORITY_CHANNEL_H_

#include <cstddef>
#include <utility>

#include "weft/sync/priority_core.h"
#include "weft/sync/priority_receiver.h"
#include "weft/sync/priority_sender.h"
#include "weft/task/check.h"

namespace weft::sync_internal {

struct PriorityAccess {
  template <class T, class Priority>
  static auto Make(size_t capacity) {
    auto* core = new PriorityCore(capacity);
    return std::pair(sync::PrioritySender<T, Priority>(core),
                     sync::PriorityReceiver<T>(core));
  }
};

}  // namespace weft::sync_internal

namespace weft::sync {

// Requires: capacity > 0.
template <class T, class Priority = int>
std::pair<PrioritySender<T, Priority>, PriorityReceiver<T>> PriorityChannel(
    size_t capacity) {
  WEFT_CHECK(
      capacity > 0,
      "a PriorityChannel needs room for values to wait in: one that goes "
      "from hand to hand is a Channel(0)");
  return sync_internal::PriorityAccess::Make<T, Priority>(capacity);
}

template <class T, class Priority = int>
std::pair<PrioritySender<T, Priority>, PriorityReceiver<T>>
UnboundedPriorityChannel() {
  return sync_internal::PriorityAccess::Make<T, Priority>(
      sync_internal::PriorityCore::kUnbounded);
}

}  // namespace weft::sync

#endif  // WEFT_SYNC_PRIORITY_CHANNEL_H_
