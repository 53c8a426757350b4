// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Algorithm. The queue holds waits that nobody has released; it is empty while
// the flag is set. Set raises the flag and empties the queue in one critical
// section, and a wait looks at the flag and joins the queue in one, so none
// falls in between. The destructor takes the mutex once: a waiter that saw the
// flag without the mutex may destroy the Event while Set is still inside.
#include "weft/sync/event.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <mutex>

#include "weft/sync/wait_queue.h"
#include "weft/task/block_on.h"
#include "weft/task/check.h"
#include "weft/task/context.h"
#include "weft/task/waker.h"

namespace weft::sync {

using sync_internal::WaitNode;

Event::~Event() {
  std::lock_guard lock(mutex_);
  WEFT_CHECK(waiters_.IsEmpty(),
             "an Event was destroyed while something waits for it");
}

void Event::Set() {
  sync_internal::WakeBatch wakers;
  std::unique_lock lock(mutex_);
  wakers.Reserve(lock, [&] { return waiters_.size(); });
  // Release: pairs with the acquire of whoever sees the flag without the mutex.
  set_.store(true, std::memory_order_release);
  while (!waiters_.IsEmpty()) {
    wakers.Add(waiters_.NotifyFront(WaitNode::kReleased));
  }
  lock.unlock();
  wakers.WakeAll();
}

void Event::Reset() {
  std::lock_guard lock(mutex_);
  // Relaxed: lowering the flag publishes nothing.
  set_.store(false, std::memory_order_relaxed);
}

bool Event::IsSet() const {
  // Acquire: pairs with the release in Set.
  return set_.load(std::memory_order_acquire);
}

void Event::Notify(size_t count) {
  sync_internal::WakeBatch wakers;
  std::unique_lock lock(mutex_);
  const auto released = [&] { return std::min(count, waiters_.size()); };
  wakers.Reserve(lock, released);
  for (size_t left = released(); left > 0; --left) {
    wakers.Add(waiters_.NotifyFront());
  }
  lock.unlock();
  wakers.WakeAll();
}

void Event::BlockingWait() {
  task_internal::BlockFor("Event::BlockingWait()", Wait());
}

bool Event::PollWait(WaitNode& node, Context& cx) {
  if (!node.polled && IsSet()) {
    if (!cx.HasBudget()) return false;
    cx.Charge();
    return true;
  }
  return sync_internal::PollWait(mutex_, waiters_, node, cx, [&] {
    // Relaxed: written under the mutex, which is held here.
    return node.state > WaitNode::kQueued ||
           set_.load(std::memory_order_relaxed);
  });
}

void Event::DropWait(WaitNode& node) {
  Waker heir;
  {
    std::lock_guard lock(mutex_);
    if (node.state == WaitNode::kQueued) {
      waiters_.Remove(node);
    } else if (node.state == WaitNode::kNotified && !waiters_.IsEmpty()) {
      heir = waiters_.NotifyFront();
    }
  }
  std::move(heir).Wake();
}

}  // namespace weft::sync
