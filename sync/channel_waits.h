// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// ChannelWaits: who sleeps at a channel: receivers, senders, and those who wait
// for its end. Internal.
//
// A queue's bit "somebody sleeps" (sync/ring_queue.h) is set and cleared under this
// lock, and is clear when the list is empty, until the channel is closed. Whoever
// sees it after having done something wakes the first of the list. One who was woken
// tries again and may find that another one was faster; then it sleeps again, as the
// first.
//
// One who was woken and is dropped before it looked wakes the next. One who may be
// left alone, neither polled nor dropped (Context::IsPrompt), is not relied upon:
// the next is woken with it, up to one that is sure to look. So it keeps nothing
// from the others.
//
// Thread safety: all methods from any thread; one node by one thread at a time.
// Lifetime: outlives its methods, also after these have woken somebody.
#ifndef WEFT_SYNC_CHANNEL_WAITS_H_
#define WEFT_SYNC_CHANNEL_WAITS_H_

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <mutex>
#include <utility>

#include "weft/sync/small_mutex.h"
#include "weft/sync/wait_queue.h"
#include "weft/task/context.h"
#include "weft/task/task_state.h"
#include "weft/task/wake_list.h"
#include "weft/task/waker.h"

namespace weft::sync_internal {

template <class Atomics = task_internal::StdAtomics>
struct BasicChannelNode : WaitNode {
  constexpr BasicChannelNode() = default;
  BasicChannelNode(BasicChannelNode&& other) noexcept
      : WaitNode(std::move(other)) {}
  BasicChannelNode& operator=(BasicChannelNode&&) = delete;

  // Out of the list, by who woke it and does not touch it any more; so its owner
  // need not take the lock to leave. Cleared by the owner.
  typename Atomics::template Atomic<bool> woken{false};
  bool prompt = false;  // its last poll was; guarded by the lock
};

// `AtomicsPolicy` and `Mutex` let a model checker run this code.
template <class AtomicsPolicy = task_internal::StdAtomics,
          class Mutex = SmallMutex>
class BasicChannelWaits {
 public:
  using Atomics = AtomicsPolicy;
  using Node = BasicChannelNode<Atomics>;

  Mutex mutex;
  // Guarded by `mutex`.
  WaitQueue receivers;
  WaitQueue senders;
  WaitQueue closers;

  // Puts `node` into `list`, with the waker of this poll, if may_sleep(); else takes
  // it out. on_empty() is called when the list has become empty. Both run under the
  // lock.
  template <class MaySleep, class OnEmpty>
  bool Sleep(WaitQueue& list, Node& node, Context& cx, MaySleep may_sleep,
             OnEmpty on_empty) {
    // Cloned before and dropped after the lock is held.
    Waker waker = cx.waker();
    std::lock_guard lock(mutex);
    if (!may_sleep()) {
      Forget(list, node, on_empty);
      // may_sleep() has set the bit, for nobody if so.
      if (list.IsEmpty()) on_empty();
      std::swap(node.waker, waker);
      return false;
    }
    if (node.state == WaitNode::kNotified) {
      list.PushFront(node);  // another one was faster
    } else if (node.state != WaitNode::kQueued) {
      list.PushBack(node);
    }
    // Relaxed: only who holds the lock can set it again.
    node.woken.store(false, std::memory_order_relaxed);
    node.polled = true;
    node.prompt = cx.IsPrompt();
    std::swap(node.waker, waker);
    return true;
  }

  // One who was taken out of a list; and how many more may have to be, since it
  // need not look.
  struct Notified {
    Waker waker;
    size_t others = 0;
  };

  // Wakes one who is sure to look, if any sleeps, and those before it.
  template <class OnEmpty>
  void WakeOne(WaitQueue& list, OnEmpty on_empty) {
    Wake(list, Notify(list, on_empty), on_empty);
  }
  // The same, where the first was taken out before. Requires: not the lock.
  template <class OnEmpty>
  void Wake(WaitQueue& list, Notified notified, OnEmpty on_empty) {
    while (notified.others != 0) [[unlikely]] {
      WakeList wakers;
      wakers.Add(std::move(notified.waker));
      AddOthers(list, notified.others, wakers, on_empty);
      wakers.WakeAll();
    }
    std::move(notified.waker).Wake();
  }
  // Takes the first of `list` out, for Wake(). Requires: the lock; not empty.
  template <class OnEmpty>
  Notified NotifyFront(WaitQueue& list, OnEmpty on_empty) {
    auto& node = static_cast<Node&>(*list.front());
    Notified notified{list.NotifyFront()};
    if (!node.prompt) notified.others = list.size();
    // Release: the last use of the node.
    node.woken.store(true, std::memory_order_release);
    if (list.IsEmpty()) on_empty();
    return notified;
  }

  // `node`'s owner got what it wanted, or the channel's end.
  template <class OnEmpty>
  void Finish(WaitQueue& list, Node& node, OnEmpty on_empty) {
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
  void Drop(WaitQueue& list, Node& node, OnEmpty on_empty) {
    if (!node.polled) return;
    Notified heir;
    {
      std::lock_guard lock(mutex);
      if (node.state == WaitNode::kNotified && !list.IsEmpty()) {
        heir = NotifyFront(list, on_empty);
      }
      Forget(list, node, on_empty);
    }
    node.polled = false;
    Wake(list, std::move(heir), on_empty);
  }

  // Wakes everybody.
  void WakeAll();

 private:
  template <class OnEmpty>
  Notified Notify(WaitQueue& list, OnEmpty on_empty) {
    std::lock_guard lock(mutex);
    return list.IsEmpty() ? Notified() : NotifyFront(list, on_empty);
  }
  // Takes out up to `others` more, of which one that is sure to look is the last;
  // sets `others` to how many are left to take, if there was no room for more.
  template <class OnEmpty>
  void AddOthers(WaitQueue& list, size_t& others, WakeList& wakers,
                 OnEmpty on_empty) {
    std::lock_guard lock(mutex);
    while (others != 0 && !wakers.IsFull()) {
      if (list.IsEmpty()) {
        others = 0;
        return;
      }
      Notified next = NotifyFront(list, on_empty);
      others = std::min(next.others, others - 1);
      wakers.Add(std::move(next.waker));
    }
  }
  template <class OnEmpty>
  static void Forget(WaitQueue& list, WaitNode& node, OnEmpty on_empty) {
    if (node.state == WaitNode::kQueued) {
      list.Remove(node);
      if (list.IsEmpty()) on_empty();
    }
    node.state = WaitNode::kIdle;
  }
};

template <class AtomicsPolicy, class Mutex>
void BasicChannelWaits<AtomicsPolicy, Mutex>::WakeAll() {
  for (WaitQueue* list : {&receivers, &senders, &closers}) {
    for (;;) {
      WakeList wakers;
      {
        std::lock_guard lock(mutex);
        while (!list->IsEmpty() && !wakers.IsFull()) {
          wakers.Add(list->NotifyFront(WaitNode::kReleased));
        }
      }
      if (wakers.IsEmpty()) break;
      wakers.WakeAll();
    }
  }
}

extern template class BasicChannelWaits<>;

using ChannelNode = BasicChannelNode<>;
using ChannelWaits = BasicChannelWaits<>;

}  // namespace weft::sync_internal

#endif  // WEFT_SYNC_CHANNEL_WAITS_H_
