// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// BroadcastReceiver: an end of a broadcast that receives; sync/broadcast.h says
// what that is.
//
//   auto event = co_await receiver.Receive();
//   auto idle = std::move(receiver).Deactivate();  // gets nothing, lags nowhere
//   auto again = std::move(idle).Activate();
//
// Thread safety: each receiver belongs to one thread at a time; const methods may be
// called by any number of threads.
// Lifetime: the ends share what they need. A receiver outlives its futures and
// stays where it is meanwhile.
// Dropping: of a wait loses nothing: a message is taken by the poll that gives it.
// Of a receiver: its messages are not for it any more, and senders that wait for
// it go on. Of the last one, active or not: sending is refused until there is
// another.
#ifndef WEFT_SYNC_BROADCAST_RECEIVER_H_
#define WEFT_SYNC_BROADCAST_RECEIVER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "weft/sync/broadcast_core.h"
#include "weft/sync/broadcast_cursor.h"
#include "weft/sync/wait_queue.h"
#include "weft/task/block_on.h"
#include "weft/task/context.h"
#include "weft/task/polled.h"
#include "weft/task/status.h"

namespace weft::sync {

template <class T>
class InactiveBroadcastReceiver;

// The future of BroadcastReceiver::Receive().
template <class T>
class [[nodiscard]] BroadcastReceiveFuture {
  using Core = sync_internal::BroadcastCore;

 public:
  using Output = absl::StatusOr<std::shared_ptr<const T>>;

  explicit BroadcastReceiveFuture(sync_internal::BroadcastCursor& cursor)
      : cursor_(cursor) {}
  BroadcastReceiveFuture(BroadcastReceiveFuture&&) = default;
  BroadcastReceiveFuture& operator=(BroadcastReceiveFuture&&) = delete;
  ~BroadcastReceiveFuture() {
    if (node_.polled) cursor_.core().DropTake(node_);
  }

  Polled<Output> Poll(Context& cx) {
    Core::Message message;
    const Core::Taken taken =
        cursor_.core().PollTake(node_, cursor_.position(), &message, cx);
    if (taken == Core::Taken::kNothing) return kPending;
    return ToOutput(taken, std::move(message));
  }

  static Output ToOutput(Core::Taken taken, Core::Message message) {
    switch (taken) {
      case Core::Taken::kMessage:
        return std::static_pointer_cast<const T>(std::move(message));
      case Core::Taken::kLagged:
        return absl::Status(absl::StatusCode::kDataLoss, "");
      default:
        return ClosedStatus();
    }
  }

 private:
  sync_internal::BroadcastCursor& cursor_;
  sync_internal::WaitNode node_;
};

template <class T>
class [[nodiscard]] BroadcastReceiver {
  using Core = sync_internal::BroadcastCore;

 public:
  using Message = std::shared_ptr<const T>;

  // A copy is one more receiver, of what the original has still to receive.
  explicit BroadcastReceiver(sync_internal::BroadcastCursor cursor)
      : cursor_(std::move(cursor)) {}

  // Ready with the next message; or with DataLoss, without a text, once where
  // messages were dropped before this receiver came to them, and lag() says how
  // many; or with ClosedStatus() after the last one.
  BroadcastReceiveFuture<T> Receive() {
    return BroadcastReceiveFuture<T>(cursor_);
  }
  absl::StatusOr<Message> BlockingReceive() {
    return task_internal::BlockFor("BroadcastReceiver::BlockingReceive()",
                                   Receive());
  }
  // What Receive() would be ready with, or nullopt if it would be pending.
  std::optional<absl::StatusOr<Message>> TryReceive() {
    Core::Message message;
    const Core::Taken taken =
        cursor_.core().TryTake(cursor_.position(), &message);
    if (taken == Core::Taken::kNothing) return std::nullopt;
    return BroadcastReceiveFuture<T>::ToOutput(taken, std::move(message));
  }
  // How many messages the last DataLoss stands for.
  uint64_t lag() const { return cursor_.position().lag; }

  // A receiver of what is sent from now on.
  BroadcastReceiver Resubscribe() const {
    return BroadcastReceiver(
        {cursor_.shared(), cursor_.core().AddReceiver(false)});
  }
  // Receives nothing, and holds up no sender, but keeps the broadcast open.
  InactiveBroadcastReceiver<T> Deactivate() && {
    return InactiveBroadcastReceiver<T>(std::move(cursor_).Deactivate());
  }

  // No more is sent. What was sent before can be received.
  void Close() { cursor_.core().Close(); }
  bool IsClosed() const { return cursor_.core().GetCounts().closed; }

  // How many messages this has still to receive.
  size_t length() const { return cursor_.core().LengthFor(cursor_.position()); }
  size_t capacity() const { return cursor_.core().GetCounts().capacity; }
  size_t SenderCount() const { return cursor_.core().GetCounts().senders; }
  size_t ReceiverCount() const { return cursor_.core().GetCounts().receivers; }

 private:
  template <class>
  friend class BroadcastStream;

  sync_internal::BroadcastCursor cursor_;
};

// Stands for a receiver that does not receive.
template <class T>
class [[nodiscard]] InactiveBroadcastReceiver {
 public:
  // Takes over one that has been counted.
  explicit InactiveBroadcastReceiver(
      std::shared_ptr<sync_internal::BroadcastCore> core)
      : core_(std::move(core)) {}
  InactiveBroadcastReceiver(const InactiveBroadcastReceiver& other)
      : core_(other.core_) {
    if (core_ != nullptr) core_->AddInactive();
  }
  InactiveBroadcastReceiver(InactiveBroadcastReceiver&&) noexcept = default;
  InactiveBroadcastReceiver& operator=(
      InactiveBroadcastReceiver other) noexcept {
    std::swap(core_, other.core_);
    return *this;
  }
  ~InactiveBroadcastReceiver() {
    if (core_ != nullptr) core_->DropInactive();
  }

  // A receiver, instead of this, of what is sent from now on.
  BroadcastReceiver<T> Activate() && {
    const auto position = core_->AddReceiver(true);
    return BroadcastReceiver<T>({std::move(core_), position});
  }

 private:
  std::shared_ptr<sync_internal::BroadcastCore> core_;
};

}  // namespace weft::sync

#endif  // WEFT_SYNC_BROADCAST_RECEIVER_H_
