// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/timer/timers.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "weft/task/block_on.h"
#include "weft/task/clock.h"
#include "weft/task/context.h"
#include "weft/task/counting_waker.h"
#include "weft/task/driver.h"
#include "weft/task/environment.h"
#include "weft/task/instant.h"
#include "weft/task/join_handle.h"
#include "weft/task/manual_executor.h"
#include "weft/task/parker.h"
#include "weft/task/polled.h"
#include "weft/task/random.h"
#include "weft/task/runnable.h"
#include "weft/task/task.h"
#include "weft/task/waker.h"
#include "weft/timer/fake_clock.h"
#include "weft/timer/sleep.h"

namespace weft::timer {
namespace {

using testing::ElementsAre;

Instant Ns(int64_t nanoseconds) {
  return Instant::FromNanoseconds(nanoseconds);
}

// A clock that runs as far as Timers can tell, but in the test's hands.
class HandClock : public Clock {
 public:
  Instant Now() const override { return now; }
  Instant now = Ns(1'000'000);
};

// A driver that does not wait but notes until when it would have.
class NotingDriver : public Driver {
 public:
  void Park(Instant deadline) override {
    parks.push_back(deadline);
    if (during_park) during_park();
  }
  Waker Unparker() override { return unparker.waker(); }

  std::vector<Instant> parks;
  std::function<void()> during_park;
  CountingWaker unparker;
};

// Timers in the current environment, around a NotingDriver.
class TimersTest : public testing::Test {
 protected:
  TimersTest() { timers_.emplace(driver_, clock_); }

  Instant In(int64_t nanoseconds) const {
    return clock_.now + absl::Nanoseconds(nanoseconds);
  }
  // A Sleep that is in the Timers.
  std::unique_ptr<Sleep> Pending(Instant deadline) {
    auto sleep = std::make_unique<Sleep>(deadline);
    EXPECT_TRUE(sleep->Poll(cx_).IsPending());
    return sleep;
  }

  HandClock clock_;
  NotingDriver driver_;
  std::optional<Timers> timers_;
  const Environment environment_ = [this] {
    Environment environment;
    environment.clock = &clock_;
    environment.driver = &*timers_;
    environment.timers = &*timers_;
    return environment;
  }();
  CountingWaker waker_;
  Context cx_{waker_.waker(), nullptr, &environment_};
};

TEST_F(TimersTest, WaitsInsideUntilTheNextDeadlineOrTheLimit) {
  timers_->Park(Instant::Infinite());
  timers_->Park(In(5));
  auto sleep = Pending(In(3));
  timers_->Park(Instant::Infinite());
  timers_->Park(In(2));
  timers_->Park(In(4));
  timers_->Park(Instant::Past());
  EXPECT_THAT(driver_.parks, ElementsAre(Instant::Infinite(), In(5), In(3),
                                         In(2), In(3), Instant::Past()));
  EXPECT_EQ(waker_.wakes(), 0);
}

TEST_F(TimersTest, FiresBeforeItWaitsAndThenDoesNotWait) {
  auto sleep = Pending(In(3));
  clock_.now = In(3);
  timers_->Park(Instant::Infinite());
  EXPECT_EQ(waker_.wakes(), 1);
  EXPECT_THAT(driver_.parks, ElementsAre(Instant::Past()));
}

TEST_F(TimersTest, FiresWhatBecomesDueWhileItWaits) {
  auto sleep = Pending(In(3));
  driver_.during_park = [&] { clock_.now = In(3); };
  timers_->Park(Instant::Infinite());
  EXPECT_EQ(waker_.wakes(), 1);
  EXPECT_TRUE(sleep->Poll(cx_).IsReady());
}

TEST_F(TimersTest, FiresMoreThanOneBatch) {
  std::vector<std::unique_ptr<Sleep>> sleeps;
  for (int i = 0; i < 100; ++i) sleeps.push_back(Pending(In(3)));
  auto later = Pending(In(4));
  clock_.now = In(3);
  timers_->Park(Instant::Past());
  EXPECT_EQ(waker_.wakes(), 100);
  EXPECT_EQ(timers_->NextDeadline(), later->deadline());
}

TEST_F(TimersTest, AnotherThreadMayFireForTheOneThatIsAway) {
  auto sleep = Pending(In(3));
  clock_.now = In(3);
  std::thread([this] { EXPECT_TRUE(timers_->TryPoll()); }).join();
  EXPECT_EQ(waker_.wakes(), 1);
  EXPECT_TRUE(driver_.parks.empty());
}

TEST_F(TimersTest, OnlyAnEarlierDeadlineInterruptsTheWait) {
  std::vector<std::unique_ptr<Sleep>> sleeps;
  sleeps.push_back(Pending(In(100)));
  EXPECT_EQ(driver_.unparker.wakes(), 0);  // nobody waits
  driver_.during_park = [&] {
    sleeps.push_back(Pending(In(200)));
    sleeps.push_back(Pending(In(100)));
    EXPECT_EQ(driver_.unparker.TakeWakes(), 0);
    sleeps.push_back(Pending(In(50)));
    EXPECT_EQ(driver_.unparker.TakeWakes(), 1);
    sleeps.push_back(Pending(In(60)));  // it will look again before that
    EXPECT_EQ(driver_.unparker.TakeWakes(), 0);
    sleeps.push_back(Pending(In(40)));
    EXPECT_EQ(driver_.unparker.TakeWakes(), 1);
  };
  timers_->Park(Instant::Infinite());
  EXPECT_EQ(driver_.parks.size(), 1u);
  sleeps.push_back(Pending(In(1)));
  EXPECT_EQ(driver_.unparker.wakes(), 2);
}

TEST_F(TimersTest, ADeadlineAfterTheLimitDoesNotInterruptTheWait) {
  driver_.during_park = [&] {
    auto sleep = Pending(In(10));
    EXPECT_EQ(driver_.unparker.TakeWakes(), 0);
    sleep->Reset(In(4));
    EXPECT_EQ(driver_.unparker.TakeWakes(), 1);
  };
  timers_->Park(In(5));
}

TEST_F(TimersTest, ResetToEarlierInterruptsTheWait) {
  auto sleep = Pending(In(100));
  driver_.during_park = [&] {
    sleep->Reset(In(200));
    EXPECT_EQ(driver_.unparker.TakeWakes(), 0);
    sleep->Reset(In(50));
    EXPECT_EQ(driver_.unparker.TakeWakes(), 1);
    clock_.now = In(50);
  };
  timers_->Park(Instant::Infinite());
  EXPECT_EQ(waker_.wakes(), 1);
}

TEST_F(TimersTest, UnparksTheDriverInside) {
  Waker a = timers_->Unparker();
  Waker b = timers_->Unparker();
  EXPECT_TRUE(a.WillWake(b));
  a.WakeByRef();
  EXPECT_EQ(driver_.unparker.wakes(), 1);
}

// Runs a task where it is woken.
template <class F>
JoinHandle<void> RunWhereWoken(F future) {
  auto spawned = SpawnOn(std::move(future), [](Runnable<> runnable) {
    std::move(runnable).Run();
  });
  std::move(spawned.runnable).Schedule();
  return std::move(spawned.handle);
}

Task<> DropWhenElapsed(Instant deadline,
                       std::vector<std::unique_ptr<Sleep>>* sleeps) {
  co_await At(deadline);
  sleeps->clear();
}

TEST_F(TimersTest, AFiredSleepMayDropOthersThatAreDue) {
  const EnvironmentScope scope(environment_);
  std::vector<std::unique_ptr<Sleep>> sleeps;
  auto handle = RunWhereWoken(DropWhenElapsed(In(1), &sleeps));
  for (int i = 0; i < 100; ++i) sleeps.push_back(Pending(In(2)));
  clock_.now = In(2);
  timers_->Park(Instant::Past());
  EXPECT_TRUE(handle.IsFinished());
  EXPECT_EQ(waker_.outstanding(), 0);
  EXPECT_TRUE(timers_->NextDeadline().IsInfinite());
}

TEST_F(TimersTest, SleepsThatOutliveTheirTimersAreWokenAndGoToThePollersOwn) {
  const EnvironmentScope scope(environment_);
  auto kept = Pending(In(10));
  auto dropped = Pending(In(10));
  auto reset = Pending(In(10));
  timers_.reset();
  EXPECT_EQ(waker_.TakeWakes(), 3);
  EXPECT_EQ(waker_.outstanding(), 0);
  dropped.reset();
  reset->Reset(In(5));
  EXPECT_FALSE(kept->IsElapsed());

  timers_.emplace(driver_, clock_);
  EXPECT_TRUE(kept->Poll(cx_).IsPending());
  EXPECT_TRUE(reset->Poll(cx_).IsPending());
  EXPECT_EQ(timers_->NextDeadline(), In(5));
  clock_.now = In(10);
  timers_->Park(Instant::Past());
  EXPECT_EQ(waker_.TakeWakes(), 2);
  EXPECT_TRUE(kept->Poll(cx_).IsReady());
}

// The memory of closed Timers is soon that of others.
TEST_F(TimersTest, ASleepOfClosedTimersLeavesTheirSuccessorsAlone) {
  auto old = Pending(In(10));
  timers_.reset();
  timers_.emplace(driver_, clock_);
  auto next = Pending(In(20));
  waker_.TakeWakes();

  old->Reset(In(1));
  EXPECT_EQ(timers_->NextDeadline(), In(20));
  old.reset();
  clock_.now = In(20);
  timers_->Park(Instant::Past());
  EXPECT_EQ(waker_.TakeWakes(), 1);
}

Task<> UseObject(Instant deadline, std::unique_ptr<int>* object, int* used) {
  co_await At(deadline);
  **object += 1;
  ++*used;
}

// Cancels a task in the very turn in which its sleep falls due: before it is
// fired, after that, or not at all. What the canceller frees is not used.
TEST(TimersRaceTest, ACancelledSleepDoesNotEndNormally) {
  const bool is_long = std::getenv("WEFT_LONG") != nullptr;
  FakeClock clock;
  Environment environment;
  environment.clock = &clock;
  const EnvironmentScope scope(environment);
  ManualExecutor executor;
  constexpr uint64_t kSeed = 18;
  Random random(kSeed);
  int rounds[2][2] = {};  // by whether it was cancelled and whether it went on
  for (int round = 0; round < (is_long ? 1'000'000 : 10'000); ++round) {
    SCOPED_TRACE("seed " + std::to_string(kSeed));
    auto object = std::make_unique<int>(0);
    int used = 0;
    const absl::Duration d = absl::Milliseconds(random.Below(2));
    auto handle =
        executor.SpawnBorrowing(UseObject(clock.Now() + d, &object, &used));
    if (random.Below(4) != 0) executor.RunUntilIdle();
    const uint32_t when = random.Below(4);
    std::optional<JoinHandle<void>> kept(std::move(handle));
    auto cancel = [&] {
      // Once it has gone on, cancelling has lost.
      const bool lost = used != 0;
      kept.reset();
      if (!lost) object.reset();
    };
    if (when == 0) cancel();
    clock.Advance(absl::Milliseconds(1));
    if (when == 1) cancel();
    if (when == 2) {
      executor.RunOne();
      cancel();
    }
    const bool cancelled = object == nullptr;
    executor.RunUntilIdle();
    ASSERT_FALSE(cancelled && used != 0);
    ASSERT_TRUE(cancelled || used == 1);
    ++rounds[cancelled][used];
  }
  EXPECT_GT(rounds[0][1], 0);
  EXPECT_GT(rounds[1][0], 0);
}

// Timers that a thread drives until told to stop.
class DrivenTimers {
 public:
  DrivenTimers() : thread_([this] { Run(); }) {}
  ~DrivenTimers() { Stop(); }

  void Stop() {
    if (!thread_.joinable()) return;
    stop_ = true;
    timers_.Unparker().Wake();
    thread_.join();
  }
  Environment environment() {
    Environment environment;
    environment.timers = &timers_;
    return environment;
  }

 private:
  void Run() {
    while (!stop_) timers_.Park(Instant::Infinite());
  }

  Parker parker_;
  Timers timers_{parker_};
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

TEST(TimersThreadTest, ASleepFromAnotherThreadReachesADriverThatSleepsForGood) {
  DrivenTimers driven;
  const Environment environment = driven.environment();
  const EnvironmentScope scope(environment);
  for (int i = 0; i < 100; ++i) BlockOn(After(absl::Microseconds(50)));
}

TEST(TimersThreadTest, ResetToEarlierReachesADriverThatSleeps) {
  DrivenTimers driven;
  const Environment environment = driven.environment();
  const EnvironmentScope scope(environment);
  for (int i = 0; i < 100; ++i) {
    Sleep sleep = After(absl::Hours(1));
    CountingWaker waker;
    Context cx(waker.waker());
    EXPECT_TRUE(sleep.Poll(cx).IsPending());
    sleep.Reset(absl::Microseconds(50));
    BlockOn(sleep);
    EXPECT_GE(Instant::Now(), sleep.deadline());
  }
}

// What a thread does to sleeps while they fire on another.
void Disturb(uint64_t seed, int rounds, const CountingWaker& waker) {
  Random random(seed);
  Context cx(waker.waker());
  std::vector<std::unique_ptr<Sleep>> sleeps(16);
  for (int i = 0; i < rounds; ++i) {
    std::unique_ptr<Sleep>& sleep = sleeps[random.Below(16)];
    const absl::Duration d = absl::Microseconds(random.Below(200));
    switch (random.Below(sleep == nullptr ? 1 : 4)) {
      case 0:
        sleep = std::make_unique<Sleep>(After(d));
        break;
      case 1:
        sleep.reset();
        continue;
      case 2:
        sleep->Reset(d);
        continue;
      default:
        break;
    }
    if (sleep->Poll(cx).IsReady()) {
      ASSERT_GE(Instant::Now(), sleep->deadline());
    }
  }
}

int Rounds() { return std::getenv("WEFT_LONG") != nullptr ? 1'000'000 : 5'000; }

TEST(TimersThreadTest, SleepsAreMadeResetAndDroppedWhileTheyFire) {
  DrivenTimers driven;
  const Environment environment = driven.environment();
  CountingWaker waker;
  std::vector<std::thread> threads;
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    threads.emplace_back([&environment, &waker, seed] {
      const EnvironmentScope scope(environment);
      Disturb(seed, Rounds(), waker);
    });
  }
  for (std::thread& thread : threads) thread.join();
  driven.Stop();  // the last wakes are over
  EXPECT_EQ(waker.outstanding(), 0);
}

// Sleeps poll into Timers that come and go, and all end in time.
TEST(TimersThreadTest, TimersAreDestroyedWhileSleepsArePending) {
  const int rounds = Rounds() / 50;
  for (int i = 0; i < rounds; ++i) {
    auto driven = std::make_unique<DrivenTimers>();
    const Environment environment = driven->environment();
    std::atomic<bool> polled{false};
    CountingWaker waker;
    std::thread thread([&] {
      Sleep sleep = After(absl::Microseconds(i % 200));
      {
        Context cx(waker.waker(), nullptr, &environment);
        if (sleep.Poll(cx).IsReady()) polled = true;
      }
      polled = true;
      BlockOn(sleep);
      EXPECT_GE(Instant::Now(), sleep.deadline());
    });
    while (!polled) std::this_thread::yield();
    driven.reset();
    thread.join();
    EXPECT_EQ(waker.outstanding(), 0);
  }
}

}  // namespace
}  // namespace weft::timer
