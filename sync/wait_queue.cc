// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/sync/wait_queue.h"

#include <atomic>
#include <cstddef>
#include <mutex>
#include <utility>

#include "weft/task/wake_list.h"
#include "weft/task/waker.h"

namespace weft::sync_internal {

namespace {

// Guards linked_ of every batch, and the links of the nodes in it. It is locked
// under the mutexes of primitives, and nothing under it.
constinit std::mutex batches;

}  // namespace

void WaitNode::LeaveBatchSlowly() {
  const std::lock_guard lock(batches);
  // Relaxed: cleared under the mutex.
  WakeBatch* const from = batch.load(std::memory_order_relaxed);
  if (from == nullptr) return;
  from->linked_.Unlink(*this);
  batch.store(nullptr, std::memory_order_relaxed);
}

void WaitQueue::LinkBack(WaitNode& node) {
  node.previous = back_;
  node.next = nullptr;
  (back_ != nullptr ? back_->next : front_) = &node;
  back_ = &node;
  ++size_;
}

void WaitQueue::Unlink(WaitNode& node) {
  (node.previous != nullptr ? node.previous->next : front_) = node.next;
  (node.next != nullptr ? node.next->previous : back_) = node.previous;
  --size_;
}

void WaitQueue::PushBack(WaitNode& node) {
  node.LeaveBatch();
  node.state = WaitNode::kQueued;
  LinkBack(node);
}

void WaitQueue::PushFront(WaitNode& node) {
  node.LeaveBatch();
  node.state = WaitNode::kQueued;
  node.previous = nullptr;
  node.next = front_;
  (front_ != nullptr ? front_->previous : back_) = &node;
  front_ = &node;
  ++size_;
}

void WaitQueue::Remove(WaitNode& node) {
  node.state = WaitNode::kIdle;
  Unlink(node);
}

Waker WaitQueue::NotifyFront(WaitNode::State state) {
  WaitNode& node = *front_;
  Remove(node);
  node.state = state;
  return std::move(node.waker);
}

Waker WaitQueue::NotifyBack(WaitNode::State state) {
  WaitNode& node = *back_;
  Remove(node);
  node.state = state;
  return std::move(node.waker);
}

void WakeBatch::AddFront(WaitQueue& queue, WaitNode::State state) {
  if (size_ < kInPlace) {
    in_place_[size_++] = queue.NotifyFront(state);
    return;
  }
  const std::lock_guard lock(batches);
  Link(queue, state);
}

void WakeBatch::AddAll(WaitQueue& queue, WaitNode::State state) {
  while (!queue.IsEmpty() && size_ < kInPlace) AddFront(queue, state);
  if (queue.IsEmpty()) return;
  const std::lock_guard lock(batches);
  while (!queue.IsEmpty()) Link(queue, state);
}

void WakeBatch::Link(WaitQueue& queue, WaitNode::State state) {
  WaitNode& node = *queue.front();
  queue.Unlink(node);
  node.state = state;
  has_linked_ = true;
  linked_.LinkBack(node);
  // Relaxed: the owner looks after it has locked the primitive's mutex.
  node.batch.store(this, std::memory_order_relaxed);
}

void WakeBatch::WakeAll() {
  const size_t size = std::exchange(size_, 0);
  for (size_t i = 0; i < size; ++i) std::move(in_place_[i]).Wake();
  while (has_linked_) {
    WakeList wakers;
    {
      const std::lock_guard lock(batches);
      while (!linked_.IsEmpty() && !wakers.IsFull()) {
        WaitNode& node = *linked_.front();
        linked_.Unlink(node);
        wakers.Add(std::move(node.waker));
        // Release: the last use of the node, which may go from here on.
        node.batch.store(nullptr, std::memory_order_release);
      }
      has_linked_ = !linked_.IsEmpty();
    }
    wakers.WakeAll();
  }
}

}  // namespace weft::sync_internal
