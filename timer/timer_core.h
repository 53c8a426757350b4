// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// TimerCore: the part of Timers that sleeps refer to. Internal.
//
// A core is a wheel, its lock and how to interrupt the thread that waits for
// it. Timers own one while they live; then it is closed, and goes to a pool
// from which the next Timers take it, never back to the allocator. So a leaf
// may hold a core's address for as long as it likes.
//
// An entry's states, each left only under the lock of its core:
//   kIdle    in no wheel
//   kLinked  in the wheel of `core`, due or not; `waker` is set
//   kFired   its deadline has come; in no wheel, and its waker has been taken
//   kClosed  the core was closed before that; likewise
// Whoever takes an entry out of the wheel stores the state last, so an owner
// who sees another state than kLinked has the entry to itself. One who sees
// kLinked looks again under the lock.
//
// Thread safety: all methods of a core from any thread. The owner's methods
// (those that take an entry) by one thread at a time for each entry.
#ifndef WEFT_TIMER_TIMER_CORE_H_
#define WEFT_TIMER_TIMER_CORE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "weft/task/clock.h"
#include "weft/task/instant.h"
#include "weft/task/waker.h"
#include "weft/timer/wheel.h"

namespace weft::timer_internal {

class TimerCore;

struct TimerEntry : WheelEntry {
  enum class State : uint8_t { kIdle, kLinked, kFired, kClosed };

  std::atomic<State> state{State::kIdle};
  Waker waker;                // under the core's lock while kLinked
  TimerCore* core = nullptr;  // where it was last linked
};

// Of a core since it was acquired.
struct TimerCounts {
  uint64_t pending = 0;    // entries that are linked, now
  uint64_t inserted = 0;   // entries that were linked
  uint64_t fired = 0;      // their deadline came
  uint64_t cancelled = 0;  // they were taken out before
};

class TimerCore {
 public:
  TimerCore(const TimerCore&) = delete;
  TimerCore& operator=(const TimerCore&) = delete;

  // An open core from the pool. `clock` is that of its deadlines; `unparker`
  // interrupts whoever sleeps after Arm.
  static TimerCore* Acquire(const Clock& clock, Waker unparker);
  // Wakes every entry as kClosed. May be called again.
  void Close();
  // Closes, and gives the core back to the pool. Called once by whoever acquired
  // it.
  void Release();

  // --- For the owners of entries.

  enum class Inserted {
    kLinked,
    kDue,     // nothing was done: the deadline has come
    kClosed,  // nothing was done: the core is closed
  };
  // Links `entry`, which is not linked, with its deadline and `waker`.
  Inserted Insert(TimerEntry& entry, Waker waker);
  // Makes `waker` the one that a linked entry wakes. False, and nothing is
  // done, if it is not linked any more.
  static bool UpdateWaker(TimerEntry& entry, const Waker& waker);
  // Gives an entry another deadline; a linked one stays linked, or is fired and
  // woken if that deadline has come. One that is not linked becomes kIdle.
  static void Reset(TimerEntry& entry, Instant deadline);
  // Takes an entry out of its wheel if it is in one.
  static void Remove(TimerEntry& entry);

  // --- For whoever drives the core.

  // Wakes the entries that are due at `now`, in order, by batches, with no lock
  // held. True if there were any. Does nothing if the core is closed or its
  // clock is not `clock`.
  bool Fire(const Clock& clock, Instant now);
  // The caller is about to sleep, until `limit` or, if that is earlier, until
  // the next expiry; returns that moment. From now on an entry that is linked
  // with an earlier deadline unparks.
  Instant Arm(Instant limit);
  // The caller is awake.
  void Disarm();
  // The earliest deadline, or Infinite(). Takes time where many are close.
  Instant NextDeadline() const;
  // How many entries are linked.
  size_t Size() const;
  TimerCounts Counts() const;

 private:
  TimerCore() = default;

  bool ResetLinked(TimerEntry& entry, Instant deadline);
  Waker RearmLocked(Instant deadline);

  mutable std::mutex mutex_;
  // All under mutex_.
  Wheel wheel_{0};
  const Clock* clock_ = nullptr;  // null: closed
  Waker unparker_;
  // A thread sleeps until this moment; Past(): none sleeps.
  Instant armed_ = Instant::Past();
  TimerCounts counts_;  // but for `pending`

  TimerCore* next_free_ = nullptr;  // the pool's, under its lock
};

}  // namespace weft::timer_internal

#endif  // WEFT_TIMER_TIMER_CORE_H_
