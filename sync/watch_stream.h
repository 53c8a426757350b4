// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// WatchStream: the values of a watch, as a stream.
//
//   sync::WatchStream<Config> configs(receiver);
//   while (auto config = co_await Next(configs)) Apply(**config);
//
// The first item is the value there is; each later one is the latest, if that is
// another. The stream ends when all senders are gone.
//
// Thread safety: one thread at a time. Movable until it is polled.
// Dropping: of the next item, no effect; of the stream, drops its receiver.
#ifndef WEFT_SYNC_WATCH_STREAM_H_
#define WEFT_SYNC_WATCH_STREAM_H_

#include <memory>
#include <optional>
#include <utility>

#include "weft/sync/wait_queue.h"
#include "weft/sync/watch_core.h"
#include "weft/sync/watch_receiver.h"
#include "weft/task/context.h"
#include "weft/task/polled.h"

namespace weft::sync {

template <class T>
class WatchStream {
 public:
  using Item = std::shared_ptr<const T>;

  explicit WatchStream(WatchReceiver<T> receiver)
      : cursor_(std::move(receiver.cursor_)) {
    cursor_.set_seen(sync_internal::WatchCore::kNoVersion);
  }
  WatchStream(WatchStream&&) = default;
  WatchStream& operator=(WatchStream&&) = delete;
  ~WatchStream() {
    if (node_.polled) cursor_.core().DropChangeWait(node_);
  }

  Polled<std::optional<Item>> PollNext(Context& cx) {
    if (!cursor_.core().PollChange(node_, cursor_.seen(), cx)) return kPending;
    auto value = std::static_pointer_cast<const T>(cursor_.TakeLatest());
    if (value == nullptr) return std::optional<Item>();
    return std::optional<Item>(std::move(value));
  }

 private:
  sync_internal::WatchCursor cursor_;
  sync_internal::WaitNode node_;
};

}  // namespace weft::sync

#endif  // WEFT_SYNC_WATCH_STREAM_H_
