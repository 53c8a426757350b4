// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Event: a flag that tasks and threads can wait for, and a queue of those who
// wait for something else.
//
//   Event ready;
//   ...
//   co_await ready.Wait();  // a task
//   ready.BlockingWait();   // a thread
//   ...
//   ready.Set();            // releases both, and all who come later
//
// Three ways to release a waiter:
//   - Set() is sticky: it releases everybody who waits, and whoever waits later
//     goes straight through until Reset(). A waiter that Set() has released
//     stays released, even if Reset() follows before it runs. (So an Event is
//     what others call a manual-reset event; sync/notify.h has the other kind.)
//   - Notify(n) releases up to n more of those who wait now, in the order in
//     which they came, and leaves the flag alone. With nobody waiting it has no
//     effect, and costs a fence and a load: a permit that must be kept is a
//     Semaphore's.
//   - NotifyAtLeast(n) does the same until n have been notified and do not know
//     it yet, those of earlier calls included: notifying twice for one thing
//     wakes one waiter.
//
// A condition of one's own, an atomic say, is waited for by listening first:
//
//   while (!stack.TryPop(item)) {
//     auto listener = pushed.Listen();       // in the queue from here on
//     if (stack.TryPop(item)) break;         // so nothing is missed
//     co_await listener;
//   }
//   ... stack.Push(item); pushed.Notify();   // elsewhere
//
// What happened before Set or Notify happens before the end of the waits that
// they release.
//
// Thread safety: all methods from any thread. Constant-initialized.
// Lifetime: outlives its waits. A released waiter may destroy the Event at
// once, while Set() or Notify() is still returning.
// Dropping: a wait that is dropped leaves the queue. If Notify had released it
// and it never learned of that, the next waiter is released in its place.
#ifndef WEFT_SYNC_EVENT_H_
#define WEFT_SYNC_EVENT_H_

#include <atomic>
#include <cstddef>

#include "weft/sync/small_mutex.h"
#include "weft/sync/wait_queue.h"
#include "weft/sync/waiter_count.h"
#include "weft/task/context.h"
#include "weft/task/polled.h"

namespace weft::sync {

class Event {
 public:
  class WaitFuture;
  class Listener;

  constexpr Event() = default;
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  // Requires: nobody waits.
  ~Event();

  void Set();
  void Reset();
  bool IsSet() const;

  // Releases up to `count` waiters that are not released yet.
  void Notify(size_t count = 1);
  // The same, less those that were notified and have not finished their waits.
  void NotifyAtLeast(size_t count = 1);

  // Ready once released. Takes its place in the queue at its first poll.
  WaitFuture Wait();
  void BlockingWait();
  // The same, with its place in the queue at once.
  Listener Listen();

  // How many wait that nobody has released. May be old when it is returned.
  size_t waiters() const { return count_.Get(); }

 private:
  bool PollWait(sync_internal::WaitNode& node, Context& cx);
  void Join(sync_internal::WaitNode& node);
  bool TryWait(sync_internal::WaitNode& node);
  // True if it had been notified and did not know, and has told nobody else.
  bool Leave(sync_internal::WaitNode& node, bool pass_on);
  void NotifySome(size_t count, bool at_least);

  // Written under `mutex_`; read anywhere.
  std::atomic<bool> set_{false};
  // As many as are in `waiters_`.
  sync_internal::WaiterCount count_;

  mutable sync_internal::SmallMutex mutex_;
  sync_internal::WaitQueue waiters_;
  // Nodes in the state kNotified.
  size_t notified_ = 0;
};

class [[nodiscard]] Event::WaitFuture {
 public:
  using Output = void;

  WaitFuture(WaitFuture&&) = default;
  WaitFuture& operator=(WaitFuture&&) = delete;
  ~WaitFuture() {
    if (node_.polled) event_.Leave(node_, true);
  }

  Polled<void> Poll(Context& cx) {
    return event_.PollWait(node_, cx) ? Polled<void>(Unit()) : kPending;
  }

 private:
  friend Event;
  explicit WaitFuture(Event& event) : event_(event) {}

  Event& event_;
  sync_internal::WaitNode node_;
};

// A wait that has begun; awaited by name. It never moves.
class [[nodiscard]] Event::Listener {
 public:
  using Output = void;

  explicit Listener(Event& event) : event_(event) { event_.Join(node_); }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  ~Listener() {
    if (node_.polled) event_.Leave(node_, true);
  }

  Polled<void> Poll(Context& cx) {
    return event_.PollWait(node_, cx) ? Polled<void>(Unit()) : kPending;
  }
  void BlockingWait();

  // True if it has been released; that ends the wait, as Poll does.
  bool TryWait() { return event_.TryWait(node_); }
  // Ends the wait without passing on a notification; true if there was one.
  bool Discard() { return node_.polled && event_.Leave(node_, false); }

 private:
  Event& event_;
  sync_internal::WaitNode node_;
};

inline Event::WaitFuture Event::Wait() { return WaitFuture(*this); }
inline Event::Listener Event::Listen() { return Listener(*this); }

}  // namespace weft::sync

#endif  // WEFT_SYNC_EVENT_H_
