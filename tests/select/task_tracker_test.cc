// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// weft-lint: allow-file(R22): the tests' tasks end before what they refer to.

#include "weft/select/task_tracker.h"

#include <cstdlib>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "weft/task/block_on.h"
#include "weft/task/context.h"
#include "weft/task/counting_waker.h"
#include "weft/task/drop_at_every_poll.h"
#include "weft/task/join_handle.h"
#include "weft/task/live_counter.h"
#include "weft/task/manual_executor.h"
#include "weft/task/polled.h"
#include "weft/task/ready.h"
#include "weft/task/status_matchers.h"
#include "weft/task/task.h"
#include "weft/task/yield_now.h"

namespace weft {
namespace {

class TaskTrackerTest : public testing::Test {
 protected:
  static bool IsReady(TaskTracker::WaitFuture wait) {
    Context cx(NoopWaker());
    return wait.Poll(cx).IsReady();
  }

  TaskTracker tracker_;
  CountingWaker waker_;
  Context cx_{waker_.waker()};
};

TEST_F(TaskTrackerTest, AWaitEndsWhenItIsClosedAndEmpty) {
  EXPECT_FALSE(IsReady(tracker_.Wait()));  // empty, and open
  std::optional<TaskTracker::Token> token = tracker_.token();
  EXPECT_EQ(tracker_.size(), 1u);
  tracker_.Close();
  EXPECT_TRUE(tracker_.IsClosed());
  EXPECT_FALSE(IsReady(tracker_.Wait()));  // closed, and not empty

  token.reset();

  EXPECT_EQ(tracker_.size(), 0u);
  EXPECT_TRUE(IsReady(tracker_.Wait()));
}

TEST_F(TaskTrackerTest, TheLastTokenWakes) {
  std::optional<TaskTracker::Token> first = tracker_.token();
  std::optional<TaskTracker::Token> second = first;
  auto wait = tracker_.Wait();
  tracker_.Close();
  EXPECT_TRUE(wait.Poll(cx_).IsPending());

  first.reset();
  EXPECT_EQ(waker_.wakes(), 0);
  second.reset();

  EXPECT_EQ(waker_.wakes(), 1);
  EXPECT_TRUE(wait.Poll(cx_).IsReady());
  EXPECT_EQ(waker_.outstanding(), 0);
}

TEST_F(TaskTrackerTest, ClosingAnEmptyOneWakes) {
  auto wait = tracker_.Wait();
  auto other = tracker_.Wait();
  EXPECT_TRUE(wait.Poll(cx_).IsPending());
  EXPECT_TRUE(other.Poll(cx_).IsPending());

  tracker_.Close();

  EXPECT_EQ(waker_.wakes(), 2);
  EXPECT_TRUE(wait.Poll(cx_).IsReady());
  EXPECT_TRUE(other.Poll(cx_).IsReady());
}

TEST_F(TaskTrackerTest, ReopenedItIsWaitedForAgain) {
  tracker_.Close();
  tracker_.Reopen();

  EXPECT_FALSE(tracker_.IsClosed());
  EXPECT_FALSE(IsReady(tracker_.Wait()));
}

TEST_F(TaskTrackerTest, AWaitThatHasEndedStaysSo) {
  auto wait = tracker_.Wait();
  EXPECT_TRUE(wait.Poll(cx_).IsPending());

  tracker_.Close();
  tracker_.Reopen();

  EXPECT_TRUE(wait.Poll(cx_).IsReady());
}

TEST_F(TaskTrackerTest, PollingAWaitAgainDies) {
  auto at_once = tracker_.Wait();
  auto woken = tracker_.Wait();
  EXPECT_TRUE(woken.Poll(cx_).IsPending());
  tracker_.Close();
  EXPECT_TRUE(at_once.Poll(cx_).IsReady());
  EXPECT_TRUE(woken.Poll(cx_).IsReady());

  EXPECT_DEATH(static_cast<void>(at_once.Poll(cx_).IsReady()),
               "polled after it was ready");
  EXPECT_DEATH(static_cast<void>(woken.Poll(cx_).IsReady()),
               "polled after it was ready");
}

TEST_F(TaskTrackerTest, AClosedOneTakesTasks) {
  const TaskTracker copy = tracker_;
  std::optional<TaskTracker::Token> parent = tracker_.token();
  tracker_.Close();

  std::optional<TaskTracker::Token> child = copy.token();
  parent.reset();

  EXPECT_FALSE(IsReady(tracker_.Wait()));
  child.reset();
  EXPECT_TRUE(IsReady(tracker_.Wait()));
}

TEST_F(TaskTrackerTest, TokensMoveAndAreCopied) {
  TaskTracker::Token token = tracker_.token();
  TaskTracker::Token copy = token;
  EXPECT_EQ(tracker_.size(), 2u);

  TaskTracker::Token moved = std::move(token);
  EXPECT_EQ(tracker_.size(), 2u);
  copy = std::move(moved);

  EXPECT_EQ(tracker_.size(), 1u);
}

TEST_F(TaskTrackerTest, TracksTasks) {
  LiveCounter counter;
  ManualExecutor executor;
  tracker_.SpawnOn(executor.spawner(), YieldNow()).Detach();
  JoinHandle<int> handle = tracker_.SpawnOn(
      executor.spawner(), [object = counter.Make()]() -> Task<int> {
        co_await Pending();
        co_return 1;
      });
  tracker_.Close();
  auto wait = tracker_.Wait();
  EXPECT_TRUE(wait.Poll(cx_).IsPending());
  executor.RunUntilIdle();
  EXPECT_EQ(tracker_.size(), 1u);

  handle.MakeAbortHandle().Abort();
  EXPECT_TRUE(wait.Poll(cx_).IsPending());
  executor.RunUntilIdle();

  EXPECT_EQ(counter.live(), 0);
  EXPECT_TRUE(wait.Poll(cx_).IsReady());
}

TEST_F(TaskTrackerTest, SpawnsWhereItIsCalled) {
  ManualExecutor executor;
  const auto body = [](TaskTracker tracker) -> Task<int> {
    JoinHandle<int> handle = tracker.Spawn(Ready(7));
    const int value = co_await handle;
    tracker.Close();
    co_await tracker.Wait();
    co_return value;
  };

  EXPECT_EQ(executor.Run(body(tracker_)), 7);
}

TEST_F(TaskTrackerTest, ATrackedFutureIsGoneBeforeItDoesNotCount) {
  struct Checks {
    using Output = void;
    explicit Checks(TaskTracker tracker) : tracker(std::move(tracker)) {}
    Checks(Checks&& other) noexcept
        : tracker(std::move(other.tracker)), moved_from(false) {
      other.moved_from = true;
    }
    ~Checks() {
      if (!moved_from) EXPECT_EQ(tracker.size(), 1u);
    }
    Polled<void> Poll(Context&) { return Unit(); }

    TaskTracker tracker;
    bool moved_from = true;
  };

  {
    const auto tracked = tracker_.Track(Checks(tracker_));
  }

  EXPECT_EQ(tracker_.size(), 0u);
}

TEST_F(TaskTrackerTest, WaitsOutliveIt) {
  std::optional<TaskTracker> tracker(std::in_place);
  tracker->Close();
  std::optional<TaskTracker::Token> token = tracker->token();
  auto wait = tracker->Wait();
  EXPECT_TRUE(wait.Poll(cx_).IsPending());

  tracker.reset();
  token.reset();

  EXPECT_EQ(waker_.wakes(), 1);
  EXPECT_TRUE(wait.Poll(cx_).IsReady());
}

TEST_F(TaskTrackerTest, AWaitHandedToAnotherTaskWakesThatOne) {
  CountingWaker other;
  Context in_other(other.waker());
  auto wait = tracker_.Wait();
  EXPECT_TRUE(wait.Poll(cx_).IsPending());
  EXPECT_TRUE(wait.Poll(in_other).IsPending());

  tracker_.Close();

  EXPECT_EQ(waker_.wakes(), 0);
  EXPECT_EQ(other.wakes(), 1);
}

TEST_F(TaskTrackerTest, ASpentBudgetDelays) {
  tracker_.Close();
  Budget budget(0);
  Context cx(waker_.waker(), &budget);
  auto wait = tracker_.Wait();

  EXPECT_TRUE(wait.Poll(cx).IsPending());
  EXPECT_EQ(waker_.wakes(), 1);
  budget = Budget(2);

  EXPECT_TRUE(wait.Poll(cx).IsReady());
  EXPECT_EQ(budget.units(), 1u);
}

TEST_F(TaskTrackerTest, SurvivesADropAtEveryPoll) {
  LiveCounter counter;
  std::optional<TaskTracker> tracker;
  const auto body = [](TaskTracker tracker, LiveCounter::Object) -> Task<> {
    co_await tracker.Wait();
    tracker.Reopen();
    TaskTracker other;
    auto tracked = other.Track(tracker.Wait());
    co_await tracked;
  };

  EXPECT_THAT(DropAtEveryPoll(
                  [&] {
                    tracker.emplace();
                    return body(*tracker, counter.Make());
                  },
                  {.step =
                       [&] {
                         tracker->Close();
                         return true;
                       },
                   .live = [&] { return counter.live(); }}),
              IsOkAndHolds(3));
}

// Threads drop tokens while others wait: every wait ends, and sees what was
// written before. No atomic, for ThreadSanitizer to see.
TEST_F(TaskTrackerTest, WaitsEndAmongThreads) {
  constexpr int kThreads = 3;
  const int rounds = std::getenv("WEFT_LONG") != nullptr ? 20'000 : 300;
  for (int round = 0; round < rounds; ++round) {
    TaskTracker tracker;
    int done[kThreads] = {};
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&done, i, token = tracker.token()]() mutable {
        TaskTracker::Token copy = token;
        done[i] = 1;
        // The copy goes at the end of the function, the token with its lambda.
        static_cast<void>(TaskTracker::Token(std::move(token)));
      });
    }
    std::thread closer([tracker]() mutable { tracker.Close(); });
    BlockOn(tracker.Wait());
    for (const int one : done) EXPECT_EQ(one, 1);
    closer.join();
    for (auto& thread : threads) thread.join();
  }
}

}  // namespace
}  // namespace weft
