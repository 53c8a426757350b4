// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/timer/sleep.h"

#include <atomic>

#include "weft/task/check.h"
#include "weft/task/clock.h"
#include "weft/task/context.h"
#include "weft/task/environment.h"
#include "weft/task/instant.h"
#include "weft/task/polled.h"
#include "weft/timer/default_timers.h"
#include "weft/timer/fake_clock.h"
#include "weft/timer/timer_core.h"
#include "weft/timer/timers.h"

namespace weft::timer {

using timer_internal::TimerCore;
using timer_internal::TimerEntry;

Sleep::Sleep(Sleep&& other) noexcept {
  WEFT_CHECK(other.entry_.core == nullptr,
             "a Sleep was moved after its first poll: move it before, or keep "
             "it where it does not move (in a Task, behind a unique_ptr)");
  entry_.deadline = other.entry_.deadline;
}
Polled<void> Sleep::Poll(Context& cx) {
  if (!cx.HasBudget()) return kPending;
  for (;;) {
    // Acquire: what is not linked is ours alone.
    switch (entry_.state.load(std::memory_order_acquire)) {
      case TimerEntry::State::kLinked:
        if (TimerCore::UpdateWaker(entry_, cx.waker())) return kPending;
        continue;  // it has just been fired, with the waker before
      case TimerEntry::State::kIdle:
      case TimerEntry::State::kClosed:
        if (Link(cx)) return kPending;
        [[fallthrough]];
      case TimerEntry::State::kFired:
        cx.Charge();
        return Unit();
    }
  }
}

// Puts the entry into the Timers of `cx`. False if the deadline has come.
bool Sleep::Link(Context& cx) {
  Timers* const timers = cx.Find(&Environment::timers);
  const Clock& clock = timers != nullptr ? timers->clock() : cx.clock();
  if (deadline() > clock.Now()) {
    TimerCore* core = nullptr;
    if (timers != nullptr) {
      core = timers->core_;
    } else if (FakeClock* fake = clock.AsFake()) {
      core = fake->core_;
    } else {
      core = timer_internal::DefaultTimers().core_;
    }
    auto inserted = core->Insert(entry_, cx.waker());
    if (inserted == TimerCore::Inserted::kClosed) {
      // Polled by a waker while its Timers were being destroyed.
      core = timer_internal::DefaultTimers().core_;
      inserted = core->Insert(entry_, cx.waker());
    }
    if (inserted == TimerCore::Inserted::kLinked) return true;
  }
  // Relaxed: an entry that is not linked is ours alone.
  entry_.state.store(TimerEntry::State::kFired, std::memory_order_relaxed);
  return false;
}

bool Sleep::IsElapsed() const {
  // Acquire: pairs with what stored it.
  return entry_.state.load(std::memory_order_acquire) ==
             TimerEntry::State::kFired ||
         deadline() <= Environment::CurrentClock().Now();
}

void Sleep::Reset(Instant deadline) { TimerCore::Reset(entry_, deadline); }

}  // namespace weft::timer
