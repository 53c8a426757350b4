// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// ChannelWaits: who sleeps at a channel: receivers, senders, and those who wait
// for its end. Internal.
//
// A queue's bit "somebody sleeps" (sync/ring_queue.h) is set and cleared under this
// lock, and is clear when the list is empty, until the channel is closed. Whoever sees it after having done
// something wakes the first of the list. One who was woken tries again and may find
// that another one was faster; it sleeps again, then.
//
// One who was woken and is dropped before it looked wakes the next. One who was
// woken and is neither polled nor dropped keeps nothing from the others for long:
// who goes to sleep for want of a value wakes one more sender, if any sleeps, and
// who does for want of room one more receiver.
//
// Thread safety: all methods from any thread; one node by one thread at a time.
#ifndef WEFT_SYNC_CHANNEL_WAITS_H_
#define WEFT_SYNC_CHANNEL_WAITS_H_

#include <atomic>
#include <mutex>
#include <utility>

#include "weft/sync/small_mutex.h"
#include "weft/sync/wait_queue.h"
#include "weft/task/context.h"
#include "weft/task/waker.h"

namespace weft::sync_internal {

struct ChannelNode : WaitNode {
  constexpr ChannelNode() = default;
  ChannelNode(ChannelNode&& other) noexcept : WaitNode(std::move(other)) {}
  ChannelNode& operator=(ChannelNode&&) = delete;

  // Out of the list, by who woke it and does not touch it any more; so its owner
  // need not take the lock to leave. Cleared by the owner.
  std::atomic<bool> woken{false};
};

class ChannelWaits {
 public:
  SmallMutex mutex;
  // Guarded by `mutex`.
  WaitQueue receivers;
  WaitQueue senders;
  WaitQueue closers;

  // Puts `node` into `list`, with the waker of this poll, if may_sleep(); else takes
  // it out. on_empty() is called when the list has become empty. Both run under the
  // lock.
  template <class MaySleep, class OnEmpty>
  bool Sleep(WaitQueue& list, ChannelNode& node, Context& cx,
             MaySleep may_sleep, OnEmpty on_empty) {
    // Cloned before and dropped after the lock is held.
    Waker waker = cx.waker();
    std::lock_guard lock(mutex);
    if (!may_sleep()) {
      Forget(list, node, on_empty);
      std::swap(node.waker, waker);
      return false;
    }
    if (node.state != WaitNode::kQueued) list.PushBack(node);
    // Relaxed: only who holds the lock can set it again.
    node.woken.store(false, std::memory_order_relaxed);
    node.polled = true;
    std::swap(node.waker, waker);
    return true;
  }

  // Wakes the first of `list`, if any.
  template <class OnEmpty>
  void WakeOne(WaitQueue& list, OnEmpty on_empty) {
    Waker waker;
    {
      std::lock_guard lock(mutex);
      if (!list.IsEmpty()) waker = NotifyFront(list, on_empty);
    }
    std::move(waker).Wake();
  }
  // Takes the first of `list` out; the caller wakes it once the lock is released.
  // Requires: the lock; not empty.
  template <class OnEmpty>
  Waker NotifyFront(WaitQueue& list, OnEmpty on_empty) {
    auto& node = static_cast<ChannelNode&>(*list.front());
    Waker waker = list.NotifyFront();
    // Release: the last use of the node.
    node.woken.store(true, std::memory_order_release);
    if (list.IsEmpty()) on_empty();
    return waker;
  }

  // `node`'s owner got what it wanted, or the channel's end.
  template <class OnEmpty>
  void Finish(WaitQueue& list, ChannelNode& node, OnEmpty on_empty) {
    if (!node.polled) return;
    node.polled = false;
    // Acquire: pairs with the release of whoever woke it.
    if (node.woken.load(std::memory_order_acquire)) {
      node.state = WaitNode::kIdle;
      // Relaxed: the owner's until it sleeps again.
      node.woken.store(false, std::memory_order_relaxed);
      return;
    }
    Waker waker;
    std::lock_guard lock(mutex);
    Forget(list, node, on_empty);
    std::swap(node.waker, waker);
  }

  // `node`'s owner gives up.
  template <class OnEmpty>
  void Drop(WaitQueue& list, ChannelNode& node, OnEmpty on_empty) {
    if (!node.polled) return;
    Waker heir;
    {
      std::lock_guard lock(mutex);
      if (node.state == WaitNode::kNotified && !list.IsEmpty()) {
        heir = NotifyFront(list, on_empty);
      }
      Forget(list, node, on_empty);
    }
    node.polled = false;
    std::move(heir).Wake();
  }

  // Wakes everybody.
  void WakeAll();

 private:
  template <class OnEmpty>
  static void Forget(WaitQueue& list, WaitNode& node, OnEmpty on_empty) {
    if (node.state == WaitNode::kQueued) {
      list.Remove(node);
      if (list.IsEmpty()) on_empty();
    }
    node.state = WaitNode::kIdle;
  }
};

}  // namespace weft::sync_internal

#endif  // WEFT_SYNC_CHANNEL_WAITS_H_
