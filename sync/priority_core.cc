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
#include "weft/task/waker.h"

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
  Waker receiver;
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
  std::move(receiver).Wake();
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
  Waker sender;
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
  std::move(sender).Wake();
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
  Waker sender;
  const bool sleeps = waits_.Sleep(
      waits_.receivers, node, cx,
      [&] {
        if (heap_.size() != 0 || closed_) return false;
        // One that was woken may have been forgotten.
        if (!waits_.senders.IsEmpty()) {
          sender = waits_.NotifyFront(waits_.senders, kNothing);
        }
        return true;
      },
      kNothing);
  std::move(sender).Wake();
  return sleeps;
}

bool PriorityCore::SleepAsSender(ChannelNode& node, Context& cx) {
  Waker receiver;
  const bool sleeps = waits_.Sleep(
      waits_.senders, node, cx,
      [&] {
        if (!IsFull() || closed_) return false;
        // As above.
        if (!waits_.receivers.IsEmpty()) {
          receiver = waits_.NotifyFront(waits_.receivers, kNothing);
        }
        return true;
      },
      kNothing);
  std::move(receiver).Wake();
  return sleeps;
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
