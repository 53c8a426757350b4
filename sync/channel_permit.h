// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// SendPermit, ReserveFuture: a place in a channel before the value is known; see
// Sender::Reserve (sync/channel_sender.h).
//
// Thread safety: one thread at a time.
// Lifetime: the Sender that made it outlives either.
// Dropping: a Reserve that is dropped leaves the queue; a permit gives its place
// back.
#ifndef WEFT_SYNC_CHANNEL_PERMIT_H_
#define WEFT_SYNC_CHANNEL_PERMIT_H_

#include <utility>

#include "absl/status/statusor.h"
#include "weft/sync/channel_state.h"
#include "weft/sync/channel_waits.h"
#include "weft/sync/queue_step.h"
#include "weft/sync/send_result.h"
#include "weft/task/check.h"
#include "weft/task/context.h"
#include "weft/task/polled.h"
#include "weft/task/status.h"

namespace weft::sync {

template <class T>
class Sender;

// A place in a channel, kept for one value.
template <class T>
class [[nodiscard]] SendPermit {
 public:
  SendPermit(SendPermit&& other) noexcept
      : state_(std::exchange(other.state_, nullptr)) {}
  // Gives back what this one held, if it did.
  SendPermit& operator=(SendPermit&& other) noexcept {
    SendPermit taken(std::move(other));
    std::swap(state_, taken.state_);
    return *this;
  }
  ~SendPermit() {
    if (state_ != nullptr) state_->GiveBack();
  }

  // Sends without waiting. Not ok() only if the channel is closed.
  SendResult<T> Send(T value) && {
    WEFT_CHECK(state_ != nullptr,
               "this permit was moved from, or has been used");
    SendPermit self = std::move(*this);
    if (self.state_->PushReserved(value) != sync_internal::QueueResult::kDone) {
      return SendResult<T>::Closed(std::move(value));
    }
    self.state_ = nullptr;
    return SendResult<T>();
  }

 private:
  friend Sender<T>;
  template <class U>
  friend class ReserveFuture;
  explicit SendPermit(sync_internal::ChannelState<T>* state) : state_(state) {}

  sync_internal::ChannelState<T>* state_;
};

template <class T>
class [[nodiscard]] ReserveFuture {
 public:
  using Output = absl::StatusOr<SendPermit<T>>;

  ReserveFuture(ReserveFuture&&) = default;
  ReserveFuture& operator=(ReserveFuture&&) = delete;
  ~ReserveFuture() {
    if (wait_.polled) state_->DropSender(wait_);
  }

  Polled<Output> Poll(Context& cx);

 private:
  friend Sender<T>;
  explicit ReserveFuture(sync_internal::ChannelState<T>* state)
      : state_(state) {}

  sync_internal::ChannelState<T>* state_;
  sync_internal::ChannelNode wait_;
};

template <class T>
Polled<absl::StatusOr<SendPermit<T>>> ReserveFuture<T>::Poll(Context& cx) {
  if (!cx.HasBudget()) return kPending;
  for (;;) {
    switch (state_->Reserve()) {
      case sync_internal::QueueResult::kDone:
        state_->FinishSender(wait_);
        cx.Charge();
        return Output(SendPermit<T>(state_));
      case sync_internal::QueueResult::kClosed:
        state_->FinishSender(wait_);
        cx.Charge();
        return Output(ClosedStatus());
      default:
        if (state_->SleepAsSender(wait_, cx)) return kPending;
    }
  }
}

}  // namespace weft::sync

#endif  // WEFT_SYNC_CHANNEL_PERMIT_H_
