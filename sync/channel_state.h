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
#include "weft/sync/end_count.h"
#include "weft/sync/queue_step.h"
#include "weft/sync/rendezvous.h"
#include "weft/sync/ring_queue.h"
#include "weft/task/check.h"
#include "weft/task/context.h"

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
        [this] { WakeReceiver(); });
  }
  QueueResult PushReserved(T& value) {
    if (kind_ != Kind::kBounded) return Push(value);
    Backoff<> backoff;
    for (;;) {
      const QueueResult result = Step([&] { return ring_.PushReserved(value); },
                                      [this] { WakeReceiver(); });
      if (result != QueueResult::kBusy) return result;
      backoff.Wait();
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
        [this] { WakeSender(); });
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
        [this] { WakeSender(); });
    // The others who have room now.
    for (size_t i = 1; i < count && SendersMayWait(); ++i) WakeSender();
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
  // Whether permits have all places of a bounded channel.
  bool IsReserved() const {
    return kind_ == Kind::kBounded && ring_.IsReserved();
  }
  void GiveBack() {
    if (kind_ == Kind::kBounded && ring_.GiveBack()) WakeSender();
  }

  // True if this call has closed it.
  bool Close() {
    const bool closed = IsRendezvous()            ? rendezvous_.Close(waits_)
                        : kind_ == Kind::kBounded ? ring_.Close()
                                                  : blocks_.Close();
    if (!closed) return false;
    // Whoever is woken first may destroy the ends.
    Ref();
    waits_.WakeAll();
    Unref();
    return true;
  }

  // Destroys what nobody has received, and waits for a thread that is moving a value
  // in. Requires: closed.
  void DestroyValues() {
    std::optional<T> value;
    const auto take = [&](T&& item) { value.emplace(std::move(item)); };
    Backoff<> backoff;
    for (;;) {
      const QueueResult result = Pop(take);
      if (result == QueueResult::kClosed) return;
      if (result != QueueResult::kDone) backoff.Wait();
      value.reset();
    }
  }

  // --- Sleeping, until a value, room or the end comes. False if it has come.

  bool SleepAsReceiver(ChannelNode& node, Context& cx) {
    return waits_.Sleep(
        waits_.receivers, node, cx, [this] { return ReceiversMaySleep(); },
        NoReceivers());
  }
  // Of a bounded channel.
  bool SleepAsSender(ChannelNode& node, Context& cx) {
    return waits_.Sleep(
        waits_.senders, node, cx, [this] { return ring_.SendersMaySleep(); },
        NoSenders());
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
    waits_.Finish(waits_.receivers, node, NoReceivers());
  }
  void FinishSender(ChannelNode& node) {
    waits_.Finish(waits_.senders, node, NoSenders());
  }
  void DropReceiver(ChannelNode& node) {
    waits_.Drop(waits_.receivers, node, NoReceivers());
  }
  void DropSender(ChannelNode& node) {
    waits_.Drop(waits_.senders, node, NoSenders());
  }
  void DropCloser(ChannelNode& node) {
    waits_.Drop(waits_.closers, node, [] {});
  }

  // --- Counting the ends.

  EndCount& senders() { return senders_; }
  EndCount& receivers() { return receivers_; }

  void Ref() { references_.Add(); }
  void Unref() {
    if (references_.Remove()) delete this;
  }

 private:
  // An operation, and what follows from it.
  template <class Try, class WakeOther>
  QueueResult Step(Try try_once, WakeOther wake_other) {
    Backoff<> backoff;
    for (;;) {
      const QueueStep step = try_once();
      if (step.result == QueueResult::kBusy && backoff.IsSpinning()) {
        backoff.Wait();
        continue;
      }
      if (step.wake) [[unlikely]]
        wake_other();
      return step.result;
    }
  }

  template <class Take>
  QueueResult PopOne(size_t& count, Take take) {
    const QueueResult result = Pop(take);
    count = result == QueueResult::kDone;
    return result;
  }

  void WakeReceiver() { waits_.WakeOne(waits_.receivers, NoReceivers()); }
  void WakeSender() { waits_.WakeOne(waits_.senders, NoSenders()); }

  // What ChannelWaits calls when a list has become empty.
  auto NoReceivers() {
    return [this] {
      if (kind_ == Kind::kBounded) ring_.NoReceiverWaits();
      if (kind_ == Kind::kUnbounded) blocks_.NoReceiverWaits();
    };
  }
  auto NoSenders() {
    return [this] {
      if (kind_ == Kind::kBounded) ring_.NoSenderWaits();
    };
  }

  bool ReceiversMaySleep() {
    if (kind_ == Kind::kBounded) return ring_.ReceiversMaySleep();
    return IsRendezvous() ? rendezvous_.ReceiversMaySleep(waits_)
                          : blocks_.ReceiversMaySleep();
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
  EndCount senders_;
  EndCount receivers_;
  // One for all senders, one for all receivers, one for each weak end.
  EndCount references_;
  ChannelWaits waits_;
};

}  // namespace weft::sync_internal

#endif  // WEFT_SYNC_CHANNEL_STATE_H_
