// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/task/join_handle.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "weft/task/context.h"
#include "weft/task/counting_waker.h"
#include "weft/task/frame_cache.h"
#include "weft/task/future.h"
#include "weft/task/live_counter.h"
#include "weft/task/manual_executor.h"
#include "weft/task/polled.h"
#include "weft/task/ready.h"
#include "weft/task/runnable.h"
#include "weft/task/spawn_builder.h"
#include "weft/task/status_matchers.h"
#include "weft/task/task.h"
#include "weft/task/waker.h"
#include "weft/task/yield_now.h"
#include "weft/tests/kit/signal.h"

namespace weft {
namespace {

using testing::Pointee;

static_assert(Future<JoinHandle<int>>);
static_assert(kMovableAfterPoll<JoinHandle<int>>);

Task<int> Return(int value) { co_return value; }
Task<int> YieldThenReturn(int value) {
  co_await YieldNow();
  co_return value;
}
Task<> Hold(LiveCounter::Object) { co_await Pending(); }

// ---- Outputs ----

TEST(JoinHandleTest, GivesTheOutput) {
  ManualExecutor executor;
  JoinHandle<int> handle = executor.Spawn(YieldThenReturn(7));

  EXPECT_EQ(executor.Run(handle), 7);
}

TEST(JoinHandleTest, GivesOutputsOfEveryKind) {
  ManualExecutor executor;
  int number = 1;
  auto nothing = []() -> Task<> { co_return; };
  auto owned = []() -> Task<std::unique_ptr<int>> {
    co_return std::make_unique<int>(3);
  };
  auto refer = [](int* number) -> Task<int&> { co_return *number; };

  executor.Run(executor.Spawn(nothing()));
  EXPECT_EQ(*executor.Run(executor.Spawn(owned())), 3);
  EXPECT_EQ(&executor.Run(executor.SpawnBorrowing(refer(&number))), &number);
}

TEST(JoinHandleTest, IsFinishedTellsWithoutWaiting) {
  ManualExecutor executor;
  const JoinHandle<int> handle = executor.Spawn(YieldThenReturn(7));

  EXPECT_FALSE(handle.IsFinished());
  executor.RunOne();
  EXPECT_FALSE(handle.IsFinished());
  executor.RunOne();
  EXPECT_TRUE(handle.IsFinished());
}

TEST(JoinHandleTest, TellsWhichTaskItIs) {
  ManualExecutor executor;
  const JoinHandle<int> plain = executor.Spawn(Return(7));
  const JoinHandle<int> named =
      SpawnBuilder().Name("reader").On(executor.spawner()).Spawn(Return(7));

  EXPECT_TRUE(static_cast<bool>(plain.id()));
  EXPECT_NE(plain.id(), named.id());
  EXPECT_EQ(plain.name(), "");
  EXPECT_EQ(named.name(), "reader");
  executor.RunUntilIdle();
  EXPECT_EQ(named.name(), "reader");
}

TEST(JoinHandleTest, IsAwaitedInATask) {
  ManualExecutor executor;
  auto parent = [](JoinHandle<int> a, JoinHandle<int> b) -> Task<int> {
    const int first = co_await a;
    co_return first + co_await std::move(b);
  };
  JoinHandle<int> sum = executor.Spawn(parent(
      executor.Spawn(YieldThenReturn(3)), executor.Spawn(YieldThenReturn(4))));

  EXPECT_EQ(executor.Run(sum), 7);
}

TEST(JoinHandleTest, TheLastPollsWakerCounts) {
  ManualExecutor executor;
  CountingWaker a;
  CountingWaker b;
  Context in_a(a.waker());
  Context in_b(b.waker());
  JoinHandle<int> handle = executor.Spawn(Return(7));
  EXPECT_TRUE(handle.Poll(in_a).IsPending());
  EXPECT_TRUE(handle.Poll(in_b).IsPending());
  EXPECT_EQ(a.outstanding(), 0);

  executor.RunUntilIdle();

  EXPECT_EQ(a.wakes(), 0);
  EXPECT_EQ(b.wakes(), 1);
  EXPECT_EQ(b.outstanding(), 0);
  EXPECT_EQ(*handle.Poll(in_a), 7);
}

TEST(JoinHandleTest, ChargesTheBudgetWhenItIsReady) {
  ManualExecutor executor;
  JoinHandle<int> handle = executor.Spawn(Return(7));
  CountingWaker waker;
  Budget budget(1);
  Context cx(waker.waker(), &budget);
  EXPECT_TRUE(handle.Poll(cx).IsPending());
  EXPECT_EQ(budget.units(), 1u);
  executor.RunUntilIdle();

  Budget spent(0);
  Context without(waker.waker(), &spent);
  EXPECT_TRUE(handle.Poll(without).IsPending());
  EXPECT_EQ(waker.TakeWakes(), 2);  // by the end of the task, by the budget
  EXPECT_EQ(*handle.Poll(cx), 7);
  EXPECT_EQ(budget.units(), 0u);
}

// ---- Outcome ----

TEST(JoinHandleTest, OutcomeIsTheOutputOrAStatus) {
  ManualExecutor executor;
  JoinHandle<int> finished = executor.Spawn(Return(7));
  EXPECT_THAT(executor.Run(std::move(finished).Outcome()), IsOkAndHolds(7));

  JoinHandle<int> dropped = [] {
    ManualExecutor short_lived;
    return short_lived.Spawn(Return(7));
  }();
  const std::string id = std::to_string(dropped.id().value());
  EXPECT_THAT(executor.Run(std::move(dropped).Outcome()),
              StatusIs(absl::StatusCode::kCancelled,
                       testing::HasSubstr("task " + id + " was cancelled")));
}

TEST(JoinHandleTest, OutcomeOfAStatusIsNotWrappedAgain) {
  ManualExecutor executor;
  auto fail = []() -> Task<absl::StatusOr<int>> {
    co_return absl::NotFoundError("x");
  };
  auto status = []() -> Task<absl::Status> { co_return absl::OkStatus(); };
  auto nothing = []() -> Task<> { co_return; };

  EXPECT_THAT(executor.Run(executor.Spawn(fail()).Outcome()),
              StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(executor.Run(executor.Spawn(status()).Outcome()), IsOk());
  EXPECT_THAT(executor.Run(executor.Spawn(nothing()).Outcome()), IsOk());
}

TEST(JoinHandleTest, ADroppedOutcomeCancels) {
  LiveCounter counter;
  ManualExecutor executor;
  {
    auto outcome = executor.Spawn(Hold(counter.Make())).Outcome();
  }

  executor.RunUntilIdle();

  EXPECT_EQ(counter.live(), 0);
}

// ---- Cancel ----

TEST(JoinHandleTest, CancelWaitsUntilTheFutureIsGone) {
  LiveCounter counter;
  ManualExecutor executor;
  JoinHandle<> handle = executor.Spawn(Hold(counter.Make()));
  executor.RunUntilIdle();
  CountingWaker waker;
  Context cx(waker.waker());
  auto cancel = std::move(handle).Cancel();

  EXPECT_TRUE(cancel.Poll(cx).IsPending());
  EXPECT_EQ(counter.live(), 1);
  executor.RunUntilIdle();
  EXPECT_EQ(counter.live(), 0);
  EXPECT_EQ(waker.wakes(), 1);
  EXPECT_EQ(*cancel.Poll(cx), std::nullopt);
}

TEST(JoinHandleTest, CancelGivesAnOutputThatCameFirst) {
  ManualExecutor executor;
  JoinHandle<int> handle = executor.Spawn(Return(7));
  executor.RunUntilIdle();

  EXPECT_EQ(executor.Run(std::move(handle).Cancel()), std::optional(7));
}

TEST(JoinHandleTest, CancelGivesAReferenceInAWrapper) {
  int number = 1;
  auto refer = [](int* number) -> Task<int&> { co_return *number; };
  ManualExecutor executor;
  JoinHandle<int&> handle = executor.SpawnBorrowing(refer(&number));
  executor.RunUntilIdle();

  auto output = executor.Run(std::move(handle).Cancel());

  ASSERT_TRUE(output.has_value());
  EXPECT_EQ(&output->get(), &number);
}

TEST(JoinHandleTest, CancelDoesNothingBeforeItIsPolled) {
  ManualExecutor executor;
  JoinHandle<int> handle = executor.Spawn(YieldThenReturn(7));
  auto cancel = std::move(handle).Cancel();

  executor.RunUntilIdle();

  EXPECT_EQ(executor.Run(std::move(cancel)), std::optional(7));
}

TEST(JoinHandleTest, ADroppedCancelLeavesTheTaskCancelled) {
  LiveCounter counter;
  ManualExecutor executor;
  JoinHandle<> handle = executor.Spawn(Hold(counter.Make()));
  executor.RunUntilIdle();
  {
    auto cancel = std::move(handle).Cancel();
    Context cx(NoopWaker());
    EXPECT_TRUE(cancel.Poll(cx).IsPending());
  }
  executor.RunUntilIdle();
  EXPECT_EQ(counter.live(), 0);
}

TEST(JoinHandleTest, CancelledFromInsideATask) {
  LiveCounter counter;
  ManualExecutor executor;
  auto parent = [](JoinHandle<> child) -> Task<bool> {
    co_await YieldNow();
    const std::optional<Unit> output = co_await std::move(child).Cancel();
    co_return output.has_value();
  };
  JoinHandle<bool> handle =
      executor.Spawn(parent(executor.Spawn(Hold(counter.Make()))));

  EXPECT_FALSE(executor.Run(handle));
  EXPECT_EQ(counter.live(), 0);
}

// Cancelled before it took its first step, a task still reports its end.
TEST(JoinHandleTest, CancelledBeforeItsFirstStepTheJoinReportsIt) {
  LiveCounter counter;
  ManualExecutor executor;
  for (int i = 0; i < 10'000; ++i) {
    JoinHandle<> handle = executor.Spawn(Hold(counter.Make()));
    const std::optional<Unit> output = executor.Run(std::move(handle).Cancel());
    ASSERT_EQ(output, std::nullopt);
    ASSERT_EQ(counter.live(), 0);
  }
  EXPECT_EQ(counter.gone(), 10'000);
  EXPECT_EQ(executor.live(), 0u);
}

// ---- Dropping and detaching ----

TEST(JoinHandleTest, DroppedItCancels) {
  LiveCounter counter;
  ManualExecutor executor;
  {
    const JoinHandle<> handle = executor.Spawn(Hold(counter.Make()));
  }
  EXPECT_EQ(counter.live(), 1);  // soon, not at once

  EXPECT_EQ(executor.RunUntilIdle(), 1u);
  EXPECT_EQ(counter.live(), 0);
}

TEST(JoinHandleTest, DetachedTheTaskRunsOn) {
  ManualExecutor executor;
  Signal signal;
  auto wait = [](Signal* signal) -> Task<> { co_await signal->Wait(); };
  auto run_on = Invoke([&] { return wait(&signal); });
  executor.Spawn(std::move(run_on)).Detach();
  executor.RunUntilIdle();
  EXPECT_EQ(executor.live(), 1u);

  signal.Set();
  executor.RunUntilIdle();
  EXPECT_EQ(executor.live(), 0u);
}

TEST(JoinHandleTest, ADroppedAwaitOfANamedHandleLosesNothing) {
  ManualExecutor executor;
  JoinHandle<int> handle = executor.Spawn(YieldThenReturn(7));
  auto wait = [](JoinHandle<int>* handle) -> Task<int> {
    co_return co_await *handle;
  };
  {
    Task<int> dropped = wait(&handle);
    Context cx(NoopWaker());
    EXPECT_TRUE(dropped.Poll(cx).IsPending());
  }
  EXPECT_EQ(executor.Run(wait(&handle)), 7);
}

TEST(JoinHandleTest, AHandleOutlivesItsExecutor) {
  std::optional<JoinHandle<int>> finished;
  std::optional<JoinHandle<int>> dropped;
  {
    ManualExecutor executor;
    finished = executor.Spawn(Return(7));
    executor.RunUntilIdle();
    dropped = executor.Spawn(Return(8));
  }
  EXPECT_TRUE(finished->IsFinished());
  EXPECT_TRUE(dropped->IsFinished());
  Context cx(NoopWaker());
  EXPECT_EQ(*finished->Poll(cx), 7);
  EXPECT_EQ(*std::move(*dropped).Cancel().Poll(cx), std::nullopt);
}

// ---- Cycles and costs ----

// Two tasks wait for each other; each got the other's handle through a
// variable. Neither can ever run again, but both are gone with their executor.
TEST(JoinHandleTest, TasksThatAwaitEachOtherAreGoneWithTheExecutor) {
  LiveCounter counter;
  using Slot = std::shared_ptr<std::optional<JoinHandle<>>>;
  auto wait = [](Slot slot, LiveCounter::Object) -> Task<> {
    co_await YieldNow();
    JoinHandle<> other = *std::exchange(*slot, std::nullopt);
    co_await other;
  };
  {
    ManualExecutor executor;
    auto of_a = std::make_shared<std::optional<JoinHandle<>>>();
    auto of_b = std::make_shared<std::optional<JoinHandle<>>>();
    of_a->emplace(executor.Spawn(wait(of_b, counter.Make())));
    of_b->emplace(executor.Spawn(wait(of_a, counter.Make())));
    executor.RunUntilIdle();
    EXPECT_EQ(executor.live(), 2u);
    EXPECT_EQ(counter.live(), 2);
  }
  EXPECT_EQ(counter.live(), 0);
}

TEST(JoinHandleTest, ATaskThatAwaitsItselfIsGoneWithTheExecutor) {
  LiveCounter counter;
  using Slot = std::shared_ptr<std::optional<JoinHandle<>>>;
  auto wait = [](Slot slot, LiveCounter::Object) -> Task<> {
    JoinHandle<> self = *std::exchange(*slot, std::nullopt);
    co_await self;
  };
  {
    ManualExecutor executor;
    auto slot = std::make_shared<std::optional<JoinHandle<>>>();
    slot->emplace(executor.Spawn(wait(slot, counter.Make())));
    executor.RunUntilIdle();
    EXPECT_EQ(counter.live(), 1);
  }
  EXPECT_EQ(counter.live(), 0);
}

TEST(JoinHandleTest, FinishedTasksCostNothingAfterTheirHandles) {
  LiveCounter counter;
  ManualExecutor executor;
  auto give = [](LiveCounter::Object object) -> Task<LiveCounter::Object> {
    co_return object;
  };
  auto in_use = [] {
    const FrameCacheStats stats = GetFrameCacheStats();
    return stats.blocks_from_allocator - stats.blocks_to_allocator;
  };
  size_t after_first_round = 0;
  for (int round = 0; round < 3; ++round) {
    std::vector<JoinHandle<LiveCounter::Object>> handles;
    for (int i = 0; i < 100'000; ++i) {
      handles.push_back(executor.Spawn(give(counter.Make())));
    }
    executor.RunUntilIdle();
    EXPECT_EQ(counter.live(), 100'000);
    handles.clear();
    EXPECT_EQ(counter.live(), 0);
    if (round == 0) after_first_round = in_use();
  }
  EXPECT_EQ(in_use(), after_first_round);
}

// A wait for a handle starts in task A, moves inside a Task to B, and goes on
// there: B is woken, A is left alone.
TEST(JoinHandleTest, APendingJoinMovesToAnotherTask) {
  Signal signal;
  ManualExecutor executor;
  auto target = [](Signal* signal) -> Task<int> {
    co_return co_await signal->Wait();
  };
  static constexpr auto join = [](JoinHandle<int> handle) -> Task<int> {
    co_return co_await handle;
  };
  struct Shared {
    std::optional<Task<int>> moved;
    Waker b;
    int a_resumed = 0;
  };
  auto a = [](JoinHandle<int> handle, Shared* shared) -> Task<> {
    Task<int> pending = join(std::move(handle));
    static_cast<void>(co_await PollOnce(pending));
    shared->moved.emplace(std::move(pending));
    auto wait = PollFn([shared](Context&) -> Polled<void> {
      ++shared->a_resumed;
      return kPending;
    });
    co_await wait;
  };
  auto b = [](Shared* shared) -> Task<int> {
    while (!shared->moved.has_value()) co_await YieldNow();
    Task<int> pending = *std::move(shared->moved);
    co_return co_await std::move(pending);
  };
  Shared shared;
  JoinHandle<int> of_target = executor.SpawnBorrowing(target(&signal));
  const JoinHandle<> of_a =
      executor.SpawnBorrowing(a(std::move(of_target), &shared));
  JoinHandle<int> of_b = executor.SpawnBorrowing(b(&shared));
  executor.RunUntilIdle();
  EXPECT_EQ(shared.a_resumed, 1);

  signal.Set(7);
  executor.RunUntilIdle();

  EXPECT_TRUE(of_b.IsFinished());
  EXPECT_EQ(executor.Run(of_b), 7);
  EXPECT_EQ(shared.a_resumed, 1);
}

// ---- A caller's mistakes ----

TEST(JoinHandleDeathTest, AwaitingATaskThatItsExecutorDroppedNamesTheRemedy) {
  JoinHandle<int> dropped = [] {
    ManualExecutor short_lived;
    return short_lived.Spawn(Return(7));
  }();
  Context cx(NoopWaker());

  EXPECT_DEATH(static_cast<void>(dropped.Poll(cx)), "Outcome\\(\\)");
}

TEST(JoinHandleDeathTest, AnEmptyHandleIsNoticed) {
  ManualExecutor executor;
  JoinHandle<int> handle = executor.Spawn(Return(7));
  Context cx(NoopWaker());
  EXPECT_EQ(executor.Run(handle), 7);

  EXPECT_DEATH(static_cast<void>(handle.Poll(cx)), "has given its output");
  EXPECT_DEATH(static_cast<void>(handle.IsFinished()), "has given its output");
  EXPECT_DEATH(std::move(handle).Detach(), "has given its output");
  EXPECT_DEATH(static_cast<void>(std::move(handle).Cancel()),
               "has given its output");
  EXPECT_DEATH(static_cast<void>(std::move(handle).Outcome()),
               "has given its output");
  EXPECT_DEATH(static_cast<void>(handle.id()), "has given its output");
}

#ifndef NDEBUG
TEST(JoinHandleDeathTest, ABorrowingTaskIsNotDetached) {
  ManualExecutor executor;
  int number = 1;
  auto borrow = [](int* number) -> Task<> {
    ++*number;
    co_return;
  };
  JoinHandle<> handle = executor.SpawnBorrowing(borrow(&number));

  EXPECT_DEATH(std::move(handle).Detach(), "await the handle");
}
#endif

}  // namespace
}  // namespace weft
