// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Notify: one notification that is kept, for tasks and threads.
//
//   // The consumer:                     // A producer:
//   for (;;) {                           queue.Push(item);
//     while (auto i = queue.TryPop()) …  arrived.NotifyOne();
//     co_await arrived.Wait();
//   }
//
// NotifyOne() releases the one who has waited longest or, if nobody waits, leaves
// a permit, which the next wait takes instead of waiting. Permits do not add
// up: there is one or none. So the news above is not lost, whenever it comes, and
// comes once for many items. NotifyLast() does the same to the one who came last,
// whose memory is warm. NotifyAll() releases all waits there are and leaves no
// permit.
//
// A wait is there, for NotifyAll(), from the moment that Wait() returns it; for the
// others it takes its place in the queue at its first poll.
//
// This is what others call an auto-reset event: Set is NotifyOne(), Reset is
// TryWait(). The manual-reset one is sync/event.h.
//
// What happened before a notification happens before the end of the wait that it
// releases, and so for all those that were merged in one permit.
//
// Thread safety: all methods from any thread. Constant-initialized.
// Lifetime: outlives its waits. Whoever was released may destroy it at once,
// while the notifier is still returning.
// Dropping: a wait that is dropped leaves the queue. If NotifyOne or NotifyLast
// had released it and it never learned of that, the notification goes to the one
// who has waited longest, or becomes a permit.
#ifndef WEFT_SYNC_NOTIFY_H_
#define WEFT_SYNC_NOTIFY_H_

#include <cstdint>

#include "weft/sync/notify_word.h"
#include "weft/sync/small_mutex.h"
#include "weft/sync/wait_queue.h"
#include "weft/task/context.h"
#include "weft/task/polled.h"

namespace weft::sync {

class Notify {
 public:
  class WaitFuture;

  constexpr Notify() = default;
  Notify(const Notify&) = delete;
  Notify& operator=(const Notify&) = delete;
  // Requires: nobody waits.
  ~Notify();

  void NotifyOne() { NotifyAny(/*last=*/false); }
  void NotifyLast() { NotifyAny(/*last=*/true); }
  void NotifyAll();

  // Ready once notified.
  WaitFuture Wait();
  void BlockingWait();
  // Takes the permit; false if there is none.
  bool TryWait() { return word_.TryTakePermit(); }

 private:
  using Word = sync_internal::BasicNotifyWord<>;

  void NotifyAny(bool last);
  bool PollWait(sync_internal::WaitNode& node, uint64_t rounds, Context& cx);
  void DropWait(sync_internal::WaitNode& node);

  Word word_;
  sync_internal::SmallMutex mutex_;
  sync_internal::WaitQueue waiters_;
};

class [[nodiscard]] Notify::WaitFuture {
 public:
  using Output = void;

  WaitFuture(WaitFuture&&) = default;
  WaitFuture& operator=(WaitFuture&&) = delete;
  ~WaitFuture() {
    if (node_.polled) notify_.DropWait(node_);
  }

  Polled<void> Poll(Context& cx) {
    return notify_.PollWait(node_, rounds_, cx) ? Polled<void>(Unit())
                                                : kPending;
  }

 private:
  friend Notify;
  explicit WaitFuture(Notify& notify)
      : notify_(notify), rounds_(notify.word_.Rounds()) {}

  Notify& notify_;
  // How often all had been notified when this was made.
  const uint64_t rounds_;
  sync_internal::WaitNode node_;
};

inline Notify::WaitFuture Notify::Wait() { return WaitFuture(*this); }

}  // namespace weft::sync

#endif  // WEFT_SYNC_NOTIFY_H_
