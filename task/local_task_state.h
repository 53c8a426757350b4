// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The state of a spawned task that stays on one thread, its home.
//
// At home nothing is contended, so nothing there is locked: what the home thread
// does to the task changes a plain word of its own. What others want is asked
// for in a second, atomic word, and brought home by a message.
//
// home_, the bits of task/task_state.h, but one. Written at home alone; others
// read it once they have seen kEnded, after which nobody writes it.
//
//   kRunning     In place of kNotified: the future is being polled or destroyed.
//   kScheduled   While not kRunning: the home Runnable exists. It holds no
//                reference: the task is not done, so home's keeps the cell.
//                While kRunning: woken, so poll again.
//   the others   As there; kHandle and kJoinWaker for what was done at home.
//
// shared_, from bit 0:
//
//   kSent         A message exists: a Runnable that brings home what the next
//                 two ask for. Set with its reference by whoever finds it clear;
//                 cleared at home, or by anybody once the task has ended.
//   kWakeAsked    Cleared with kSent.
//   kCancelAsked  Set for good.
//   kEnded        The task is done, and home_ is final. Not set if nobody is
//                 left who could look.
//   kHandleGone   The handle was dropped elsewhere, before the end.
//   kSlotClaimed  The handle, elsewhere, is filling the join waker's slot.
//   kSlotFull     The handle, elsewhere, has filled it.
//   8..           References: home's own until the end, one for the message, for
//                 each cloned waker, and for the handle.
//
//                Wake                 BeginRun
//   [idle] -------------> [Scheduled] --------> [Running]   at home, as there
//      ^   Receive             ^
//      |     [message] --------+     Wake, Cancel or Unref elsewhere
//
// Why it holds, beyond the obligations of task/task_state.h:
//   1. No wake from elsewhere is lost: it finds kSent clear and sends a message,
//      or finds it set before Receive clears it, with one exchange, to look at
//      what was asked.
//   2. An idle task that nobody can wake is destroyed. Who gives up the last
//      reference beside home's sends it home as a message; at home it sees the
//      count. A running task looks at the count in Suspend: others never leave
//      home's reference alone without a message, so no decrement can be missed.
//   3. Handle and completer agree: both at home, by home_; else by kEnded, set
//      by a read-modify-write, and the handle's bits, set by one, too. If home's
//      is the only reference, the handle is gone and a load is enough.
//   4. Memory: each change of shared_ elsewhere is a release, each look at home
//      that acts on it an acquire, and the other way round at the end.
//
// Thread safety: LocalTaskState's methods at home, those of its Remote on any
// other thread; Load() and Ref() anywhere.
#ifndef WEFT_TASK_LOCAL_TASK_STATE_H_
#define WEFT_TASK_LOCAL_TASK_STATE_H_

#include <atomic>
#include <cstdint>

#include "weft/task/task_state.h"

namespace weft::task_internal {

inline constexpr uint64_t kRunning = kNotified;

enum SharedBits : uint64_t {
  kSent = 1 << 0,
  kWakeAsked = 1 << 1,
  kCancelAsked = 1 << 2,
  kEnded = 1 << 3,
  kHandleGone = 1 << 4,
  kSlotClaimed = 1 << 5,
  kSlotFull = 1 << 6,
};

template <class Atomics = StdAtomics>
class BasicLocalTaskState {
 public:
  class Remote;

  // A new task with a handle. Its first Runnable is the home one or, if it is
  // made elsewhere, a message.
  explicit BasicLocalTaskState(bool at_home)
      : shared_(at_home ? 2 * kReference : 3 * kReference | kSent | kWakeAsked),
        home_(at_home ? kScheduled | kHandle : kHandle) {}

  // Zero until the end. Acquire: whoever sees kDone may read the output.
  uint64_t Load() const {
    if ((shared_.load(std::memory_order_acquire) & kEnded) == 0) return 0;
    return home_;
  }
  // True if the first or next Runnable is a message.
  bool IsSent() const {
    // Relaxed: asked by who made the task, before anybody else knows it.
    return (Relaxed() & kSent) != 0;
  }
  // What the home thread sees of a task that is not the innermost one it runs.
  struct Glance {
    bool done;
    bool
        scheduled;  // or running, or told to be, by a message that is on its way
    bool has_handle;
    uint64_t references;
  };
  Glance Look() const {
    const uint64_t shared = Relaxed();
    const uint64_t home = Merge(home_, shared);
    return {.done = (home & kDone) != 0,
            .scheduled = (home & (kScheduled | kRunning)) != 0 ||
                         (shared & uint64_t{kSent}) != 0,
            .has_handle = (home & kHandle) != 0,
            .references = shared / kReference};
  }

  // Relaxed: a new reference is made from one that the caller has.
  [[gnu::noinline]] void Ref() {
    shared_.fetch_add(kReference, std::memory_order_relaxed);
  }

  // ---- At home. The names are TaskState's, and so is what they mean. ----

  Then Wake(bool consume) {
    const uint64_t home = home_;
    Then then = Then::kNothing;
    if ((home & (kDone | kScheduled)) == 0) {
      home_ = home | kScheduled;
      if ((home & kRunning) == 0) then = Then::kSchedule;
    }
    if (!consume) return then;
    // A task that is scheduled now does not end by this.
    const Then last = Unref();
    return last != Then::kNothing ? last : then;
  }

  Then BeginRun() {
    // Acquire: what came before a cancel is visible to the destructor. A Runnable
    // that was dropped elsewhere came home with it, so this sees that.
    const uint64_t shared = shared_.load(std::memory_order_acquire);
    home_ = (home_ & ~uint64_t{kScheduled}) | kRunning;
    if ((shared & kCancelAsked) != 0) home_ = home_ | kCancelled;
    return (home_ & kCancelled) != 0 ? Then::kDestroy : Then::kPoll;
  }

  Then Suspend(bool woken_by_itself) {
    const uint64_t home =
        home_ | (woken_by_itself ? uint64_t{kScheduled} : uint64_t{0});
    if ((home & kCancelled) != 0) return Then::kDestroy;
    if ((home & kScheduled) == 0 && HomeIsAlone()) return Then::kDestroy;
    home_ = home & ~uint64_t{kRunning};
    return (home & kScheduled) != 0 ? Then::kReschedule : Then::kNothing;
  }

  bool IsForgotten() const {
    return (home_ & kForgotten) != 0 || (home_ & kCancelled) == 0;
  }

  // The caller gives up home's reference afterwards.
  static bool KeptReference(uint64_t) { return true; }
  uint64_t Finish(uint64_t output) {
    const uint64_t before = home_;
    const uint64_t kept =
        before & ~uint64_t{kRunning | kScheduled | kCancelled | kForgotten};
    home_ = kept | kDone | (output != 0 ? output : uint64_t{kCancelled});
    return Merge(before, HomeIsAlone() ? Relaxed() : SetEnded());
  }

  Then Cancel() {
    const uint64_t home = home_;
    if ((home & (kDone | kCancelled)) != 0) return Then::kNothing;
    home_ = home | kCancelled;
    return ScheduleIfIdle();
  }

  uint64_t DropHandle() {
    const uint64_t before = home_;
    if ((before & kDone) != 0) return before;
    home_ = before & ~uint64_t{kHandle | kJoinWaker};
    return before | kJoinWaker;  // perhaps filled elsewhere
  }

  bool ClaimJoinWaker() { return (home_ & kDone) == 0; }
  bool PublishJoinWaker() {
    if ((home_ & kDone) != 0) return false;
    home_ = home_ | kJoinWaker;
    return true;
  }

  // A message has come home; with `cancel`, it is dropped there. kSchedule: the
  // home Runnable exists now. Once the task has ended: on any thread.
  [[gnu::noinline]] Then Receive(bool cancel) {
    const uint64_t asked = TakeMessage();
    if ((asked & kEnded) != 0) {
      return asked < 2 * kReference ? Then::kFree : Then::kNothing;
    }
    const bool woken = (asked & kWakeAsked) != 0;
    const bool forgotten = asked < 3 * kReference && !woken;
    if (cancel || (asked & kCancelAsked) != 0) {
      home_ = home_ | kCancelled;
    } else if (forgotten && (home_ & (kScheduled | kRunning)) == 0) {
      home_ = home_ | kCancelled | kForgotten;
    } else if (!woken) {
      return Then::kNothing;
    }
    if (woken && (home_ & kRunning) != 0) home_ = home_ | kScheduled;
    return ScheduleIfIdle();
  }

  Then Unref() {
    const uint64_t home = home_;
    if (HomeIsAlone()) return Then::kFree;  // the caller's is the last
    const uint64_t left = GiveUpReference();
    if ((home & kDone) != 0) {
      return left < kReference ? Then::kFree : Then::kNothing;
    }
    const bool idle = (home & (kScheduled | kRunning)) == 0;
    if (!idle || left >= 2 * kReference) return Then::kNothing;
    home_ = home | kCancelled | kForgotten;
    return ScheduleIfIdle();
  }

 private:
  uint64_t Relaxed() const { return shared_.load(std::memory_order_relaxed); }

  // There is one reference. A count can only rise through somebody who holds
  // one, so this stays true. Acquire: what the others did before they left.
  bool HomeIsAlone() const {
    return shared_.load(std::memory_order_acquire) < 2 * kReference;
  }

  Then ScheduleIfIdle() {
    if ((home_ & (kScheduled | kRunning)) != 0) return Then::kNothing;
    home_ = home_ | kScheduled;
    return Then::kSchedule;
  }

  // What the completer must know, from what was known at home and elsewhere.
  static uint64_t Merge(uint64_t home, uint64_t shared) {
    if ((shared & kCancelAsked) != 0) home |= kCancelled;
    if ((shared & kSlotFull) != 0) home |= kJoinWaker;
    if ((shared & kHandleGone) != 0) home &= ~uint64_t{kHandle};
    // Without a handle the slot is empty; claimed, it is the handle's.
    if ((home & kHandle) == 0 || (shared & kSlotClaimed) != 0) {
      home &= ~uint64_t{kJoinWaker};
    }
    return home;
  }

  // Acquire-release: publishes output and home_; obligation 3.
  [[gnu::noinline]] uint64_t SetEnded() {
    return shared_.fetch_or(kEnded, std::memory_order_acq_rel);
  }
  // Returns what is left. Acquire-release: the last one sees what the others
  // did.
  [[gnu::noinline]] uint64_t GiveUpReference() {
    return shared_.fetch_sub(kReference, std::memory_order_acq_rel) -
           kReference;
  }

  // Takes the message and its reference; returns the word before.
  uint64_t TakeMessage() {
    uint64_t word = Relaxed();
    uint64_t next = 0;
    do {
      next = (word & ~uint64_t{kSent | kWakeAsked}) - kReference;
    } while (!Exchange(word, next));
    return word;
  }

  // As TaskState's.
  bool Exchange(uint64_t& word, uint64_t next) {
    return shared_.compare_exchange_strong(
        word, next, std::memory_order_acq_rel, std::memory_order_relaxed);
  }

  typename Atomics::template Atomic<uint64_t> shared_;
  typename Atomics::template Plain<uint64_t> home_;
};

// The state, from any thread but home. kSchedule: the message is to be handed
// to the schedule function. Not inlined: these are not for the home thread's
// instruction cache.
template <class Atomics>
class BasicLocalTaskState<Atomics>::Remote {
 public:
  explicit Remote(BasicLocalTaskState& state) : state_(state) {}

  uint64_t Load() const { return state_.Load(); }

  [[gnu::noinline]] Then Wake(bool consume) {
    uint64_t word = Relaxed();
    for (;;) {
      if ((word & kEnded) != 0) return consume ? Unref() : Then::kNothing;
      uint64_t next = word | kWakeAsked | kSent;
      const bool send = (word & kSent) == 0;
      if (send) next += kReference;
      if (consume) next -= kReference;
      // Also where nothing changes: it publishes.
      if (state_.Exchange(word, next)) return Sent(send);
    }
  }

  [[gnu::noinline]] Then Cancel() {
    uint64_t word = Relaxed();
    for (;;) {
      if ((word & (kEnded | kCancelAsked)) != 0) return Then::kNothing;
      uint64_t next = word | kCancelAsked | kSent;
      const bool send = (word & kSent) == 0;
      if (send) next += kReference;
      if (state_.Exchange(word, next)) return Sent(send);
    }
  }

  // The owner of a Runnable drops it here. False if the task has ended: then it
  // is a message, to be received here. Else it is to be sent home.
  [[gnu::noinline]] bool CancelByRunnable() {
    uint64_t word = Relaxed();
    for (;;) {
      if ((word & kEnded) != 0) return false;
      if (state_.Exchange(word, word | kCancelAsked)) return true;
    }
  }

  [[gnu::noinline]] uint64_t DropHandle() {
    return Change(0, kHandleGone) ? uint64_t{kJoinWaker} : Load();
  }
  [[gnu::noinline]] bool ClaimJoinWaker() {
    return Change(kSlotFull, kSlotClaimed);
  }
  [[gnu::noinline]] bool PublishJoinWaker() {
    return Change(kSlotClaimed, kSlotFull);
  }

  [[gnu::noinline]] Then Unref() {
    uint64_t word = Relaxed();
    for (;;) {
      const bool last_but_home =
          (word & (kEnded | kSent)) == 0 && word < 3 * kReference;
      if (last_but_home) {
        // This reference becomes the message's.
        if (state_.Exchange(word, word | kSent)) return Then::kSchedule;
      } else if (state_.Exchange(word, word - kReference)) {
        return word < 2 * kReference ? Then::kFree : Then::kNothing;
      }
    }
  }

 private:
  // Relaxed: an exchange decides.
  uint64_t Relaxed() const { return state_.Relaxed(); }
  static Then Sent(bool send) {
    return send ? Then::kSchedule : Then::kNothing;
  }

  // False, with the output visible, if the task has ended.
  bool Change(uint64_t clear, uint64_t set) {
    uint64_t word = Relaxed();
    for (;;) {
      if ((word & kEnded) != 0) {
        // Acquire: the caller goes on to read the output.
        state_.shared_.load(std::memory_order_acquire);
        return false;
      }
      if (state_.Exchange(word, (word & ~clear) | set)) return true;
    }
  }

  BasicLocalTaskState& state_;
};

using LocalTaskState = BasicLocalTaskState<>;

}  // namespace weft::task_internal

#endif  // WEFT_TASK_LOCAL_TASK_STATE_H_
