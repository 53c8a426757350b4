// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// PriorityReceiver: the receiving end of a priority channel
// (sync/priority_channel.h).
//
// Each value goes to one receiver. A PriorityReceiver is a stream, too.
//
// Thread safety: const methods from any thread; an end is copied, assigned, used as
// a stream and destroyed by one thread at a time.
// Lifetime: an end outlives the futures that it made. Ends may be destroyed in any
// order.
// Dropping: a Receive or ReceiveMany that is dropped has taken nothing; a value that
// it was woken for is the next receiver's. Of the last receiver: closes, and destroys
// what nobody will receive.
#ifndef WEFT_SYNC_PRIORITY_RECEIVER_H_
#define WEFT_SYNC_PRIORITY_RECEIVER_H_

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "weft/sync/channel_waits.h"
#include "weft/sync/poll_pop.h"
#include "weft/sync/priority_core.h"
#include "weft/sync/priority_message.h"
#include "weft/sync/queue_step.h"
#include "weft/task/block_on.h"
#include "weft/task/check.h"
#include "weft/task/context.h"
#include "weft/task/polled.h"
#include "weft/task/status.h"

namespace weft::sync_internal {

// Pops the first message, of type PriorityMessageOf<T>, and calls take(T&&) with its
// value. No lock is held meanwhile.
template <class T, class Take>
QueueResult PopPriority(PriorityCore& core, Take take) {
  PriorityMessage* first = nullptr;
  const QueueResult result = core.Pop(first);
  const std::unique_ptr<PriorityMessageOf<T>> message(
      static_cast<PriorityMessageOf<T>*>(first));
  if (message != nullptr) take(std::move(message->value));
  return result;
}

}  // namespace weft::sync_internal

namespace weft::sync {

template <class T>
class PriorityReceiver;

template <class T>
class [[nodiscard]] PriorityReceiveFuture {
 public:
  using Output = absl::StatusOr<T>;

  PriorityReceiveFuture(PriorityReceiveFuture&&) = default;
  PriorityReceiveFuture& operator=(PriorityReceiveFuture&&) = delete;
  ~PriorityReceiveFuture() {
    if (wait_.polled) core_->DropReceiver(wait_);
  }

  Polled<Output> Poll(Context& cx) {
    Polled<Output> polled = kPending;
    const auto pop = [&] {
      return sync_internal::PopPriority<T>(
          *core_, [&](T&& value) { polled.Emplace(std::move(value)); });
    };
    if (sync_internal::PollPop(*core_, wait_, cx, pop) ==
        sync_internal::QueueResult::kClosed) {
      polled.Emplace(ClosedStatus());
    }
    return polled;
  }

 private:
  friend PriorityReceiver<T>;
  explicit PriorityReceiveFuture(sync_internal::PriorityCore* core)
      : core_(core) {}

  sync_internal::PriorityCore* core_;
  sync_internal::ChannelNode wait_;
};

template <class T>
class [[nodiscard]] PriorityReceiveManyFuture {
 public:
  using Output = size_t;

  PriorityReceiveManyFuture(PriorityReceiveManyFuture&&) = default;
  PriorityReceiveManyFuture& operator=(PriorityReceiveManyFuture&&) = delete;
  ~PriorityReceiveManyFuture() {
    if (wait_.polled) core_->DropReceiver(wait_);
  }

  Polled<size_t> Poll(Context& cx) {
    size_t count = 0;
    const sync_internal::QueueResult result =
        sync_internal::PollPop(*core_, wait_, cx, [&] { return Take(count); });
    if (result == sync_internal::QueueResult::kNotNow) return kPending;
    return count;
  }

 private:
  friend PriorityReceiver<T>;
  PriorityReceiveManyFuture(sync_internal::PriorityCore* core,
                            std::vector<T>& values, size_t max)
      : core_(core), values_(&values), max_(max) {}

  sync_internal::QueueResult Take(size_t& count) {
    // So that the vector need not grow while it is given values; they are here
    // already, so that many are made room for only.
    const size_t max = std::min(max_, std::max<size_t>(core_->Size(), 1));
    sync_internal::MakeRoom(*values_, max);
    for (; count < max; ++count) {
      const auto result = sync_internal::PopPriority<T>(
          *core_, [&](T&& value) { values_->push_back(std::move(value)); });
      if (result != sync_internal::QueueResult::kDone) {
        return count > 0 ? sync_internal::QueueResult::kDone : result;
      }
    }
    return sync_internal::QueueResult::kDone;
  }

  sync_internal::PriorityCore* core_;
  std::vector<T>* values_;
  size_t max_;
  sync_internal::ChannelNode wait_;
};

template <class T>
class PriorityReceiver {
 public:
  using Item = T;

  PriorityReceiver(const PriorityReceiver& other) : core_(other.core()) {
    core_->receivers().Add();
  }
  PriorityReceiver(PriorityReceiver&& other) noexcept
      : core_(std::exchange(other.core_, nullptr)),
        next_(std::move(other.next_)) {}
  PriorityReceiver& operator=(PriorityReceiver other) noexcept {
    std::swap(core_, other.core_);
    std::swap(next_, other.next_);
    return *this;
  }
  ~PriorityReceiver() {
    if (core_ == nullptr) return;
    next_.reset();
    if (!core_->receivers().Remove()) return;
    core_->Close();
    const auto drop = [](T&&) {};  // it goes with its message
    while (sync_internal::PopPriority<T>(*core_, drop) ==
           sync_internal::QueueResult::kDone) {
    }
    core_->ReleaseSide();
  }

  // Ready with the first value, or with ClosedStatus() once the channel is closed
  // and empty.
  PriorityReceiveFuture<T> Receive() const {
    return PriorityReceiveFuture<T>(core());
  }
  absl::StatusOr<T> BlockingReceive() const {
    return task_internal::BlockFor("PriorityReceiver::BlockingReceive()",
                                   Receive());
  }
  // A value, RefusedStatus() if there is none now, or ClosedStatus().
  absl::StatusOr<T> TryReceive() const {
    absl::StatusOr<T> received = RefusedStatus();
    const auto take = [&](T&& value) { received.emplace(std::move(value)); };
    if (sync_internal::PopPriority<T>(*core(), take) ==
        sync_internal::QueueResult::kClosed) {
      received = ClosedStatus();
    }
    return received;
  }

  // Appends up to `max` values to `values`, which outlives the future: at least one,
  // one after the other as TryReceive() would. Ready with how many; 0 once closed
  // and empty. Requires: max > 0.
  PriorityReceiveManyFuture<T> ReceiveMany(std::vector<T>& values,
                                           size_t max) const {
    WEFT_CHECK(max > 0, "ReceiveMany() of no values would wait for ever");
    return PriorityReceiveManyFuture<T>(core(), values, max);
  }

  // The same as Receive(), for Next(receiver): nullopt is the end.
  Polled<std::optional<T>> PollNext(Context& cx) {
    if (next_ == nullptr) next_.reset(new PriorityReceiveFuture<T>(core()));
    return sync_internal::PollNextOf<T>(*next_, cx);
  }
  // Of a pending PollNext().
  void StopWaiting() { next_.reset(); }

  // Closes: nothing is sent any more; what was can be received. True if it was
  // not closed before.
  bool Close() const { return core()->Close(); }
  bool IsClosed() const { return core()->IsClosed(); }

  // Moments' figures, as PrioritySender's.
  size_t size() const { return core()->Size(); }
  bool empty() const { return size() == 0; }
  bool IsFull() const { return size() >= capacity(); }
  size_t capacity() const { return core()->capacity(); }
  size_t sender_count() const { return core()->senders().Get(); }
  size_t receiver_count() const { return core()->receivers().Get(); }

 private:
  friend sync_internal::PriorityAccess;

  // Takes over a count.
  explicit PriorityReceiver(sync_internal::PriorityCore* core) : core_(core) {}

  sync_internal::PriorityCore* core() const {
    WEFT_CHECK(core_ != nullptr, "this end of a channel was moved from");
    return core_;
  }

  sync_internal::PriorityCore* core_;
  // The wait of PollNext; apart, as the end may be moved.
  std::unique_ptr<PriorityReceiveFuture<T>> next_;
};

}  // namespace weft::sync

#endif  // WEFT_SYNC_PRIORITY_RECEIVER_H_
