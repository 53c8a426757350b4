// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Algorithm. A wait joins the queue and then unlocks the user's mutex, so whoever
// locks that next finds it in the queue. Notifying takes it out; its next poll starts
// to lock again. The user's mutex is never locked or unlocked under ours. The
// destructor takes our mutex once: the last waiter may destroy the Condvar while the
// one who notified it is still inside.
#include "weft/sync/condvar.h"

#include <mutex>
#include <utility>

#include "weft/sync/wait_queue.h"
#include "weft/task/check.h"
#include "weft/task/context.h"
#include "weft/task/waker.h"

namespace weft::sync {

using sync_internal::WaitNode;

Condvar::~Condvar() {
  std::lock_guard lock(mutex_);
  WEFT_CHECK(waiters_.IsEmpty(),
             "a Condvar was destroyed while something waits for it");
}

void Condvar::NotifyFront() {
  Waker waker;
  {
    std::lock_guard lock(mutex_);
    if (waiters_.IsEmpty()) return;
    waker = waiters_.NotifyFront(WaitNode::kNotified);
    SetHasWaiters(!waiters_.IsEmpty());
  }
  std::move(waker).Wake();
}

void Condvar::NotifyEach() {
  sync_internal::WakeBatch wakers;
  std::unique_lock lock(mutex_);
  wakers.Reserve(lock, [&] { return waiters_.size(); });
  wakers.AddAll(waiters_);
  SetHasWaiters(false);
  lock.unlock();
  wakers.WakeAll();
}

Condvar::Notified Condvar::PollWait(WaitNode& node, Context& cx) {
  Notified notified = Notified::kNotYet;
  const bool finished =
      sync_internal::PollWait(mutex_, waiters_, node, cx, [&] {
        if (node.state <= WaitNode::kQueued) {
          SetHasWaiters(true);  // in a moment
          return false;
        }
        notified = node.state == WaitNode::kNotified ? Notified::kAlone
                                                     : Notified::kWithAll;
        return true;
      });
  return finished ? notified : Notified::kNotYet;
}

void Condvar::DropWait(WaitNode& node) {
  Waker heir;
  {
    std::lock_guard lock(mutex_);
    if (node.state == WaitNode::kQueued) {
      waiters_.Remove(node);
    } else if (node.state == WaitNode::kNotified && !waiters_.IsEmpty()) {
      heir = waiters_.NotifyFront();
    }
    SetHasWaiters(!waiters_.IsEmpty());
  }
  std::move(heir).Wake();
}

}  // namespace weft::sync
