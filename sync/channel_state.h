// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// ChannelState: what the ends of a channel share. Internal; sync/channel.h is the
// channel.
//
// One of RingQueue, BlockQueue and Rendezvous, by the capacity; the lists of who
// sleeps; and three counts: of senders, of receivers, and of those who
// keep the memory (all senders together, all receivers together, each weak end).
//
// Thread safety: all methods from any thread.
#ifndef WEFT_SYNC_CHANNEL_STATE_H_
#define WEFT_SYNC_CHANNEL_STATE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>

#include "weft/sync/backoff.h"
#include "weft/sync/block_queue.h"
#include "weft/sync/channel_waits.h"
#include "weft/sync/queue_step.h"
#include "weft/sync/rendezvous.h"
#include "weft/sync/ring_queue.h"
#include "weft/sync/wait_queue.h"
#include "weft/task/check.h"
#include "weft/task/context.h"
#include "weft/task/waker.h"

namespace weft::sync_internal {

// Makes the ends of a channel; see sync/channel.h.
struct ChannelAccess;

template <class T>
class ChannelState {
 public:
  static_assert(std::is_nothrow_move_constructible_v<T> &&
                    std::is_nothrow_destructible_v<T>,
                "what goes through a channel is moved without throwing; put it "
                "into a std::unique_ptr");

  static constexpr size_t kUnbounded = std::numeric_limits<size_t>::max();

  explicit ChannelState(size_t capacity) : kind_(KindOf(capacity)) {
    switch (kind_) {
      case Kind::kBounded:
        new (&ring_) RingQueue<T>(capacity);
        break;
      case Kind::kUnbounded:
        new (&blocks_) BlockQueue<T>();
        break;
      case Kind::kRendezvous:
        new (&rendezvous_) Rendezvous<T>();
    }
    references_.Add();
  }
  ChannelState(const ChannelState&) = delete;
  ChannelState& operator=(const ChannelState&) = delete;
  ~ChannelState() {
    Visit([](auto& queue) { std::destroy_at(&queue); });
  }

  bool IsRendezvous() const { return kind_ == Kind::kRendezvous; }
  size_t capacity() const {
    if (kind_ == Kind::kBounded) return ring_.capacity();
    return IsRendezvous() ? 0 : kUnbounded;
  }
  size_t Size() const {
    if (kind_ == Kind::kBounded) return ring_.Size();
    return IsRendezvous() ? 0 : blocks_.Size();
  }
  bool IsFull() const {
    return kind_ == Kind::kBounded ? ring_.IsFull() : IsRendezvous();
  }
  bool IsClosed() const {
    if (kind_ == Kind::kBounded) return ring_.IsClosed();
    return IsRendezvous() ? rendezvous_.IsClosed() : blocks_.IsClosed();
  }

  // Moves `value` in, or leaves it alone; gives way to a thread that is about to
  // make room. kBusy only if that takes long.
  QueueResult Push(T& value) {
    if (IsRendezvous()) return rendezvous_.Push(waits_, value);
    return Step(
        [&] {
          return kind_ == Kind::kBounded ? ring_.Push(value)
                                         : blocks_.Push(value);
        },
        waits_.receivers, [this] { NoReceiverWaits(); });
  }
  QueueResult PushReserved(T& value) {
    if (kind_ != Kind::kBounded) return Push(value);
    for (;;) {
      const QueueResult result =
          Step([&] { return ring_.PushReserved(value); }, waits_.receivers,
               [this] { NoReceiverWaits(); });
      if (result != QueueResult::kBusy) return result;
    }
  }
  // Calls take(T&&) with a value, which it moves from without throwing, if kDone.
  template <class Take>
  QueueResult Pop(Take take) {
    if (IsRendezvous()) return rendezvous_.Pop(waits_, take);
    return Step(
        [&] {
          return kind_ == Kind::kBounded ? ring_.Pop(take) : blocks_.Pop(take);
        },
        waits_.senders, [this] { NoSenderWaits(); });
  }
  // Up to `count` at once, which becomes how many.
  template <class Take>
  QueueResult PopSome(size_t& count, Take take) {
    if (IsRendezvous()) return PopOne(count, take);
    const size_t wanted = count;
    const QueueResult result = Step(
        [&] {
          count = wanted;
          return kind_ == Kind::kBounded ? ring_.PopSome(count, take)
                                         : blocks_.PopSome(count, take);
        },
        waits_.senders, [this] { NoSenderWaits(); });
    // The others who have room now.
    for (size_t i = 1; i < count && SendersMayWait(); ++i) {
      waits_.WakeOne(waits_.senders, [this] { NoSenderWaits(); });
    }
    return result;
  }

  QueueResult Reserve() {
    WEFT_CHECK(
        !IsRendezvous(),
        "a channel of capacity 0 has no place to reserve: give it one, or "
        "Send");
    if (kind_ == Kind::kBounded) return ring_.Reserve();
    return IsClosed() ? QueueResult::kClosed : QueueResult::kDone;
  }
  void GiveBack() {
    if (kind_ == Kind::kBounded && ring_.GiveBack()) {
      waits_.WakeOne(waits_.senders, [this] { NoSenderWaits(); });
    }
  }

  // True if this call has closed it.
  bool Close() {
    const bool closed = IsRendezvous()            ? rendezvous_.Close(waits_)
                        : kind_ == Kind::kBounded ? ring_.Close()
                                                  : blocks_.Close();
    if (closed) waits_.WakeAll();
    return closed;
  }

  // --- Sleeping, until a value, room or the end comes. False if it has come.

  bool SleepAsReceiver(ChannelNode& node, Context& cx) {
    Waker sender;
    const bool sleeps = waits_.Sleep(
        waits_.receivers, node, cx,
        [&] {
          if (!ReceiversMaySleep()) return false;
          // One that was woken may have been forgotten.
          if (kind_ == Kind::kBounded && !waits_.senders.IsEmpty()) {
            sender =
                waits_.NotifyFront(waits_.senders, [this] { NoSenderWaits(); });
          }
          return true;
        },
        [this] { NoReceiverWaits(); });
    std::move(sender).Wake();
    return sleeps;
  }
  // Of a bounded channel.
  bool SleepAsSender(ChannelNode& node, Context& cx) {
    Waker receiver;
    const bool sleeps = waits_.Sleep(
        waits_.senders, node, cx,
        [&] {
          if (!ring_.SendersMaySleep()) return false;
          if (!waits_.receivers.IsEmpty()) {
            receiver = waits_.NotifyFront(waits_.receivers,
                                          [this] { NoReceiverWaits(); });
          }
          return true;
        },
        [this] { NoSenderWaits(); });
    std::move(receiver).Wake();
    return sleeps;
  }
  // Of a rendezvous: the wait of a sender, and its end; see sync/rendezvous.h.
  QueueResult PollOffer(Offer<T>& offer, std::optional<T>& value, Context& cx) {
    return rendezvous_.PollOffer(waits_, offer, value, cx);
  }
  bool DropOffer(Offer<T>& offer) {
    return rendezvous_.DropOffer(waits_, offer);
  }
  bool SleepUntilClosed(ChannelNode& node, Context& cx) {
    return waits_.Sleep(
        waits_.closers, node, cx, [this] { return !IsClosed(); }, [] {});
  }
  void FinishReceiver(ChannelNode& node) {
    waits_.Finish(waits_.receivers, node, [this] { NoReceiverWaits(); });
  }
  void FinishSender(ChannelNode& node) {
    waits_.Finish(waits_.senders, node, [this] { NoSenderWaits(); });
  }
  void DropReceiver(ChannelNode& node) {
    waits_.Drop(waits_.receivers, node, [this] { NoReceiverWaits(); });
  }
  void DropSender(ChannelNode& node) {
    waits_.Drop(waits_.senders, node, [this] { NoSenderWaits(); });
  }
  void DropCloser(ChannelNode& node) {
    waits_.Drop(waits_.closers, node, [] {});
  }

  // --- Counting the ends.

  class Count {
   public:
    uint32_t Get() const { return count_.load(std::memory_order_acquire); }
    // Relaxed: one more is made from an existing one.
    void Add() { count_.fetch_add(1, std::memory_order_relaxed); }
    // True if it was the last one. Acquire-release: that one sees all the others
    // did.
    bool Remove() {
      return count_.fetch_sub(1, std::memory_order_acq_rel) == 1;
    }
    // False if there is none any more.
    bool TryAdd() {
      // Relaxed: the exchange decides.
      uint32_t count = count_.load(std::memory_order_relaxed);
      while (count != 0) {
        if (count_.compare_exchange_weak(count, count + 1,
                                         std::memory_order_acq_rel,
                                         std::memory_order_relaxed)) {
          return true;
        }
      }
      return false;
    }

   private:
    std::atomic<uint32_t> count_{1};
  };

  Count& senders() { return senders_; }
  Count& receivers() { return receivers_; }

  void Ref() { references_.Add(); }
  void Unref() {
    if (references_.Remove()) delete this;
  }

 private:
  // An operation, and what follows from it.
  template <class Try, class OnEmpty>
  QueueResult Step(Try try_once, WaitQueue& others, OnEmpty on_empty) {
    Backoff<> backoff;
    for (;;) {
      const QueueStep step = try_once();
      if (step.result == QueueResult::kBusy && backoff.IsSpinning()) {
        backoff.Wait();
        continue;
      }
      if (step.wake) [[unlikely]]
        waits_.WakeOne(others, on_empty);
      return step.result;
    }
  }

  template <class Take>
  QueueResult PopOne(size_t& count, Take take) {
    const QueueResult result = Pop(take);
    count = result == QueueResult::kDone;
    return result;
  }

  bool ReceiversMaySleep() {
    if (kind_ == Kind::kBounded) return ring_.ReceiversMaySleep();
    return IsRendezvous() ? rendezvous_.ReceiversMaySleep(waits_)
                          : blocks_.ReceiversMaySleep();
  }
  void NoReceiverWaits() {
    if (kind_ == Kind::kBounded) ring_.NoReceiverWaits();
    if (kind_ == Kind::kUnbounded) blocks_.NoReceiverWaits();
  }
  void NoSenderWaits() {
    if (kind_ == Kind::kBounded) ring_.NoSenderWaits();
  }
  bool SendersMayWait() const {
    return kind_ == Kind::kBounded && ring_.SendersMayWait();
  }

  enum class Kind : uint8_t { kBounded, kUnbounded, kRendezvous };

  static Kind KindOf(size_t capacity) {
    if (capacity == 0) return Kind::kRendezvous;
    return capacity == kUnbounded ? Kind::kUnbounded : Kind::kBounded;
  }

  template <class Visitor>
  void Visit(Visitor visit) {
    switch (kind_) {
      case Kind::kBounded:
        return visit(ring_);
      case Kind::kUnbounded:
        return visit(blocks_);
      case Kind::kRendezvous:
        return visit(rendezvous_);
    }
  }

  union {
    RingQueue<T> ring_;
    BlockQueue<T> blocks_;
    Rendezvous<T> rendezvous_;
  };
  const Kind kind_;
  Count senders_;
  Count receivers_;
  // One for all senders, one for all receivers, one for each weak end.
  Count references_;
  ChannelWaits waits_;
};

}  // namespace weft::sync_internal

#endif  // WEFT_SYNC_CHANNEL_STATE_H_
