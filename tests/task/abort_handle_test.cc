// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// weft-lint: allow-file(R22): the tests' tasks end before what they refer to.

#include "weft/task/abort_handle.h"

#include <atomic>
#include <optional>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "weft/task/context.h"
#include "weft/task/counting_waker.h"
#include "weft/task/join_handle.h"
#include "weft/task/live_counter.h"
#include "weft/task/manual_executor.h"
#include "weft/task/ready.h"
#include "weft/task/runnable.h"
#include "weft/task/spawn_builder.h"
#include "weft/task/status_matchers.h"
#include "weft/task/task.h"
#include "weft/task/task_id.h"
#include "weft/task/yield_now.h"

namespace weft {
namespace {

Task<int> YieldThenReturn(int value) {
  co_await YieldNow();
  co_return value;
}
Task<int> Hold(LiveCounter::Object) {
  co_await Pending();
  co_return 0;
}

TEST(AbortHandleTest, CancelsATaskThatWaits) {
  LiveCounter counter;
  ManualExecutor executor;
  JoinHandle<int> handle = executor.Spawn(Hold(counter.Make()));
  const AbortHandle abort = handle.MakeAbortHandle();
  executor.RunUntilIdle();

  abort.Abort();

  EXPECT_EQ(counter.live(), 1);  // soon, not at once
  EXPECT_FALSE(abort.IsFinished());
  executor.RunUntilIdle();
  EXPECT_EQ(counter.live(), 0);
  EXPECT_TRUE(abort.IsFinished());
  EXPECT_THAT(executor.Run(std::move(handle).Outcome()),
              StatusIs(absl::StatusCode::kCancelled));
}

TEST(AbortHandleTest, CancelsATaskThatHasNotStarted) {
  LiveCounter counter;
  ManualExecutor executor;
  JoinHandle<int> handle = executor.Spawn(Hold(counter.Make()));

  handle.MakeAbortHandle().Abort();
  executor.RunUntilIdle();

  EXPECT_EQ(counter.live(), 0);
  EXPECT_TRUE(handle.IsFinished());
}

TEST(AbortHandleTest, WakesWhoAwaitsTheTask) {
  LiveCounter counter;
  ManualExecutor executor;
  CountingWaker waker;
  Context cx(waker.waker());
  JoinHandle<int> handle = executor.Spawn(Hold(counter.Make()));
  const AbortHandle abort = handle.MakeAbortHandle();
  auto outcome = std::move(handle).Outcome();
  executor.RunUntilIdle();
  EXPECT_TRUE(outcome.Poll(cx).IsPending());

  abort.Abort();
  executor.RunUntilIdle();

  EXPECT_EQ(waker.wakes(), 1);
  EXPECT_THAT(*outcome.Poll(cx), StatusIs(absl::StatusCode::kCancelled));
}

TEST(AbortHandleTest, TooLateItChangesNothing) {
  ManualExecutor executor;
  JoinHandle<int> handle = executor.Spawn(YieldThenReturn(7));
  const AbortHandle abort = handle.MakeAbortHandle();
  executor.RunUntilIdle();

  abort.Abort();
  abort.Abort();

  EXPECT_EQ(executor.Run(std::move(handle)), 7);
}

TEST(AbortHandleTest, ATaskThatFinishesInTheSamePollKeepsItsOutput) {
  ManualExecutor executor;
  std::optional<AbortHandle> abort;
  auto abort_itself = [&]() -> Task<int> {
    abort->Abort();
    co_return 7;
  };
  JoinHandle<int> handle = executor.Spawn(abort_itself);
  abort = handle.MakeAbortHandle();

  EXPECT_EQ(executor.Run(std::move(handle)), 7);
}

TEST(AbortHandleTest, CancelsADetachedTask) {
  LiveCounter counter;
  ManualExecutor executor;
  JoinHandle<int> handle = executor.Spawn(Hold(counter.Make()));
  const AbortHandle abort = handle.MakeAbortHandle();
  std::move(handle).Detach();
  executor.RunUntilIdle();
  EXPECT_EQ(counter.live(), 1);  // this handle can still reach it

  abort.Abort();
  executor.RunUntilIdle();

  EXPECT_EQ(counter.live(), 0);
  EXPECT_TRUE(abort.IsFinished());
}

TEST(AbortHandleTest, TheLastOneLetsGoOfATaskThatNothingCanWake) {
  LiveCounter counter;
  ManualExecutor executor;
  JoinHandle<int> handle = executor.Spawn(Hold(counter.Make()));
  std::optional<AbortHandle> abort = handle.MakeAbortHandle();
  std::optional<AbortHandle> copy = abort;
  std::move(handle).Detach();
  executor.RunUntilIdle();

  abort.reset();
  executor.RunUntilIdle();
  EXPECT_EQ(counter.live(), 1);
  copy.reset();
  executor.RunUntilIdle();
  EXPECT_EQ(counter.live(), 0);
}

TEST(AbortHandleTest, KeepsNoOutput) {
  LiveCounter counter;
  ManualExecutor executor;
  auto make = [&]() -> Task<LiveCounter::Object> { co_return counter.Make(); };
  std::optional<JoinHandle<LiveCounter::Object>> handle = executor.Spawn(make);
  const AbortHandle abort = handle->MakeAbortHandle();
  executor.RunUntilIdle();
  EXPECT_EQ(counter.live(), 1);

  handle.reset();

  EXPECT_EQ(counter.live(), 0);
  EXPECT_TRUE(abort.IsFinished());
  abort.Abort();
}

TEST(AbortHandleTest, TellsWhichTaskItIsAlsoWhenThatIsGone) {
  std::optional<AbortHandle> abort;
  TaskId id;
  {
    ManualExecutor executor;
    JoinHandle<int> handle = SpawnBuilder()
                                 .Name("reader")
                                 .On(executor.spawner())
                                 .Spawn(YieldThenReturn(7));
    id = handle.id();
    abort = handle.MakeAbortHandle();
  }
  EXPECT_EQ(abort->id(), id);
  EXPECT_EQ(abort->name(), "reader");
  EXPECT_TRUE(abort->IsFinished());
  abort->Abort();
}

TEST(AbortHandleTest, IsAssigned) {
  ManualExecutor executor;
  JoinHandle<int> a = executor.Spawn(YieldThenReturn(1));
  JoinHandle<int> b = executor.Spawn(YieldThenReturn(2));
  AbortHandle abort = a.MakeAbortHandle();
  abort = b.MakeAbortHandle();
  EXPECT_EQ(abort.id(), b.id());

  abort.Abort();

  EXPECT_EQ(executor.Run(std::move(a)), 1);
  EXPECT_THAT(executor.Run(std::move(b).Outcome()),
              StatusIs(absl::StatusCode::kCancelled));
}

// One thread runs and finishes the task, one aborts, one has the handle.
template <class Fn>
void RaceWithAbort(Fn use_handle) {
  LiveCounter futures;
  LiveCounter outputs;
  for (int round = 0; round < 2000; ++round) {
    std::atomic<int> ready{0};
    auto meet = [&] {
      for (++ready; ready != 3;) std::this_thread::yield();
    };
    {
      ManualExecutor executor;
      auto work = [&, object = futures.Make()]() -> Task<LiveCounter::Object> {
        co_await YieldNow();
        co_return outputs.Make();
      };
      auto handle = executor.Spawn(std::move(work));
      AbortHandle abort = handle.MakeAbortHandle();
      std::thread aborts([&, abort = std::move(abort)]() mutable {
        meet();
        abort.Abort();
        const AbortHandle last = std::move(abort);
      });
      std::thread uses([&, handle = std::move(handle)]() mutable {
        meet();
        use_handle(std::move(handle));
      });
      meet();
      executor.RunUntilIdle();
      aborts.join();
      uses.join();
      executor.RunUntilIdle();
      ASSERT_EQ(executor.live(), 0u);
    }
    ASSERT_EQ(futures.live(), 0);
    ASSERT_EQ(outputs.live(), 0);
  }
}

using Handle = JoinHandle<LiveCounter::Object>;

TEST(AbortHandleTest, RacesWithTheDropOfTheHandle) {
  RaceWithAbort([](Handle handle) { static_cast<void>(handle); });
}

TEST(AbortHandleTest, RacesWithDetach) {
  RaceWithAbort([](Handle handle) { std::move(handle).Detach(); });
}

TEST(AbortHandleTest, RacesWithAJoin) {
  RaceWithAbort([](Handle handle) {
    CountingWaker waker;
    Context cx(waker.waker());
    auto outcome = std::move(handle).Outcome();
    for (;;) {
      if (outcome.Poll(cx).IsReady()) return;
      while (waker.TakeWakes() == 0) std::this_thread::yield();
    }
  });
}

TEST(AbortHandleDeathTest, AwaitingAnAbortedTaskSaysWhatToDo) {
  LiveCounter counter;
  ManualExecutor executor;
  JoinHandle<int> handle = SpawnBuilder()
                               .Name("reader")
                               .On(executor.spawner())
                               .Spawn(Hold(counter.Make()));
  handle.MakeAbortHandle().Abort();

  EXPECT_DEATH(static_cast<void>(executor.Run(std::move(handle))),
               "task [0-9]+ \"reader\" was .*aborted.*Outcome\\(\\)");
}

}  // namespace
}  // namespace weft
