// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/executor/tick_list.h"

#include <mutex>
#include <utility>

#include "weft/task/waker.h"

namespace weft::executor_internal {

void TickList::Wait(TickWaiter& waiter, Waker waker) {
  const std::lock_guard lock(mutex_);
  std::swap(waiter.waker, waker);  // the old one ends after the lock
  if (waiter.state == TickWaiter::State::kWaiting) return;
  waiter.state = TickWaiter::State::kWaiting;
  waiter.previous = last_;
  waiter.next = nullptr;
  (last_ != nullptr ? last_->next : first_) = &waiter;
  last_ = &waiter;
  idle_.AddWaiting();
}

bool TickList::WakeOne() {
  Waker waker;
  {
    const std::lock_guard lock(mutex_);
    TickWaiter* waiter = first_;
    if (waiter == nullptr) return false;
    waker = std::exchange(waiter->waker, Waker());
    Unlink(*waiter);
    waiter->state = TickWaiter::State::kNotified;
  }
  std::move(waker).Wake();
  return true;
}

bool TickList::Leave(TickWaiter& waiter) {
  Waker waker;  // ends after the lock
  const std::lock_guard lock(mutex_);
  if (waiter.state == TickWaiter::State::kWaiting) Unlink(waiter);
  const bool notified = waiter.state == TickWaiter::State::kNotified;
  waiter.state = TickWaiter::State::kIdle;
  waker = std::exchange(waiter.waker, Waker());
  return notified;
}

void TickList::Unlink(TickWaiter& waiter) {
  (waiter.previous != nullptr ? waiter.previous->next : first_) = waiter.next;
  (waiter.next != nullptr ? waiter.next->previous : last_) = waiter.previous;
  idle_.RemoveWaiting();
}

}  // namespace weft::executor_internal
