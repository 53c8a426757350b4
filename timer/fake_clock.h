// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// FakeClock: a clock that a test moves, and the sleeps on it with it.
//
//   FakeClock clock;
//   Environment env;
//   env.clock = &clock;
//   EnvironmentScope scope(env);
//   ManualExecutor executor;
//   executor.Spawn(RetryWithBackoff()).Detach();  // sleeps for minutes
//   clock.Advance(absl::Minutes(5));             // fires what is due by then
//   executor.Drain();
//
// Advance fires everything that is due at the new time, in the order of the
// deadlines, and returns when all of it has been woken (not yet polled).
//
// Where Timers on this clock drive a thread (a runtime's, BlockOn's), nobody
// need move it: time goes to the next deadline when that thread would otherwise
// sleep, and if there are several, when all of them would. So an hour of sleeps
// takes as long as the work between them. A thread takes part from its first
// wait in its Timers until they are destroyed. A descriptor that is ready comes
// first; but work elsewhere (a thread outside, a job that blocks, bytes that
// are still on their way) does not hold time back: where that matters, use
// SetAutoAdvance(false) and move the clock by hand.
//
// Sleeps whose environment has this clock but no Timers are kept by the clock
// itself, and only Advance, Set and AdvanceToNext fire them.
//
// Thread safety: all methods from any thread.
// Lifetime: outlives every environment and Timers that name it; sleeps may be
// left over.
#ifndef WEFT_TIMER_FAKE_CLOCK_H_
#define WEFT_TIMER_FAKE_CLOCK_H_

#include <atomic>
#include <cstdint>
#include <mutex>

#include "absl/time/time.h"
#include "weft/task/clock.h"
#include "weft/task/instant.h"
#include "weft/task/waker.h"
#include "weft/timer/timer_core.h"

namespace weft::timer {

class Sleep;
class Timers;

class FakeClock final : public Clock {
 public:
  // A million seconds after the origin: far from both ends of time, and easy to
  // tell from a real moment.
  static constexpr Instant kStart =
      Instant::FromNanoseconds(1'000'000'000'000'000);

  explicit FakeClock(Instant start = kStart);
  FakeClock(const FakeClock&) = delete;
  FakeClock& operator=(const FakeClock&) = delete;
  ~FakeClock() override;

  Instant Now() const override;

  // Moves the clock and fires what is due. CHECK-fails for a negative `d`, an
  // infinite one, and a `now` before Now().
  void Advance(absl::Duration d);
  void Set(Instant now);

  // Moves the clock to the earliest deadline that anybody waits for, and fires
  // what is due. False, and nothing is done, if there is none.
  bool AdvanceToNext();

  // That deadline, or Infinite(). It may have come.
  Instant NextDeadline();

  // Whether time goes on by itself as said above; true at first.
  void SetAutoAdvance(bool on);

  // Not const: whoever has a FakeClock may move it.
  FakeClock* AsFake() const override { return const_cast<FakeClock*>(this); }

 private:
  friend Sleep;
  friend Timers;

  // A thread that drives Timers on this clock.
  struct Sleeper;

  // --- For Timers.

  // `unparker` is that of the driver in which the thread sleeps.
  static Sleeper* MakeSleeper(Waker unparker);
  // An unparker for that driver which lets the clock know.
  static Waker UnparkerOf(Sleeper& sleeper);
  // Whether the sleeper was unparked since this was last asked.
  static bool TakeUnparked(Sleeper& sleeper);
  void Add(Sleeper& sleeper, timer_internal::TimerCore* core);
  void Remove(Sleeper& sleeper);
  // Called at the thread's first wait.
  void TakePart(Sleeper& sleeper);
  // The thread has nothing to do until `limit`. True: it is to sleep until it
  // is unparked, and then to call WokeUp. False: time has gone on instead.
  bool MaySleep(Sleeper& sleeper, Instant limit);
  void WokeUp(Sleeper& sleeper);

  using Lock = std::unique_lock<std::mutex>;
  template <class Fn>
  void VisitSleepers(Lock& lock, Fn fn);
  void MoveTo(Lock& lock, Instant now);
  bool AllAsleep() const;
  Instant EarliestWish() const;

  std::atomic<int64_t> now_;               // changed under mutex_
  timer_internal::TimerCore* const core_;  // of sleeps without Timers

  std::mutex mutex_;
  // Under mutex_, as what is in a Sleeper.
  bool auto_advance_ = true;
  uint64_t visits_ = 0;
  Sleeper* sleepers_ = nullptr;
};

}  // namespace weft::timer

#endif  // WEFT_TIMER_FAKE_CLOCK_H_
