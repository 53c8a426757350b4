// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The state word of a spawned task, and every transition on it.
//
// One atomic word decides who may touch what. From bit 0:
//
//   kScheduled   The future has an owner: a Runnable exists (in a queue or in
//                somebody's hand), or a thread is running it. One at a time.
//   kNotified    With kScheduled: woken since the owner last looked. Looking
//                clears it.
//   kDone        The future is gone, for ever. Excludes the two above.
//   kCancelled   The future shall be destroyed instead of polled. With kDone:
//                it was, and there is no output.
//   kOutput      With kDone: an output or an exception was stored.
//   kHandle      The JoinHandle exists and owns the output once it is stored.
//                Means nothing any more once the handle of a done task is gone.
//   kJoinWaker   The join waker's slot is full. While clear and not kDone, the
//                handle owns the slot; while set and not kDone, whoever changes
//                the bit or sets kDone gets it. kDone gives it to the
//                completer.
//   kForgotten   With kCancelled: because the last reference went.
//   8..          References: one for the owner, one per cloned waker, and one
//                for the handle. At zero the cell is freed.
//
//                Wake, Cancel               Wake
//     [idle] -------------> [Scheduled] -----------> [Scheduled, Notified]
//       ^                     |   |  ^                 |
//       |       Suspend       |   |  |    BeginRun     |
//       +---------------------+   |  +-----------------+
//                                 +--Finish--> [Done]
//
// A running task and a waiting Runnable look the same to those who wake it: the
// owner will poll, or is polling, and looks at kNotified before its next step.
// So a run begins with a plain load, and a task that woke itself goes back into
// a queue without a change of the word.
//
// Proof obligations, checked by the model in tests/task:
//   1. The future is touched only by the owner. Ownership starts with the
//      transition that sets kScheduled, travels with the Runnable (whoever
//      carries it between threads publishes it, as any queue does), and ends in
//      Suspend or Finish. Who only looks (TryOwn) is an owner, too: he suspends it
//      and schedules it if it was woken or cancelled meanwhile. So the future is never run by two threads, and never
//      after kDone.
//   2. A wake after the look of BeginRun leads to another BeginRun, unless the
//      task is done by then: either Wake sees the owner and Suspend sees
//      kNotified, or Wake finds the task idle and hands out the Runnable.
//   3. What happened before a Wake, a Cancel or the drop of a waker happens
//      before the poll or the destruction that follows: each of them is a
//      read-modify-write with release, also where it changes nothing (but on a
//      done task), and BeginRun and Suspend acquire.
//   4. Exactly one of completer and handle destroys the output: before kDone
//      kHandle is cleared, and kDone is set, by read-modify-writes, so one of
//      them sees the other. After kDone the handle knows that it is its own.
//   5. References are made from others, but for those that an executor makes of the
//      tasks in a list, from the first Suspend to just before Finish; whoever takes a
//      task off the list waits for them. So after kDone, and in Finish, whoever holds
//      the last reference is alone with the cell, once it has acquired what the others
//      did before they gave theirs up; it changes nothing atomically any more. Of an
//      idle task the last reference may turn out not to be the last.
//
// Source of the idea: the state words of async-task and Tokio.
#ifndef WEFT_TASK_TASK_STATE_H_
#define WEFT_TASK_TASK_STATE_H_

#include <atomic>
#include <cstdint>

namespace weft::task_internal {

enum TaskBits : uint64_t {
  kScheduled = 1 << 0,
  kNotified = 1 << 1,
  kDone = 1 << 2,
  kCancelled = 1 << 3,
  kOutput = 1 << 4,
  kHandle = 1 << 5,
  kJoinWaker = 1 << 6,
  kForgotten = 1 << 7,
  kReference = 1 << 8,
};

// What the caller of a transition must do now.
enum class Then {
  kNothing,
  kSchedule,    // Hand the Runnable, with the reference now counted for it, on.
  kPoll,        // Poll the future.
  kDestroy,     // Destroy the future, then Finish(0).
  kReschedule,  // Hand the Runnable on again; its reference is still counted.
  kFree,        // The last reference is gone: free the cell.
};

struct StdAtomics {
  template <class T>
  using Atomic = std::atomic<T>;
  template <class T>
  using Plain = T;  // no atomic: others order the accesses
};

// `Atomics` names the atomic template, so that a model checker can run this
// code.
template <class Atomics = StdAtomics>
class BasicTaskState {
 public:
  // A new task is scheduled and has a handle.
  BasicTaskState() : word_(kScheduled | kHandle | 2 * kReference) {}

  // Acquire: whoever sees kDone may read the output.
  uint64_t Load() const { return word_.load(std::memory_order_acquire); }

  // A waker fired. With `consume` the waker's own reference is given up (or
  // becomes the Runnable's). kFree only with `consume`.
  Then Wake(bool consume) {
    // Relaxed: the exchange below decides.
    uint64_t word = word_.load(std::memory_order_relaxed);
    for (;;) {
      uint64_t next = word;
      Then then = Then::kNothing;
      if ((word & kScheduled) != 0) {
        next |= kNotified;
      } else if ((word & kDone) == 0) {
        next = (word | kScheduled) + kReference;
        then = Then::kSchedule;
      } else if (!consume) {
        return Then::kNothing;
      }
      if (consume) next -= kReference;
      // Done: else there would be the owner's reference.
      if (consume && next < kReference) return AcquireThen(Then::kFree);
      // Acquire-release also where nothing changes: obligation 3; acquire
      // because the Runnable may now be ours.
      if (Exchange(word, next)) return then;
    }
  }

  // The owner wants to poll. kPoll or kDestroy. Earlier wakes are settled by it.
  Then BeginRun() {
    // Acquire: what happened before the wakes that this sees.
    uint64_t word = word_.load(std::memory_order_acquire);
    if ((word & kNotified) != 0) {
      word = word_.fetch_and(~uint64_t{kNotified}, std::memory_order_acq_rel);
    }
    return (word & kCancelled) != 0 ? Then::kDestroy : Then::kPoll;
  }

  // Becomes the owner of an idle task, to look at its future; Suspend(false), and
  // what it says, ends that. False for any other.
  bool TryOwn() {
    // Relaxed: the exchange below decides, and acquires.
    uint64_t word = word_.load(std::memory_order_relaxed);
    while ((word & (kScheduled | kDone)) == 0) {
      if (Exchange(word, (word | kScheduled) + kReference)) return true;
    }
    return false;
  }

  // The poll was pending. kNothing (suspended; the owner's reference is gone),
  // kReschedule or kDestroy (still the owner). `woken_by_itself` stands for a
  // wake by the owner during this poll, which needs no trace in the word.
  Then Suspend(bool woken_by_itself) {
    uint64_t word = word_.load(std::memory_order_relaxed);
    for (;;) {
      if ((word & kCancelled) != 0) return AcquireThen(Then::kDestroy);
      // BeginRun will clear kNotified, and acquire.
      if (woken_by_itself || (word & kNotified) != 0) return Then::kReschedule;
      const uint64_t next = (word & ~uint64_t{kScheduled}) - kReference;
      // Nobody is left who could wake or join it: it ends here.
      if (next < kReference) return AcquireThen(Then::kDestroy);
      if (Exchange(word, next)) return Then::kNothing;
    }
  }

  // After kDestroy, before Finish: whether that is because nobody was left who could
  // wake the task or wait for it. Relaxed: the owner has acquired all that led here.
  bool IsForgotten() const {
    const uint64_t word = word_.load(std::memory_order_relaxed);
    return (word & kForgotten) != 0 || (word & kCancelled) == 0;
  }

  // The future is destroyed. `output` is kOutput or, for a cancelled task, 0.
  // Returns the word before: whose kJoinWaker the caller wakes, and without
  // kHandle the output is the caller's to destroy. The owner's reference is
  // gone, unless KeptReference(result).
  uint64_t Finish(uint64_t output) {
    uint64_t word = word_.load(std::memory_order_relaxed);
    for (;;) {
      uint64_t next = (word & ~uint64_t{kScheduled | kNotified}) | kDone;
      next = output != 0 ? (next & ~uint64_t{kCancelled}) | output
                         : next | kCancelled;
      if (!KeptReference(word)) next -= kReference;
      if (word < 2 * kReference) {  // alone: obligation 5
        word_.load(std::memory_order_acquire);
        word_.store(next, std::memory_order_relaxed);
        return word;
      }
      if (Exchange(word, next)) return word;
    }
  }
  static bool KeptReference(uint64_t before_finish) {
    // Else the handle has what is left to do.
    return (before_finish & kJoinWaker) != 0 || (before_finish & kHandle) == 0;
  }

  // Asks for the end of the task. kSchedule: it was idle, and the Runnable
  // brings it to where it runs, to be destroyed there.
  Then Cancel() {
    uint64_t word = word_.load(std::memory_order_relaxed);
    for (;;) {
      if ((word & (kDone | kCancelled)) != 0) return Then::kNothing;
      uint64_t next = word | kCancelled;
      const bool idle = (word & kScheduled) == 0;
      if (idle) next = (next | kScheduled) + kReference;
      if (Exchange(word, next)) return idle ? Then::kSchedule : Then::kNothing;
    }
  }

  // The handle goes and cancels nothing. Returns the word before: if done with
  // output, that is the caller's to destroy; if not done, so is a join waker.
  // The handle's reference stays counted.
  uint64_t DropHandle() {
    // Acquire: the output, if done. Nothing changes then: obligation 4.
    uint64_t word = word_.load(std::memory_order_acquire);
    while ((word & kDone) == 0) {
      if (Exchange(word, word & ~uint64_t{kHandle | kJoinWaker})) return word;
    }
    return AcquireThen(word);
  }

  // DropHandle() and Unref() in one, where nothing is left to clean up in between: no
  // output and no join waker. Else false, and nothing has happened.
  bool TryReleaseHandle(Then& then) {
    uint64_t word = word_.load(std::memory_order_relaxed);
    while ((word & (kDone | kJoinWaker)) == 0) {
      const uint64_t next = (word & ~uint64_t{kHandle}) - kReference;
      then = Then::kNothing;
      if (next < kReference) {
        then = Then::kSchedule;
        if (Exchange(word, Forgotten(word & ~uint64_t{kHandle}))) return true;
      } else if (Exchange(word, next)) {
        return true;
      }
    }
    return false;
  }

  // The handle wants the join waker's slot. False if the task is done.
  bool ClaimJoinWaker() {
    // Relaxed: what the handle itself published, or the completer's kDone.
    const uint64_t word = word_.load(std::memory_order_relaxed);
    if ((word & (kDone | kJoinWaker)) == 0) return true;  // its own already
    return ChangeUnlessDone(kJoinWaker, 0);
  }
  // The handle has filled the slot. False if the task is done: then the slot is
  // the handle's to empty.
  bool PublishJoinWaker() { return ChangeUnlessDone(0, kJoinWaker); }

  // Relaxed: a new reference is made from one that the caller has.
  void Ref() { word_.fetch_add(kReference, std::memory_order_relaxed); }

  // Gives up a reference. kNothing, kFree, or kSchedule: it was the last one of
  // a task that is not done, which now runs once more to be destroyed.
  Then Unref() {
    uint64_t word = word_.load(std::memory_order_relaxed);
    for (;;) {
      const uint64_t next = word - kReference;
      if (next >= kReference) {
        if (Exchange(word, next)) return Then::kNothing;
      } else if ((word & kDone) != 0) {
        return AcquireThen(Then::kFree);
      } else if (Exchange(word, Forgotten(word))) {
        return Then::kSchedule;
      }
    }
  }

 private:
  // An idle task that nobody can wake is brought home to be destroyed; the last
  // reference becomes the Runnable's.
  static uint64_t Forgotten(uint64_t word) {
    return word | kScheduled | kCancelled | kForgotten;
  }

  // On failure loads `word`. Acquire-release: see the callers' obligations.
  bool Exchange(uint64_t& word, uint64_t next) {
    // Relaxed on failure: the caller tries again with what was there.
    return word_.compare_exchange_strong(word, next, std::memory_order_acq_rel,
                                         std::memory_order_relaxed);
  }

  // What others did before they changed the word happens before what follows.
  template <class Result>
  Result AcquireThen(Result result) {
    word_.load(std::memory_order_acquire);
    return result;
  }

  bool ChangeUnlessDone(uint64_t clear, uint64_t set) {
    uint64_t word = word_.load(std::memory_order_relaxed);
    for (;;) {
      if ((word & kDone) != 0) {
        // Acquire: the caller goes on to read the output.
        word_.load(std::memory_order_acquire);
        return false;
      }
      if (Exchange(word, (word & ~clear) | set)) return true;
    }
  }

  typename Atomics::template Atomic<uint64_t> word_;
};

using TaskState = BasicTaskState<>;

}  // namespace weft::task_internal

#endif  // WEFT_TASK_TASK_STATE_H_
