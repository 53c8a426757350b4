// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Sender, WeakSender: the sending ends of a channel (sync/channel.h).
//
// Thread safety: all methods of an end that others may use at the same time are
// const; an end is copied, assigned and destroyed by one thread at a time.
// Lifetime: an end outlives the futures and the permits that it made. Ends may be
// destroyed in any order.
// Dropping: of the last sender closes. Of its futures: see channel_send.h and
// channel_permit.h.
#ifndef WEFT_SYNC_CHANNEL_SENDER_H_
#define WEFT_SYNC_CHANNEL_SENDER_H_

#include <cstddef>
#include <optional>
#include <type_traits>
#include <utility>

#include "absl/status/statusor.h"
#include "weft/sync/backoff.h"
#include "weft/sync/channel_closed.h"
#include "weft/sync/channel_permit.h"
#include "weft/sync/channel_send.h"
#include "weft/sync/channel_state.h"
#include "weft/sync/queue_step.h"
#include "weft/sync/send_result.h"
#include "weft/task/block_on.h"
#include "weft/task/check.h"
#include "weft/task/status.h"

namespace weft::sync {

template <class T>
class Sender;
template <class T>
class Receiver;

template <class T>
class WeakSender;

template <class T>
class Sender {
 public:
  Sender(const Sender& other) : state_(other.state()) {
    state_->senders().Add();
  }
  Sender(Sender&& other) noexcept
      : state_(std::exchange(other.state_, nullptr)) {}
  Sender& operator=(Sender other) noexcept {
    std::swap(state_, other.state_);
    return *this;
  }
  ~Sender() {
    if (state_ == nullptr || !state_->senders().Remove()) return;
    state_->Close();
    state_->Unref();
  }

  // Ready once there was room for `value`, or the channel was closed. Its place
  // among those who wait is that of its first poll.
  SendFuture<T> Send(T&& value) const {
    return SendFuture<T>(state(), std::move(value));
  }
  SendFuture<T> Send(const T& value) const
    requires std::is_copy_constructible_v<T>
  {
    return SendFuture<T>(state(), value);
  }
  SendResult<T> BlockingSend(T value) const {
    return task_internal::BlockFor("Sender::BlockingSend()",
                                   Send(std::move(value)));
  }
  // Never waits. Where the capacity is 0: to a receiver that waits.
  SendResult<T> TrySend(T value) const;
  // Where there is no room makes some: takes out the oldest value and sets
  // `displaced` to it. Where other senders take that room, it takes out another
  // one, and the ones before are destroyed. IsFull() only where permits have all
  // places. Requires: a capacity above 0.
  SendResult<T> ForceSend(T value, std::optional<T>* displaced = nullptr) const;

  // Ready with a place for a value that need not be known yet, or ClosedStatus().
  // The place counts as taken until the permit is used or dropped. There are up to
  // 65,535 permits at a time; who wants more waits until one is dropped or a value
  // received. Requires: a capacity above 0.
  ReserveFuture<T> Reserve() const { return ReserveFuture<T>(state()); }
  // A permit, RefusedStatus() or ClosedStatus().
  absl::StatusOr<SendPermit<T>> TryReserve() const;

  // Closes: nothing is sent any more; what was can be received. True if it was
  // not closed before.
  bool Close() const { return state()->Close(); }
  bool IsClosed() const { return state()->IsClosed(); }
  // Ready once the channel is closed, or its last receiver gone.
  ChannelClosedFuture<sync_internal::ChannelState<T>> Closed() const {
    return ChannelClosedFuture(state());
  }

  // Moments' figures; capacity() is kUnbounded of an unbounded channel.
  static constexpr size_t kUnbounded =
      sync_internal::ChannelState<T>::kUnbounded;
  size_t size() const { return state()->Size(); }
  bool empty() const { return size() == 0; }
  bool IsFull() const { return state()->IsFull(); }
  size_t capacity() const { return state()->capacity(); }
  size_t sender_count() const { return state()->senders().Get(); }
  size_t receiver_count() const { return state()->receivers().Get(); }

  template <class End>
  bool IsSameChannel(const End& other) const {
    return state_ == other.state_;
  }
  WeakSender<T> Downgrade() const { return WeakSender<T>(state()); }

 private:
  template <class U>
  friend class Receiver;
  friend WeakSender<T>;
  friend sync_internal::ChannelAccess;
  // Takes over a count.
  explicit Sender(sync_internal::ChannelState<T>* state) : state_(state) {}

  sync_internal::ChannelState<T>* state() const {
    WEFT_CHECK(state_ != nullptr, "this end of a channel was moved from");
    return state_;
  }

  sync_internal::ChannelState<T>* state_;
};

// Keeps a channel's memory, but does not keep it open.
template <class T>
class WeakSender {
 public:
  WeakSender(const WeakSender& other) : state_(other.state_) { state_->Ref(); }
  WeakSender& operator=(const WeakSender& other) {
    other.state_->Ref();
    std::exchange(state_, other.state_)->Unref();
    return *this;
  }
  ~WeakSender() { state_->Unref(); }

  // Nullopt if all senders are gone.
  std::optional<Sender<T>> Upgrade() const {
    if (!state_->senders().TryAdd()) return std::nullopt;
    return Sender<T>(state_);
  }

 private:
  friend Sender<T>;
  explicit WeakSender(sync_internal::ChannelState<T>* state) : state_(state) {
    state_->Ref();
  }

  sync_internal::ChannelState<T>* state_;
};

template <class T>
SendResult<T> Sender<T>::TrySend(T value) const {
  switch (state()->Push(value)) {
    case sync_internal::QueueResult::kDone:
      return SendResult<T>();
    case sync_internal::QueueResult::kClosed:
      return SendResult<T>::Closed(std::move(value));
    default:
      return SendResult<T>::Full(std::move(value));
  }
}

template <class T>
SendResult<T> Sender<T>::ForceSend(T value, std::optional<T>* displaced) const {
  WEFT_CHECK(capacity() > 0,
             "ForceSend() needs a channel of a capacity above 0");
  sync_internal::Backoff<> backoff;
  for (;;) {
    const sync_internal::QueueResult result = state()->Push(value);
    if (result == sync_internal::QueueResult::kDone) {
      return SendResult<T>();
    }
    if (result == sync_internal::QueueResult::kClosed) {
      return SendResult<T>::Closed(std::move(value));
    }
    std::optional<T> oldest;
    const auto take = [&](T&& value) { oldest.emplace(std::move(value)); };
    if (state()->Pop(take) != sync_internal::QueueResult::kDone) {
      if (state()->IsReserved()) return SendResult<T>::Full(std::move(value));
      backoff.Wait();
    } else if (displaced != nullptr) {
      displaced->reset();
      displaced->emplace(*std::move(oldest));
    }
  }
}

template <class T>
absl::StatusOr<SendPermit<T>> Sender<T>::TryReserve() const {
  switch (state()->Reserve()) {
    case sync_internal::QueueResult::kDone:
      return SendPermit<T>(state_);
    case sync_internal::QueueResult::kClosed:
      return ClosedStatus();
    default:
      return RefusedStatus();
  }
}

}  // namespace weft::sync

#endif  // WEFT_SYNC_CHANNEL_SENDER_H_
