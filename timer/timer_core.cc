// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Algorithm. Everything happens under one lock, except for one look at an
// entry's state by its owner. Its rules:
//   1. kLinked is stored by the owner; it is replaced, under the lock, by
//      whoever takes the entry out of the wheel, as the last access to it.
//   2. The owner reads the state with acquire; what is not kLinked is its own.
//   3. The owner that reads kLinked takes the lock of entry.core and reads
//      again. That core may have been closed, even opened again for others;
//      but then the entry was unlinked under this very lock before, and the
//      second look sees it. The memory is a core's in any case.
// No wake is lost: a thread that is about to sleep arms under the lock that an
// insertion takes, and unparking is sticky.
#include "weft/timer/timer_core.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <mutex>
#include <utility>

#include "weft/task/clock.h"
#include "weft/task/instant.h"
#include "weft/task/wake_list.h"
#include "weft/task/waker.h"
#include "weft/timer/wheel.h"

namespace weft::timer_internal {
namespace {

using State = TimerEntry::State;

struct Pool {
  std::mutex mutex;
  TimerCore* free = nullptr;
};

Pool& ThePool() {
  static Pool* const pool = new Pool;  // cores outlive every static object
  return *pool;
}

bool IsLinked(const TimerEntry& entry) {
  // Acquire: rule 2.
  return entry.state.load(std::memory_order_acquire) == State::kLinked;
}

// Requires: `entry` is out of the wheel. Returns the waker; the entry is its
// owner's from here on.
Waker Finish(TimerEntry& entry, State state) {
  Waker waker = std::move(entry.waker);
  // Release: rule 1.
  entry.state.store(state, std::memory_order_release);
  return waker;
}

}  // namespace

TimerCore* TimerCore::Acquire(const Clock& clock, Waker unparker) {
  Pool& pool = ThePool();
  TimerCore* core;
  {
    std::lock_guard lock(pool.mutex);
    core = pool.free;
    if (core != nullptr) pool.free = core->next_free_;
  }
  if (core == nullptr) core = new TimerCore;
  const Instant now = clock.Now();
  std::lock_guard lock(core->mutex_);
  core->wheel_.Restart(now.nanoseconds());
  core->clock_ = &clock;
  core->unparker_ = std::move(unparker);
  core->counts_ = TimerCounts();
  return core;
}

void TimerCore::Close() {
  WakeList wakers;
  Waker unparker;
  {
    std::unique_lock lock(mutex_);
    clock_ = nullptr;
    armed_ = Instant::Past();
    unparker = std::exchange(unparker_, Waker());
    while (auto* entry = static_cast<TimerEntry*>(wheel_.PopAny())) {
      wakers.Add(Finish(*entry, State::kClosed));
      if (!wakers.IsFull()) continue;
      lock.unlock();
      wakers.WakeAll();
      lock.lock();
    }
  }
  wakers.WakeAll();
}

void TimerCore::Release() {
  Close();
  Pool& pool = ThePool();
  std::lock_guard lock(pool.mutex);
  next_free_ = pool.free;
  pool.free = this;
}

// An entry for `deadline` was linked. Returns what to wake once the lock is
// released; it is the driver's own, so cloning it here runs no user's code.
Waker TimerCore::RearmLocked(Instant deadline) {
  if (deadline >= armed_) return Waker();
  armed_ = deadline;
  return unparker_;
}

TimerCore::Inserted TimerCore::Insert(TimerEntry& entry, Waker waker) {
  Waker unparker;
  {
    std::lock_guard lock(mutex_);
    if (clock_ == nullptr) return Inserted::kClosed;
    if (!wheel_.Insert(entry)) return Inserted::kDue;
    ++counts_.inserted;
    entry.waker = std::move(waker);
    entry.core = this;
    // Relaxed: only the owner acts on kLinked without the lock.
    entry.state.store(State::kLinked, std::memory_order_relaxed);
    unparker = RearmLocked(Instant::FromNanoseconds(entry.deadline));
  }
  std::move(unparker).Wake();
  return Inserted::kLinked;
}

bool TimerCore::UpdateWaker(TimerEntry& entry, const Waker& waker) {
  if (!IsLinked(entry)) return false;
  std::mutex& mutex = entry.core->mutex_;
  {
    std::lock_guard lock(mutex);
    if (!IsLinked(entry)) return false;
    if (entry.waker.WillWake(waker)) return true;
  }
  Waker other = waker;  // cloned, and in the end destroyed, without the lock
  std::lock_guard lock(mutex);
  if (!IsLinked(entry)) return false;
  std::swap(entry.waker, other);
  return true;
}

void TimerCore::Reset(TimerEntry& entry, Instant deadline) {
  if (IsLinked(entry) && entry.core->ResetLinked(entry, deadline)) return;
  entry.deadline = deadline.nanoseconds();
  // Relaxed: the entry is the owner's alone.
  entry.state.store(State::kIdle, std::memory_order_relaxed);
}

// False, and nothing is done, if the entry is not linked any more.
bool TimerCore::ResetLinked(TimerEntry& entry, Instant deadline) {
  Waker waker;
  {
    std::lock_guard lock(mutex_);
    if (!IsLinked(entry)) return false;
    wheel_.Remove(entry);
    entry.deadline = deadline.nanoseconds();
    if (wheel_.Insert(entry)) {
      waker = RearmLocked(deadline);
    } else {
      ++counts_.fired;
      waker = Finish(entry, State::kFired);
    }
  }
  std::move(waker).Wake();
  return true;
}

void TimerCore::Remove(TimerEntry& entry) {
  if (!IsLinked(entry)) return;
  Waker waker;  // destroyed without the lock
  std::lock_guard lock(entry.core->mutex_);
  if (!IsLinked(entry)) return;
  entry.core->wheel_.Remove(entry);
  ++entry.core->counts_.cancelled;
  waker = Finish(entry, State::kIdle);
}

bool TimerCore::Fire(const Clock& clock, Instant now) {
  WakeList wakers;
  bool fired = false;
  std::unique_lock lock(mutex_);
  while (clock_ == &clock) {
    wheel_.Advance(now.nanoseconds());
    while (!wakers.IsFull()) {
      auto* entry = static_cast<TimerEntry*>(wheel_.PopDue());
      if (entry == nullptr) break;
      ++counts_.fired;
      wakers.Add(Finish(*entry, State::kFired));
    }
    if (wakers.IsEmpty()) break;
    fired = true;
    lock.unlock();
    wakers.WakeAll();
    lock.lock();
  }
  return fired;
}

Instant TimerCore::Arm(Instant limit) {
  std::lock_guard lock(mutex_);
  armed_ = std::min(limit, Instant::FromNanoseconds(wheel_.NextExpiry()));
  return armed_;
}

void TimerCore::Disarm() {
  std::lock_guard lock(mutex_);
  armed_ = Instant::Past();
}

Instant TimerCore::NextDeadline() const {
  std::lock_guard lock(mutex_);
  return Instant::FromNanoseconds(wheel_.NextDeadline());
}

size_t TimerCore::Size() const {
  std::lock_guard lock(mutex_);
  return wheel_.size();
}

TimerCounts TimerCore::Counts() const {
  std::lock_guard lock(mutex_);
  TimerCounts counts = counts_;
  counts.pending = wheel_.size();
  return counts;
}

}  // namespace weft::timer_internal
