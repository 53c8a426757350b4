// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Algorithm. Who has come is in the queue, so who leaves the queue has not come.
// The one that would fill it does not join: it empties the queue, which starts
// the next round, and is the leader.
#include "weft/sync/barrier.h"

#include <cstddef>
#include <mutex>
#include <utility>

#include "weft/sync/wait_queue.h"
#include "weft/task/block_on.h"
#include "weft/task/check.h"
#include "weft/task/context.h"
#include "weft/task/polled.h"
#include "weft/task/waker.h"

namespace weft::sync {

using sync_internal::WaitNode;

Barrier::~Barrier() {
  // Whoever opened it may still be inside.
  std::lock_guard lock(mutex_);
  WEFT_CHECK(arrived_.IsEmpty(),
             "a Barrier was destroyed while something waits for it");
}

bool Barrier::BlockingWait() {
  return task_internal::BlockFor("Barrier::BlockingWait()", Wait());
}

size_t Barrier::arrived() const {
  std::lock_guard lock(mutex_);
  return arrived_.size();
}

Polled<bool> Barrier::PollWait(WaitNode& node, Context& cx) {
  if (!node.polled) return Arrive(node, cx);
  const bool released = sync_internal::PollWait(
      mutex_, arrived_, node, cx,
      [&] { return node.state == WaitNode::kReleased; });
  return released ? Polled<bool>(false) : kPending;
}

Polled<bool> Barrier::Arrive(WaitNode& node, Context& cx) {
  Waker waker = cx.waker();  // dropped, if not needed, without the mutex
  sync_internal::WakeBatch wakers;
  std::unique_lock lock(mutex_);
  const auto opens = [&] { return arrived_.size() + 1 == count_; };
  wakers.Reserve(lock, [&] { return opens() ? arrived_.size() : 0; });
  if (!opens()) {
    node.polled = true;
    node.waker = std::move(waker);
    arrived_.PushBack(node);
    return kPending;
  }
  if (!cx.PeekBudget()) {
    // It comes when it can go through: nobody else may be the leader for it.
    lock.unlock();
    static_cast<void>(cx.HasBudget());
    return kPending;
  }
  wakers.AddAll(arrived_);
  lock.unlock();
  cx.Charge();
  wakers.WakeAll();
  return true;
}

void Barrier::DropWait(WaitNode& node) {
  std::lock_guard lock(mutex_);
  if (node.state == WaitNode::kQueued) arrived_.Remove(node);
}

}  // namespace weft::sync
