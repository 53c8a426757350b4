// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// weft-lint: allow-file(R22): the tests' tasks end before what they refer to.

#include "weft/task/instrument.h"

#include <atomic>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "weft/task/block_on.h"
#include "weft/task/clock.h"
#include "weft/task/context.h"
#include "weft/task/counting_waker.h"
#include "weft/task/drop_at_every_poll.h"
#include "weft/task/environment.h"
#include "weft/task/frame_cache.h"
#include "weft/task/future.h"
#include "weft/task/instant.h"
#include "weft/task/invoke.h"
#include "weft/task/join_handle.h"
#include "weft/task/live_counter.h"
#include "weft/task/manual_executor.h"
#include "weft/task/polled.h"
#include "weft/task/ready.h"
#include "weft/task/status_matchers.h"
#include "weft/task/task.h"
#include "weft/task/task_monitor.h"
#include "weft/task/waker.h"
#include "weft/task/yield_now.h"
#include "weft/tests/kit/signal.h"
#include "weft/timer/fake_clock.h"

namespace weft {
namespace {

static_assert(Future<InstrumentFuture<Task<int>>>);
static_assert(InstrumentFuture<Task<int>>::kMovableAfterPoll);
static_assert(!InstrumentFuture<Signal::WaitFuture>::kMovableAfterPoll);

constexpr absl::Duration kUs = absl::Microseconds(1);

// All times that were counted, to the nanosecond.
absl::Duration LifeOf(const TaskMetrics& m) {
  const double seconds =
      m.first_poll_delay.sum + m.polls.sum + m.idle.sum + m.scheduled.sum;
  return absl::Nanoseconds(std::llround(seconds * 1e9));
}

// Times are those of a clock that the test moves.
class InstrumentTest : public testing::Test {
 protected:
  InstrumentTest() { environment_.clock = &clock_; }

  // A leaf that takes `time` for each poll.
  auto Wait(absl::Duration time) {
    return PollFn([this, time,
                   wait = signal_.Wait()](Context& cx) mutable -> Polled<int> {
      clock_.Advance(time);
      return wait.Poll(cx);
    });
  }

  timer::FakeClock clock_;
  Environment environment_;
  const EnvironmentScope scope_{environment_};
  Signal signal_;
  CountingWaker waker_;
  Context cx_{waker_.waker()};
  TaskMonitor monitor_;
};

TEST_F(InstrumentTest, AFutureThatIsReadyAtOnceIsPolledOnce) {
  auto future = Instrument(monitor_, Ready(7));
  EXPECT_EQ(monitor_.Totals().created, 1u);
  EXPECT_EQ(monitor_.Totals().finished, 0u);
  clock_.Advance(3 * kUs);

  EXPECT_EQ(*future.Poll(cx_), 7);

  const TaskMetrics m = monitor_.Totals();
  EXPECT_EQ(m.finished, 1u);
  EXPECT_EQ(m.threw, 0u);
  EXPECT_EQ(m.dropped, 0u);
  EXPECT_EQ(m.first_poll_delay.Count(), 1u);
  EXPECT_EQ(m.first_poll_delay.sum, 3e-6);
  EXPECT_EQ(m.polls.Count(), 1u);
  EXPECT_EQ(m.polls.sum, 0);
  EXPECT_EQ(m.idle.Count(), 0u);
  EXPECT_EQ(m.scheduled.Count(), 0u);
  EXPECT_EQ(waker_.outstanding(), 0);
}

TEST_F(InstrumentTest, EachMomentIsInOneOfTheTimes) {
  auto future = Instrument(monitor_, Wait(2 * kUs));
  clock_.Advance(1 * kUs);
  EXPECT_TRUE(future.Poll(cx_).IsPending());
  clock_.Advance(100 * kUs);
  signal_.Set(7);
  EXPECT_EQ(waker_.TakeWakes(), 1);
  clock_.Advance(10 * kUs);
  EXPECT_EQ(*future.Poll(cx_), 7);

  const TaskMetrics m = monitor_.Totals();
  EXPECT_EQ(m.first_poll_delay.sum, 1e-6);
  EXPECT_EQ(m.polls.Count(), 2u);
  EXPECT_EQ(m.polls.sum, 4e-6);
  EXPECT_EQ(m.idle.Count(), 1u);
  EXPECT_EQ(m.idle.sum, 100e-6);
  EXPECT_EQ(m.max_idle, 100 * kUs);
  EXPECT_EQ(m.scheduled.Count(), 1u);
  EXPECT_EQ(m.scheduled.sum, 10e-6);
  EXPECT_EQ(clock_.Now() - timer::FakeClock::kStart, LifeOf(m));
}

TEST_F(InstrumentTest, SlowPollsAndLongDelaysAreCountedApart) {
  auto future = Instrument(monitor_, Wait(50 * kUs));
  EXPECT_TRUE(future.Poll(cx_).IsPending());
  signal_.Set();
  clock_.Advance(60 * kUs);
  EXPECT_TRUE(future.Poll(cx_).IsReady());

  const TaskMetrics m = monitor_.Totals();
  EXPECT_EQ(m.slow_polls.count, 2u);
  EXPECT_EQ(m.slow_polls.total, 100 * kUs);
  EXPECT_EQ(m.long_delays.count, 1u);
  EXPECT_EQ(m.long_delays.total, 60 * kUs);
}

TEST_F(InstrumentTest, OnlyTheFirstOfSeveralWakesCountsAndAllAreHandedOn) {
  Waker kept;
  auto keep = PollFn([&](Context& cx) -> Polled<void> {
    kept = cx.waker();
    return kPending;
  });
  auto future = Instrument(monitor_, keep);
  EXPECT_TRUE(future.Poll(cx_).IsPending());
  clock_.Advance(5 * kUs);
  kept.WakeByRef();
  EXPECT_EQ(waker_.TakeWakes(), 1);
  clock_.Advance(6 * kUs);
  std::move(kept).Wake();
  clock_.Advance(7 * kUs);
  EXPECT_TRUE(future.Poll(cx_).IsPending());

  const TaskMetrics m = monitor_.Totals();
  EXPECT_EQ(m.idle.sum, 5e-6);
  EXPECT_EQ(m.scheduled.sum, 13e-6);
  EXPECT_EQ(m.scheduled.Count(), 1u);
}

TEST_F(InstrumentTest, AWakeDuringThePollCountsFromItsEnd) {
  auto yield_slowly = [this]() -> Task<> {
    co_await YieldNow();
    clock_.Advance(1 * kUs);
  };
  auto future = Instrument(monitor_, Invoke(yield_slowly));
  EXPECT_TRUE(future.Poll(cx_).IsPending());
  EXPECT_EQ(waker_.TakeWakes(), 1);
  clock_.Advance(9 * kUs);
  EXPECT_TRUE(future.Poll(cx_).IsReady());

  const TaskMetrics m = monitor_.Totals();
  EXPECT_EQ(m.idle.Count(), 0u);
  EXPECT_EQ(m.scheduled.Count(), 1u);
  EXPECT_EQ(m.scheduled.sum, 9e-6);
  EXPECT_EQ(m.polls.sum, 1e-6);
}

TEST_F(InstrumentTest, APollThatNothingAskedForEndsTheIdleTime) {
  auto future = Instrument(monitor_, Wait(0 * kUs));
  EXPECT_TRUE(future.Poll(cx_).IsPending());
  clock_.Advance(4 * kUs);
  EXPECT_TRUE(future.Poll(cx_).IsPending());
  clock_.Advance(6 * kUs);
  signal_.Set();
  EXPECT_TRUE(future.Poll(cx_).IsReady());

  const TaskMetrics m = monitor_.Totals();
  EXPECT_EQ(m.polls.Count(), 3u);
  EXPECT_EQ(m.idle.Count(), 2u);
  EXPECT_EQ(m.idle.sum, 10e-6);
  EXPECT_EQ(m.max_idle, 6 * kUs);
  EXPECT_EQ(m.scheduled.Count(), 1u);
  EXPECT_EQ(m.scheduled.sum, 0e-6);
}

TEST_F(InstrumentTest, DroppedBeforeItsFirstPollItWasNotDelayed) {
  {
    auto future = Instrument(monitor_, signal_.Wait());
    clock_.Advance(3 * kUs);
  }
  const TaskMetrics m = monitor_.Totals();
  EXPECT_EQ(m.created, 1u);
  EXPECT_EQ(m.dropped, 1u);
  EXPECT_EQ(m.finished, 0u);
  EXPECT_EQ(m.first_poll_delay.Count(), 0u);
  EXPECT_EQ(m.polls.Count(), 0u);
}

TEST_F(InstrumentTest, DroppedWhilePendingItKeepsNobodyAndReadsNoClock) {
  Waker late;
  {
    timer::FakeClock clock;
    Environment environment;
    environment.clock = &clock;
    const EnvironmentScope scope(environment);
    auto keep = PollFn([&](Context& cx) -> Polled<void> {
      late = cx.waker();
      return kPending;
    });
    auto future = Instrument(monitor_, keep);
    EXPECT_TRUE(future.Poll(cx_).IsPending());
    EXPECT_EQ(waker_.outstanding(), 1);
  }
  EXPECT_EQ(waker_.outstanding(), 0);
  EXPECT_EQ(monitor_.Totals().dropped, 1u);

  late.WakeByRef();  // the clock is gone, too
  std::move(late).Wake();

  EXPECT_EQ(waker_.wakes(), 0);
  EXPECT_EQ(monitor_.Totals().idle.Count(), 0u);
}

TEST_F(InstrumentTest, AFinishedOneKeepsNobody) {
  Waker late;
  auto future = Instrument(monitor_, PollFn([&](Context& cx) -> Polled<void> {
                             late = cx.waker();
                             return Unit();
                           }));
  EXPECT_TRUE(future.Poll(cx_).IsReady());
  EXPECT_EQ(waker_.outstanding(), 0);
  late.WakeByRef();
  EXPECT_EQ(waker_.wakes(), 0);
}

TEST_F(InstrumentTest, ItCountsUntilItIsReadyAndNotUntilItIsDestroyed) {
  auto future = std::make_optional(Instrument(monitor_, Ready(1)));
  EXPECT_EQ(*future->Poll(cx_), 1);
  future.reset();
  EXPECT_EQ(monitor_.Totals().finished, 1u);
  EXPECT_EQ(monitor_.Totals().dropped, 0u);
}

TEST_F(InstrumentTest, IsWokenThroughTheWakerOfTheLastPoll) {
  CountingWaker other;
  Context other_cx(other.waker());
  auto future = Instrument(monitor_, signal_.Wait());
  EXPECT_TRUE(future.Poll(cx_).IsPending());
  EXPECT_TRUE(future.Poll(other_cx).IsPending());
  signal_.Set();
  EXPECT_EQ(waker_.wakes(), 0);
  EXPECT_EQ(waker_.outstanding(), 0);
  EXPECT_EQ(other.wakes(), 1);
}

TEST_F(InstrumentTest, LendsTheSameWakerAtEachPoll) {
  Waker kept;
  int changes = 0;
  auto future = Instrument(monitor_, PollFn([&](Context& cx) -> Polled<void> {
                             if (!kept.WillWake(cx.waker())) {
                               kept = cx.waker();
                               ++changes;
                             }
                             return kPending;
                           }));
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(future.Poll(cx_).IsPending());
  EXPECT_EQ(changes, 1);
}

TEST_F(InstrumentTest, ASpentBudgetWakesThroughIt) {
  Budget budget(0);
  Context cx(waker_.waker(), &budget);
  auto future = Instrument(monitor_, PollFn([](Context& inner) -> Polled<void> {
                             if (!inner.HasBudget()) return kPending;
                             return Unit();
                           }));
  EXPECT_TRUE(future.Poll(cx).IsPending());
  EXPECT_EQ(waker_.wakes(), 1);
}

TEST_F(InstrumentTest, FuturesOfOneMonitorAddUp) {
  std::vector<std::unique_ptr<Signal>> signals;
  std::vector<InstrumentFuture<Signal::WaitFuture>> futures;
  for (int i = 0; i < 4; ++i) {
    signals.push_back(std::make_unique<Signal>());
    futures.push_back(Instrument(monitor_, signals.back()->Wait()));
  }
  for (auto& future : futures) EXPECT_TRUE(future.Poll(cx_).IsPending());
  for (auto& signal : signals) {
    clock_.Advance(1 * kUs);
    signal->Set();
  }
  for (auto& future : futures) EXPECT_TRUE(future.Poll(cx_).IsReady());

  const TaskMetrics m = monitor_.Totals();
  EXPECT_EQ(m.created, 4u);
  EXPECT_EQ(m.finished, 4u);
  EXPECT_EQ(m.polls.Count(), 8u);
  EXPECT_EQ(m.idle.sum, 10e-6);
  EXPECT_EQ(m.scheduled.sum, 6e-6);
  EXPECT_EQ(m.max_idle, 4 * kUs);
}

TEST_F(InstrumentTest, OneInsideAnotherSeesTheSame) {
  TaskMonitor outer;
  auto future = Instrument(outer, Instrument(monitor_, Wait(2 * kUs)));
  EXPECT_TRUE(future.Poll(cx_).IsPending());
  clock_.Advance(5 * kUs);
  signal_.Set();
  EXPECT_EQ(waker_.wakes(), 1);
  clock_.Advance(3 * kUs);
  EXPECT_TRUE(future.Poll(cx_).IsReady());

  for (const TaskMetrics& m : {outer.Totals(), monitor_.Totals()}) {
    EXPECT_EQ(m.finished, 1u);
    EXPECT_EQ(m.polls.sum, 4e-6);
    EXPECT_EQ(m.idle.sum, 5e-6);
    EXPECT_EQ(m.scheduled.sum, 3e-6);
  }
  EXPECT_EQ(waker_.outstanding(), 0);
}

TEST_F(InstrumentTest, TheTimeBetweenTwoClocksIsNotCounted) {
  auto future = Instrument(monitor_, signal_.Wait());
  timer::FakeClock other(timer::FakeClock::kStart + absl::Hours(1));
  Environment environment;
  environment.clock = &other;
  {
    const EnvironmentScope scope(environment);
    EXPECT_TRUE(future.Poll(cx_).IsPending());
    other.Advance(8 * kUs);
    EXPECT_TRUE(future.Poll(cx_).IsPending());
    signal_.Set();
  }
  EXPECT_TRUE(future.Poll(cx_).IsReady());

  const TaskMetrics m = monitor_.Totals();
  EXPECT_EQ(m.first_poll_delay.Count(), 0u);
  EXPECT_EQ(m.polls.Count(), 3u);
  EXPECT_EQ(m.idle.Count(), 1u);
  EXPECT_EQ(m.idle.sum, 8e-6);
  EXPECT_EQ(m.scheduled.Count(), 0u);
}

TEST_F(InstrumentTest, MovesWithItsTimesIfTheFutureMoves) {
  auto wait = [](Signal* signal) -> Task<int> {
    co_return co_await signal->Wait();
  };
  auto future = Instrument(monitor_, wait(&signal_));
  EXPECT_TRUE(future.Poll(cx_).IsPending());
  clock_.Advance(2 * kUs);
  auto moved = std::move(future);
  signal_.Set(7);
  EXPECT_EQ(*moved.Poll(cx_), 7);
  EXPECT_EQ(monitor_.Totals().created, 1u);
  EXPECT_EQ(monitor_.Totals().idle.sum, 2e-6);
}

TEST_F(InstrumentTest, OutputsOfEveryKindPass) {
  int target = 0;
  auto refer = [&]() -> Task<int&> { co_return target; };
  auto own = []() -> Task<std::unique_ptr<int>> {
    co_return std::make_unique<int>(5);
  };
  EXPECT_EQ(&BlockOn(Instrument(monitor_, Invoke(refer))), &target);
  EXPECT_EQ(*BlockOn(Instrument(monitor_, own())), 5);
  BlockOn(Instrument(monitor_, YieldNow()));
}

TEST_F(InstrumentTest, BorrowsWhatItsFutureBorrows) {
  auto refer = [](const int&) -> Task<> { co_return; };
  auto own = []() -> Task<> { co_return; };
  EXPECT_TRUE(Instrument(monitor_, refer(1)).Borrows());
  EXPECT_FALSE(Instrument(monitor_, own()).Borrows());
}

TEST_F(InstrumentTest, SurvivesADropAtEveryPoll) {
  LiveCounter counter;
  auto inner = [](LiveCounter::Object) -> Task<> {
    co_await YieldNow();
    co_await YieldNow();
  };
  EXPECT_THAT(DropAtEveryPoll(
                  [&] { return Instrument(monitor_, inner(counter.Make())); },
                  {.live = [&] { return counter.live(); }}),
              IsOkAndHolds(3u));
  const TaskMetrics m = monitor_.Totals();
  EXPECT_EQ(m.created, 5u);
  EXPECT_EQ(m.finished, 2u);
  EXPECT_EQ(m.dropped, 3u);
}

TEST_F(InstrumentTest, TakesNoMemoryAfterItsFirstPoll) {
  auto future = Instrument(monitor_, PollFn([](Context& cx) -> Polled<void> {
                             cx.waker().WakeByRef();
                             return kPending;
                           }));
  EXPECT_TRUE(future.Poll(cx_).IsPending());
  const FrameCacheStats before = GetFrameCacheStats();
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(future.Poll(cx_).IsPending());
  EXPECT_EQ(GetFrameCacheStats().blocks_from_allocator,
            before.blocks_from_allocator);
}

TEST_F(InstrumentTest, KeepsTheWakerThatItHasUntilItIsWoken) {
  auto future = Instrument(monitor_, signal_.Wait());
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(future.Poll(cx_).IsPending());
  EXPECT_EQ(waker_.clones(), 1);
}

TEST_F(InstrumentTest, ATaskIsWokenFromOtherThreads) {
  constexpr int kWakes = 2'000;
  struct Shared {
    std::atomic<int> sent{0};
    Signal signal;
  } shared;
  TaskMonitor monitor;
  auto receive = [&shared, wait = shared.signal.Wait()](
                     Context& cx) mutable -> Polled<int> {
    static_cast<void>(wait.Poll(cx));
    const int sent = shared.sent.load();
    if (sent < 2 * kWakes) return kPending;
    return sent;
  };
  auto send = [&shared] {
    for (int i = 0; i < kWakes; ++i) {
      shared.sent.fetch_add(1);
      shared.signal.WakeSpuriously();
    }
  };
  const Environment real;  // whose clock runs
  const EnvironmentScope scope(real);
  const Instant start = Clock::Real().Now();
  std::thread first(send);
  std::thread second(send);

  EXPECT_EQ(BlockOn(Instrument(monitor, PollFn(std::move(receive)))),
            2 * kWakes);

  first.join();
  second.join();
  const absl::Duration life = Clock::Real().Now() - start;
  const TaskMetrics m = monitor.Totals();
  const uint64_t waits = m.polls.Count() - 1;
  EXPECT_EQ(m.finished, 1u);
  // Between two polls it was idle, or scheduled, or both.
  EXPECT_LE(m.idle.Count(), waits);
  EXPECT_LE(m.scheduled.Count(), waits);
  EXPECT_GE(m.idle.Count() + m.scheduled.Count(), waits);
  EXPECT_LE(LifeOf(m), life);
}

TEST_F(InstrumentTest, RunsInAnExecutorThatKnowsNothingOfIt) {
  ManualExecutor executor;
  auto work = [this]() -> Task<int> {
    const int n = co_await signal_.Wait();
    co_return n + 1;
  };
  JoinHandle<int> handle = executor.Spawn(Instrument(monitor_, Invoke(work)));
  clock_.Advance(1 * kUs);
  executor.RunUntilIdle();
  clock_.Advance(2 * kUs);
  signal_.Set(6);
  clock_.Advance(3 * kUs);
  EXPECT_EQ(executor.Run(handle), 7);

  const TaskMetrics m = monitor_.Totals();
  EXPECT_EQ(m.first_poll_delay.sum, 1e-6);
  EXPECT_EQ(m.idle.sum, 2e-6);
  EXPECT_EQ(m.scheduled.sum, 3e-6);
}

TEST_F(InstrumentTest, OutlivesItsMonitor) {
  auto monitor = std::make_optional<TaskMonitor>();
  auto future = Instrument(*monitor, signal_.Wait());
  EXPECT_TRUE(future.Poll(cx_).IsPending());
  monitor.reset();
  signal_.Set(7);
  EXPECT_EQ(*future.Poll(cx_), 7);
}

using InstrumentDeathTest = InstrumentTest;

TEST_F(InstrumentDeathTest, IsNotMovedAfterItsFirstPollIfTheFutureIsNot) {
  auto future = Instrument(monitor_, signal_.Wait());
  EXPECT_TRUE(future.Poll(cx_).IsPending());
  EXPECT_DEATH(auto moved = std::move(future), "after its first poll");
}

}  // namespace
}  // namespace weft
