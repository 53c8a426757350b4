// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/sync/wait_queue.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>

#include "weft/task/waker.h"

namespace weft::sync_internal {

void WaitQueue::PushBack(WaitNode& node) {
  node.state = WaitNode::kQueued;
  node.previous = back_;
  node.next = nullptr;
  (back_ != nullptr ? back_->next : front_) = &node;
  back_ = &node;
  ++size_;
}

void WaitQueue::PushFront(WaitNode& node) {
  node.state = WaitNode::kQueued;
  node.previous = nullptr;
  node.next = front_;
  (front_ != nullptr ? front_->previous : back_) = &node;
  front_ = &node;
  ++size_;
}

void WaitQueue::Remove(WaitNode& node) {
  node.state = WaitNode::kIdle;
  (node.previous != nullptr ? node.previous->next : front_) = node.next;
  (node.next != nullptr ? node.next->previous : back_) = node.previous;
  --size_;
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

void WakeBatch::Grow(size_t wanted) {
  // A little more, since others may come while the mutex is released.
  const size_t capacity = wanted + wanted / 2;
  auto more = std::make_unique<Waker[]>(capacity);
  std::move(wakers(), wakers() + size_, more.get());
  more_ = std::move(more);
  capacity_ = capacity;
}

void WakeBatch::AddAll(WaitQueue& queue, WaitNode::State state) {
  while (!queue.IsEmpty()) Add(queue.NotifyFront(state));
}

void WakeBatch::WakeAll() {
  const size_t size = std::exchange(size_, 0);
  Waker* const wakers = this->wakers();
  for (size_t i = 0; i < size; ++i) std::move(wakers[i]).Wake();
}

}  // namespace weft::sync_internal
