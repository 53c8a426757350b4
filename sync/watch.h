// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Watch: one value that changes, and many who want to know when it does.
//
//   auto [sender, receiver] = sync::Watch<Config>(Config());
//   Spawn(Follow(receiver)).Detach();    // a copy is one more receiver
//   sender.Send(LoadConfig()).IgnoreError();  // if anybody watches
//
//   Task<> Follow(sync::WatchReceiver<Config> receiver) {
//     while ((co_await receiver.Changed()).ok()) {
//       Apply(*receiver.BorrowAndUpdate());
//     }
//   }
//
// Receivers see the latest value, not each one: who is slow misses those in
// between, and holds up nobody. A value is read as a std::shared_ptr<const T>,
// which stays as it is while later ones are sent, so no lock is held and no
// code of T's runs while somebody reads.
//
// What happened before a value was sent happens before it is read, or seen to be
// there.
//
// Thread safety, lifetime, dropping: sync/watch_sender.h, sync/watch_receiver.h.
#ifndef WEFT_SYNC_WATCH_H_
#define WEFT_SYNC_WATCH_H_

#include <cstdint>
#include <memory>
#include <utility>

#include "weft/sync/watch_core.h"
#include "weft/sync/watch_receiver.h"
#include "weft/sync/watch_sender.h"

namespace weft::sync {

// A watch of `initial`, which the receiver counts as seen.
template <class T>
std::pair<WatchSender<T>, WatchReceiver<T>> Watch(T initial) {
  using Core = sync_internal::WatchCore;
  auto core =
      std::make_shared<Core>(std::make_shared<const T>(std::move(initial)));
  const uint64_t version = core->version();
  return {WatchSender<T>(core), WatchReceiver<T>({core, version})};
}

}  // namespace weft::sync

#endif  // WEFT_SYNC_WATCH_H_
