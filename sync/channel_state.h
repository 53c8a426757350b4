// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// ChannelState: what the ends of a channel share. Internal; sync/channel.h is the
// channel.
//
// One of two queues, RingQueue or BlockQueue, by whether there is a capacity; the
// lists of who sleeps; and three counts: of senders, of receivers, and of those who
// keep the memory (all senders together, all receivers together, each weak end).
//
// Thread safety: all methods from any thread.
#ifndef WEFT_SYNC_CHANNEL_STATE_H_
#define WEFT_SYNC_CHANNEL_STATE_H_

#include <atomic>
#include <cstddef>
#include <limits>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>

#include "weft/sync/backoff.h"
#include "weft/sync/block_queue.h"
#include "weft/sync/channel_waits.h"
#include "weft/sync/queue_step.h"
#include "weft/sync/ring_queue.h"
#include "weft/sync/wait_queue.h"
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

  explicit ChannelState(size_t capacity)
      : is_bounded_(capacity != kUnbounded) {
    if (is_bounded_) {
      new (&ring_) RingQueue<T>(capacity);
    } else {
      new (&blocks_) BlockQueue<T>();
    }
    references_.Add();
  }
  ChannelState(const ChannelState&) = delete;
  ChannelState& operator=(const ChannelState&) = delete;
  ~ChannelState() {
    if (is_bounded_) {
      ring_.~RingQueue();
    } else {
      blocks_.~BlockQueue();
    }
  }

  size_t capacity() const { return is_bounded_ ? ring_.capacity() : kUnbounded; }
  size_t Size() const { return is_bounded_ ? ring_.Size() : blocks_.Size(); }
  bool IsFull() const { return is_bounded_ && ring_.IsFull(); }
  bool IsClosed() const {
    return is_bounded_ ? ring_.IsClosed() : blocks_.IsClosed();
  }

  // Moves `value` in, or leaves it alone; gives way to a thread that is about to
  // make room. kBusy only if that takes long.
  QueueResult Push(T& value) {
    return Step([&] { return is_bounded_ ? ring_.Push(value) : blocks_.Push(value); },
                waits_.receivers, [this] { NoReceiverWaits(); });
  }
  QueueResult PushReserved(T& value) {
    if (!is_bounded_) return Push(value);
    for (;;) {
      const QueueResult result = Step([&] { return ring_.PushReserved(value); },
                                      waits_.receivers,
                                      [this] { NoReceiverWaits(); });
      if (result != QueueResult::kBusy) return result;
    }
  }
  QueueResult Pop(std::optional<T>& value) {
    return Step([&] { return is_bounded_ ? ring_.Pop(value) : blocks_.Pop(value); },
                waits_.senders, [this] { NoSenderWaits(); });
  }
  // Takes up to `count` at once: calls take(T&&) for each, which must not throw.
  template <class Take>
  QueueResult PopSome(size_t& count, Take take) {
    const size_t wanted = count;
    const QueueResult result = Step(
        [&] {
          count = wanted;
          return is_bounded_ ? ring_.PopSome(count, take)
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
    if (is_bounded_) return ring_.Reserve();
    return IsClosed() ? QueueResult::kClosed : QueueResult::kDone;
  }
  void GiveBack() {
    if (is_bounded_ && ring_.GiveBack()) {
      waits_.WakeOne(waits_.senders, [this] { NoSenderWaits(); });
    }
  }

  // True if this call has closed it.
  bool Close() {
    const bool closed = is_bounded_ ? ring_.Close() : blocks_.Close();
    if (closed) waits_.WakeAll();
    return closed;
  }

  // --- Sleeping, until a value, room or the end comes. False if it has come.

  bool SleepAsReceiver(WaitNode& node, Context& cx) {
    Waker sender;
    const bool sleeps = waits_.Sleep(
        waits_.receivers, node, cx,
        [&] {
          if (is_bounded_ ? !ring_.ReceiversMaySleep()
                          : !blocks_.ReceiversMaySleep()) {
            return false;
          }
          if (!waits_.senders.IsEmpty()) {
            sender = waits_.senders.NotifyFront();
            if (waits_.senders.IsEmpty()) NoSenderWaits();
          }
          return true;
        },
        [this] { NoReceiverWaits(); });
    std::move(sender).Wake();
    return sleeps;
  }
  bool SleepAsSender(WaitNode& node, Context& cx) {
    Waker receiver;
    const bool sleeps = waits_.Sleep(
        waits_.senders, node, cx,
        [&] {
          if (!ring_.SendersMaySleep()) return false;
          if (!waits_.receivers.IsEmpty()) {
            receiver = waits_.receivers.NotifyFront();
            if (waits_.receivers.IsEmpty()) NoReceiverWaits();
          }
          return true;
        },
        [this] { NoSenderWaits(); });
    std::move(receiver).Wake();
    return sleeps;
  }
  bool SleepUntilClosed(WaitNode& node, Context& cx) {
    return waits_.Sleep(
        waits_.closers, node, cx, [this] { return !IsClosed(); }, [] {});
  }
  void FinishReceiver(WaitNode& node) {
    waits_.Finish(waits_.receivers, node, [this] { NoReceiverWaits(); });
  }
  void FinishSender(WaitNode& node) {
    waits_.Finish(waits_.senders, node, [this] { NoSenderWaits(); });
  }
  void DropReceiver(WaitNode& node) {
    waits_.Drop(waits_.receivers, node, [this] { NoReceiverWaits(); });
  }
  void DropSender(WaitNode& node) {
    waits_.Drop(waits_.senders, node, [this] { NoSenderWaits(); });
  }
  void DropCloser(WaitNode& node) {
    waits_.Drop(waits_.closers, node, [] {});
  }

  // --- Counting the ends.

  class Count {
   public:
    size_t Get() const { return count_.load(std::memory_order_acquire); }
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
      size_t count = count_.load(std::memory_order_relaxed);
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
    std::atomic<size_t> count_{1};
  };

  Count senders;
  Count receivers;

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
      if (step.wake) [[unlikely]] waits_.WakeOne(others, on_empty);
      return step.result;
    }
  }

  void NoReceiverWaits() {
    is_bounded_ ? ring_.NoReceiverWaits() : blocks_.NoReceiverWaits();
  }
  void NoSenderWaits() { ring_.NoSenderWaits(); }
  bool SendersMayWait() const { return is_bounded_ && ring_.SendersMayWait(); }

  union {
    RingQueue<T> ring_;
    BlockQueue<T> blocks_;
  };
  const bool is_bounded_;
  // One for all senders, one for all receivers, one for each weak end: see Make.
  Count references_;
  ChannelWaits waits_;
};

}  // namespace weft::sync_internal

#endif  // WEFT_SYNC_CHANNEL_STATE_H_
