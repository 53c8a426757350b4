// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// WatchReceiver: an end of a watch that reads; sync/watch.h says what that is.
//
//   absl::Status changed = co_await receiver.Changed();
//   auto ready = co_await receiver.WaitFor(
//       [](const State& state) { return state == State::kReady; });
//
// Each receiver knows which value it has seen last; a copy has seen what the
// original has.
//
// Thread safety: each receiver belongs to one thread at a time; const methods may be
// called by any number of threads.
// Lifetime: the ends share what they need. A receiver outlives its futures and
// stays where it is meanwhile.
// Dropping: of a wait, no effect: what has changed is still unseen. Of the last
// receiver, makes WatchSender::Closed() ready.
#ifndef WEFT_SYNC_WATCH_RECEIVER_H_
#define WEFT_SYNC_WATCH_RECEIVER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "weft/sync/wait_queue.h"
#include "weft/sync/watch_core.h"
#include "weft/task/block_on.h"
#include "weft/task/context.h"
#include "weft/task/polled.h"
#include "weft/task/status.h"

namespace weft::sync {

// The future of WatchReceiver::Changed().
class [[nodiscard]] WatchChangedFuture {
 public:
  using Output = absl::Status;

  explicit WatchChangedFuture(sync_internal::WatchCursor& cursor)
      : cursor_(cursor) {}
  WatchChangedFuture(WatchChangedFuture&&) = default;
  WatchChangedFuture& operator=(WatchChangedFuture&&) = delete;
  ~WatchChangedFuture() {
    if (node_.polled) cursor_.core().DropChangeWait(node_);
  }

  Polled<absl::Status> Poll(Context& cx);

 private:
  sync_internal::WatchCursor& cursor_;
  sync_internal::WaitNode node_;
};

// The future of WatchReceiver::WaitFor().
template <class T, class Predicate>
class [[nodiscard]] WatchForFuture {
 public:
  using Output = absl::StatusOr<std::shared_ptr<const T>>;

  WatchForFuture(sync_internal::WatchCursor& cursor, Predicate predicate)
      : cursor_(cursor), predicate_(std::move(predicate)) {}
  WatchForFuture(WatchForFuture&&) = default;
  WatchForFuture& operator=(WatchForFuture&&) = delete;
  ~WatchForFuture() {
    if (node_.polled) cursor_.core().DropChangeWait(node_);
  }

  Polled<Output> Poll(Context& cx) {
    for (;;) {
      // The first time it looks whether that has been seen or not.
      const bool looks =
          looked_ ? cursor_.core().PollChange(node_, cursor_.seen(), cx)
                  : cx.HasBudget();
      if (!looks) return kPending;
      uint64_t word = 0;
      auto value = std::static_pointer_cast<const T>(cursor_.core().Get(&word));
      const uint64_t version = word & ~sync_internal::WatchCore::kClosed;
      if (!looked_ || version != cursor_.seen()) {
        if (!looked_) cx.Charge();
        looked_ = true;
        cursor_.set_seen(version);
        if (predicate_(*value)) return Output(std::move(value));
      }
      if (version != word) return Output(ClosedStatus());
    }
  }

 private:
  sync_internal::WatchCursor& cursor_;
  Predicate predicate_;
  bool looked_ = false;
  sync_internal::WaitNode node_;
};

template <class T>
class [[nodiscard]] WatchReceiver {
 public:
  using Value = std::shared_ptr<const T>;

  explicit WatchReceiver(sync_internal::WatchCursor cursor)
      : cursor_(std::move(cursor)) {}

  // The latest value. The second form also counts it as seen.
  Value Borrow() const {
    return std::static_pointer_cast<const T>(cursor_.core().Get());
  }
  Value BorrowAndUpdate() {
    uint64_t word = 0;
    auto value = cursor_.core().Get(&word);
    cursor_.set_seen(word & ~sync_internal::WatchCore::kClosed);
    return std::static_pointer_cast<const T>(std::move(value));
  }

  // Ready once there is a value that has not been seen, which then counts as
  // seen, or with ClosedStatus() once all senders are gone and no such value is
  // left.
  WatchChangedFuture Changed() { return WatchChangedFuture(cursor_); }
  absl::Status BlockingChanged() {
    return task_internal::BlockFor("WatchReceiver::BlockingChanged()",
                                   Changed());
  }
  // Whether there is one now.
  bool HasChanged() const { return cursor_.core().version() != cursor_.seen(); }
  // Makes the latest value count as not seen, or as seen.
  void MarkChanged() { cursor_.set_seen(sync_internal::WatchCore::kNoVersion); }
  void MarkUnchanged() { cursor_.SeeLatest(); }

  // Ready with the latest value once predicate(value) is true, also if that has
  // been seen, or with ClosedStatus() once no other value will come. The
  // predicate is called by whoever polls, with no lock held, and may miss values.
  template <class Predicate>
  WatchForFuture<T, Predicate> WaitFor(Predicate predicate) {
    return {cursor_, std::move(predicate)};
  }
  template <class Predicate>
  absl::StatusOr<Value> BlockingWaitFor(Predicate predicate) {
    return task_internal::BlockFor("WatchReceiver::BlockingWaitFor()",
                                   WaitFor(std::move(predicate)));
  }

  // True once all senders are gone.
  bool IsClosed() const {
    return (cursor_.core().word() & sync_internal::WatchCore::kClosed) != 0;
  }
  size_t SenderCount() const { return cursor_.core().senders(); }
  size_t ReceiverCount() const { return cursor_.core().receivers(); }

 private:
  template <class>
  friend class WatchStream;

  sync_internal::WatchCursor cursor_;
};

}  // namespace weft::sync

#endif  // WEFT_SYNC_WATCH_RECEIVER_H_
