// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// PrioritySender: the sending end of a priority channel (sync/priority_channel.h).
//
// Thread safety: const methods from any thread; an end is copied, assigned and
// destroyed by one thread at a time.
// Lifetime: an end outlives the futures that it made. Ends may be destroyed in any
// order.
// Dropping: a Send that is dropped has sent nothing, and its value goes with it,
// unless TakeValue() saves that; room that it was woken for is the next sender's. Of
// the last sender: closes.
#ifndef WEFT_SYNC_PRIORITY_SENDER_H_
#define WEFT_SYNC_PRIORITY_SENDER_H_

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "weft/sync/channel_closed.h"
#include "weft/sync/channel_waits.h"
#include "weft/sync/priority_core.h"
#include "weft/sync/priority_message.h"
#include "weft/sync/queue_step.h"
#include "weft/sync/send_result.h"
#include "weft/task/block_on.h"
#include "weft/task/check.h"
#include "weft/task/context.h"
#include "weft/task/polled.h"

namespace weft::sync {

template <class T, class Priority = int>
class PrioritySender;

template <class T>
class [[nodiscard]] PrioritySendFuture {
 public:
  using Output = SendResult<T>;

  PrioritySendFuture(PrioritySendFuture&&) = default;
  PrioritySendFuture& operator=(PrioritySendFuture&&) = delete;
  ~PrioritySendFuture() {
    if (wait_.polled) core_->DropSender(wait_);
  }

  Polled<Output> Poll(Context& cx) {
    WEFT_CHECK(message_ != nullptr, "a Send was polled after it was ready");
    if (!cx.HasBudget()) return kPending;
    for (;;) {
      const sync_internal::QueueResult result = core_->Push(*message_);
      if (result == sync_internal::QueueResult::kNotNow) {
        if (core_->SleepAsSender(wait_, cx)) return kPending;
        continue;
      }
      cx.Charge();
      core_->FinishSender(wait_);
      if (result == sync_internal::QueueResult::kDone) {
        static_cast<void>(message_.release());  // a receiver's now
        return Output();
      }
      const std::unique_ptr<Message> message = std::move(message_);
      return Output::Closed(std::move(message->value));
    }
  }

  // The value, if it was not sent; there is nothing to poll for after that.
  std::optional<T> TakeValue() {
    if (wait_.polled) core_->DropSender(wait_);
    const std::unique_ptr<Message> message = std::move(message_);
    if (message == nullptr) return std::nullopt;
    return std::move(message->value);
  }

 private:
  template <class U, class Priority>
  friend class PrioritySender;
  using Message = sync_internal::PriorityMessageOf<T>;

  PrioritySendFuture(sync_internal::PriorityCore* core,
                     std::unique_ptr<Message> message)
      : core_(core), message_(std::move(message)) {}

  sync_internal::PriorityCore* core_;
  std::unique_ptr<Message> message_;
  sync_internal::ChannelNode wait_;
};

using PriorityClosedFuture = ChannelClosedFuture<sync_internal::PriorityCore>;

template <class T, class Priority>
class PrioritySender {
 public:
  static_assert((std::integral<Priority> || std::is_enum_v<Priority>) &&
                    sizeof(Priority) <= sizeof(uint64_t),
                "a priority is an integer or an enum: numbers can be compared "
                "under a channel's lock, other things might lock it again");

  PrioritySender(const PrioritySender& other) : core_(other.core()) {
    core_->senders().Add();
  }
  PrioritySender(PrioritySender&& other) noexcept
      : core_(std::exchange(other.core_, nullptr)) {}
  PrioritySender& operator=(PrioritySender other) noexcept {
    std::swap(core_, other.core_);
    return *this;
  }
  ~PrioritySender() {
    if (core_ == nullptr || !core_->senders().Remove()) return;
    core_->Close();
    core_->ReleaseSide();
  }

  // Ready once there was room for `value`, or the channel was closed. Who waits is
  // woken in turn, whatever the priorities.
  PrioritySendFuture<T> Send(T&& value, Priority priority) const {
    return {core(), Make(std::move(value), priority)};
  }
  PrioritySendFuture<T> Send(const T& value, Priority priority) const
    requires std::is_copy_constructible_v<T>
  {
    return {core(), Make(value, priority)};
  }
  SendResult<T> BlockingSend(T value, Priority priority) const {
    return task_internal::BlockFor("PrioritySender::BlockingSend()",
                                   Send(std::move(value), priority));
  }
  // Never waits.
  SendResult<T> TrySend(T value, Priority priority) const {
    auto message = Make(std::move(value), priority);
    const sync_internal::QueueResult result = core()->Push(*message);
    return ResultOf(result, std::move(message));
  }
  // Never waits: without room, whatever would be received last gives way, and
  // `displaced` is set to it. That may be `value` itself: then the result IsFull().
  SendResult<T> ForceSend(T value, Priority priority,
                          std::optional<T>* displaced = nullptr) const {
    auto message = Make(std::move(value), priority);
    sync_internal::PriorityMessage* out = nullptr;
    const sync_internal::QueueResult result = core()->ForcePush(*message, out);
    const std::unique_ptr<Message> last(static_cast<Message*>(out));
    if (last != nullptr && displaced != nullptr) {
      displaced->reset();
      displaced->emplace(std::move(last->value));
    }
    return ResultOf(result, std::move(message));
  }

  // Closes: nothing is sent any more; what was can be received. True if it was
  // not closed before.
  bool Close() const { return core()->Close(); }
  bool IsClosed() const { return core()->IsClosed(); }
  // Ready once the channel is closed, or its last receiver gone.
  PriorityClosedFuture Closed() const { return PriorityClosedFuture(core()); }

  // Moments' figures; capacity() is kUnbounded of an unbounded channel.
  static constexpr size_t kUnbounded = sync_internal::PriorityCore::kUnbounded;
  size_t size() const { return core()->Size(); }
  bool empty() const { return size() == 0; }
  bool IsFull() const { return size() >= capacity(); }
  size_t capacity() const { return core()->capacity(); }
  size_t sender_count() const { return core()->senders().Get(); }
  size_t receiver_count() const { return core()->receivers().Get(); }

 private:
  friend sync_internal::PriorityAccess;
  using Message = sync_internal::PriorityMessageOf<T>;

  // Takes over a count.
  explicit PrioritySender(sync_internal::PriorityCore* core) : core_(core) {}

  template <class U>
  static std::unique_ptr<Message> Make(U&& value, Priority priority) {
    return std::make_unique<Message>(sync_internal::RankOf(priority),
                                     std::forward<U>(value));
  }
  // What came of an attempt to send `message`, which is somebody else's if kDone.
  static SendResult<T> ResultOf(sync_internal::QueueResult result,
                                std::unique_ptr<Message> message) {
    switch (result) {
      case sync_internal::QueueResult::kDone:
        static_cast<void>(message.release());
        return SendResult<T>();
      case sync_internal::QueueResult::kClosed:
        return SendResult<T>::Closed(std::move(message->value));
      default:
        return SendResult<T>::Full(std::move(message->value));
    }
  }

  sync_internal::PriorityCore* core() const {
    WEFT_CHECK(core_ != nullptr, "this end of a channel was moved from");
    return core_;
  }

  sync_internal::PriorityCore* core_;
};

}  // namespace weft::sync

#endif  // WEFT_SYNC_PRIORITY_SENDER_H_
