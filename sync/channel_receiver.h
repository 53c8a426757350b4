// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Receiver, WeakReceiver: the receiving ends of a channel (sync/channel.h).
//
// Each value goes to one receiver. A Receiver is a stream, too.
//
// Thread safety: all methods of an end that others may use at the same time are
// const, which PollNext and StopWaiting are not; an end is copied, assigned and
// destroyed by one thread at a time.
// Lifetime: an end outlives the futures that it made. Ends may be destroyed in any
// order.
// Dropping: a Receive or ReceiveMany that is dropped has taken nothing. Of the last
// receiver: closes, and destroys what nobody will receive.
#ifndef WEFT_SYNC_CHANNEL_RECEIVER_H_
#define WEFT_SYNC_CHANNEL_RECEIVER_H_

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "weft/sync/channel_state.h"
#include "weft/sync/channel_waits.h"
#include "weft/sync/poll_pop.h"
#include "weft/sync/queue_step.h"
#include "weft/task/block_on.h"
#include "weft/task/check.h"
#include "weft/task/context.h"
#include "weft/task/polled.h"
#include "weft/task/status.h"

namespace weft::sync {

template <class T>
class Receiver;
template <class T>
class Sender;
template <class T>
class WeakReceiver;

template <class T>
class [[nodiscard]] ReceiveFuture {
 public:
  using Output = absl::StatusOr<T>;

  ReceiveFuture(ReceiveFuture&&) = default;
  ReceiveFuture& operator=(ReceiveFuture&&) = delete;
  ~ReceiveFuture() {
    if (wait_.polled) state_->DropReceiver(wait_);
  }

  Polled<Output> Poll(Context& cx) {
    Polled<Output> polled = kPending;
    // Into its place, with one move.
    const auto pop = [&] {
      return state_->Pop([&](T&& value) { polled.Emplace(std::move(value)); });
    };
    if (sync_internal::PollPop(*state_, wait_, cx, pop) ==
        sync_internal::QueueResult::kClosed) {
      polled.Emplace(ClosedStatus());
    }
    return polled;
  }

 private:
  friend Receiver<T>;
  explicit ReceiveFuture(sync_internal::ChannelState<T>* state)
      : state_(state) {}

  sync_internal::ChannelState<T>* state_;
  sync_internal::ChannelNode wait_;
};

template <class T>
class [[nodiscard]] ReceiveManyFuture {
 public:
  using Output = size_t;

  ReceiveManyFuture(ReceiveManyFuture&&) = default;
  ReceiveManyFuture& operator=(ReceiveManyFuture&&) = delete;
  ~ReceiveManyFuture() {
    if (wait_.polled) state_->DropReceiver(wait_);
  }

  Polled<size_t> Poll(Context& cx) {
    size_t count = max_;
    switch (sync_internal::PollPop(*state_, wait_, cx, [&] {
      count = max_;
      return Take(count);
    })) {
      case sync_internal::QueueResult::kDone:
        return count;
      case sync_internal::QueueResult::kClosed:
        return size_t{0};
      default:
        return kPending;
    }
  }

 private:
  friend Receiver<T>;
  explicit ReceiveManyFuture(sync_internal::ChannelState<T>* state,
                             std::vector<T>& values, size_t max)
      : state_(state), values_(&values), max_(max) {}

  sync_internal::QueueResult Take(size_t& count) {
    // So that the vector need not grow while values are claimed; they are here
    // already, so that many are made room for only.
    count = std::min(count, std::max<size_t>(state_->Size(), 1));
    sync_internal::MakeRoom(*values_, count);
    return state_->PopSome(
        count, [this](T&& value) { values_->push_back(std::move(value)); });
  }

  sync_internal::ChannelState<T>* state_;
  std::vector<T>* values_;
  size_t max_;
  sync_internal::ChannelNode wait_;
};

template <class T>
class Receiver {
 public:
  using Item = T;

  Receiver(const Receiver& other) : state_(other.state()) {
    state_->receivers().Add();
  }
  Receiver(Receiver&& other) noexcept
      : state_(std::exchange(other.state_, nullptr)),
        next_(std::move(other.next_)) {}
  Receiver& operator=(Receiver other) noexcept {
    std::swap(state_, other.state_);
    std::swap(next_, other.next_);
    return *this;
  }
  ~Receiver() {
    if (state_ == nullptr) return;
    next_.reset();
    if (!state_->receivers().Remove()) return;
    state_->Close();
    state_->DestroyValues();
    state_->Unref();
  }

  // Ready with a value, or with ClosedStatus() once the channel is closed and
  // empty.
  ReceiveFuture<T> Receive() const { return ReceiveFuture<T>(state()); }
  absl::StatusOr<T> BlockingReceive() const {
    return task_internal::BlockFor("Receiver::BlockingReceive()", Receive());
  }
  // A value, RefusedStatus() if there is none now, or ClosedStatus().
  absl::StatusOr<T> TryReceive() const;

  // Appends up to `max` values to `values`, which outlives the future: at least one,
  // and no more than are there. Ready with how many; 0 once closed and empty.
  // Requires: max > 0.
  ReceiveManyFuture<T> ReceiveMany(std::vector<T>& values, size_t max) const {
    WEFT_CHECK(max > 0, "ReceiveMany() of no values would wait for ever");
    return ReceiveManyFuture<T>(state(), values, max);
  }

  // The same as Receive(), for Next(receiver): nullopt is the end.
  Polled<std::optional<T>> PollNext(Context& cx);
  // Of a pending PollNext().
  void StopWaiting() { next_.reset(); }

  // Closes: nothing is sent any more; what was can be received. True if it was
  // not closed before.
  bool Close() const { return state()->Close(); }
  bool IsClosed() const { return state()->IsClosed(); }

  // Moments' figures, as Sender's.
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
  WeakReceiver<T> Downgrade() const { return WeakReceiver<T>(state()); }

 private:
  template <class U>
  friend class Sender;
  friend WeakReceiver<T>;
  friend sync_internal::ChannelAccess;
  // Takes over a count.
  explicit Receiver(sync_internal::ChannelState<T>* state) : state_(state) {}

  sync_internal::ChannelState<T>* state() const {
    WEFT_CHECK(state_ != nullptr, "this end of a channel was moved from");
    return state_;
  }

  sync_internal::ChannelState<T>* state_;
  // The wait of PollNext; apart, as the end may be moved.
  std::unique_ptr<ReceiveFuture<T>> next_;
};

// Keeps a channel's memory, but does not keep it open.
template <class T>
class WeakReceiver {
 public:
  WeakReceiver(const WeakReceiver& other) : state_(other.state_) {
    state_->Ref();
  }
  WeakReceiver& operator=(const WeakReceiver& other) {
    other.state_->Ref();
    std::exchange(state_, other.state_)->Unref();
    return *this;
  }
  ~WeakReceiver() { state_->Unref(); }

  // Nullopt if all receivers are gone.
  std::optional<Receiver<T>> Upgrade() const {
    if (!state_->receivers().TryAdd()) return std::nullopt;
    return Receiver<T>(state_);
  }

 private:
  friend Receiver<T>;
  explicit WeakReceiver(sync_internal::ChannelState<T>* state) : state_(state) {
    state_->Ref();
  }

  sync_internal::ChannelState<T>* state_;
};

template <class T>
absl::StatusOr<T> Receiver<T>::TryReceive() const {
  absl::StatusOr<T> received = RefusedStatus();
  if (state()->Pop([&](T&& value) { received.emplace(std::move(value)); }) ==
      sync_internal::QueueResult::kClosed) {
    received = ClosedStatus();
  }
  return received;
}

template <class T>
Polled<std::optional<T>> Receiver<T>::PollNext(Context& cx) {
  if (next_ == nullptr) {
    next_.reset(new ReceiveFuture<T>(state()));
  }
  return sync_internal::PollNextOf<T>(*next_, cx);
}

}  // namespace weft::sync

#endif  // WEFT_SYNC_CHANNEL_RECEIVER_H_
