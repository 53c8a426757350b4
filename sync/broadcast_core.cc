// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Algorithm. A message is stored once and releases all who wait for it in one
// critical section, however many; each takes the mutex once more to read it. Who
// waits to send is never behind room that nobody offers it: whoever makes room
// serves the queue, and so does a sender that has just joined it and saw room.
#include "weft/sync/broadcast_core.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "weft/sync/broadcast_options.h"
#include "weft/sync/wait_queue.h"
#include "weft/task/check.h"
#include "weft/task/context.h"

namespace weft::sync_internal {

using Overflow = sync::BroadcastOptions::Overflow;

namespace {

void CheckCapacity(size_t capacity) {
  WEFT_CHECK(capacity > 0 && capacity <= (size_t{1} << 32),
             "a broadcast has a capacity from 1 to 2^32");
}

}  // namespace

BroadcastCore::BroadcastCore(size_t capacity,
                             const sync::BroadcastOptions& options)
    : options_(options), capacity_(capacity) {
  CheckCapacity(capacity);
  slots_ = std::vector<Slot>(std::bit_ceil(capacity));
}

bool BroadcastCore::HasRoom() const {
  if (receivers_ == 0) return !options_.await_active;
  return length() < capacity_ || options_.overflow == Overflow::kDropOldest;
}

BroadcastCore::Sent BroadcastCore::TrySend(Message* message) {
  WakeBatch wakers;
  Message displaced;
  std::unique_lock lock(mutex_);
  wakers.Reserve(lock, [&] { return take_waiters_.size(); });
  if (IsUnheard()) return Sent::kClosed;
  if (!send_waiters_.IsEmpty() || !HasRoom()) return Sent::kNotYet;
  if (receivers_ == 0) {
    // Nobody gets it.
    displaced.swap(*message);
    return Sent::kSent;
  }
  displaced = Push(std::move(*message));
  wakers.AddAll(take_waiters_);
  lock.unlock();
  wakers.WakeAll();
  return Sent::kSent;
}

BroadcastCore::Sent BroadcastCore::PollSend(Sending& node, Context& cx) {
  if (!node.polled && cx.PeekBudget()) {
    const Sent sent = TrySend(&node.message);
    if (sent != Sent::kNotYet) {
      cx.Charge();
      return sent;
    }
  }
  bool serves = false;
  const bool finished = PollWait(mutex_, send_waiters_, node, cx, [&] {
    if (node.state > WaitNode::kQueued || IsUnheard()) return true;
    // Room that came up before it joined.
    serves = HasRoom();
    return false;
  });
  if (serves) ServeSenders();
  if (!finished) return Sent::kNotYet;
  return node.sent ? Sent::kSent : Sent::kClosed;
}

void BroadcastCore::DropSend(Sending& node) {
  std::lock_guard lock(mutex_);
  if (node.state == WaitNode::kQueued) send_waiters_.Remove(node);
}

BroadcastCore::Taken BroadcastCore::Take(Position& position, Message* message) {
  if (position.next < head_) {
    position.lag = head_ - position.next;
    position.next = head_;
    return Taken::kLagged;
  }
  if (position.next == tail_) return closed_ ? Taken::kClosed : Taken::kNothing;
  Slot& slot = At(position.next++);
  if (--slot.readers > 0) {
    *message = slot.message;
  } else {
    *message = std::move(slot.message);
    ++head_;
  }
  return Taken::kMessage;
}

BroadcastCore::Taken BroadcastCore::TryTake(Position& position,
                                            Message* message) {
  bool serves = false;
  Taken taken = Taken::kNothing;
  {
    std::lock_guard lock(mutex_);
    taken = Take(position, message);
    serves = CountServed() != 0;
  }
  if (serves) ServeSenders();
  return taken;
}

BroadcastCore::Taken BroadcastCore::PollTake(WaitNode& node, Position& position,
                                             Message* message, Context& cx) {
  const bool has_budget = cx.PeekBudget();
  Taken taken = Taken::kNothing;
  if (!node.polled && has_budget) {
    taken = TryTake(position, message);
    if (taken != Taken::kNothing) {
      cx.Charge();
      return taken;
    }
  }
  bool serves = false;
  PollWait(mutex_, take_waiters_, node, cx, [&] {
    if (position.next == tail_ && !closed_) {
      // What released it has been taken meanwhile: it joins once more.
      if (node.state > WaitNode::kQueued) node.state = WaitNode::kIdle;
      return false;
    }
    if (has_budget) {
      taken = Take(position, message);
      serves = CountServed() != 0;
    }
    return true;
  });
  if (serves) ServeSenders();
  return taken;
}

void BroadcastCore::DropTake(WaitNode& node) {
  std::lock_guard lock(mutex_);
  if (node.state == WaitNode::kQueued) take_waiters_.Remove(node);
}

BroadcastCore::Message BroadcastCore::Push(Message&& message) {
  Message displaced;
  if (length() >= capacity_) displaced = std::move(At(head_++).message);
  // The slot is empty: its last message has left it.
  At(tail_++) = Slot{std::move(message), receivers_};
  return displaced;
}

// How many of the senders that wait need not wait any longer.
size_t BroadcastCore::CountServed() const {
  if (send_waiters_.IsEmpty() || !HasRoom()) return 0;
  if (receivers_ == 0 || options_.overflow == Overflow::kDropOldest) {
    return send_waiters_.size();
  }
  return std::min(send_waiters_.size(), capacity_ - length());
}

void BroadcastCore::ServeSenders() {
  WakeBatch wakers;
  std::unique_lock lock(mutex_);
  wakers.Reserve(lock, [&] {
    const size_t served = CountServed();
    return served == 0 ? 0 : served + take_waiters_.size();
  });
  const size_t served = CountServed();
  if (served == 0) return;
  for (size_t i = 0; i < served; ++i) {
    auto& sending = static_cast<Sending&>(*send_waiters_.front());
    sending.sent = true;
    // What nobody gets stays the sender's, to be dropped by it; so does the oldest
    // message where that makes room.
    if (receivers_ != 0) {
      sending.message = Push(std::move(sending.message));
    }
    wakers.Add(send_waiters_.NotifyFront(WaitNode::kReleased));
  }
  wakers.AddAll(take_waiters_);
  lock.unlock();
  wakers.WakeAll();
}

size_t BroadcastCore::CountUnheard() const {
  return send_waiters_.size() + unheard_waiters_.size();
}

void BroadcastCore::ReleaseUnheard(WakeBatch& wakers) {
  if (!IsUnheard()) return;
  wakers.AddAll(send_waiters_);
  wakers.AddAll(unheard_waiters_);
}

bool BroadcastCore::PollUnheard(WaitNode& node, Context& cx) {
  return PollWait(mutex_, unheard_waiters_, node, cx, [&] {
    return node.state > WaitNode::kQueued || IsUnheard();
  });
}

void BroadcastCore::DropUnheardWait(WaitNode& node) {
  std::lock_guard lock(mutex_);
  if (node.state == WaitNode::kQueued) unheard_waiters_.Remove(node);
}

void BroadcastCore::AddSender() {
  std::lock_guard lock(mutex_);
  ++senders_;
}

bool BroadcastCore::TryAddSender() {
  std::lock_guard lock(mutex_);
  if (closed_ || senders_ == 0) return false;
  ++senders_;
  return true;
}

void BroadcastCore::DropSender() {
  {
    std::lock_guard lock(mutex_);
    if (--senders_ != 0) return;
  }
  Close();
}

void BroadcastCore::Close() {
  WakeBatch wakers;
  std::unique_lock lock(mutex_);
  wakers.Reserve(lock, [&] { return CountUnheard() + take_waiters_.size(); });
  closed_ = true;
  ReleaseUnheard(wakers);
  wakers.AddAll(take_waiters_);
  lock.unlock();
  wakers.WakeAll();
}

BroadcastCore::Position BroadcastCore::AddReceiver(bool activates) {
  Position position;
  {
    std::lock_guard lock(mutex_);
    ++receivers_;
    if (activates) --inactive_;
    position.next = tail_;
  }
  ServeSenders();
  return position;
}

void BroadcastCore::CopyReceiver(const Position& position) {
  std::lock_guard lock(mutex_);
  ++receivers_;
  for (uint64_t n = std::max(position.next, head_); n != tail_; ++n) {
    ++At(n).readers;
  }
}

void BroadcastCore::DropReceiver(const Position& position, bool deactivates) {
  std::vector<Message> unread;  // what this was the last to read
  WakeBatch wakers;
  {
    std::unique_lock lock(mutex_);
    for (;;) {
      const size_t room = unread.capacity();
      wakers.Reserve(lock, [&] { return CountUnheard(); });
      if (room >= length()) break;
      const size_t wanted = length();
      lock.unlock();
      unread.reserve(wanted);
      lock.lock();
    }
    --receivers_;
    if (deactivates) ++inactive_;
    for (uint64_t n = std::max(position.next, head_); n != tail_; ++n) {
      Slot& slot = At(n);
      if (--slot.readers > 0) continue;
      unread.push_back(std::move(slot.message));
      ++head_;
    }
    ReleaseUnheard(wakers);
  }
  ServeSenders();
  wakers.WakeAll();
}

void BroadcastCore::AddInactive() {
  std::lock_guard lock(mutex_);
  ++inactive_;
}

void BroadcastCore::DropInactive() {
  WakeBatch wakers;
  std::unique_lock lock(mutex_);
  wakers.Reserve(lock, [&] { return CountUnheard(); });
  --inactive_;
  ReleaseUnheard(wakers);
  lock.unlock();
  wakers.WakeAll();
}

void BroadcastCore::SetCapacity(size_t capacity) {
  CheckCapacity(capacity);
  std::vector<Slot> slots;
  std::vector<Message> displaced;
  {
    std::unique_lock lock(mutex_);
    size_t surplus = 0;
    for (;;) {
      surplus = options_.overflow == Overflow::kDropOldest
                    ? length() - std::min(length(), capacity)
                    : 0;
      const size_t size = std::bit_ceil(std::max(capacity, length() - surplus));
      if (slots.size() == size && displaced.capacity() >= surplus) break;
      lock.unlock();
      slots = std::vector<Slot>(size);
      displaced.reserve(surplus);
      lock.lock();
    }
    for (; surplus > 0; --surplus) {
      displaced.push_back(std::move(At(head_++).message));
    }
    for (uint64_t n = head_; n != tail_; ++n) {
      slots[n & (slots.size() - 1)] = std::move(At(n));
    }
    slots_.swap(slots);
    capacity_ = capacity;
  }
  ServeSenders();
}

BroadcastCore::Counts BroadcastCore::GetCounts() const {
  std::lock_guard lock(mutex_);
  return {capacity_, length(), senders_, receivers_, inactive_, closed_};
}

size_t BroadcastCore::LengthFor(const Position& position) const {
  std::lock_guard lock(mutex_);
  return static_cast<size_t>(tail_ - std::max(position.next, head_));
}

}  // namespace weft::sync_internal
