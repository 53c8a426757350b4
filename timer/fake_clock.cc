// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Algorithm. The clock knows, for every thread that drives Timers on it, a
// Sleeper: whether the thread is asleep and until when. The thread that goes to
// sleep last moves the clock to the earliest deadline of them all. Unparkers of
// such Timers set a flag before they unpark, so that a sleeper that is about to
// wake does not count as asleep.
//
// Wakers run with no lock held. The list of sleepers may change meanwhile, so a
// visit to all of them numbers itself, marks each sleeper it has been to, and
// starts over from the head until all are marked. A Sleeper is counted; the
// core it names is never freed.
#include "weft/timer/fake_clock.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <utility>

#include "absl/time/time.h"
#include "weft/task/check.h"
#include "weft/task/instant.h"
#include "weft/task/waker.h"
#include "weft/timer/timer_core.h"

namespace weft::timer {

using timer_internal::TimerCore;

struct FakeClock::Sleeper {
  explicit Sleeper(Waker unparker) : unparker(std::move(unparker)) {}

  void Unpark() {
    // Release: pairs with TakeUnparked and AllAsleep.
    unparked.store(true, std::memory_order_release);
    unparker.WakeByRef();
  }
  // Relaxed: a new reference is made from an existing one.
  void Ref() { references.fetch_add(1, std::memory_order_relaxed); }
  void Unref() {
    // Acquire-release: the last one sees every use before deleting.
    if (references.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  static const WakerVTable kVTable;

  std::atomic<uint32_t> references{1};  // the first is that of the Timers
  std::atomic<bool> unparked{false};
  const Waker unparker;

  // Under the clock's lock.
  TimerCore* core = nullptr;
  Sleeper* next = nullptr;
  uint64_t visited = 0;
  bool takes_part = false;  // has begun to wait in its Timers
  bool asleep = false;
  Instant limit;  // while asleep
};

const WakerVTable FakeClock::Sleeper::kVTable = {
    .clone =
        [](void* data) {
          static_cast<Sleeper*>(data)->Ref();
          return Waker(&kVTable, data);
        },
    .wake =
        [](void* data) {
          static_cast<Sleeper*>(data)->Unpark();
          static_cast<Sleeper*>(data)->Unref();
        },
    .wake_by_ref = [](void* data) { static_cast<Sleeper*>(data)->Unpark(); },
    .drop = [](void* data) { static_cast<Sleeper*>(data)->Unref(); },
};

FakeClock::FakeClock(Instant start)
    : now_(start.nanoseconds()), core_(TimerCore::Acquire(*this, Waker())) {}

FakeClock::~FakeClock() {
  WEFT_CHECK(sleepers_ == nullptr,
             "a FakeClock was destroyed before the Timers that use it");
  core_->Release();
}

Instant FakeClock::Now() const {
  // Acquire: what was done before the clock was moved has been seen after.
  return Instant::FromNanoseconds(now_.load(std::memory_order_acquire));
}

void FakeClock::Advance(absl::Duration d) {
  WEFT_CHECK(d >= absl::ZeroDuration(), "time does not go backwards");
  Lock lock(mutex_);
  MoveTo(lock, Now() + d);
}

void FakeClock::Set(Instant now) {
  Lock lock(mutex_);
  MoveTo(lock, now);
}

Instant FakeClock::NextDeadline() {
  const Lock lock(mutex_);
  return std::min(EarliestWish(), core_->NextDeadline());
}

bool FakeClock::AdvanceToNext() {
  Lock lock(mutex_);
  const Instant next = std::min(EarliestWish(), core_->NextDeadline());
  if (next.IsInfinite()) return false;
  MoveTo(lock, std::max(next, Now()));
  return true;
}

void FakeClock::SetAutoAdvance(bool on) {
  Lock lock(mutex_);
  auto_advance_ = on;
  // Those who sleep look again.
  if (on) {
    VisitSleepers(
        lock, [](Sleeper& sleeper, TimerCore&, Instant) { sleeper.Unpark(); });
  }
}

// Calls fn(sleeper, its core, its limit) for every sleeper, without the lock.
template <class Fn>
void FakeClock::VisitSleepers(Lock& lock, Fn fn) {
  const uint64_t visit = ++visits_;
  Sleeper* sleeper = sleepers_;
  while (sleeper != nullptr) {
    if (sleeper->visited >= visit) {
      sleeper = sleeper->next;
      continue;
    }
    sleeper->visited = visit;
    sleeper->Ref();
    TimerCore& core = *sleeper->core;
    const Instant limit =
        sleeper->asleep ? sleeper->limit : Instant::Infinite();
    lock.unlock();
    fn(*sleeper, core, limit);
    sleeper->Unref();
    lock.lock();
    sleeper = sleepers_;
  }
}

void FakeClock::MoveTo(Lock& lock, Instant now) {
  WEFT_CHECK(now >= Now(), "time does not go backwards");
  WEFT_CHECK(!now.IsInfinite(), "a clock cannot be set to infinity");
  // Release: pairs with Now.
  now_.store(now.nanoseconds(), std::memory_order_release);
  lock.unlock();
  core_->Fire(*this, now);
  lock.lock();
  VisitSleepers(lock,
                [this, now](Sleeper& sleeper, TimerCore& core, Instant limit) {
                  if (core.Fire(*this, now) || limit <= now) sleeper.Unpark();
                });
}

// Requires: mutex_ is held.
bool FakeClock::AllAsleep() const {
  for (const Sleeper* s = sleepers_; s != nullptr; s = s->next) {
    if (!s->takes_part) continue;
    // Acquire: pairs with Unpark.
    if (!s->asleep || s->unparked.load(std::memory_order_acquire)) return false;
  }
  return true;
}

// When the first of the sleepers wants to wake. Requires: mutex_ is held.
Instant FakeClock::EarliestWish() const {
  Instant earliest = Instant::Infinite();
  for (const Sleeper* s = sleepers_; s != nullptr; s = s->next) {
    earliest = std::min(earliest, s->core->NextDeadline());
    if (s->asleep) earliest = std::min(earliest, s->limit);
  }
  return earliest;
}

FakeClock::Sleeper* FakeClock::MakeSleeper(Waker unparker) {
  return new Sleeper(std::move(unparker));
}

Waker FakeClock::UnparkerOf(Sleeper& sleeper) {
  sleeper.Ref();
  return Waker(&Sleeper::kVTable, &sleeper);
}

bool FakeClock::TakeUnparked(Sleeper& sleeper) {
  // Acquire: pairs with Unpark.
  return sleeper.unparked.exchange(false, std::memory_order_acquire);
}

void FakeClock::Add(Sleeper& sleeper, TimerCore* core) {
  std::lock_guard lock(mutex_);
  sleeper.core = core;
  sleeper.next = sleepers_;
  sleepers_ = &sleeper;
}

void FakeClock::Remove(Sleeper& sleeper) {
  Lock lock(mutex_);
  Sleeper** link = &sleepers_;
  while (*link != &sleeper) link = &(*link)->next;
  *link = sleeper.next;
  // Perhaps the others waited for this one only.
  VisitSleepers(lock,
                [](Sleeper& other, TimerCore&, Instant) { other.Unpark(); });
  lock.unlock();
  sleeper.Unref();
}

void FakeClock::TakePart(Sleeper& sleeper) {
  std::lock_guard lock(mutex_);
  sleeper.takes_part = true;
}

bool FakeClock::MaySleep(Sleeper& sleeper, Instant limit) {
  Lock lock(mutex_);
  sleeper.asleep = true;
  sleeper.limit = limit;
  if (!auto_advance_ || !AllAsleep()) return true;
  const Instant next = EarliestWish();
  if (next.IsInfinite()) return true;
  sleeper.asleep = false;
  MoveTo(lock, std::max(next, Now()));
  return false;
}

void FakeClock::WokeUp(Sleeper& sleeper) {
  std::lock_guard lock(mutex_);
  sleeper.asleep = false;
}

}  // namespace weft::timer
