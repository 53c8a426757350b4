// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// weft-lint: allow-file(R22): the tests' tasks end before what they refer to.
// weft-lint: allow-file(R4): groups keep the lambdas that they are given.

#include "weft/select/task_group.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "weft/stream/next.h"
#include "weft/sync/event.h"
#include "weft/task/context.h"
#include "weft/task/counting_waker.h"
#include "weft/task/drop_at_every_poll.h"
#include "weft/task/future.h"
#include "weft/task/join_result.h"
#include "weft/task/live_counter.h"
#include "weft/task/manual_executor.h"
#include "weft/task/polled.h"
#include "weft/task/ready.h"
#include "weft/task/runnable.h"
#include "weft/task/spawner.h"
#include "weft/task/status_matchers.h"
#include "weft/task/task.h"
#include "weft/task/task_id.h"
#include "weft/task/yield_now.h"
#include "weft/tests/select/allocation_counter.h"

namespace weft {
namespace {

using testing::ElementsAre;

// Events by number, made when they are first asked for.
class Gates {
 public:
  sync::Event& operator[](size_t i) {
    while (events_.size() <= i) events_.emplace_back();
    return events_[i];
  }

 private:
  std::deque<sync::Event> events_;
};

class TaskGroupTest : public testing::Test {
 protected:
  TaskGroupOptions Options(TaskGroupOptions options = {}) {
    options.spawner = &executor_.spawner();
    return options;
  }
  // Gives `value` once gate `i` is open.
  auto After(size_t i, int value) {
    return [gate = &gates_[i], value]() -> Task<int> {
      co_await gate->Wait();
      co_return value;
    };
  }
  auto FailAfter(size_t i, absl::Status status) {
    return [gate = &gates_[i], status]() -> Task<absl::StatusOr<int>> {
      co_await gate->Wait();
      co_return status;
    };
  }
  void Open(size_t i) {
    gates_[i].Set();
    executor_.RunUntilIdle();
  }
  // What `future` is ready with now.
  template <class F>
  static auto Now(F& future) {
    Context cx(NoopWaker());
    return future.Poll(cx);
  }

  Gates gates_;
  ManualExecutor executor_;
  CountingWaker waker_;
  Context cx_{waker_.waker()};
};

TEST_F(TaskGroupTest, WithoutTasksThereIsNothingToWaitFor) {
  TaskGroup<int> group(Options());
  auto next = group.Next();
  auto join = group.Join();
  auto shutdown = group.Shutdown();

  EXPECT_EQ(*Now(next), std::nullopt);
  EXPECT_THAT(*Now(join), IsOkAndHolds(ElementsAre()));
  EXPECT_TRUE(Now(shutdown).IsReady());
  EXPECT_EQ(group.size(), 0u);
}

TEST_F(TaskGroupTest, NextGivesResultsAsTasksEnd) {
  TaskGroup<int> group(Options());
  for (int i = 0; i < 3; ++i) group.Spawn(After(i, i));
  executor_.RunUntilIdle();
  EXPECT_EQ(group.running(), 3u);
  auto first = group.Next();
  EXPECT_TRUE(first.Poll(cx_).IsPending());

  Open(2);
  EXPECT_EQ(waker_.TakeWakes(), 1);
  EXPECT_THAT(**first.Poll(cx_), IsOkAndHolds(2));
  Open(0);
  Open(1);

  EXPECT_EQ(group.size(), 2u);
  EXPECT_EQ(group.running(), 0u);
  EXPECT_THAT(**Now(*std::make_unique<decltype(first)>(group.Next())),
              IsOkAndHolds(0));
  EXPECT_THAT(*executor_.Run(group.Next()), IsOkAndHolds(1));
  EXPECT_EQ(executor_.Run(group.Next()), std::nullopt);
}

TEST_F(TaskGroupTest, NextInOrderGivesThemAsTheyWereSpawned) {
  TaskGroup<int> group(Options());
  for (int i = 0; i < 3; ++i) group.Spawn(After(i, i));
  auto first = group.NextInOrder();
  EXPECT_TRUE(first.Poll(cx_).IsPending());

  Open(1);
  EXPECT_TRUE(first.Poll(cx_).IsPending());
  Open(0);

  EXPECT_THAT(**first.Poll(cx_), IsOkAndHolds(0));
  EXPECT_THAT(*executor_.Run(group.NextInOrder()), IsOkAndHolds(1));
  auto last = group.NextInOrder();
  EXPECT_TRUE(last.Poll(cx_).IsPending());
  Open(2);
  EXPECT_THAT(**last.Poll(cx_), IsOkAndHolds(2));
}

TEST_F(TaskGroupTest, JoinGivesTheValuesInTheOrderOfSpawning) {
  TaskGroup<int> group(Options());
  for (int i = 0; i < 3; ++i) group.Spawn(After(i, i));
  auto join = group.Join();
  EXPECT_TRUE(join.Poll(cx_).IsPending());

  Open(2);
  Open(0);
  EXPECT_EQ(waker_.wakes(), 0);  // only the end matters
  Open(1);

  EXPECT_EQ(waker_.wakes(), 1);
  EXPECT_THAT(*join.Poll(cx_), IsOkAndHolds(ElementsAre(0, 1, 2)));
  EXPECT_EQ(group.size(), 0u);
}

TEST_F(TaskGroupTest, TasksMayGiveNothingOrOnlyStatusesOrWhatCannotBeCopied) {
  TaskGroup<> nothing(Options());
  nothing.Spawn(YieldNow());
  TaskGroup<absl::Status> statuses(Options());
  statuses.Spawn(Ready(absl::OkStatus()));
  TaskGroup<std::unique_ptr<int>> pointers(Options());
  pointers.Spawn(Ready(std::make_unique<int>(5)));
  int n = 0;
  TaskGroup<int&> references(Options());
  references.Spawn(PollFn([&n](Context&) -> Polled<int&> { return n; }));

  const absl::Status of_nothing = executor_.Run(nothing.Join());
  const absl::Status of_statuses = executor_.Run(statuses.Join());
  auto of_pointers = executor_.Run(pointers.Join());
  auto reference = executor_.Run(references.Next());

  EXPECT_THAT(of_nothing, IsOk());
  EXPECT_THAT(of_statuses, IsOk());
  ASSERT_THAT(of_pointers, IsOk());
  EXPECT_EQ(*of_pointers->at(0), 5);
  EXPECT_EQ(&(*reference)->get(), &n);
}

TEST_F(TaskGroupTest, IsAStream) {
  static_assert(Stream<TaskGroup<int>>);
  TaskGroup<int> group(Options());
  group.Spawn(After(0, 7));
  auto next = Next(group);
  EXPECT_TRUE(next.Poll(cx_).IsPending());

  Open(0);

  EXPECT_EQ(waker_.wakes(), 1);
  EXPECT_THAT(**next.Poll(cx_), IsOkAndHolds(7));
  EXPECT_EQ(*Now(next), std::nullopt);
}

TEST_F(TaskGroupTest, ADroppedStreamLeavesNoWaker) {
  {
    TaskGroup<int> group(Options());
    group.Spawn(After(0, 7));
    EXPECT_TRUE(group.PollNext(cx_).IsPending());
    EXPECT_EQ(waker_.outstanding(), 1);
  }

  EXPECT_EQ(waker_.outstanding(), 0);
}

TEST_F(TaskGroupTest, ResultsComeWithKeys) {
  TaskGroup<int, std::string> group(Options());
  group.Spawn("a", After(0, 1));
  group.Spawn("b", After(1, 2));
  group.Spawn("c", After(2, 3));
  Open(1);

  std::optional<Keyed<std::string, absl::StatusOr<int>>> next =
      executor_.Run(group.Next());
  ASSERT_TRUE(next.has_value());
  EXPECT_EQ(next->key, "b");
  EXPECT_THAT(next->value, IsOkAndHolds(2));
  Open(0);
  Open(2);

  absl::StatusOr<std::vector<Keyed<std::string, int>>> rest =
      executor_.Run(group.Join());
  ASSERT_THAT(rest, IsOk());
  ASSERT_EQ(rest->size(), 2u);
  EXPECT_EQ(rest->at(1).key, "c");
  EXPECT_EQ(rest->at(1).value, 3);
}

TEST_F(TaskGroupTest, ResultsKnowTheirTasks) {
  TaskGroup<int> group(Options());
  group.Spawn(Ready(1));
  group.Spawn(Ready(2));

  std::optional<JoinResult<int>> first = executor_.Run(group.NextResult());
  std::vector<JoinResult<int>> rest = executor_.Run(group.Collect());

  EXPECT_TRUE(first->id());
  EXPECT_EQ(first->value(), 1);
  ASSERT_EQ(rest.size(), 1u);
  EXPECT_EQ(rest[0].value(), 2);
  EXPECT_NE(rest[0].id(), first->id());
}

// --- Errors.

TEST_F(TaskGroupTest, TheFirstErrorCancelsTheRest) {
  LiveCounter counter;
  TaskGroup<absl::StatusOr<int>> group(Options());
  group.Spawn(FailAfter(0, absl::NotFoundError("first")));
  group.Spawn([object = counter.Make()]() -> Task<absl::StatusOr<int>> {
    co_await Pending();
    co_return 1;
  });
  auto join = group.Join();
  EXPECT_TRUE(join.Poll(cx_).IsPending());
  executor_.RunUntilIdle();
  EXPECT_EQ(counter.live(), 1);

  Open(0);

  EXPECT_TRUE(group.IsCancelled());
  EXPECT_EQ(counter.live(), 0);
  EXPECT_EQ(waker_.wakes(), 1);
  EXPECT_EQ(join.Poll(cx_)->status(), absl::NotFoundError("first"));
}

TEST_F(TaskGroupTest, JoinKnowsAnErrorThatNextHasGiven) {
  TaskGroup<absl::StatusOr<int>> group(Options());
  group.Spawn(FailAfter(0, absl::NotFoundError("first")));
  Open(0);

  EXPECT_EQ((*executor_.Run(group.Next())).status(),
            absl::NotFoundError("first"));

  EXPECT_EQ(executor_.Run(group.Join()).status(), absl::NotFoundError("first"));
}

TEST_F(TaskGroupTest, OthersGoOnWhereThatIsAskedFor) {
  TaskGroup<absl::StatusOr<int>> group(
      Options({.on_error = OnTaskError::kGoOn}));
  group.Spawn(Ready(absl::StatusOr<int>(1)));
  group.Spawn(FailAfter(0, absl::NotFoundError("first")));
  group.Spawn(FailAfter(1, absl::AbortedError("second")));
  group.Spawn(Ready(absl::StatusOr<int>(4)));
  Open(0);
  Open(1);

  EXPECT_FALSE(group.IsCancelled());
  std::vector<JoinResult<absl::StatusOr<int>>> all =
      executor_.Run(group.Collect());

  ASSERT_EQ(all.size(), 4u);
  EXPECT_THAT(all[0].value(), IsOkAndHolds(1));
  EXPECT_EQ(all[1].value().status(), absl::NotFoundError("first"));
  EXPECT_EQ(all[2].value().status(), absl::AbortedError("second"));
  EXPECT_THAT(all[3].value(), IsOkAndHolds(4));
  EXPECT_EQ(executor_.Run(group.Join()).status(), absl::NotFoundError("first"));
}

#if !defined(NDEBUG)
TEST_F(TaskGroupTest, ErrorsThatNobodyHasTakenAreReported) {
  testing::internal::CaptureStderr();
  {
    TaskGroup<absl::StatusOr<int>> group(
        Options({.on_error = OnTaskError::kGoOn}));
    group.Spawn(FailAfter(0, absl::NotFoundError("taken")));
    Open(0);
    static_cast<void>(executor_.Run(group.Next()));
    group.Spawn(FailAfter(0, absl::NotFoundError("left")));
    group.Spawn(Ready(absl::StatusOr<int>(absl::CancelledError("no error"))));
    executor_.RunUntilIdle();
  }

  const std::string report = testing::internal::GetCapturedStderr();
  EXPECT_THAT(report, testing::HasSubstr("nobody has taken: NOT_FOUND: left"));
  EXPECT_THAT(report, testing::Not(testing::HasSubstr("NOT_FOUND: taken")));
  EXPECT_THAT(report, testing::Not(testing::HasSubstr("no error")));
}
#endif

// --- The limit.

TEST_F(TaskGroupTest, SpawnQueuesWhatIsBeyondTheLimit) {
  TaskGroup<int> group(Options({.limit = 2}));
  std::vector<int> started;
  for (int i = 0; i < 5; ++i) {
    group.Spawn([this, &started, i]() -> Task<int> {
      started.push_back(i);
      co_await gates_[i].Wait();
      co_return i;
    });
  }
  executor_.RunUntilIdle();
  EXPECT_THAT(started, ElementsAre(0, 1));

  Open(1);
  EXPECT_THAT(started, ElementsAre(0, 1, 2));
  EXPECT_EQ(group.running(), 4u);
  Open(0);
  EXPECT_THAT(started, ElementsAre(0, 1, 2, 3));
  for (size_t i = 2; i < 5; ++i) Open(i);

  EXPECT_THAT(executor_.Run(group.Join()),
              IsOkAndHolds(ElementsAre(0, 1, 2, 3, 4)));
}

TEST_F(TaskGroupTest, SpawnWhenRoomWaitsForRoom) {
  TaskGroup<int> group(Options({.limit = 1}));
  EXPECT_THAT(executor_.Run(group.SpawnWhenRoom(After(0, 0))), IsOk());
  auto second = group.SpawnWhenRoom(After(1, 1));
  EXPECT_TRUE(second.Poll(cx_).IsPending());
  EXPECT_EQ(group.size(), 1u);

  Open(0);

  EXPECT_EQ(waker_.wakes(), 1);
  EXPECT_THAT(*second.Poll(cx_), IsOk());
  EXPECT_EQ(group.size(), 2u);
  Open(1);
  EXPECT_THAT(executor_.Run(group.Join()), IsOkAndHolds(ElementsAre(0, 1)));
}

TEST_F(TaskGroupTest, WithoutALimitThereIsAlwaysRoom) {
  TaskGroup<int> group(Options());
  for (int i = 0; i < 100; ++i) {
    auto spawn = group.SpawnWhenRoom(After(0, i));
    EXPECT_THAT(*Now(spawn), IsOk());
  }

  EXPECT_EQ(group.running(), 100u);
}

TEST_F(TaskGroupTest, ADroppedSpawnWhenRoomSpawnsNothingAndKeepsNoPlace) {
  LiveCounter counter;
  TaskGroup<int> group(Options({.limit = 1}));
  group.Spawn(After(0, 0));
  executor_.RunUntilIdle();
  auto behind = [&] {
    auto dropped = group.SpawnWhenRoom(
        [object = counter.Make()]() -> Task<int> { co_return 1; });
    EXPECT_TRUE(dropped.Poll(cx_).IsPending());
    return group.SpawnWhenRoom(After(1, 2));
  }();
  EXPECT_TRUE(behind.Poll(cx_).IsPending());
  EXPECT_EQ(counter.live(), 0);

  Open(0);

  EXPECT_THAT(*behind.Poll(cx_), IsOk());
  Open(1);
  EXPECT_THAT(executor_.Run(group.Join()), IsOkAndHolds(ElementsAre(0, 2)));
}

TEST_F(TaskGroupTest, ACancelledTaskLeavesItsPlace) {
  TaskGroup<absl::StatusOr<int>> group(
      Options({.limit = 1, .on_error = OnTaskError::kGoOn}));
  group.Spawn(FailAfter(0, absl::NotFoundError("first")));
  group.Spawn(Ready(absl::StatusOr<int>(2)));
  executor_.RunUntilIdle();
  EXPECT_EQ(group.running(), 2u);

  Open(0);

  EXPECT_EQ(group.running(), 0u);
}

// --- Cancelling.

TEST_F(TaskGroupTest, CancelAllEndsTheTasks) {
  LiveCounter counter;
  TaskGroup<> group(Options({.limit = 2}));
  for (int i = 0; i < 5; ++i) {
    group.Spawn([object = counter.Make()]() -> Task<> { co_await Pending(); });
  }
  executor_.RunUntilIdle();
  auto join = group.Join();
  EXPECT_TRUE(join.Poll(cx_).IsPending());
  auto room = group.SpawnWhenRoom(YieldNow());
  EXPECT_TRUE(room.Poll(cx_).IsPending());

  group.CancelAll();
  EXPECT_TRUE(absl::IsCancelled(*room.Poll(cx_)));
  EXPECT_TRUE(join.Poll(cx_).IsPending());
  executor_.RunUntilIdle();

  EXPECT_EQ(counter.live(), 0);
  EXPECT_TRUE(absl::IsCancelled(*join.Poll(cx_)));
  EXPECT_EQ(executor_.live(), 0u);
}

TEST_F(TaskGroupTest, CancellingWhatHasEndedChangesNothing) {
  TaskGroup<int> group(Options());
  group.Spawn(Ready(3));
  executor_.RunUntilIdle();

  group.CancelAll();

  EXPECT_THAT(executor_.Run(group.Join()), IsOkAndHolds(ElementsAre(3)));
}

TEST_F(TaskGroupTest, AJoinSeesTasksThatWereCancelledBeforeTheirFirstStep) {
  LiveCounter counter;
  for (int i = 0; i < 10'000; ++i) {
    TaskGroup<> group(Options());
    group.Spawn([object = counter.Make()]() -> Task<> { co_return; });
    group.CancelAll();

    ASSERT_TRUE(absl::IsCancelled(executor_.Run(group.Join())));
    ASSERT_EQ(counter.live(), 0);
  }
  EXPECT_GE(counter.made(), 10'000);
}

TEST_F(TaskGroupTest, ACancelledGroupDropsWhatIsSpawnedInIt) {
  LiveCounter counter;
  TaskGroup<> group(Options());
  group.CancelAll();
  auto join = group.Join();

  for (int i = 0; i < 10'000; ++i) {
    group.Spawn([object = counter.Make()]() -> Task<> { co_return; });
    ASSERT_EQ(counter.live(), 0);
  }
  auto room = group.SpawnWhenRoom(YieldNow());
  EXPECT_TRUE(absl::IsCancelled(*Now(room)));

  EXPECT_EQ(executor_.live(), 0u);
  EXPECT_EQ(group.size(), 10'000u);
  EXPECT_TRUE(absl::IsCancelled(*join.Poll(cx_)));
}

TEST_F(TaskGroupTest, CancelEndsOneTaskAndNoOther) {
  LiveCounter counter;
  TaskGroup<int> group(Options());
  group.Spawn(After(0, 10));
  const TaskId id = group.Spawn([object = counter.Make(), this]() -> Task<int> {
    co_await gates_[0].Wait();
    co_return 11;
  });
  group.Spawn(After(0, 12));
  executor_.RunUntilIdle();
  auto next = group.NextResult();
  EXPECT_TRUE(next.Poll(cx_).IsPending());

  EXPECT_TRUE(group.Cancel(id));
  executor_.RunUntilIdle();

  EXPECT_EQ(counter.live(), 0);
  EXPECT_EQ(waker_.wakes(), 1);
  auto result = next.Poll(cx_);
  EXPECT_EQ((*result)->id(), id);
  EXPECT_THAT((*result)->status(), StatusIs(absl::StatusCode::kCancelled));
  EXPECT_FALSE(group.IsCancelled());
  EXPECT_EQ(group.running(), 2u);
  Open(0);
  EXPECT_THAT(executor_.Run(group.Join()), IsOkAndHolds(ElementsAre(10, 12)));
}

TEST_F(TaskGroupTest, JoinLeavesOutWhatWasCancelledAlone) {
  TaskGroup<absl::StatusOr<int>> group(Options());
  TaskGroup<> without_values(Options());
  const auto forever = []() -> Task<absl::StatusOr<int>> {
    co_await Pending();
    co_return 0;
  };
  const TaskId first = group.Spawn(forever);
  group.Spawn(Ready(absl::StatusOr<int>(1)));
  const TaskId last = group.Spawn(forever);
  const TaskId other =
      without_values.Spawn([]() -> Task<> { co_await Pending(); });

  EXPECT_TRUE(group.Cancel(first));  // before its first step
  executor_.RunUntilIdle();
  EXPECT_TRUE(group.Cancel(last));
  EXPECT_TRUE(without_values.Cancel(other));

  EXPECT_THAT(executor_.Run(group.Join()), IsOkAndHolds(ElementsAre(1)));
  EXPECT_THAT(executor_.Run(without_values.Join()), IsOk());
}

TEST_F(TaskGroupTest, ATaskThatWaitsForItsTurnCanBeCancelled) {
  TaskGroup<int, std::string> group(Options({.limit = 1}));
  group.Spawn("runs", After(0, 1));
  const TaskId waits = group.Spawn("waits", After(0, 2));
  group.Spawn("is next", After(0, 3));
  executor_.RunUntilIdle();

  EXPECT_TRUE(group.Cancel(waits));
  executor_.RunUntilIdle();

  auto cancelled = executor_.Run(group.Next());
  ASSERT_TRUE(cancelled.has_value());
  EXPECT_EQ(cancelled->key, "waits");
  EXPECT_THAT(cancelled->value, StatusIs(absl::StatusCode::kCancelled));
  Open(0);
  EXPECT_EQ(executor_.Run(group.Join())->size(), 2u);
}

TEST_F(TaskGroupTest, OnlyATaskOfTheGroupThatRunsCanBeCancelled) {
  TaskGroup<int> group(Options());
  TaskGroup<int> other(Options());
  const TaskId ended = group.Spawn(Ready(1));
  executor_.RunUntilIdle();
  const TaskId runs = group.Spawn(After(0, 2));

  EXPECT_FALSE(group.Cancel(ended));
  EXPECT_FALSE(group.Cancel(TaskId()));
  EXPECT_FALSE(other.Cancel(runs));
  EXPECT_TRUE(group.Cancel(runs));
  EXPECT_FALSE(group.Cancel(runs));
  group.CancelAll();
  EXPECT_FALSE(group.Spawn(Ready(3)));  // that of no task
  executor_.RunUntilIdle();

  EXPECT_EQ(group.size(), 3u);
  EXPECT_FALSE(group.Cancel(runs));
}

// It is told to stop, and fails first.
TEST_F(TaskGroupTest, ATaskThatFailsAlthoughItIsCancelledHasFailed) {
  TaskGroup<absl::StatusOr<int>> group(Options());
  TaskId id;
  id = group.Spawn([&]() -> Task<absl::StatusOr<int>> {
    EXPECT_TRUE(group.Cancel(id));
    co_return absl::NotFoundError("failed");
  });

  executor_.RunUntilIdle();

  EXPECT_TRUE(group.IsCancelled());
  EXPECT_THAT(executor_.Run(group.Join()).status(),
              StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(TaskGroupTest, ShutdownWaitsUntilTheTasksAreGone) {
  LiveCounter counter;
  TaskGroup<> group(Options());
  for (int i = 0; i < 3; ++i) {
    group.Spawn([object = counter.Make()]() -> Task<> { co_await Pending(); });
  }
  executor_.RunUntilIdle();
  auto shutdown = group.Shutdown();
  EXPECT_FALSE(group.IsCancelled());
  EXPECT_TRUE(shutdown.Poll(cx_).IsPending());
  EXPECT_TRUE(group.IsCancelled());

  while (executor_.RunOne()) {
    EXPECT_EQ(waker_.wakes() != 0, counter.live() == 0);
  }

  EXPECT_TRUE(shutdown.Poll(cx_).IsReady());
  EXPECT_EQ(group.size(), 0u);
}

TEST_F(TaskGroupTest, DroppingItCancels) {
  LiveCounter counter;
  {
    TaskGroup<> group(Options());
    group.Spawn([object = counter.Make()]() -> Task<> { co_await Pending(); });
    executor_.RunUntilIdle();
    EXPECT_EQ(counter.live(), 1);
  }

  executor_.RunUntilIdle();

  EXPECT_EQ(counter.live(), 0);
  EXPECT_EQ(executor_.live(), 0u);
}

TEST_F(TaskGroupTest, MovesWhileItsTasksRun) {
  TaskGroup<int> first(Options());
  first.Spawn(After(0, 1));
  TaskGroup<int> group = std::move(first);
  auto next = group.Next();
  EXPECT_TRUE(next.Poll(cx_).IsPending());
  TaskGroup<int> other(Options());

  other = std::move(group);
  Open(0);

  EXPECT_THAT(**next.Poll(cx_), IsOkAndHolds(1));
}

TEST_F(TaskGroupTest, AGroupThatWasMovedFromDies) {
  TaskGroup<int> group(Options());
  TaskGroup<int> other = std::move(group);

  EXPECT_DEATH(group.Spawn(Ready(1)), "was moved from");
  EXPECT_DEATH(group.CancelAll(), "was moved from");
  group = std::move(other);
  EXPECT_EQ(group.size(), 0u);
}

TEST_F(TaskGroupTest, FuturesMayOutliveIt) {
  std::optional<TaskGroup<int>> group(std::in_place, Options({.limit = 1}));
  group->Spawn(After(0, 1));
  executor_.RunUntilIdle();
  auto next = group->Next();
  auto join = group->Join();
  auto room = group->SpawnWhenRoom(After(0, 2));
  EXPECT_TRUE(next.Poll(cx_).IsPending());
  EXPECT_TRUE(join.Poll(cx_).IsPending());
  EXPECT_TRUE(room.Poll(cx_).IsPending());

  group.reset();
  executor_.RunUntilIdle();

  EXPECT_TRUE(absl::IsCancelled((*next.Poll(cx_))->status()));
  EXPECT_TRUE(absl::IsCancelled(join.Poll(cx_)->status()));
  EXPECT_TRUE(absl::IsCancelled(*room.Poll(cx_)));
}

TEST_F(TaskGroupTest, DetachedTasksRunOn) {
  LiveCounter counter;
  int ended = 0;
  TaskGroup<int> group(Options());
  for (int i = 0; i < 3; ++i) {
    group.Spawn([this, &ended, i, object = counter.Make()]() -> Task<int> {
      co_await gates_[i].Wait();
      ++ended;
      co_return i;
    });
  }
  Open(0);
  auto join = group.Join();
  EXPECT_TRUE(join.Poll(cx_).IsPending());

  group.DetachAll();
  EXPECT_EQ(group.size(), 0u);
  EXPECT_THAT(*join.Poll(cx_), IsOkAndHolds(ElementsAre()));
  group.CancelAll();
  Open(1);
  Open(2);

  EXPECT_EQ(ended, 3);
  EXPECT_EQ(counter.live(), 0);
}

TEST_F(TaskGroupTest, DetachedTasksThatWaitForTheirTurnRunOn) {
  LiveCounter counter;
  std::vector<int> started;
  {
    TaskGroup<int> group(Options({.limit = 1}));
    for (int i = 0; i < 4; ++i) {
      group.Spawn([this, &started, i, object = counter.Make()]() -> Task<int> {
        started.push_back(i);
        co_await gates_[i].Wait();
        co_return i;
      });
    }
    executor_.RunUntilIdle();
    group.DetachAll();
    Open(0);
    EXPECT_THAT(started, ElementsAre(0, 1));
  }
  executor_.RunUntilIdle();

  EXPECT_THAT(started, ElementsAre(0, 1, 2, 3));
  for (size_t i = 1; i < 4; ++i) Open(i);
  EXPECT_EQ(counter.live(), 0);
}

TEST_F(TaskGroupTest, TasksOfAnExecutorThatEndsAreCancelled) {
  LiveCounter counter;
  std::optional<ManualExecutor> executor(std::in_place);
  TaskGroup<> group({.spawner = &executor->spawner()});
  group.Spawn([object = counter.Make()]() -> Task<> { co_await Pending(); });
  executor->RunUntilIdle();
  group.Spawn([object = counter.Make()]() -> Task<> { co_return; });

  executor.reset();

  EXPECT_EQ(counter.live(), 0);
  auto join = group.Join();
  EXPECT_TRUE(absl::IsCancelled(*Now(join)));
}

// Does something in the middle of Spawn().
class HookedSpawner final : public Spawner {
 public:
  explicit HookedSpawner(std::function<void()> hook, bool runs_at_once)
      : hook_(std::move(hook)), runs_at_once_(runs_at_once) {}

  void RunAll() {
    while (!queue_.empty()) {
      auto runnable = std::move(queue_.front());
      queue_.pop_front();
      std::move(runnable).Run();
    }
  }

 private:
  void Schedule(Runnable<SpawnedTask> runnable, ScheduleInfo) override {
    if (runs_at_once_) {
      std::move(runnable).Run();
    } else {
      queue_.push_back(std::move(runnable));
    }
    if (hook_) std::exchange(hook_, nullptr)();
  }

  std::function<void()> hook_;
  const bool runs_at_once_;
  std::deque<Runnable<SpawnedTask>> queue_;
};

TEST_F(TaskGroupTest, ATaskMayEndBeforeSpawnReturns) {
  HookedSpawner spawner(nullptr, /*runs_at_once=*/true);
  TaskGroup<int> group({.spawner = &spawner});
  auto next = group.Next();
  for (int i = 0; i < 3; ++i) group.Spawn(Ready(i));

  EXPECT_EQ(group.running(), 0u);
  EXPECT_THAT(**next.Poll(cx_), IsOkAndHolds(0));
  auto join = group.Join();
  EXPECT_THAT(*Now(join), IsOkAndHolds(ElementsAre(1, 2)));
}

TEST_F(TaskGroupTest, ATaskThatRunsAtOnceMayDestroyTheGroup) {
  LiveCounter counter;
  HookedSpawner spawner(nullptr, /*runs_at_once=*/true);
  auto group =
      std::make_unique<TaskGroup<>>(TaskGroupOptions{.spawner = &spawner});

  group->Spawn([&group, object = counter.Make()]() -> Task<> {
    group.reset();
    co_return;
  });

  EXPECT_EQ(group, nullptr);
  EXPECT_EQ(counter.live(), 0);
}

TEST_F(TaskGroupTest, CancellingWhileATaskIsSpawnedCancelsThatOneToo) {
  LiveCounter counter;
  TaskGroup<>* running = nullptr;
  HookedSpawner spawner([&] { running->CancelAll(); }, /*runs_at_once=*/false);
  TaskGroup<> group({.spawner = &spawner});
  running = &group;
  auto join = group.Join();

  // The event has its waker: it is not destroyed for being forgotten.
  group.Spawn([gate = &gates_[0], object = counter.Make()]() -> Task<> {
    co_await gate->Wait();
  });
  EXPECT_TRUE(join.Poll(cx_).IsPending());
  spawner.RunAll();

  EXPECT_EQ(counter.live(), 0);
  EXPECT_TRUE(absl::IsCancelled(*join.Poll(cx_)));
}

TEST_F(TaskGroupTest, DetachingWhileATaskIsSpawnedDetachesThatOneToo) {
  LiveCounter counter;
  TaskGroup<>* running = nullptr;
  HookedSpawner spawner([&] { running->DetachAll(); }, /*runs_at_once=*/false);
  TaskGroup<> group({.spawner = &spawner});
  running = &group;

  group.Spawn([object = counter.Make()]() -> Task<> { co_return; });
  group.CancelAll();
  EXPECT_EQ(group.size(), 0u);
  EXPECT_EQ(counter.live(), 1);
  spawner.RunAll();

  EXPECT_EQ(counter.live(), 0);
}

TEST_F(TaskGroupTest, TheSpawnerIsTheCurrentOneIfNoneIsNamed) {
  const auto body = []() -> Task<int> {
    TaskGroup<int> group;
    group.Spawn(Ready(1));
    group.Spawn(Ready(2));
    auto values = co_await group.Join();
    co_return values->at(0) + values->at(1);
  };

  EXPECT_EQ(executor_.Run(body()), 3);
}

TEST_F(TaskGroupTest, ItsTasksMaySpawnInIt) {
  TaskGroup<int> group(Options());
  group.Spawn([&group]() -> Task<int> {
    for (int i = 0; i < 3; ++i) group.Spawn(Ready(10 + i));
    co_return 1;
  });

  EXPECT_THAT(executor_.Run(group.Join()),
              IsOkAndHolds(ElementsAre(1, 10, 11, 12)));
}

// --- Waiting.

TEST_F(TaskGroupTest, ADroppedNextLosesNoResult) {
  TaskGroup<int> group(Options());
  group.Spawn(After(0, 1));
  {
    auto dropped = group.Next();
    EXPECT_TRUE(dropped.Poll(cx_).IsPending());
    Open(0);
    EXPECT_EQ(waker_.wakes(), 1);
  }

  EXPECT_EQ(waker_.outstanding(), 0);
  EXPECT_THAT(*executor_.Run(group.Next()), IsOkAndHolds(1));
}

TEST_F(TaskGroupTest, SeveralMayWaitForResults) {
  TaskGroup<int> group(Options());
  group.Spawn(After(0, 1));
  group.Spawn(After(1, 2));
  CountingWaker other;
  Context in_other(other.waker());
  auto first = group.Next();
  auto second = group.Next();
  auto third = group.Next();
  EXPECT_TRUE(first.Poll(cx_).IsPending());
  EXPECT_TRUE(second.Poll(in_other).IsPending());
  EXPECT_TRUE(third.Poll(in_other).IsPending());

  Open(0);
  EXPECT_THAT(**second.Poll(in_other), IsOkAndHolds(1));
  EXPECT_TRUE(first.Poll(cx_).IsPending());
  EXPECT_TRUE(third.Poll(in_other).IsPending());
  Open(1);

  EXPECT_THAT(**first.Poll(cx_), IsOkAndHolds(2));
  EXPECT_EQ(*third.Poll(in_other), std::nullopt);
}

TEST_F(TaskGroupTest, AWaitHandedToAnotherTaskWakesThatOne) {
  TaskGroup<int> group(Options());
  group.Spawn(After(0, 1));
  CountingWaker other;
  Context in_other(other.waker());
  auto next = group.Next();
  EXPECT_TRUE(next.Poll(cx_).IsPending());
  EXPECT_TRUE(next.Poll(in_other).IsPending());

  Open(0);

  EXPECT_EQ(waker_.wakes(), 0);
  EXPECT_EQ(other.wakes(), 1);
}

TEST_F(TaskGroupTest, ASpentBudgetTakesNothing) {
  TaskGroup<int> group(Options());
  group.Spawn(Ready(1));
  executor_.RunUntilIdle();
  Budget budget(0);
  Context cx(waker_.waker(), &budget);
  auto next = group.Next();

  EXPECT_TRUE(next.Poll(cx).IsPending());
  EXPECT_EQ(waker_.wakes(), 1);
  EXPECT_EQ(group.size(), 1u);
  budget = Budget(1);

  EXPECT_THAT(**next.Poll(cx), IsOkAndHolds(1));
  EXPECT_TRUE(budget.IsSpent());
}

TEST_F(TaskGroupTest, SurvivesADropAtEveryPoll) {
  LiveCounter counter;
  sync::Event event;
  const auto body = [](Spawner* spawner, sync::Event* event,
                       LiveCounter* counter) -> Task<> {
    TaskGroup<int> group({.limit = 1, .spawner = spawner});
    for (int i = 0; i < 3; ++i) {
      auto task = [event, i, object = counter->Make()]() -> Task<int> {
        co_await event->Wait();
        co_return i;
      };
      auto spawn = group.SpawnWhenRoom(std::move(task));
      EXPECT_THAT(co_await spawn, IsOk());
    }
    auto first = co_await group.NextInOrder();
    EXPECT_THAT(*first, IsOkAndHolds(0));
    auto next = co_await group.Next();
    EXPECT_THAT(*next, IsOkAndHolds(1));
    auto values = co_await group.Join();
    EXPECT_THAT(values, IsOkAndHolds(ElementsAre(2)));
    auto forever = [object = counter->Make()]() -> Task<int> {
      co_await Pending();
      co_return 0;
    };
    group.Spawn(std::move(forever));
    co_await group.Shutdown();
    EXPECT_EQ(counter->live(), 0);
  };

  EXPECT_THAT(DropAtEveryPoll(
                  [&] { return body(&executor_.spawner(), &event, &counter); },
                  {.step =
                       [&] {
                         executor_.RunUntilIdle();
                         event.Notify(1);
                         executor_.RunUntilIdle();
                         return true;
                       },
                   .settle = [&] { executor_.RunUntilIdle(); },
                   .live = [&] { return counter.live(); }}),
              IsOkAndHolds(testing::Gt(3u)));
  EXPECT_EQ(executor_.live(), 0u);
}

// --- Memory.

TEST_F(TaskGroupTest, OfATaskThatHasEndedOnlyItsResultStays) {
  if (!CountsAllocations()) GTEST_SKIP() << "a sanitizer allocates";
  LiveCounter counter;
  TaskGroup<int> group(Options());
  constexpr int kTasks = 1'000;
  const int64_t before = LiveAllocations();
  for (int i = 0; i < kTasks; ++i) {
    group.Spawn([i, object = counter.Make()]() -> Task<int> {
      co_await YieldNow();
      co_return i;
    });
  }

  executor_.RunUntilIdle();
  EXPECT_EQ(counter.live(), 0);
  EXPECT_EQ(executor_.live(), 0u);
  EXPECT_LE(LiveAllocations() - before, kTasks + 50);
  EXPECT_THAT(executor_.Run(group.Join()), IsOkAndHolds(testing::SizeIs(1000)));

  EXPECT_LE(LiveAllocations() - before, 50);
}

}  // namespace
}  // namespace weft
