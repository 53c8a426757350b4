// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/sync/priority_core.h"

#include <atomic>
#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

#include "weft/sync/channel_waits.h"
#include "weft/sync/priority_heap.h"
#include "weft/sync/priority_message.h"
#include "weft/sync/queue_step.h"
#include "weft/task/context.h"

namespace weft::sync_internal {
namespace {

// The lists have no bit elsewhere that says whether they are empty.
constexpr auto kNothing = [] {};

}  // namespace

size_t PriorityCore::Size() const {
  std::lock_guard lock(waits_.mutex);
  return heap_.size();
}

bool PriorityCore::IsClosed() const {
  std::lock_guard lock(waits_.mutex);
  return closed_;
}

QueueResult PriorityCore::Push(PriorityMessage& message) {
  ChannelWaits::Notified receiver;
  std::vector<PriorityHeap::Entry> spare;  // goes after the lock is released
  {
    std::unique_lock lock(waits_.mutex);
    for (;;) {
      if (closed_) return QueueResult::kClosed;
      if (IsFull()) return QueueResult::kNotNow;
      if (heap_.HasRoom()) break;
      heap_.Grow(lock, spare);
    }
    heap_.Push(message);
    if (!waits_.receivers.IsEmpty()) {
      receiver = waits_.NotifyFront(waits_.receivers, kNothing);
    }
  }
  waits_.Wake(waits_.receivers, std::move(receiver), kNothing);
  return QueueResult::kDone;
}

QueueResult PriorityCore::ForcePush(PriorityMessage& message,
                                    PriorityMessage*& displaced) {
  for (;;) {
    const QueueResult result = Push(message);
    if (result != QueueResult::kNotNow) return result;
    std::lock_guard lock(waits_.mutex);
    // There is room now, or never will be: to be found out by another try.
    if (closed_ || !IsFull()) continue;
    if (heap_.WouldBeLast(message.rank)) return QueueResult::kNotNow;
    displaced = &heap_.PopLast();
    heap_.Push(message);
    return QueueResult::kDone;
  }
}

QueueResult PriorityCore::Pop(PriorityMessage*& message) {
  ChannelWaits::Notified sender;
  {
    std::lock_guard lock(waits_.mutex);
    if (heap_.size() == 0) {
      return closed_ ? QueueResult::kClosed : QueueResult::kNotNow;
    }
    message = &heap_.PopFirst();
    if (!waits_.senders.IsEmpty()) {
      sender = waits_.NotifyFront(waits_.senders, kNothing);
    }
  }
  waits_.Wake(waits_.senders, std::move(sender), kNothing);
  return QueueResult::kDone;
}

bool PriorityCore::Close() {
  {
    std::lock_guard lock(waits_.mutex);
    if (std::exchange(closed_, true)) return false;
  }
  waits_.WakeAll();
  return true;
}

bool PriorityCore::SleepAsReceiver(ChannelNode& node, Context& cx) {
  return waits_.Sleep(
      waits_.receivers, node, cx,
      [this] { return heap_.size() == 0 && !closed_; }, kNothing);
}

bool PriorityCore::SleepAsSender(ChannelNode& node, Context& cx) {
  return waits_.Sleep(
      waits_.senders, node, cx, [this] { return IsFull() && !closed_; },
      kNothing);
}

bool PriorityCore::SleepUntilClosed(ChannelNode& node, Context& cx) {
  return waits_.Sleep(
      waits_.closers, node, cx, [this] { return !closed_; }, kNothing);
}

void PriorityCore::FinishReceiver(ChannelNode& node) {
  waits_.Finish(waits_.receivers, node, kNothing);
}
void PriorityCore::FinishSender(ChannelNode& node) {
  waits_.Finish(waits_.senders, node, kNothing);
}
void PriorityCore::DropReceiver(ChannelNode& node) {
  waits_.Drop(waits_.receivers, node, kNothing);
}
void PriorityCore::DropSender(ChannelNode& node) {
  waits_.Drop(waits_.senders, node, kNothing);
}
void PriorityCore::DropCloser(ChannelNode& node) {
  waits_.Drop(waits_.closers, node, kNothing);
}

void PriorityCore::ReleaseSide() {
  // Acquire-release: the second one sees all the first did before destroying.
  if (sides_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

}  // namespace weft::sync_internal
