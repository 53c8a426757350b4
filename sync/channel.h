// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Channel: values from any number of senders, each to one of any number of
// receivers, in the order in which they were sent.
//
//   auto [sender, receiver] = sync::Channel<Job>(64);
//   Spawn(Produce(std::move(sender))).Detach();
//   while (std::optional<Job> job = co_await Next(receiver)) Do(*job);
//
//   Channel<T>(n)          holds up to n values; who sends more waits: backpressure
//   Channel<T>(0)          holds none: a sender waits until its value is received
//   UnboundedChannel<T>()  holds as many as memory does; sending never waits
//
// Ends are handles: a copy is one more sender or receiver. A channel closes when
// all senders, or all receivers, are gone, or by Close(); what was sent before can
// still be received, unless the receivers are gone: then it is destroyed.
//
// Tasks and threads may be at either end: Send is a future, BlockingSend waits on
// the thread, TrySend does not wait; and so for Receive.
//
// What happened before a value was sent happens before it is received. No code of
// T's runs under a lock; T is moved without throwing.
//
// Thread safety, lifetime, dropping: sync/channel_sender.h, sync/channel_receiver.h.
// A value sent lies in the channel's memory: bounded channels allocate for all their
// places at once, unbounded ones in blocks of 31.
#ifndef WEFT_SYNC_CHANNEL_H_
#define WEFT_SYNC_CHANNEL_H_

#include <cstddef>
#include <utility>

#include "weft/sync/channel_receiver.h"
#include "weft/sync/channel_sender.h"
#include "weft/sync/channel_state.h"
#include "weft/task/check.h"

namespace weft::sync_internal {

struct ChannelAccess {
  template <class T>
  static std::pair<sync::Sender<T>, sync::Receiver<T>> Make(size_t capacity) {
    auto* state = new ChannelState<T>(capacity);
    return {sync::Sender<T>(state), sync::Receiver<T>(state)};
  }
};

}  // namespace weft::sync_internal

namespace weft::sync {

// Requires: capacity <= 2^40.
template <class T>
std::pair<Sender<T>, Receiver<T>> Channel(size_t capacity) {
  WEFT_CHECK(capacity <= (size_t{1} << 40),
             "a Channel has a capacity of up to 2^40; without a limit it is an "
             "UnboundedChannel");
  return sync_internal::ChannelAccess::Make<T>(capacity);
}

template <class T>
std::pair<Sender<T>, Receiver<T>> UnboundedChannel() {
  return sync_internal::ChannelAccess::Make<T>(Sender<T>::kUnbounded);
}

}  // namespace weft::sync

#endif  // WEFT_SYNC_CHANNEL_H_
