// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// BroadcastSender: an end of a broadcast that sends; sync/broadcast.h says what
// that is.
//
//   absl::Status sent = co_await sender.Send(event);
//   auto late = sender.NewReceiver();
//
// Thread safety: const methods from any thread, and these are all that send; the
// rest, one thread at a time.
// Lifetime: the ends share what they need; so do the futures.
// Dropping: of a Send that waits, its message is not sent. Of the last sender,
// closes: what was sent can still be received. Of Closed(), no effect.
#ifndef WEFT_SYNC_BROADCAST_SENDER_H_
#define WEFT_SYNC_BROADCAST_SENDER_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "weft/sync/broadcast_core.h"
#include "weft/sync/broadcast_receiver.h"
#include "weft/sync/wait_queue.h"
#include "weft/task/block_on.h"
#include "weft/task/check.h"
#include "weft/task/context.h"
#include "weft/task/polled.h"
#include "weft/task/status.h"

namespace weft::sync {

template <class T>
class BroadcastWeakSender;

// The future of BroadcastSender::Send().
class [[nodiscard]] BroadcastSendFuture {
  using Core = sync_internal::BroadcastCore;

 public:
  using Output = absl::Status;

  BroadcastSendFuture(std::shared_ptr<Core> core, Core::Message message)
      : core_(std::move(core)), sending_(std::move(message)) {}
  BroadcastSendFuture(BroadcastSendFuture&&) = default;
  BroadcastSendFuture& operator=(BroadcastSendFuture&&) = delete;
  ~BroadcastSendFuture() {
    if (sending_.polled) core_->DropSend(sending_);
  }

  Polled<absl::Status> Poll(Context& cx) {
    const Core::Sent sent = core_->PollSend(sending_, cx);
    if (sent == Core::Sent::kNotYet) return kPending;
    return sent == Core::Sent::kSent ? absl::OkStatus() : ClosedStatus();
  }

 private:
  std::shared_ptr<Core> core_;
  Core::Sending sending_;
};

// The future of BroadcastSender::Closed().
class [[nodiscard]] BroadcastClosedFuture {
  using Core = sync_internal::BroadcastCore;

 public:
  using Output = void;

  explicit BroadcastClosedFuture(std::shared_ptr<Core> core)
      : core_(std::move(core)) {}
  BroadcastClosedFuture(BroadcastClosedFuture&&) = default;
  BroadcastClosedFuture& operator=(BroadcastClosedFuture&&) = delete;
  ~BroadcastClosedFuture() {
    if (node_.polled) core_->DropUnheardWait(node_);
  }

  Polled<void> Poll(Context& cx) {
    return core_->PollUnheard(node_, cx) ? Polled<void>(Unit()) : kPending;
  }

 private:
  std::shared_ptr<Core> core_;
  sync_internal::WaitNode node_;
};

template <class T>
class [[nodiscard]] BroadcastSender {
  using Core = sync_internal::BroadcastCore;

 public:
  // Takes over a sender that has been counted.
  explicit BroadcastSender(std::shared_ptr<Core> core)
      : core_(std::move(core)) {}
  // One more sender.
  BroadcastSender(const BroadcastSender& other) : core_(other.core_) {
    if (core_ != nullptr) core_->AddSender();
  }
  BroadcastSender(BroadcastSender&&) noexcept = default;
  BroadcastSender& operator=(BroadcastSender other) noexcept {
    std::swap(core_, other.core_);
    return *this;
  }
  ~BroadcastSender() {
    if (core_ != nullptr) core_->DropSender();
  }

  // Ready once the message is where receivers can take it, or with
  // ClosedStatus() if there are none or the broadcast is closed. Waits only
  // where the options say so, in the order of first polls.
  BroadcastSendFuture Send(T message) const {
    return BroadcastSendFuture(shared(),
                               std::make_shared<const T>(std::move(message)));
  }
  absl::Status BlockingSend(T message) const {
    return task_internal::BlockFor("BroadcastSender::BlockingSend()",
                                   Send(std::move(message)));
  }
  // RefusedStatus() if it would have to wait.
  absl::Status TrySend(T message) const {
    Core::Message made = std::make_shared<const T>(std::move(message));
    switch (shared()->TrySend(&made)) {
      case Core::Sent::kNotYet:
        return RefusedStatus();
      case Core::Sent::kSent:
        return absl::OkStatus();
      case Core::Sent::kClosed:
        break;
    }
    return ClosedStatus();
  }

  // A receiver of what is sent from now on.
  BroadcastReceiver<T> NewReceiver() const {
    return BroadcastReceiver<T>({shared(), shared()->AddReceiver(false)});
  }
  BroadcastWeakSender<T> Downgrade() const {
    return BroadcastWeakSender<T>(shared());
  }

  // No more is sent. What was sent before can be received.
  void Close() const { shared()->Close(); }
  // Ready once there is no receiver or the broadcast is closed.
  BroadcastClosedFuture Closed() const {
    return BroadcastClosedFuture(shared());
  }
  bool IsClosed() const {
    const Core::Counts counts = shared()->GetCounts();
    return counts.closed || counts.receivers + counts.inactive == 0;
  }

  // From now on up to `capacity` messages are kept. Where there are more, the
  // oldest are dropped, or senders wait until they are read, as the options say.
  // Requires: 0 < capacity <= 2^32.
  void SetCapacity(size_t capacity) const { shared()->SetCapacity(capacity); }
  size_t capacity() const { return shared()->GetCounts().capacity; }
  // How many messages some receiver has still to receive.
  size_t length() const { return shared()->GetCounts().length; }
  size_t SenderCount() const { return shared()->GetCounts().senders; }
  size_t ReceiverCount() const { return shared()->GetCounts().receivers; }
  size_t InactiveReceiverCount() const {
    return shared()->GetCounts().inactive;
  }

 private:
  const std::shared_ptr<Core>& shared() const {
    WEFT_CHECK(core_ != nullptr, "this end of a broadcast was moved from");
    return core_;
  }

  std::shared_ptr<Core> core_;
};

// Does not keep the broadcast open.
template <class T>
class BroadcastWeakSender {
 public:
  explicit BroadcastWeakSender(
      std::shared_ptr<sync_internal::BroadcastCore> core)
      : core_(std::move(core)) {}

  // A sender, unless the broadcast is closed.
  std::optional<BroadcastSender<T>> Upgrade() const {
    if (!core_->TryAddSender()) return std::nullopt;
    return BroadcastSender<T>(core_);
  }

 private:
  std::shared_ptr<sync_internal::BroadcastCore> core_;
};

}  // namespace weft::sync

#endif  // WEFT_SYNC_BROADCAST_SENDER_H_
