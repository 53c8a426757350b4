// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// weft-lint: allow-file(R22): the tests' tasks end before what they refer to.

#include "weft/select/with_cleanup.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "weft/select/task_group.h"
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

using testing::ElementsAre;

class WithCleanupTest : public testing::Test {
 protected:
  // Says so in `log_` when it is destroyed.
  struct Says {
    Says(std::vector<std::string>* log, std::string what)
        : log(log), what(std::move(what)) {}
    Says(Says&& other) noexcept
        : log(std::exchange(other.log, nullptr)), what(other.what) {}
    ~Says() {
      if (log != nullptr) log->push_back(what);
    }
    std::vector<std::string>* log;
    std::string what;
  };

  static Task<int> WorkUntil(sync::Event* event, Says) {
    co_await event->Wait();
    co_return 7;
  }
  auto Work() {
    return Invoke(&WorkUntil, &event_, Says(&log_, "work is gone"));
  }
  auto Cleanup() {
    // weft-lint: allow(R4): WithCleanup() keeps it.
    return [this, object = counter_.Make()]() -> Task<> {
      log_.push_back("cleanup starts");
      co_await cleanup_event_.Wait();
      log_.push_back("cleanup ends");
    };
  }
  // Polls in the executor's environment.
  template <class F>
  auto Poll(F& future) {
    return executor_.Run(PollOnce(future));
  }
  void EndCleanup() {
    executor_.RunUntilIdle();
    cleanup_event_.Set();
    executor_.RunUntilIdle();
  }

  std::vector<std::string> log_;
  LiveCounter counter_;
  sync::Event event_;
  sync::Event cleanup_event_;
  ManualExecutor executor_;
};

TEST_F(WithCleanupTest, CleansUpWhenItIsDropped) {
  {
    auto future = WithCleanup(Work(), Cleanup());
    EXPECT_EQ(Poll(future), std::nullopt);
    EXPECT_THAT(log_, ElementsAre());
  }
  EXPECT_THAT(log_, ElementsAre("work is gone"));
  executor_.RunUntilIdle();
  EXPECT_THAT(log_, ElementsAre("work is gone", "cleanup starts"));

  EndCleanup();

  EXPECT_THAT(log_,
              ElementsAre("work is gone", "cleanup starts", "cleanup ends"));
  EXPECT_EQ(counter_.live(), 0);
}

TEST_F(WithCleanupTest, DoesNotWhenItHasEnded) {
  {
    auto future = WithCleanup(Work(), Cleanup());
    EXPECT_EQ(Poll(future), std::nullopt);
    event_.Set();
    EXPECT_EQ(Poll(future), 7);
  }

  EndCleanup();

  EXPECT_THAT(log_, ElementsAre("work is gone"));
  EXPECT_EQ(counter_.live(), 0);
}

TEST_F(WithCleanupTest, DoesNotWhenItHasNotBegun) {
  {
    auto future = WithCleanup(Work(), Cleanup());
    auto moved = std::move(future);
  }

  EndCleanup();

  EXPECT_THAT(log_, ElementsAre("work is gone"));
  EXPECT_EQ(counter_.live(), 0);
}

TEST_F(WithCleanupTest, ATrackerWaitsForTheCleanup) {
  TaskTracker tracker;
  {
    auto future = WithCleanup(tracker, Work(), Cleanup());
    EXPECT_EQ(tracker.size(), 1u);
    EXPECT_EQ(Poll(future), std::nullopt);
  }
  EXPECT_EQ(tracker.size(), 1u);
  executor_.RunUntilIdle();
  EXPECT_EQ(tracker.size(), 1u);

  EndCleanup();

  EXPECT_EQ(tracker.size(), 0u);
}

TEST_F(WithCleanupTest, ATrackerDoesNotCountWhatHasEnded) {
  TaskTracker tracker;
  event_.Set();
  auto future = WithCleanup(tracker, Work(), Cleanup());

  EXPECT_EQ(Poll(future), 7);

  EXPECT_EQ(tracker.size(), 0u);
}

TEST_F(WithCleanupTest, TasksOfAGroupCleanUpWhenItIsCancelled) {
  TaskTracker tracker;
  TaskGroup<int> group({.spawner = &executor_.spawner()});
  for (int i = 0; i < 3; ++i) {
    auto task = WithCleanup(
        tracker, Invoke(&WorkUntil, &event_, Says(nullptr, "")), Cleanup());
    group.Spawn(std::move(task));
  }
  executor_.RunUntilIdle();
  tracker.Close();

  executor_.Run(group.Shutdown());
  auto wait = tracker.Wait();
  CountingWaker waker;
  Context cx(waker.waker());
  EXPECT_TRUE(wait.Poll(cx).IsPending());
  EndCleanup();

  EXPECT_TRUE(wait.Poll(cx).IsReady());
  EXPECT_THAT(log_, testing::SizeIs(6));
}

TEST_F(WithCleanupTest, AnExecutorThatEndsDropsBoth) {
  TaskTracker tracker;
  std::optional<ManualExecutor> executor(std::in_place);
  auto task = WithCleanup(tracker, Work(), Cleanup());
  executor->Spawn(std::move(task)).Detach();
  executor->RunUntilIdle();

  executor.reset();

  EXPECT_THAT(log_, ElementsAre("work is gone"));
  EXPECT_EQ(tracker.size(), 0u);
  EXPECT_EQ(counter_.live(), 0);
}

TEST_F(WithCleanupTest, FinallyCleansUpAtTheEndToo) {
  auto future = Finally(Work(), Cleanup());
  EXPECT_EQ(Poll(future), std::nullopt);
  event_.Set();

  EXPECT_EQ(Poll(future), std::nullopt);
  executor_.RunUntilIdle();
  EXPECT_THAT(log_, ElementsAre("work is gone", "cleanup starts"));
  EndCleanup();

  EXPECT_EQ(Poll(future), 7);
  EXPECT_THAT(log_,
              ElementsAre("work is gone", "cleanup starts", "cleanup ends"));
}

TEST_F(WithCleanupTest, FinallyCleansUpWhenItIsDropped) {
  {
    auto future = Finally(Work(), Cleanup());
    EXPECT_EQ(Poll(future), std::nullopt);
  }

  EndCleanup();

  EXPECT_THAT(log_,
              ElementsAre("work is gone", "cleanup starts", "cleanup ends"));
}

TEST_F(WithCleanupTest, FinallyDroppedMeanwhileCleansUpOnce) {
  TaskTracker tracker;
  {
    auto future = Finally(tracker, Work(), Cleanup());
    event_.Set();
    EXPECT_EQ(Poll(future), std::nullopt);
    executor_.RunUntilIdle();
  }
  EXPECT_EQ(tracker.size(), 1u);

  EndCleanup();

  EXPECT_THAT(log_,
              ElementsAre("work is gone", "cleanup starts", "cleanup ends"));
  EXPECT_EQ(tracker.size(), 0u);
}

TEST_F(WithCleanupTest, SurvivesADropAtEveryPoll) {
  const auto body = [](LiveCounter* counter, int* cleanups) -> Task<> {
    // weft-lint: allow(R4): WithCleanup() keeps them.
    auto cleanup = [cleanups, object = counter->Make()]() -> Task<> {
      co_await YieldNow();
      ++*cleanups;
    };
    auto copy = cleanup;
    auto first = WithCleanup(YieldNow(), std::move(cleanup));
    co_await first;
    auto second = Finally(YieldNow(), std::move(copy));
    co_await second;
  };
  int cleanups = 0;
  int begun = 0;
  Environment environment = Environment::Current();
  environment.spawner = &executor_.spawner();
  const EnvironmentScope scope(environment);

  EXPECT_THAT(DropAtEveryPoll([&] { return body(&counter_, &cleanups); },
                              {.step =
                                   [&] {
                                     executor_.RunUntilIdle();
                                     return true;
                                   },
                               .settle =
                                   [&] {
                                     executor_.RunUntilIdle();
                                     begun += cleanups;
                                     EXPECT_LE(cleanups, 1);
                                     cleanups = 0;
                                   },
                               .live = [&] { return counter_.live(); }}),
              IsOkAndHolds(4));
  // Whole runs: 2; dropped: before anything, in the first, in the second, and in
  // the cleanup of that.
  EXPECT_EQ(begun, 2 + 0 + 1 + 1 + 1);
}

}  // namespace
}  // namespace weft
