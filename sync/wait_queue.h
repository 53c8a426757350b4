// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// WaitQueue: who waits, in order; the common half of the primitives of sync.
//
// A primitive is a mutex, what the mutex guards, and a WaitQueue. A wait is a
// WaitNode inside the future that waits, so waiting allocates nothing. A node
// is in one of these states, which the primitive's mutex guards:
//
//   kIdle      Not in the queue: never polled, or finished.
//   kQueued    In the queue, with the waker of the last poll.
//   kNotified  Out of the queue and given what it waited for, though its owner
//              does not know yet. If it is dropped in this state, what it was
//              given has to be handed on.
//   kReleased  The same, but there is nothing to hand on.
//   kWoken     Out of the queue to try for itself: given nothing. If it is
//              dropped in this state, the next one may have to try.
//
// No user code runs under the mutex. Wakers are cloned before it is locked,
// taken out of the nodes under it, and woken or dropped after it is released.
// A notifier touches nothing after it woke the first waker, since whoever woke
// may destroy the primitive.
//
// Thread safety: the queue and the states belong to the primitive's mutex.
// Lifetime: a queued node stays where it is; its owner takes it out.
#ifndef WEFT_SYNC_WAIT_QUEUE_H_
#define WEFT_SYNC_WAIT_QUEUE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

#include "weft/task/check.h"
#include "weft/task/context.h"
#include "weft/task/waker.h"

namespace weft::sync_internal {

struct WaitNode {
  enum State : uint8_t { kIdle, kQueued, kNotified, kReleased, kWoken };

  constexpr WaitNode() = default;
  WaitNode(WaitNode&& other) noexcept {
    WEFT_CHECK(!other.polled,
               "a wait was moved after its first poll: keep it where it is, or "
               "put it into a Task, which may move");
  }
  WaitNode& operator=(WaitNode&&) = delete;

  // True between the first poll and the last: then somebody else may know this
  // node. Belongs to the owner, not to the mutex.
  bool polled = false;

  State state = kIdle;
  WaitNode* previous = nullptr;
  WaitNode* next = nullptr;
  Waker waker;
};

class WaitQueue {
 public:
  constexpr WaitQueue() = default;
  WaitQueue(const WaitQueue&) = delete;
  WaitQueue& operator=(const WaitQueue&) = delete;

  bool IsEmpty() const { return front_ == nullptr; }
  WaitNode* front() const { return front_; }
  size_t size() const { return size_; }

  // Requires: `node` is idle.
  void PushBack(WaitNode& node);
  // Requires: `node` is not queued.
  void PushFront(WaitNode& node);
  // Requires: `node` is queued. It is idle afterwards.
  void Remove(WaitNode& node);
  // Takes out the first node and puts it into `state`. The caller wakes its
  // waker, which this returns, once the mutex is released. Requires: not empty.
  Waker NotifyFront(WaitNode::State state = WaitNode::kNotified);
  // The same for the last node.
  Waker NotifyBack(WaitNode::State state = WaitNode::kNotified);

 private:
  WaitNode* front_ = nullptr;
  WaitNode* back_ = nullptr;
  size_t size_ = 0;
};

// Wakers taken out of a queue under its mutex: any number of them, so that a
// notifier needs to lock only once.
//
//   WakeBatch wakers;
//   std::unique_lock lock(mutex_);
//   wakers.Reserve(lock, [&] { return queue_.size(); });
//   wakers.AddAll(queue_);
//   lock.unlock();
//   wakers.WakeAll();
//
// Reserve() allocates for more than eight, and so may throw: before anything has
// changed, but through a destructor if that is what notifies, which ends the program.
class WakeBatch {
 public:
  WakeBatch() = default;
  WakeBatch(const WakeBatch&) = delete;
  WakeBatch& operator=(const WakeBatch&) = delete;

  // Makes room for count() wakers. May release and retake `lock` to allocate,
  // where there are more than fit in place; what it guards may change then.
  template <class Mutex, class Count>
  void Reserve(std::unique_lock<Mutex>& lock, Count count) {
    while (count() > capacity_) {
      const size_t wanted = count();
      lock.unlock();
      Grow(wanted);
      lock.lock();
    }
  }
  // Requires: there is room.
  void Add(Waker waker) {
    WEFT_CHECK(size_ < capacity_, "more wakers than were reserved for");
    wakers()[size_++] = std::move(waker);
  }
  // Empties `queue` from the front on, and puts its nodes into `state`. Requires:
  // there is room.
  void AddAll(WaitQueue& queue, WaitNode::State state = WaitNode::kReleased);
  // Wakes all, in order. Call with no lock held.
  void WakeAll();

 private:
  static constexpr size_t kInPlace = 8;

  Waker* wakers() { return more_ != nullptr ? more_.get() : in_place_; }
  void Grow(size_t wanted);

  size_t size_ = 0;
  size_t capacity_ = kInPlace;
  std::unique_ptr<Waker[]> more_;
  Waker in_place_[kInPlace];
};

// One poll of a wait. True if is_released(), which is called under `mutex`;
// `node` is idle then, and the budget charged. Else `node` is queued, or is
// released but stays as it is because the budget is spent: so it has its place
// in the queue from its first poll on, whatever the budget. `Mutex` lets a model
// checker run this code.
template <class Mutex, class IsReleased>
bool PollWait(Mutex& mutex, WaitQueue& queue, WaitNode& node, Context& cx,
              IsReleased is_released) {
  const bool has_budget = cx.HasBudget();
  // The old waker ends up in here and is dropped after the mutex is released.
  Waker fresh;
  if (!node.polled) fresh = cx.waker();
  for (bool have_fresh = !node.polled;; have_fresh = true) {
    {
      std::lock_guard lock(mutex);
      const bool released = is_released();
      if (released && has_budget) {
        if (node.state == WaitNode::kQueued) queue.Remove(node);
        node.state = WaitNode::kIdle;
        node.polled = false;
        std::swap(node.waker, fresh);
        cx.Charge();
        return true;
      }
      // HasBudget has arranged another poll, which needs no place in the queue.
      if (released && node.state == WaitNode::kIdle) return false;
      node.polled = true;
      if (node.state == WaitNode::kIdle) queue.PushBack(node);
      if (have_fresh) {
        std::swap(node.waker, fresh);
        return false;
      }
      if (node.waker.WillWake(cx.waker())) return false;
    }
    fresh = cx.waker();
  }
}

}  // namespace weft::sync_internal

#endif  // WEFT_SYNC_WAIT_QUEUE_H_
