// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// weft-lint: allow-file(R22): the tests' tasks end before what they refer to.

#include "weft/task/current_task.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "weft/task/block_on.h"
#include "weft/task/check.h"
#include "weft/task/context.h"
#include "weft/task/environment.h"
#include "weft/task/invoke.h"
#include "weft/task/join_handle.h"
#include "weft/task/manual_executor.h"
#include "weft/task/offload.h"
#include "weft/task/polled.h"
#include "weft/task/ready.h"
#include "weft/task/runnable.h"
#include "weft/task/spawn_builder.h"
#include "weft/task/task.h"
#include "weft/task/task_id.h"
#include "weft/task/yield_now.h"
#include "weft/tests/kit/thread_offload.h"

namespace weft {
namespace {

struct Seen {
  TaskId id;
  std::string name;
};

Seen Now() { return {CurrentTaskId(), std::string(CurrentTaskName())}; }

// Notes where it is destroyed.
class NotesItsEnd {
 public:
  explicit NotesItsEnd(Seen* seen) : seen_(seen) {}
  NotesItsEnd(NotesItsEnd&& other) noexcept
      : seen_(std::exchange(other.seen_, nullptr)) {}
  ~NotesItsEnd() {
    if (seen_ != nullptr) *seen_ = Now();
  }

 private:
  Seen* seen_;
};

TEST(CurrentTaskTest, OutsideThereIsNone) {
  EXPECT_EQ(CurrentTaskId(), TaskId());
  EXPECT_EQ(CurrentTaskName(), "");
  // What a thread drives without a task is none.
  auto ask = []() -> Task<TaskId> { co_return CurrentTaskId(); };
  EXPECT_EQ(BlockOn(ask()), TaskId());
}

TEST(CurrentTaskTest, IsTheOneThatIsPolled) {
  ManualExecutor executor;
  std::vector<Seen> seen;
  auto look = [&]() -> Task<> {
    seen.push_back(Now());
    co_await YieldNow();
    seen.push_back(Now());
  };
  const JoinHandle<> a =
      SpawnBuilder().Name("a").On(executor.spawner()).Spawn(look);
  const JoinHandle<> b = executor.Spawn(look);

  executor.RunUntilIdle();

  ASSERT_EQ(seen.size(), 4u);
  for (int i : {0, 2}) {
    EXPECT_EQ(seen[i].id, a.id());
    EXPECT_EQ(seen[i].name, "a");
    EXPECT_EQ(seen[i + 1].id, b.id());
    EXPECT_EQ(seen[i + 1].name, "");
  }
  EXPECT_EQ(CurrentTaskId(), TaskId());
}

TEST(CurrentTaskTest, IsTheOneWhoseFutureIsDestroyed) {
  ManualExecutor executor;
  Seen finished;
  Seen cancelled;
  Seen dropped;
  auto end = [](NotesItsEnd, bool wait) -> Task<> {
    if (wait) co_await Pending();
  };
  const JoinHandle<> finishes =
      executor.Spawn(end(NotesItsEnd(&finished), false));
  std::optional<JoinHandle<>> cancels =
      executor.Spawn(end(NotesItsEnd(&cancelled), true));
  const TaskId cancels_id = cancels->id();
  executor.RunUntilIdle();
  EXPECT_EQ(finished.id, finishes.id());

  cancels.reset();
  EXPECT_EQ(cancelled.id, TaskId());
  executor.RunUntilIdle();
  EXPECT_EQ(cancelled.id, cancels_id);

  // One that never ran, with its Runnable.
  TaskId dropped_id;
  {
    const auto spawned =
        SpawnOn(end(NotesItsEnd(&dropped), true), [](Runnable<>) {});
    dropped_id = spawned.handle.id();
    EXPECT_EQ(spawned.runnable.id(), dropped_id);
  }
  EXPECT_EQ(dropped.id, dropped_id);
  EXPECT_EQ(CurrentTaskId(), TaskId());
}

// A task that runs an executor, or destroys one with a task in it.
TEST(CurrentTaskTest, NestedRunsPutBackWhatWasThere) {
  ManualExecutor outer;
  std::vector<TaskId> inner_ids;
  std::vector<TaskId> outer_ids;
  Seen destroyed;
  TaskId destroyed_id;
  auto nest = [&]() -> Task<> {
    outer_ids.push_back(CurrentTaskId());
    {
      ManualExecutor inner;
      auto look = [&]() -> Task<TaskId> { co_return CurrentTaskId(); };
      JoinHandle<TaskId> handle = inner.Spawn(look);
      inner_ids.push_back(handle.id());
      inner_ids.push_back(inner.Run(std::move(handle)));
      outer_ids.push_back(CurrentTaskId());

      auto hold = [](NotesItsEnd) -> Task<> { co_await Pending(); };
      JoinHandle<> held = inner.Spawn(hold(NotesItsEnd(&destroyed)));
      destroyed_id = held.id();
      std::move(held).Detach();
    }
    outer_ids.push_back(CurrentTaskId());
    co_return;
  };
  JoinHandle<> handle = outer.Spawn(nest);
  const TaskId id = handle.id();
  outer.Run(std::move(handle));

  EXPECT_EQ(outer_ids, std::vector<TaskId>({id, id, id}));
  EXPECT_EQ(inner_ids[0], inner_ids[1]);
  EXPECT_EQ(destroyed.id, destroyed_id);
}

TEST(CurrentTaskTest, ABlockingJobIsATaskAlsoInsideBlockOn) {
  ThreadOffload offload;
  Environment environment;
  environment.offload = &offload;
  const EnvironmentScope scope(environment);
  std::vector<Seen> seen;
  JoinHandle<> job = SpawnBuilder().Name("job").SpawnBlocking([&] {
    seen.push_back(Now());
    BlockOn(Invoke([&]() -> Task<> {
      co_await YieldNow();
      seen.push_back(Now());
    }));
    seen.push_back(Now());
  });
  const TaskId id = job.id();
  BlockOn(job);
  offload.Join();

  ASSERT_EQ(seen.size(), 3u);
  for (const Seen& each : seen) {
    EXPECT_EQ(each.id, id);
    EXPECT_EQ(each.name, "job");
  }
}

// From the moment a task is handed to the schedule function it may be running,
// or be gone, elsewhere.
TEST(CurrentTaskTest, TheScheduleFunctionDoesNotSeeTheTaskItIsGiven) {
  std::vector<TaskId> seen;
  auto yield = []() -> Task<> { co_await YieldNow(); };
  auto [runnable, handle] = SpawnOn(yield(), [&](Runnable<> r) {
    seen.push_back(CurrentTaskId());
    std::move(r).Run();  // the cell may be freed here
  });
  std::move(handle).Detach();
  std::move(runnable).Run();

  EXPECT_EQ(seen, std::vector<TaskId>({TaskId()}));
}

TEST(CurrentTaskDeathTest, AFailedCheckTellsTheTask) {
  ManualExecutor executor;
  auto fail = []() -> Task<> {
    const bool fine = false;
    WEFT_CHECK(fine, "be fine");
    co_return;
  };
  const JoinHandle<> handle =
      SpawnBuilder().Name("reader").On(executor.spawner()).Spawn(fail());

  EXPECT_DEATH(executor.RunUntilIdle(),
               "be fine \\(fine\\) in task [0-9]+ \"reader\"");
}

}  // namespace
}  // namespace weft
