// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Algorithm. sync/notify_word.h says which notification is a permit. Those for
// the queue are given with its mutex held, where the word says that somebody
// waits exactly as long as the queue is not empty. A round is counted in the
// critical section that empties the queue, so a wait that was made before it is
// either in the queue or sees the count. The destructor takes the mutex once:
// a wait that saw the count without the mutex may destroy the Notify while
// NotifyAll is still inside.
#include "weft/sync/notify.h"

#include <cstdint>
#include <mutex>
#include <utility>

#include "weft/sync/wait_queue.h"
#include "weft/task/block_on.h"
#include "weft/task/check.h"
#include "weft/task/context.h"
#include "weft/task/waker.h"

namespace weft::sync {

using sync_internal::WaitNode;

Notify::~Notify() {
  std::lock_guard lock(mutex_);
  WEFT_CHECK(waiters_.IsEmpty(),
             "a Notify was destroyed while something waits for it");
}

void Notify::NotifyAny(bool last) {
  if (word_.TryLeavePermit()) return;
  Waker waker;
  {
    std::lock_guard lock(mutex_);
    if (waiters_.IsEmpty()) {
      // They have gone, and nobody can come while the mutex is held.
      word_.TryLeavePermit();
      return;
    }
    waker = last ? waiters_.NotifyBack() : waiters_.NotifyFront();
    if (waiters_.IsEmpty()) word_.EndWaits();
  }
  std::move(waker).Wake();
}

void Notify::NotifyAll() {
  sync_internal::WakeBatch wakers;
  std::unique_lock lock(mutex_);
  wakers.Reserve(lock, [&] { return waiters_.size(); });
  word_.BeginRound();
  if (!waiters_.IsEmpty()) {
    wakers.AddAll(waiters_);
    word_.EndWaits();
  }
  lock.unlock();
  wakers.WakeAll();
}

void Notify::BlockingWait() {
  task_internal::BlockFor("Notify::BlockingWait()", Wait());
}

bool Notify::PollWait(WaitNode& node, uint64_t rounds, Context& cx) {
  if (!node.polled && cx.PeekBudget() &&
      (word_.Rounds() != rounds || word_.TryTakePermit())) {
    cx.Charge();
    return true;
  }
  return sync_internal::PollWait(mutex_, waiters_, node, cx, [&] {
    if (node.state != WaitNode::kIdle) return node.state > WaitNode::kQueued;
    switch (word_.BeginWait(rounds)) {
      case Word::Begun::kWaits:
        return false;
      case Word::Begun::kHasPermit:
        node.state = WaitNode::kNotified;
        return true;
      case Word::Begun::kAllWereNotified:
        return true;
    }
    return false;
  });
}

void Notify::DropWait(WaitNode& node) {
  bool passes_on = false;
  {
    std::lock_guard lock(mutex_);
    passes_on = node.state == WaitNode::kNotified;
    if (node.state == WaitNode::kQueued) {
      waiters_.Remove(node);
      if (waiters_.IsEmpty()) word_.EndWaits();
    }
  }
  if (passes_on) NotifyOne();
}

}  // namespace weft::sync
