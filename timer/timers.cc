// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/timer/timers.h"

#include <cstdint>
#include <utility>

#include "weft/task/clock.h"
#include "weft/task/driver.h"
#include "weft/task/instant.h"
#include "weft/task/waker.h"
#include "weft/timer/fake_clock.h"
#include "weft/timer/timer_core.h"

namespace weft::timer {

Timers::Timers(Driver& inner, const Clock& clock)
    : inner_(inner),
      clock_(clock),
      fake_(clock.AsFake()),
      sleeper_(fake_ == nullptr ? nullptr
                                : FakeClock::MakeSleeper(inner.Unparker())),
      core_(timer_internal::TimerCore::Acquire(clock, Unparker())) {
  if (fake_ != nullptr) fake_->Add(*sleeper_, core_);
}

Timers::~Timers() {
  // In this order: a released core may soon be somebody else's.
  if (fake_ != nullptr) fake_->Remove(*sleeper_);
  core_->Release();
}

Waker Timers::Unparker() {
  return sleeper_ == nullptr ? inner_.Unparker()
                             : FakeClock::UnparkerOf(*sleeper_);
}

bool Timers::Fire() {
  const bool fired = core_->Fire(clock_, clock_.Now());
  fired_ += fired;
  return fired;
}

void Timers::Park(Instant deadline) {
  if (fake_ != nullptr) return ParkOnFakeClock(deadline);
  if (Fire() || deadline == Instant::Past()) {
    // There is something to do: wait for nothing.
    inner_.Park(Instant::Past());
    return;
  }
  inner_.Park(core_->Arm(deadline));
  core_->Disarm();
  Fire();
}

bool Timers::TryPoll() {
  if (fake_ != nullptr) return false;  // its time is in the hands of who parks
  inner_.TryPoll();
  core_->Fire(clock_, clock_.Now());
  return true;
}

void Timers::ParkOnFakeClock(Instant deadline) {
  if (!std::exchange(takes_part_, true)) fake_->TakePart(*sleeper_);
  const bool fired = Fire();
  // What is ready now comes before time goes on.
  const uint64_t handled = inner_.HandledEvents();
  inner_.Park(Instant::Past());
  if (FakeClock::TakeUnparked(*sleeper_) || fired) return;
  if (inner_.HandledEvents() != handled) return;
  if (deadline <= clock_.Now()) return;
  core_->Arm(deadline);
  if (fake_->MaySleep(*sleeper_, deadline)) {
    inner_.Park(Instant::Infinite());
    fake_->WokeUp(*sleeper_);
  } else {
    ++fired_;  // on the way, most likely
  }
  core_->Disarm();
  FakeClock::TakeUnparked(*sleeper_);
  Fire();
}

}  // namespace weft::timer
