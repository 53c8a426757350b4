// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// weft-lint: allow-file(R22): the tests' tasks end before what they refer to.
// weft-lint: allow-file(R4): groups keep the lambdas that they are given.

// Groups and trackers under many interleavings of one thread.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "weft/executor/deterministic_executor.h"
#include "weft/select/cancellation_token.h"
#include "weft/select/race.h"
#include "weft/select/scope.h"
#include "weft/select/task_group.h"
#include "weft/select/task_tracker.h"
#include "weft/sync/event.h"
#include "weft/task/invoke.h"
#include "weft/task/join_handle.h"
#include "weft/task/live_counter.h"
#include "weft/task/random.h"
#include "weft/task/ready.h"
#include "weft/task/spawner.h"
#include "weft/task/task.h"
#include "weft/task/task_id.h"
#include "weft/task/yield_now.h"
#include "weft/tests/kit/explore_schedules.h"
#include "weft/timer/deadline_token.h"
#include "weft/timer/sleep.h"

namespace weft {
namespace {

using Scenario = absl::FunctionRef<absl::Status(DeterministicExecutor&)>;

void ExpectHolds(Scenario scenario) {
  const uint64_t seeds = std::getenv("WEFT_LONG") != nullptr ? 10'000 : 1'000;
  EXPECT_GT(ExploreSchedules(seeds, scenario), seeds / 4);
}

Task<int> WorkFor(uint32_t yields, int value, LiveCounter::Object object) {
  for (uint32_t i = 0; i < yields; ++i) co_await YieldNow();
  static_cast<void>(object);
  co_return value;
}

// Tasks of random lengths in a group with a limit; results are taken by Next()s
// of which some are dropped while they wait.
Task<absl::Status> TakeAllResults(LiveCounter* counter, Random* random) {
  TaskGroup<int> group({.limit = 1 + random->Below(3)});
  constexpr int kTasks = 6;
  for (int i = 0; i < kTasks; ++i) {
    group.Spawn(WorkFor(random->Below(4), 1 << i, counter->Make()));
  }
  int sum = 0;
  for (;;) {
    auto raced =
        Race(Biased(), group.Next(),
             [](uint32_t yields) -> Task<std::optional<absl::StatusOr<int>>> {
               for (uint32_t i = 0; i <= yields; ++i) {
                 co_await YieldNow();
               }
               co_return absl::UnknownError("gave up waiting");
             }(random->Below(3)));
    auto result = co_await raced;
    if (!result.has_value()) break;
    if (result->ok()) {
      sum += **result;
    } else if (!absl::IsUnknown(result->status())) {
      co_return result->status();
    }
  }
  if (sum != (1 << kTasks) - 1) co_return absl::DataLossError("a result");
  if (counter->live() != 0) co_return absl::DataLossError("a future");
  co_return absl::OkStatus();
}

TEST(TaskGroupExploreTest, EachResultIsTakenOnce) {
  ExpectHolds([](DeterministicExecutor& executor) {
    LiveCounter counter;
    return executor.Run(TakeAllResults(&counter, &executor.random()));
  });
}

// One task after the other is cancelled at some moment; the rest is untouched.
Task<absl::Status> CancelSomeTasks(LiveCounter* counter, Random* random) {
  TaskGroup<int> group({.limit = random->Below(3)});
  constexpr size_t kTasks = 6;
  std::array<TaskId, kTasks> ids;
  for (size_t i = 0; i < kTasks; ++i) {
    ids[i] = group.Spawn(
        WorkFor(random->Below(6), static_cast<int>(i), counter->Make()));
  }
  std::set<TaskId> cancelled;
  for (int i = 0; i < 3; ++i) {
    co_await YieldNow();
    const TaskId id = ids[random->Below(kTasks)];
    if (group.Cancel(id)) cancelled.insert(id);
  }
  auto results = co_await group.Collect();
  if (results.size() != kTasks) co_return absl::DataLossError("a result");
  for (size_t i = 0; i < kTasks; ++i) {
    if (!results[i].has_value() && !cancelled.contains(ids[i])) {
      co_return absl::InternalError("cancelled by nobody");
    }
  }
  if (group.IsCancelled()) co_return absl::InternalError("the rest, too");
  if (counter->live() != 0) co_return absl::DataLossError("a future");
  co_return absl::OkStatus();
}

TEST(TaskGroupExploreTest, CancellingOneTaskTouchesNoOther) {
  ExpectHolds([](DeterministicExecutor& executor) {
    LiveCounter counter;
    return executor.Run(CancelSomeTasks(&counter, &executor.random()));
  });
}

// A producer waits for room, while a canceller cancels at some moment.
Task<absl::Status> CancelAtSomeMoment(LiveCounter* counter, Random* random) {
  TaskGroup<int> group({.limit = 2});
  JoinHandle<> canceller =
      SpawnBorrowing([](TaskGroup<int>* group, uint32_t yields) -> Task<> {
        for (uint32_t i = 0; i < yields; ++i) co_await YieldNow();
        group->CancelAll();
      }(&group, random->Below(12)));
  int spawned = 0;
  for (int i = 0; i < 8; ++i) {
    auto spawn =
        group.SpawnWhenRoom(WorkFor(random->Below(4), i, counter->Make()));
    absl::Status status = co_await spawn;
    if (!status.ok()) break;
    ++spawned;
  }
  auto results = co_await group.Collect();
  if (static_cast<int>(results.size()) != spawned) {
    co_return absl::DataLossError("a result");
  }
  for (int i = 0; i < spawned; ++i) {
    if (results[i].has_value() && results[i].value() != i) {
      co_return absl::InternalError("a wrong value");
    }
    if (!results[i].has_value() && !group.IsCancelled()) {
      co_return absl::InternalError("cancelled by nobody");
    }
  }
  if (counter->live() != 0) co_return absl::DataLossError("a future");
  co_await canceller;
  co_return absl::OkStatus();
}

TEST(TaskGroupExploreTest, CancellingLeavesNothingBehind) {
  ExpectHolds([](DeterministicExecutor& executor) {
    LiveCounter counter;
    return executor.Run(CancelAtSomeMoment(&counter, &executor.random()));
  });
}

// Some tasks fail, at some moment: one of these errors is the join's.
Task<absl::Status> FailSomewhere(LiveCounter* counter, Random* random) {
  TaskGroup<absl::Status> group;
  int failing = 0;
  for (int i = 0; i < 5; ++i) {
    const bool fails = random->Below(4) == 0;
    failing += fails;
    group.Spawn([](uint32_t yields, bool fails,
                   LiveCounter::Object) -> Task<absl::Status> {
      for (uint32_t i = 0; i < yields; ++i) co_await YieldNow();
      if (fails) co_return absl::DataLossError("on purpose");
      if (yields == 5) co_await Pending();
      co_return absl::OkStatus();
    }(random->Below(failing != 0 ? 6 : 5), fails, counter->Make()));
  }
  const absl::Status status = co_await group.Join();
  if (absl::IsDataLoss(status) != (failing != 0)) {
    co_return absl::InternalError(absl::StrCat(failing, " failed; joined ",
                                               std::string(status.message())));
  }
  if (counter->live() != 0) co_return absl::DataLossError("a future");
  co_return absl::OkStatus();
}

TEST(TaskGroupExploreTest, AnErrorEndsTheGroup) {
  ExpectHolds([](DeterministicExecutor& executor) {
    LiveCounter counter;
    return executor.Run(FailSomewhere(&counter, &executor.random()));
  });
}

// Tracked tasks that spawn tracked tasks, some of them cancelled, and a wait that
// is closed at some moment.
Task<absl::Status> WaitForTracked(LiveCounter* counter, Random* random) {
  TaskTracker tracker;
  for (int i = 0; i < 4; ++i) {
    auto task = [](TaskTracker tracker, uint32_t yields,
                   LiveCounter::Object object) -> Task<> {
      for (uint32_t i = 0; i < yields; ++i) co_await YieldNow();
      tracker.Spawn(WorkFor(yields, 0, std::move(object))).Detach();
    }(tracker, random->Below(3), counter->Make());
    JoinHandle<> handle = tracker.Spawn(std::move(task));
    if (random->Below(3) != 0) std::move(handle).Detach();
  }
  JoinHandle<> closer =
      Spawn([](TaskTracker tracker, uint32_t yields) -> Task<> {
        for (uint32_t i = 0; i < yields; ++i) co_await YieldNow();
        tracker.Close();
      }(tracker, random->Below(8)));
  co_await tracker.Wait();
  if (tracker.size() != 0) co_return absl::InternalError("too early");
  if (counter->live() != 0) co_return absl::DataLossError("a future");
  co_await closer;
  co_return absl::OkStatus();
}

TEST(TaskTrackerExploreTest, AWaitEndsAfterAllTasks) {
  ExpectHolds([](DeterministicExecutor& executor) {
    LiveCounter counter;
    return executor.Run(WaitForTracked(&counter, &executor.random()));
  });
}

// Children that wait for each other and for tasks outside, in a scope that may be
// dropped at some moment.
Task<absl::Status> RunScope(LiveCounter* counter, Random* random) {
  std::array<sync::Event, 4> events;
  TaskGroup<> setters;
  for (sync::Event& event : events) {
    setters.Spawn(Invoke(
        [](sync::Event* event, uint32_t yields) -> Task<> {
          for (uint32_t i = 0; i < yields; ++i) co_await YieldNow();
          event->Set();
        },
        &event, random->Below(4)));
  }
  int ended = 0;
  const bool dropped = random->Below(3) == 0;
  {
    auto scope = InScope([&](Scope& scope) -> Task<int> {
      auto first = scope.Start(WorkFor(random->Below(4), 1, counter->Make()));
      for (sync::Event& event : events) {
        auto wait = [&, yields = random->Below(3),
                     object = counter->Make()]() -> Task<> {
          co_await event.Wait();
          for (uint32_t i = 0; i < yields; ++i) {
            auto child = scope.Start(WorkFor(i, 1, object));
            ended += co_await child;
          }
          ++ended;
        };
        scope.Start(std::move(wait));
      }
      const int value = co_await first;
      co_return value;
    });
    if (dropped) {
      auto race =
          Race(std::move(scope), WorkFor(random->Below(5), 2, counter->Make()));
      co_await race;
    } else {
      const int value = co_await scope;
      if (value != 1) co_return absl::InternalError("a wrong value");
    }
  }
  if (!dropped && ended < 4) co_return absl::DataLossError("a child");
  if (counter->live() != 0) co_return absl::DataLossError("a future");
  co_return co_await setters.Join();
}

TEST(ScopeExploreTest, ChildrenEndOrAreDropped) {
  ExpectHolds([](DeterministicExecutor& executor) {
    LiveCounter counter;
    return executor.Run(RunScope(&counter, &executor.random()));
  });
}

// A tree of tokens with deadlines: each task stops for a reason that its token
// had, at the moment it had it.
Task<absl::Status> StopForAReason(Random* random) {
  CancellationSource root;
  TaskGroup<absl::Status> group;
  for (int i = 0; i < 5; ++i) {
    group.Spawn([](CancellationToken parent,
                   absl::Duration limit) -> Task<absl::Status> {
      const timer::DeadlineToken deadline = timer::CancelAfter(limit, parent);
      const CancellationToken token = deadline.token();
      auto slept =
          co_await token.RunUntilCancelled(timer::After(absl::Milliseconds(5)));
      if (slept.has_value()) co_return absl::OkStatus();
      const absl::Status reason = token.reason();
      if (absl::IsDeadlineExceeded(reason) || absl::IsAborted(reason)) {
        co_return absl::OkStatus();
      }
      co_return absl::InternalError("no reason");
    }(root.token(), absl::Milliseconds(1 + random->Below(8))));
  }
  co_await timer::After(absl::Milliseconds(random->Below(6)));
  root.Cancel(absl::AbortedError("enough"));
  co_return co_await group.Join();
}

TEST(CancellationExploreTest, TasksStopForAReason) {
  ExpectHolds([](DeterministicExecutor& executor) {
    return executor.Run(StopForAReason(&executor.random()));
  });
}

}  // namespace
}  // namespace weft
