// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Event: a flag that tasks and threads can wait for.
//
//   Event ready;
//   ...
//   co_await ready.Wait();  // a task
//   ready.BlockingWait();   // a thread
//   ...
//   ready.Set();            // releases both, and all who come later
//
// Two ways to release a waiter:
//   - Set() is sticky: it releases everybody who waits, and whoever waits later
//     goes straight through until Reset(). A waiter that Set() has released
//     stays released, even if Reset() follows before it runs.
//   - Notify(n) releases up to n of those who wait now, in the order in which
//     they came, and leaves the flag alone. With nobody waiting it has no
//     effect: a permit that must be kept is a Semaphore's.
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
#include <mutex>

#include "weft/sync/wait_queue.h"
#include "weft/task/context.h"
#include "weft/task/polled.h"

namespace weft::sync {

class Event {
 public:
  class WaitFuture;

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

  // Ready once released. Takes its place in the queue at its first poll.
  WaitFuture Wait();
  void BlockingWait();

 private:
  bool PollWait(sync_internal::WaitNode& node, Context& cx);
  void DropWait(sync_internal::WaitNode& node);

  // Written under `mutex_`; read anywhere.
  std::atomic<bool> set_{false};

  mutable std::mutex mutex_;
  sync_internal::WaitQueue waiters_;
};

class [[nodiscard]] Event::WaitFuture {
 public:
  using Output = void;

  WaitFuture(WaitFuture&&) = default;
  WaitFuture& operator=(WaitFuture&&) = delete;
  ~WaitFuture() {
    if (node_.polled) event_.DropWait(node_);
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

inline Event::WaitFuture Event::Wait() { return WaitFuture(*this); }

}  // namespace weft::sync

#endif  // WEFT_SYNC_EVENT_H_
