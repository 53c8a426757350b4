// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Algorithm. The queue holds waits that nobody has released; it is empty while
// the flag is set. Set raises the flag and empties the queue in one critical
// section, and a wait looks at the flag and joins the queue in one, so none
// falls in between. The destructor takes the mutex once: a waiter that saw the
// flag without the mutex may destroy the Event while Set is still inside.
// Whether anybody waits is seen without the mutex: sync/waiter_count.h.
#include "weft/sync/event.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <mutex>
#include <utility>

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
  wakers.AddAll(waiters_);
  count_.Update(0);
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

void Event::Notify(size_t count) { NotifySome(count, /*at_least=*/false); }
void Event::NotifyAtLeast(size_t count) {
  NotifySome(count, /*at_least=*/true);
}

void Event::NotifySome(size_t count, bool at_least) {
  if (!count_.MayBeWaiters()) return;
  sync_internal::WakeBatch wakers;
  std::unique_lock lock(mutex_);
  const auto released = [&] {
    const size_t already = at_least ? std::min(count, notified_) : 0;
    return std::min(count - already, waiters_.size());
  };
  wakers.Reserve(lock, released);
  const size_t releasing = released();
  for (size_t i = 0; i < releasing; ++i) wakers.Add(waiters_.NotifyFront());
  notified_ += releasing;
  count_.Update(waiters_.size());
  lock.unlock();
  wakers.WakeAll();
}

void Event::BlockingWait() {
  task_internal::BlockFor("Event::BlockingWait()", Wait());
}

void Event::Listener::BlockingWait() {
  task_internal::BlockFor("Event::Listener::BlockingWait()", *this);
}

bool Event::PollWait(WaitNode& node, Context& cx) {
  if (!node.polled && IsSet()) {
    if (!cx.HasBudget()) return false;
    cx.Charge();
    return true;
  }
  const bool finishes = cx.PeekBudget();
  return sync_internal::PollWait(mutex_, waiters_, node, cx, [&] {
    // Relaxed: written under the mutex, which is held here.
    const bool released =
        node.state > WaitNode::kQueued || set_.load(std::memory_order_relaxed);
    // It joins in a moment.
    if (!released && node.state == WaitNode::kIdle) {
      count_.Announce(waiters_.size() + 1);
    }
    if (node.state == WaitNode::kNotified && finishes) --notified_;
    return released;
  });
}

// A listener's first step.
void Event::Join(WaitNode& node) {
  std::lock_guard lock(mutex_);
  node.polled = true;
  // Relaxed: written under the mutex.
  if (set_.load(std::memory_order_relaxed)) {
    node.state = WaitNode::kReleased;
  } else {
    count_.Announce(waiters_.size() + 1);
    waiters_.PushBack(node);
  }
}

bool Event::TryWait(WaitNode& node) {
  Waker old;
  std::lock_guard lock(mutex_);
  if (node.state <= WaitNode::kQueued) return false;
  if (node.state == WaitNode::kNotified) --notified_;
  node.state = WaitNode::kIdle;
  node.polled = false;
  std::swap(old, node.waker);
  return true;
}

bool Event::Leave(WaitNode& node, bool pass_on) {
  Waker heir;
  Waker own;
  bool was_notified = false;
  {
    std::lock_guard lock(mutex_);
    if (node.state == WaitNode::kQueued) {
      waiters_.Remove(node);
    } else if (node.state == WaitNode::kNotified) {
      was_notified = true;
      if (pass_on && !waiters_.IsEmpty()) {
        heir = waiters_.NotifyFront();
      } else {
        --notified_;
      }
    }
    count_.Update(waiters_.size());
    node.state = WaitNode::kIdle;
    node.polled = false;
    std::swap(own, node.waker);
  }
  std::move(heir).Wake();
  return was_notified;
}

}  // namespace weft::sync
