// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// weft-lint: allow-file(R22): the tests' tasks end before what they refer to.

#include "weft/select/shielded.h"

#include <memory>
#include <optional>
#include <utility>

#include "gtest/gtest.h"
#include "weft/select/race.h"
#include "weft/select/task_tracker.h"
#include "weft/sync/event.h"
#include "weft/task/context.h"
#include "weft/task/counting_waker.h"
#include "weft/task/drop_at_every_poll.h"
#include "weft/task/environment.h"
#include "weft/task/invoke.h"
#include "weft/task/live_counter.h"
#include "weft/task/manual_executor.h"
#include "weft/task/polled.h"
#include "weft/task/ready.h"
#include "weft/task/status_matchers.h"
#include "weft/task/task.h"
#include "weft/task/yield_now.h"

namespace weft {
namespace {

class ShieldedTest : public testing::Test {
 protected:
  // Sets `done_` once the event has come.
  auto Work() {
    // weft-lint: allow(R4): Shielded() keeps it.
    return [this, object = counter_.Make()]() -> Task<int> {
      co_await event_.Wait();
      done_ = true;
      co_return 7;
    };
  }
  // Polls in the executor's environment.
  template <class F>
  auto Poll(F& future) {
    return executor_.Run(PollOnce(future));
  }

  ManualExecutor executor_;
  LiveCounter counter_;
  sync::Event event_;
  bool done_ = false;
};

TEST_F(ShieldedTest, GivesTheOutput) {
  auto shielded = Shielded(Work());
  EXPECT_EQ(Poll(shielded), std::nullopt);
  executor_.RunUntilIdle();
  EXPECT_EQ(Poll(shielded), std::nullopt);

  event_.Set();
  executor_.RunUntilIdle();

  EXPECT_EQ(Poll(shielded), 7);
  EXPECT_EQ(counter_.live(), 0);
}

TEST_F(ShieldedTest, RunsOnWhenItsAwaiterIsDropped) {
  {
    auto shielded = Shielded(Work());
    EXPECT_EQ(Poll(shielded), std::nullopt);
  }
  executor_.RunUntilIdle();
  EXPECT_EQ(executor_.live(), 1u);
  EXPECT_FALSE(done_);

  event_.Set();
  executor_.RunUntilIdle();

  EXPECT_TRUE(done_);
  EXPECT_EQ(counter_.live(), 0);
}

TEST_F(ShieldedTest, ThatLosesARunsOn) {
  event_.Set();
  auto race = Race(Biased(), Shielded(Work()), Ready(1));

  EXPECT_EQ(executor_.Run(race), 1);
  executor_.RunUntilIdle();

  EXPECT_TRUE(done_);
}

TEST_F(ShieldedTest, NeverStartsIfItIsNotPolled) {
  {
    auto shielded = Shielded(Work());
    auto moved = std::move(shielded);
    EXPECT_EQ(counter_.live(), 1);
  }

  EXPECT_EQ(executor_.live(), 0u);
  EXPECT_EQ(counter_.live(), 0);
}

TEST_F(ShieldedTest, MovesWhileItRuns) {
  auto shielded = Shielded(Work());
  EXPECT_EQ(Poll(shielded), std::nullopt);
  auto moved = std::move(shielded);
  event_.Set();
  executor_.RunUntilIdle();

  EXPECT_EQ(Poll(moved), 7);
}

TEST_F(ShieldedTest, PollingItAgainDies) {
  auto shielded = Shielded(Ready(1));
  EXPECT_EQ(Poll(shielded), std::nullopt);
  executor_.RunUntilIdle();
  EXPECT_EQ(Poll(shielded), 1);

  EXPECT_DEATH(Poll(shielded), "polled after it was ready");
}

TEST_F(ShieldedTest, ATrackerWaitsForIt) {
  TaskTracker tracker;
  tracker.Close();
  {
    auto shielded = Shielded(tracker, Work());
    EXPECT_EQ(tracker.size(), 1u);
    EXPECT_EQ(Poll(shielded), std::nullopt);
  }
  EXPECT_EQ(tracker.size(), 1u);
  {
    auto unpolled = Shielded(tracker, Work());
    EXPECT_EQ(tracker.size(), 2u);
  }
  executor_.RunUntilIdle();
  EXPECT_EQ(tracker.size(), 1u);

  event_.Set();
  executor_.RunUntilIdle();

  EXPECT_EQ(tracker.size(), 0u);
}

TEST_F(ShieldedTest, GoesWithItsExecutor) {
  TaskTracker tracker;
  std::optional<ManualExecutor> executor(std::in_place);
  {
    auto shielded = Shielded(tracker, Work());
    EXPECT_EQ(executor->Run(PollOnce(shielded)), std::nullopt);
  }
  executor->RunUntilIdle();

  executor.reset();

  EXPECT_EQ(counter_.live(), 0);
  EXPECT_EQ(tracker.size(), 0u);
}

TEST_F(ShieldedTest, SurvivesADropAtEveryPoll) {
  const auto body = [](ManualExecutor* executor, sync::Event* event,
                       LiveCounter* counter) -> Task<int> {
    auto work = [](sync::Event* event, LiveCounter::Object) -> Task<int> {
      co_await event->Wait();
      co_return 3;
    };
    auto polls = [executor,
                  shielded = Shielded(Invoke(work, event, counter->Make()))](
                     Context& cx) mutable -> Polled<int> {
      Environment environment = Environment::Current();
      environment.spawner = &executor->spawner();
      const EnvironmentScope scope(environment);
      return shielded.Poll(cx);
    };
    auto in_executor = PollFn(std::move(polls));
    co_return co_await in_executor;
  };

  EXPECT_THAT(
      DropAtEveryPoll([&] { return body(&executor_, &event_, &counter_); },
                      {.step =
                           [&] {
                             executor_.RunUntilIdle();
                             event_.Notify();
                             executor_.RunUntilIdle();
                             return true;
                           },
                       .settle =
                           [&] {
                             executor_.RunUntilIdle();
                             event_.Notify(100);
                             executor_.RunUntilIdle();
                           },
                       .live = [&] { return counter_.live(); }}),
      IsOkAndHolds(2));
}

}  // namespace
}  // namespace weft
