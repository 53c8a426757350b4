// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Algorithm. Who waits for a change is in one queue, which a new value empties in
// one critical section: so much for a thousand of them. A receiver that was released
// looks at the version again, since its owner may have moved on meanwhile.
#include "weft/sync/watch_core.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>

#include "weft/sync/wait_queue.h"
#include "weft/task/context.h"

namespace weft::sync_internal {

WatchCore::Value WatchCore::Get(uint64_t* word) const {
  std::lock_guard lock(mutex_);
  // Relaxed: written under the mutex.
  if (word != nullptr) *word = word_.load(std::memory_order_relaxed);
  return value_;
}

template <class Condition>
bool WatchCore::ExchangeIf(Condition condition, Value* value) {
  WakeBatch wakers;
  std::unique_lock lock(mutex_);
  wakers.Reserve(lock, [&] { return change_waiters_.size(); });
  if (!condition()) return false;
  value_.swap(*value);
  // Release: pairs with the acquire in word().
  word_.fetch_add(kVersion, std::memory_order_release);
  wakers.AddAll(change_waiters_);
  lock.unlock();
  wakers.WakeAll();
  return true;
}

bool WatchCore::Exchange(Value* value, const void* expected) {
  return ExchangeIf(
      [&] { return expected == nullptr || value_.get() == expected; }, value);
}

bool WatchCore::ExchangeIfReceived(Value* value) {
  return ExchangeIf([&] { return receivers_ != 0; }, value);
}

bool WatchCore::PollChange(WaitNode& node, uint64_t seen, Context& cx) {
  const auto is_news = [seen](uint64_t word) {
    return (word & kClosed) != 0 || word != seen;
  };
  if (!node.polled && is_news(word())) {
    if (!cx.HasBudget()) return false;
    cx.Charge();
    return true;
  }
  return PollWait(mutex_, change_waiters_, node, cx, [&] {
    // Relaxed: written under the mutex.
    const bool released = is_news(word_.load(std::memory_order_relaxed));
    // What released it has been seen meanwhile: it joins once more.
    if (!released && node.state > WaitNode::kQueued) {
      node.state = WaitNode::kIdle;
    }
    return released;
  });
}

void WatchCore::DropChangeWait(WaitNode& node) {
  std::lock_guard lock(mutex_);
  if (node.state == WaitNode::kQueued) change_waiters_.Remove(node);
}

bool WatchCore::PollUnwatched(WaitNode& node, Context& cx) {
  return PollWait(mutex_, unwatched_waiters_, node, cx, [&] {
    return node.state > WaitNode::kQueued || receivers_ == 0;
  });
}

void WatchCore::DropUnwatchedWait(WaitNode& node) {
  std::lock_guard lock(mutex_);
  if (node.state == WaitNode::kQueued) unwatched_waiters_.Remove(node);
}

void WatchCore::AddSender() {
  std::lock_guard lock(mutex_);
  ++senders_;
}

bool WatchCore::TryAddSender() {
  std::lock_guard lock(mutex_);
  if (senders_ == 0) return false;
  ++senders_;
  return true;
}

void WatchCore::DropSender() {
  WakeBatch wakers;
  std::unique_lock lock(mutex_);
  wakers.Reserve(lock,
                 [&] { return senders_ == 1 ? change_waiters_.size() : 0; });
  if (--senders_ != 0) return;
  // Release: as in ExchangeIf.
  word_.fetch_or(kClosed, std::memory_order_release);
  wakers.AddAll(change_waiters_);
  lock.unlock();
  wakers.WakeAll();
}

void WatchCore::AddReceiver() {
  std::lock_guard lock(mutex_);
  ++receivers_;
}

void WatchCore::DropReceiver() {
  WakeBatch wakers;
  std::unique_lock lock(mutex_);
  wakers.Reserve(
      lock, [&] { return receivers_ == 1 ? unwatched_waiters_.size() : 0; });
  if (--receivers_ != 0) return;
  wakers.AddAll(unwatched_waiters_);
  lock.unlock();
  wakers.WakeAll();
}

size_t WatchCore::senders() const {
  std::lock_guard lock(mutex_);
  return senders_;
}

size_t WatchCore::receivers() const {
  std::lock_guard lock(mutex_);
  return receivers_;
}

WatchCore::Value WatchCursor::TakeLatest() {
  uint64_t word = 0;
  WatchCore::Value value = core().Get(&word);
  const uint64_t version = word & ~WatchCore::kClosed;
  if (std::exchange(seen_, version) == version) return nullptr;
  return value;
}

}  // namespace weft::sync_internal
