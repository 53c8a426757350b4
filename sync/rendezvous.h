// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Rendezvous: the inside of a channel without places: a value goes from a sender
// that waits to a receiver, and the sender goes on when it has gone. Internal.
//
// An Offer is a sender that waits, in the list of senders; its value stays with it
// until a receiver takes it, in a poll of its own. So a receiver that gives up has
// not got anything yet, and a sender that does has its value still.
//
//   kOpen    nobody has begun to take the value
//   kTaking  a receiver moves it out, under no lock; the sender stays where it is
//   kTaken   the sender may go on
//
// A value that is sent without waiting goes where some receiver sleeps, as a gift;
// it is anybody's who comes for it, should that one give up.
//
// Thread safety: all methods from any thread; an Offer by one thread at a time. The
// lock is that of the list of sleepers.
#ifndef WEFT_SYNC_RENDEZVOUS_H_
#define WEFT_SYNC_RENDEZVOUS_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "weft/sync/backoff.h"
#include "weft/sync/channel_waits.h"
#include "weft/sync/queue_step.h"
#include "weft/sync/wait_queue.h"
#include "weft/task/context.h"
#include "weft/task/waker.h"

namespace weft::sync_internal {

template <class T, class Waits = ChannelWaits>
struct Offer : Waits::Node {
  enum Phase : uint8_t { kOpen, kTaking, kTaken };

  Phase phase = kOpen;                // guarded by the lock
  std::optional<T>* value = nullptr;  // the sender's
};

// `Waits` lets a model checker run this code.
template <class T, class Waits = ChannelWaits>
class Rendezvous {
 public:
  using Offer = sync_internal::Offer<T, Waits>;

  Rendezvous() = default;
  Rendezvous(const Rendezvous&) = delete;
  Rendezvous& operator=(const Rendezvous&) = delete;
  ~Rendezvous() {
    while (first_ != nullptr) delete std::exchange(first_, first_->next);
  }

  // Gives `value` away if a receiver sleeps; else leaves it alone.
  QueueResult Push(Waits& waits, T& value) {
    if (const QueueResult result = Look(waits); result != QueueResult::kDone) {
      return result;
    }
    auto gift = std::make_unique<Gift>(std::move(value));
    std::unique_lock lock(waits.mutex);
    // Relaxed: written under the lock.
    const bool closed = closed_.load(std::memory_order_relaxed);
    if (closed || waits.receivers.IsEmpty()) {
      lock.unlock();
      value.~T();
      ::new (std::addressof(value)) T(std::move(gift->value));
      return closed ? QueueResult::kClosed : QueueResult::kNotNow;
    }
    (last_ != nullptr ? last_->next : first_) = gift.get();
    last_ = gift.release();
    typename Waits::Notified receiver =
        waits.NotifyFront(waits.receivers, [] {});
    lock.unlock();
    waits.Wake(waits.receivers, std::move(receiver), [] {});
    return QueueResult::kDone;
  }

  template <class Take>
  QueueResult Pop(Waits& waits, Take take) {
    std::unique_lock lock(waits.mutex);
    if (first_ != nullptr) {
      const std::unique_ptr<Gift> gift(first_);
      first_ = gift->next;
      if (first_ == nullptr) last_ = nullptr;
      lock.unlock();
      take(std::move(gift->value));
      return QueueResult::kDone;
    }
    if (waits.senders.IsEmpty()) {
      // Relaxed: written under the lock.
      return closed_.load(std::memory_order_relaxed) ? QueueResult::kClosed
                                                     : QueueResult::kNotNow;
    }
    auto& offer = static_cast<Offer&>(*waits.senders.front());
    waits.senders.Remove(offer);
    offer.phase = Offer::kTaking;
    lock.unlock();
    take(std::move(**offer.value));
    lock.lock();
    offer.phase = Offer::kTaken;
    const Waker sender = std::move(offer.waker);
    lock.unlock();  // the offer may be gone from here on
    sender.WakeByRef();
    return QueueResult::kDone;
  }

  // One poll of a sender that waits.
  QueueResult PollOffer(Waits& waits, Offer& offer, std::optional<T>& value,
                        Context& cx) {
    Waker waker = cx.waker();
    typename Waits::Notified receiver;
    std::unique_lock lock(waits.mutex);
    if (offer.phase == Offer::kTaking) return QueueResult::kBusy;
    std::swap(offer.waker, waker);
    // Relaxed: written under the lock.
    const bool closed = closed_.load(std::memory_order_relaxed);
    const bool taken = offer.phase == Offer::kTaken;
    if (taken || closed) {
      if (offer.state == WaitNode::kQueued) waits.senders.Remove(offer);
      std::swap(offer.waker, waker);
      offer.polled = false;
      return taken ? QueueResult::kDone : QueueResult::kClosed;
    }
    if (offer.state != WaitNode::kQueued) {
      offer.value = &value;
      waits.senders.PushBack(offer);
      if (!waits.receivers.IsEmpty())
        receiver = waits.NotifyFront(waits.receivers, [] {});
    }
    offer.polled = true;
    lock.unlock();
    waits.Wake(waits.receivers, std::move(receiver), [] {});
    return QueueResult::kNotNow;
  }
  // The sender gives up. True if its value has been taken.
  bool DropOffer(Waits& waits, Offer& offer) {
    Backoff<typename Waits::Atomics> backoff;
    std::unique_lock lock(waits.mutex);
    while (offer.phase == Offer::kTaking) {
      lock.unlock();
      backoff.Wait();
      lock.lock();
    }
    if (offer.state == WaitNode::kQueued) waits.senders.Remove(offer);
    offer.polled = false;
    return offer.phase == Offer::kTaken;
  }

  // Under the lock.
  bool ReceiversMaySleep(const Waits& waits) const {
    // Relaxed: written under the lock.
    return first_ == nullptr && waits.senders.IsEmpty() &&
           !closed_.load(std::memory_order_relaxed);
  }

  // True if this call has closed it.
  bool Close(Waits& waits) {
    std::lock_guard lock(waits.mutex);
    return !closed_.exchange(true, std::memory_order_acq_rel);
  }
  bool IsClosed() const { return closed_.load(std::memory_order_acquire); }

 private:
  struct Gift {
    explicit Gift(T&& value) : value(std::move(value)) {}

    T value;
    Gift* next = nullptr;
  };

  QueueResult Look(Waits& waits) const {
    std::lock_guard lock(waits.mutex);
    // Relaxed: written under the lock.
    if (closed_.load(std::memory_order_relaxed)) return QueueResult::kClosed;
    return waits.receivers.IsEmpty() ? QueueResult::kNotNow
                                     : QueueResult::kDone;
  }

  // Written under the lock; read anywhere.
  typename Waits::Atomics::template Atomic<bool> closed_{false};
  // Guarded by the lock.
  Gift* first_ = nullptr;
  Gift* last_ = nullptr;
};

}  // namespace weft::sync_internal

#endif  // WEFT_SYNC_RENDEZVOUS_H_
