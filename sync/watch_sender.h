// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// WatchSender: an end of a watch that sends; sync/watch.h says what that is.
//
//   sender.Send(3).IgnoreError();   // if anybody watches
//   sender.SendModify([](int& n) { ++n; });
//   co_await sender.Closed();       // until nobody watches
//
// Thread safety: const methods from any thread, and these are all that send; the
// rest, one thread at a time.
// Lifetime: the ends share what they need; so do the futures.
// Dropping: of the last sender, closes: receivers still get the last value. Of
// Closed(), no effect.
#ifndef WEFT_SYNC_WATCH_SENDER_H_
#define WEFT_SYNC_WATCH_SENDER_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "weft/sync/wait_queue.h"
#include "weft/sync/watch_core.h"
#include "weft/sync/watch_receiver.h"
#include "weft/task/check.h"
#include "weft/task/context.h"
#include "weft/task/polled.h"
#include "weft/task/status.h"

namespace weft::sync {

template <class T>
class WatchWeakSender;

// The future of WatchSender::Closed().
class [[nodiscard]] WatchClosedFuture {
 public:
  using Output = void;

  explicit WatchClosedFuture(std::shared_ptr<sync_internal::WatchCore> core)
      : core_(std::move(core)) {}
  WatchClosedFuture(WatchClosedFuture&&) = default;
  WatchClosedFuture& operator=(WatchClosedFuture&&) = delete;
  ~WatchClosedFuture() {
    if (node_.polled) core_->DropUnwatchedWait(node_);
  }

  Polled<void> Poll(Context& cx) {
    return core_->PollUnwatched(node_, cx) ? Polled<void>(Unit()) : kPending;
  }

 private:
  std::shared_ptr<sync_internal::WatchCore> core_;
  sync_internal::WaitNode node_;
};

template <class T>
class [[nodiscard]] WatchSender {
 public:
  using Value = std::shared_ptr<const T>;

  // Takes over a sender that has been counted.
  explicit WatchSender(std::shared_ptr<sync_internal::WatchCore> core)
      : core_(std::move(core)) {}
  // One more sender.
  WatchSender(const WatchSender& other) : core_(other.core_) {
    if (core_ != nullptr) core_->AddSender();
  }
  WatchSender(WatchSender&&) noexcept = default;
  WatchSender& operator=(WatchSender other) noexcept {
    std::swap(core_, other.core_);
    return *this;
  }
  ~WatchSender() {
    if (core_ != nullptr) core_->DropSender();
  }

  // Makes `value` the latest. ClosedStatus(), and it is not, if nobody receives.
  absl::Status Send(T value) const {
    sync_internal::WatchCore::Value made =
        std::make_shared<const T>(std::move(value));
    return core().ExchangeIfReceived(&made) ? absl::OkStatus() : ClosedStatus();
  }
  // The same whoever receives. Returns the value before it.
  Value Replace(T value) const {
    sync_internal::WatchCore::Value made =
        std::make_shared<const T>(std::move(value));
    core().Exchange(&made);
    return std::static_pointer_cast<const T>(std::move(made));
  }

  // Sends a copy of the latest value as modify(copy) has changed it. That is
  // called with no lock held, and once more on a newer copy if another sender
  // comes in between. With the second form, not sent if modify returns false;
  // returns what it has returned.
  template <class Modify>
  void SendModify(Modify modify) const {
    SendIfModified([&modify](T& value) {
      modify(value);
      return true;
    });
  }
  template <class Modify>
  bool SendIfModified(Modify modify) const {
    for (;;) {
      const Value latest = Borrow();
      auto copy = std::make_shared<T>(*latest);
      if (!modify(*copy)) return false;
      sync_internal::WatchCore::Value made = std::move(copy);
      if (core().Exchange(&made, latest.get())) return true;
    }
  }

  Value Borrow() const {
    return std::static_pointer_cast<const T>(core().Get());
  }

  // A new receiver, which has seen the latest value.
  WatchReceiver<T> Subscribe() const {
    core().AddReceiver();
    return WatchReceiver<T>({core_, core().version()});
  }
  WatchWeakSender<T> Downgrade() const { return WatchWeakSender<T>(core_); }

  // Ready once nobody receives. Somebody may again, by Subscribe().
  WatchClosedFuture Closed() const { return WatchClosedFuture(core_); }
  bool IsClosed() const { return ReceiverCount() == 0; }
  size_t SenderCount() const { return core().senders(); }
  size_t ReceiverCount() const { return core().receivers(); }

 private:
  sync_internal::WatchCore& core() const {
    WEFT_CHECK(core_ != nullptr, "this end of a watch was moved from");
    return *core_;
  }

  std::shared_ptr<sync_internal::WatchCore> core_;
};

// Does not keep the watch open.
template <class T>
class WatchWeakSender {
 public:
  explicit WatchWeakSender(std::shared_ptr<sync_internal::WatchCore> core)
      : core_(std::move(core)) {}

  // A sender, unless all are gone.
  std::optional<WatchSender<T>> Upgrade() const {
    if (!core_->TryAddSender()) return std::nullopt;
    return WatchSender<T>(core_);
  }

 private:
  std::shared_ptr<sync_internal::WatchCore> core_;
};

}  // namespace weft::sync

#endif  // WEFT_SYNC_WATCH_SENDER_H_
