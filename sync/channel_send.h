// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// SendFuture: what Sender::Send (sync/channel_sender.h) returns.
//
// Thread safety: one thread at a time.
// Lifetime: the Sender that made it outlives it.
// Dropping: it has sent nothing, and its value goes with it, unless TakeValue()
// saves that. Where the capacity is 0, a receiver may have taken the value
// before; then TakeValue() gives nothing.
#ifndef WEFT_SYNC_CHANNEL_SEND_H_
#define WEFT_SYNC_CHANNEL_SEND_H_

#include <optional>
#include <utility>

#include "weft/sync/channel_state.h"
#include "weft/sync/queue_step.h"
#include "weft/sync/rendezvous.h"
#include "weft/sync/send_result.h"
#include "weft/task/check.h"
#include "weft/task/context.h"
#include "weft/task/polled.h"

namespace weft::sync {

template <class T>
class Sender;

template <class T>
class [[nodiscard]] SendFuture {
 public:
  using Output = SendResult<T>;

  SendFuture(SendFuture&&) = default;
  SendFuture& operator=(SendFuture&&) = delete;
  ~SendFuture() { Leave(); }

  Polled<Output> Poll(Context& cx);

  // The value, if it was not sent; there is nothing to poll for after that.
  std::optional<T> TakeValue() {
    if (Leave()) return std::nullopt;
    return std::exchange(value_, std::nullopt);
  }

 private:
  friend Sender<T>;
  template <class U>
  SendFuture(sync_internal::ChannelState<T>* state, U&& value)
      : state_(state), value_(std::forward<U>(value)) {}

  sync_internal::QueueResult PollOnce(Context& cx);
  // True if the value is gone.
  bool Leave() {
    if (!wait_.polled) return false;
    if (state_->IsRendezvous()) return state_->DropOffer(wait_);
    state_->DropSender(wait_);
    return false;
  }

  sync_internal::ChannelState<T>* state_;
  std::optional<T> value_;
  sync_internal::Offer<T> wait_;
};

template <class T>
Polled<SendResult<T>> SendFuture<T>::Poll(Context& cx) {
  WEFT_CHECK(value_.has_value(), "a Send was polled after it was ready");
  if (!cx.HasBudget()) return kPending;
  Polled<SendResult<T>> polled = kPending;
  switch (PollOnce(cx)) {
    case sync_internal::QueueResult::kDone:
      value_.reset();
      cx.Charge();
      polled.Emplace();
      break;
    case sync_internal::QueueResult::kClosed:
      polled.Emplace(SendResult<T>::Closed(*std::move(value_)));
      value_.reset();
      cx.Charge();
      break;
    case sync_internal::QueueResult::kBusy:
      cx.waker().WakeByRef();
      break;
    case sync_internal::QueueResult::kNotNow:
      break;
  }
  return polled;
}

// kNotNow once it sleeps.
template <class T>
sync_internal::QueueResult SendFuture<T>::PollOnce(Context& cx) {
  if (state_->IsRendezvous()) return state_->PollOffer(wait_, value_, cx);
  for (;;) {
    const sync_internal::QueueResult result = state_->Push(*value_);
    if (result == sync_internal::QueueResult::kNotNow) {
      if (state_->SleepAsSender(wait_, cx)) return result;
    } else {
      if (result != sync_internal::QueueResult::kBusy) {
        state_->FinishSender(wait_);
      }
      return result;
    }
  }
}

}  // namespace weft::sync

#endif  // WEFT_SYNC_CHANNEL_SEND_H_
