// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/sync/once_core.h"

#include <atomic>
#include <mutex>
#include <utility>

#include "weft/sync/wait_queue.h"
#include "weft/task/check.h"
#include "weft/task/context.h"
#include "weft/task/waker.h"

namespace weft::sync_internal {

OnceCore::~OnceCore() {
  // Whoever made the value may still be inside.
  std::lock_guard lock(mutex_);
  WEFT_CHECK(turn_waiters_.IsEmpty() && value_waiters_.IsEmpty(),
             "a OnceCell was destroyed while something waits for it");
}

OnceCore::Turn OnceCore::TryTurn() {
  if (HasValue()) return Turn::kHasValue;
  std::lock_guard lock(mutex_);
  // Once more, since it may have come meanwhile.
  if (HasValue()) return Turn::kHasValue;
  return std::exchange(turn_taken_, true) ? Turn::kNotYet : Turn::kMine;
}

OnceCore::Turn OnceCore::PollTurn(WaitNode& node, Context& cx) {
  Turn turn = Turn::kNotYet;
  const bool finished = PollWait(mutex_, turn_waiters_, node, cx, [&] {
    const bool has_value = HasValue();
    if (node.state == WaitNode::kIdle && !turn_taken_ && !has_value) {
      turn_taken_ = true;
      node.state = WaitNode::kNotified;
    }
    if (node.state == WaitNode::kNotified) {
      turn = Turn::kMine;
    } else if (has_value) {
      turn = Turn::kHasValue;
    }
    return turn != Turn::kNotYet;
  });
  if (!finished) return Turn::kNotYet;
  node.waker = Waker();  // while the turn lasts, it waits for nothing here
  return turn;
}

void OnceCore::DropTurnWait(WaitNode& node) {
  {
    std::lock_guard lock(mutex_);
    if (node.state == WaitNode::kQueued) turn_waiters_.Remove(node);
    if (node.state != WaitNode::kNotified) return;
  }
  EndTurn();
}

void OnceCore::EndTurnWithValue() {
  WakeBatch wakers;
  std::unique_lock lock(mutex_);
  wakers.Reserve(lock,
                 [&] { return turn_waiters_.size() + value_waiters_.size(); });
  // Release: publishes the value to those who look without the mutex.
  has_value_.store(true, std::memory_order_release);
  turn_taken_ = false;
  wakers.AddAll(turn_waiters_);
  wakers.AddAll(value_waiters_);
  lock.unlock();
  wakers.WakeAll();
}

void OnceCore::EndTurn() {
  Waker heir;
  {
    std::lock_guard lock(mutex_);
    if (turn_waiters_.IsEmpty()) {
      turn_taken_ = false;
    } else {
      heir = turn_waiters_.NotifyFront();
    }
  }
  std::move(heir).Wake();
}

bool OnceCore::PollValue(WaitNode& node, Context& cx) {
  if (!node.polled && HasValue()) {
    if (!cx.HasBudget()) return false;
    cx.Charge();
    return true;
  }
  return PollWait(mutex_, value_waiters_, node, cx, [&] { return HasValue(); });
}

void OnceCore::DropValueWait(WaitNode& node) {
  std::lock_guard lock(mutex_);
  if (node.state == WaitNode::kQueued) value_waiters_.Remove(node);
}

}  // namespace weft::sync_internal
