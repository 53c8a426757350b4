// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Oneshot: one value from one place to another.
//
//   auto [sender, receiver] = sync::Oneshot<Reply>();
//   Spawn(Ask(std::move(sender))).Detach();  // ... std::move(sender).Send(reply);
//   absl::StatusOr<Reply> reply = co_await receiver;
//
// The receiver is a future of OutcomeOf<T>: the value, or ClosedStatus() if the
// sender was dropped without sending. T may be void: then it is a Status.
//
// Thread safety: each end belongs to one thread at a time; the two ends may be
// on different threads.
// Lifetime: the ends share what they need. Both are movable always, also after
// a poll.
// Dropping: of the sender, closes: the receiver gets ClosedStatus(). Of the
// receiver, closes too: Send() gives the value back and Closed() is ready; a
// value that had been sent is destroyed with the receiver. A wait for a
// receiver that is named loses nothing: it can be awaited again.
#ifndef WEFT_SYNC_ONESHOT_H_
#define WEFT_SYNC_ONESHOT_H_

#include <atomic>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

#include "weft/sync/oneshot_core.h"
#include "weft/task/block_on.h"
#include "weft/task/check.h"
#include "weft/task/context.h"
#include "weft/task/counted_ref.h"
#include "weft/task/outcome.h"
#include "weft/task/polled.h"
#include "weft/task/status.h"

namespace weft::sync {

template <class T>
class OneshotSender;
template <class T>
class OneshotReceiver;
template <class T>
class OneshotClosed;

// A new pair of ends. One allocation.
template <class T>
std::pair<OneshotSender<T>, OneshotReceiver<T>> Oneshot();

}  // namespace weft::sync

namespace weft::sync_internal {

// What the two ends share. The value is the sender's until it is sent.
template <class T>
struct OneshotState {
  // Relaxed: a new reference is made from an existing one.
  void Ref() { references.fetch_add(1, std::memory_order_relaxed); }
  void Unref() {
    // Acquire-release: the last one sees every use before deleting.
    if (references.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  std::atomic<uint32_t> references{2};  // of the two ends
  BasicOneshotCore<> core;
  std::optional<UnitIfVoid<T>> value;
};

// A counted pointer to it, or null once it was moved from.
template <class T>
class OneshotRef : public task_internal::CountedRef<OneshotState<T>> {
 public:
  using task_internal::CountedRef<OneshotState<T>>::CountedRef;

  OneshotState<T>* operator->() const {
    WEFT_CHECK(this->get() != nullptr,
               "this end of a oneshot was moved from, or has been used up");
    return this->get();
  }
};

}  // namespace weft::sync_internal

namespace weft::sync {

template <class T>
class [[nodiscard]] OneshotSender {
 public:
  OneshotSender(OneshotSender&&) noexcept = default;
  // Drops the sender that this was.
  OneshotSender& operator=(OneshotSender&& other) noexcept {
    OneshotSender taken(std::move(other));
    std::swap(state_, taken.state_);
    return *this;
  }
  ~OneshotSender() {
    if (state_) state_->core.DropSender();
  }

  // Sends the value. Returns nullopt, or the value if the receiver is gone.
  std::optional<UnitIfVoid<T>> Send(UnitIfVoid<T> value) &&;
  // The same where there is nothing but the news: has_value() means not sent.
  std::optional<Unit> Send() &&
    requires std::is_void_v<T>
  {
    return std::move(*this).Send(Unit());
  }

  // True once nobody will receive.
  bool IsClosed() const { return state_->core.IsClosed(); }
  // Ready when the receiver is dropped or has closed.
  OneshotClosed<T> Closed() const { return OneshotClosed<T>(state_); }

 private:
  friend std::pair<OneshotSender, OneshotReceiver<T>> Oneshot<T>();
  explicit OneshotSender(sync_internal::OneshotRef<T> state)
      : state_(std::move(state)) {}

  sync_internal::OneshotRef<T> state_;
};

template <class T>
class [[nodiscard]] OneshotReceiver {
 public:
  using Output = OutcomeOf<T>;
  static constexpr bool kMovableAfterPoll = true;

  OneshotReceiver(OneshotReceiver&&) noexcept = default;
  // Drops the receiver that this was.
  OneshotReceiver& operator=(OneshotReceiver&& other) noexcept {
    OneshotReceiver taken(std::move(other));
    std::swap(state_, taken.state_);
    return *this;
  }
  ~OneshotReceiver() {
    if (state_) Drop();
  }

  // Ready with the value, or with ClosedStatus().
  Polled<Output> Poll(Context& cx) {
    if (!cx.HasBudget()) return kPending;
    const Received received = state_->core.PollReceive(cx.waker());
    if (received == Received::kNothingYet) return kPending;
    cx.Charge();
    return Take(received);
  }
  // Waits on the calling thread.
  Output BlockingReceive() { return BlockOn(*this); }

  // What Poll would give, or nullopt if it would be pending.
  std::optional<Output> TryReceive() {
    const Received received = state_->core.TryReceive();
    if (received == Received::kNothingYet) return std::nullopt;
    return Take(received);
  }

  // Takes nothing that is not sent yet. A value that is can still be received.
  void Close() { state_->core.Close(); }

 private:
  using Received = sync_internal::BasicOneshotCore<>::Received;

  friend std::pair<OneshotSender<T>, OneshotReceiver> Oneshot<T>();
  explicit OneshotReceiver(sync_internal::OneshotRef<T> state)
      : state_(std::move(state)) {}

  Output Take(Received received);
  void Drop();

  sync_internal::OneshotRef<T> state_;
};

// A future: ready when the receiver is gone. May outlive the sender. Of one
// sender's, only one at a time may be waited for.
template <class T>
class [[nodiscard]] OneshotClosed {
 public:
  using Output = void;
  static constexpr bool kMovableAfterPoll = true;

  explicit OneshotClosed(sync_internal::OneshotRef<T> state)
      : state_(std::move(state)) {}
  OneshotClosed(OneshotClosed&&) noexcept = default;
  OneshotClosed& operator=(OneshotClosed&&) = delete;
  ~OneshotClosed() {
    if (state_) state_->core.ForgetClosedWaker();
  }

  Polled<void> Poll(Context& cx) {
    if (!cx.HasBudget()) return kPending;
    if (!state_->core.PollClosed(cx.waker())) return kPending;
    cx.Charge();
    return Unit();
  }

 private:
  sync_internal::OneshotRef<T> state_;
};

template <class T>
std::optional<UnitIfVoid<T>> OneshotSender<T>::Send(UnitIfVoid<T> value) && {
  OneshotSender self = std::move(*this);
  self.state_->value.emplace(std::move(value));
  if (self.state_->core.Send()) {
    // There is nothing more to tell the receiver.
    const sync_internal::OneshotRef<T> sent = std::move(self.state_);
    return std::nullopt;
  }
  std::optional<UnitIfVoid<T>> unsent = std::move(self.state_->value);
  self.state_->value.reset();
  return unsent;
}

template <class T>
OutcomeOf<T> OneshotReceiver<T>::Take(Received received) {
  // The last use: the end is empty afterwards, and the sender need not close.
  OneshotReceiver self = std::move(*this);
  if (received == Received::kClosed) return ClosedStatus();
  return MakeOutcome(Polled<UnitIfVoid<T>>(*std::move(self.state_->value)));
}

template <class T>
void OneshotReceiver<T>::Drop() {
  state_->core.Close();
  state_->core.ForgetReceiverWaker();
  // Here, not where the last reference happens to go.
  if (state_->core.TryReceive() == Received::kValue) state_->value.reset();
}

template <class T>
std::pair<OneshotSender<T>, OneshotReceiver<T>> Oneshot() {
  using Ref = sync_internal::OneshotRef<T>;
  auto* const state = new sync_internal::OneshotState<T>;
  return {OneshotSender<T>(Ref(state)), OneshotReceiver<T>(Ref(state))};
}

}  // namespace weft::sync

#endif  // WEFT_SYNC_ONESHOT_H_
