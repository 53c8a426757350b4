// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The state word of a spawned task, and every transition on it.
//
// One atomic word decides who may touch what. From bit 0:
//
//   kScheduled   A Runnable exists (in a queue or in somebody's hand); while
//                kRunning: woken during this poll, so poll again. At most one
//                Runnable exists at a time.
//   kRunning     One thread is polling or destroying the future and may touch
//                it. Excludes every other thread from it.
//   kDone        The future is gone, for ever. Excludes the two above.
//   kCancelled   The future shall be destroyed instead of polled. With kDone:
//                it was, and there is no output.
//   kOutput      With kDone: an output or an exception is stored.
//   kHandle      The JoinHandle exists and owns the output once it is stored.
//   kJoinWaker   The join waker's slot is full. While clear and not kDone, the
//                handle owns the slot; while set and not kDone, whoever changes
//                the bit or sets kDone gets it. kDone gives it to the
//                completer.
//   8..          References: one per Runnable (or running poll), per cloned
//                waker, and one for the handle. At zero the cell is freed.
//
//                      Wake, Cancel                BeginRun
//     [idle] ---------------------> [Scheduled] -----------> [Running] --+
//       ^                               ^                      |  | Wake |
//       |            Suspend            |   Suspend            |  v      |
//       +-------------------------------|----------------------+ [Running,
//                                       +------------------------ Scheduled]
//     [Running] --Finish--> [Done]                    (poll or destroy, then)
//
// Proof obligations, checked by the model in tests/task:
//   1. The future is touched only by the thread that set kRunning; kRunning is
//      set only by the owner of the one Runnable. So it never runs on two
//      threads, and never after kDone.
//   2. A wake after BeginRun of a poll leads to another BeginRun, unless the
//      task is done by then: either Wake sees kRunning and Suspend sees
//      kScheduled, or Wake finds the task idle and hands out the Runnable.
//   3. What happened before a Wake, a Cancel or the drop of a waker happens
//      before the poll or the destruction that follows: each of them is a
//      read-modify-write with release, also where it changes nothing, and
//      BeginRun and Suspend acquire.
//   4. Exactly one of completer and handle destroys the output: kOutput is
//      stored and kHandle cleared by read-modify-writes, so one of them sees
//      the other.
//
// Source of the idea: the state words of async-task and Tokio.
#ifndef WEFT_TASK_TASK_STATE_H_
#define WEFT_TASK_TASK_STATE_H_

#include <atomic>
#include <cstdint>

namespace weft::task_internal {

enum TaskBits : uint64_t {
  kScheduled = 1 << 0,
  kRunning = 1 << 1,
  kDone = 1 << 2,
  kCancelled = 1 << 3,
  kOutput = 1 << 4,
  kHandle = 1 << 5,
  kJoinWaker = 1 << 6,
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
      if ((word & (kDone | kScheduled)) == 0) {
        next |= kScheduled;
        if ((word & kRunning) == 0) {
          then = Then::kSchedule;
          next += kReference;
        }
      }
      if (consume) next -= kReference;
      if (consume && next < kReference) return DropLast(word);
      // Acquire-release also where nothing changes: obligation 3; acquire
      // because the Runnable may now be ours.
      if (Exchange(word, next)) return then;
    }
  }

  // The Runnable's owner wants to poll. kPoll or kDestroy.
  Then BeginRun() {
    uint64_t word = word_.load(std::memory_order_relaxed);
    for (;;) {
      if (Exchange(word, (word & ~uint64_t{kScheduled}) | kRunning)) {
        return (word & kCancelled) != 0 ? Then::kDestroy : Then::kPoll;
      }
    }
  }

  // The poll was pending. kNothing (suspended; the Runnable's reference is
  // gone), kReschedule or kDestroy (still running; the reference is kept).
  Then Suspend() {
    uint64_t word = word_.load(std::memory_order_relaxed);
    for (;;) {
      if ((word & kCancelled) != 0) return AcquireThen(Then::kDestroy);
      uint64_t next = word & ~uint64_t{kRunning};
      if ((word & kScheduled) != 0) {
        if (Exchange(word, next)) return Then::kReschedule;
        continue;
      }
      next -= kReference;
      // Nobody is left who could wake or join it: it ends here.
      if (next < kReference) return AcquireThen(Then::kDestroy);
      if (Exchange(word, next)) return Then::kNothing;
    }
  }

  // The future is destroyed. `output` is kOutput or, for a cancelled task, 0.
  // Returns the word before: whose kJoinWaker the caller wakes, and without
  // kHandle the output is the caller's to destroy.
  uint64_t Finish(uint64_t output) {
    uint64_t word = word_.load(std::memory_order_relaxed);
    for (;;) {
      uint64_t next = (word & ~uint64_t{kRunning | kScheduled}) | kDone;
      next = output != 0 ? (next & ~uint64_t{kCancelled}) | output
                         : next | kCancelled;
      if (Exchange(word, next)) return word;
    }
  }

  // Asks for the end of the task. kSchedule: it was idle, and the Runnable
  // brings it to where it runs, to be destroyed there.
  Then Cancel() {
    uint64_t word = word_.load(std::memory_order_relaxed);
    for (;;) {
      if ((word & (kDone | kCancelled)) != 0) return Then::kNothing;
      uint64_t next = word | kCancelled;
      const bool idle = (word & (kScheduled | kRunning)) == 0;
      if (idle) next = (next | kScheduled) + kReference;
      if (Exchange(word, next)) return idle ? Then::kSchedule : Then::kNothing;
    }
  }

  // The handle goes and cancels nothing. Returns the word before: if done with
  // output, that is the caller's to destroy; if not done, so is a join waker.
  // The handle's reference stays counted.
  uint64_t DropHandle() {
    uint64_t word = word_.load(std::memory_order_relaxed);
    for (;;) {
      uint64_t next = word & ~uint64_t{kHandle};
      if ((word & kDone) == 0) next &= ~uint64_t{kJoinWaker};
      if (Exchange(word, next)) return word;
    }
  }

  // The handle wants the join waker's slot. False if the task is done.
  bool ClaimJoinWaker() { return ChangeUnlessDone(kJoinWaker, 0); }
  // The handle has filled the slot. False if the task is done: then the slot is
  // the handle's to empty.
  bool PublishJoinWaker() { return ChangeUnlessDone(0, kJoinWaker); }

  // The handle has taken the output out. Requires: done, with output.
  void TakeOutput() {
    // Relaxed: only the handle reads this bit once the task is done.
    word_.fetch_and(~uint64_t{kOutput}, std::memory_order_relaxed);
  }

  // Relaxed: a new reference is made from one that the caller has.
  void Ref() { word_.fetch_add(kReference, std::memory_order_relaxed); }

  // Gives up a reference. kNothing, kFree, or kSchedule: it was the last one of
  // a task that is not done, which now runs once more to be destroyed.
  Then Unref() {
    uint64_t word = word_.load(std::memory_order_relaxed);
    for (;;) {
      const uint64_t next = word - kReference;
      if (next < kReference) return DropLast(word);
      if (Exchange(word, next)) return Then::kNothing;
    }
  }

 private:
  // On failure loads `word`. Acquire-release: see the callers' obligations.
  bool Exchange(uint64_t& word, uint64_t next) {
    // Relaxed on failure: the caller tries again with what was there.
    return word_.compare_exchange_strong(word, next, std::memory_order_acq_rel,
                                         std::memory_order_relaxed);
  }

  // What others did before they changed the word happens before what follows.
  Then AcquireThen(Then then) {
    word_.load(std::memory_order_acquire);
    return then;
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

  // The caller holds the only reference, so nobody else changes the word; what
  // others did before giving theirs up is acquired. An idle task that nobody
  // can wake is brought home to be destroyed; its reference becomes the
  // Runnable's.
  Then DropLast(uint64_t word) {
    word_.load(std::memory_order_acquire);
    if ((word & kDone) != 0) return Then::kFree;
    word_.store(word | kScheduled | kCancelled, std::memory_order_release);
    return Then::kSchedule;
  }

  typename Atomics::template Atomic<uint64_t> word_;
};

using TaskState = BasicTaskState<>;

}  // namespace weft::task_internal

#endif  // WEFT_TASK_TASK_STATE_H_
