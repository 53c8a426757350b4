// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// weft-lint: allow-file(R22): the tests' tasks end before what they refer to.

#include "weft/executor/task_dump.h"

#include <atomic>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "weft/executor/block_in_place.h"
#include "weft/executor/concurrency_limit.h"
#include "weft/executor/executor.h"
#include "weft/executor/executor_hooks.h"
#include "weft/executor/local_dumps.h"
#include "weft/executor/local_executor.h"
#include "weft/executor/priority_executor.h"
#include "weft/executor/strand.h"
#include "weft/task/await_trace.h"
#include "weft/task/block_on.h"
#include "weft/task/context.h"
#include "weft/task/instant.h"
#include "weft/task/join_handle.h"
#include "weft/task/polled.h"
#include "weft/task/ready.h"
#include "weft/task/spawn_builder.h"
#include "weft/task/spawner.h"
#include "weft/task/task.h"
#include "weft/task/task_cell.h"
#include "weft/task/task_id.h"
#include "weft/task/task_info.h"
#include "weft/task/waker.h"
#include "weft/task/yield_now.h"
#include "weft/tests/executor/runners.h"

namespace weft {
namespace {

using executor_testing::Gate;
using executor_testing::RoundsOrLong;
using executor_testing::Runners;
using executor_testing::SpinUntil;
using State = TaskInfo::State;

constexpr absl::Duration kLong = absl::Seconds(100);

void TickAll(Executor& executor) {
  while (executor.TryTick()) {
  }
}

Task<> Inner(Gate& gate) { co_await gate.Wait(); }
Task<> Outer(Gate& gate) { co_await Inner(gate); }

// A pending leaf that has kept no waker.
Task<> Forgets() { co_await Pending(); }

TEST(TaskDumpTest, ShowsWhereATaskWaits) {
  Executor executor;
  Gate gate;
  const int line = __LINE__ + 2;
  JoinHandle<> task = SpawnBuilder()
                          .On(executor.spawner())
                          .Name("reader")
                          .SpawnBorrowing(Outer(gate));
  TickAll(executor);

  const TaskDump dump = executor.Dump();
  ASSERT_EQ(dump.tasks.size(), 1u);
  const TaskInfo& info = dump.tasks[0];
  EXPECT_EQ(info.id, task.id());
  EXPECT_EQ(info.name, "reader");
  EXPECT_EQ(info.state, State::kWaiting);
  EXPECT_NEAR(static_cast<int>(info.spawned_at.line()), line, 1);
  ASSERT_EQ(info.awaits.size(), 3u);
  EXPECT_EQ(ShortFunctionName(info.awaits[0].at.function_name()), "Outer");
  EXPECT_EQ(ShortFunctionName(info.awaits[1].at.function_name()), "Inner");
  EXPECT_EQ(dump.silent_runners, std::vector<int>());

  // It goes on as if nobody had looked.
  EXPECT_FALSE(executor.TryTick());
  gate.Open();
  TickAll(executor);
  EXPECT_TRUE(task.IsFinished());
}

TEST(TaskDumpTest, SaysThatNobodyHasTheWaker) {
  Executor executor;
  JoinHandle<> forgotten = executor.Spawn(Forgets());
  TickAll(executor);
  const TaskDump dump = executor.Dump();
  ASSERT_EQ(dump.tasks.size(), 1u);
  EXPECT_EQ(dump.tasks[0].state, State::kForgotten);
  EXPECT_NE(dump.ToString().find("it will never run"), std::string::npos);
}

// Its waker was kept, then dropped.
TEST(TaskDumpTest, SaysThatTheWakerWasDropped) {
  Executor executor;
  Waker kept;
  JoinHandle<> task = executor.SpawnBorrowing(PollFn([&](Context& cx) {
    kept = cx.waker();
    return Polled<void>(kPending);
  }));
  TickAll(executor);
  EXPECT_EQ(executor.Dump().tasks.at(0).state, State::kWaiting);
  kept = Waker();
  EXPECT_EQ(executor.Dump().tasks.at(0).state, State::kForgotten);
}

TEST(TaskDumpTest, ATaskInAQueueIsScheduled) {
  Executor executor;
  JoinHandle<> task = executor.Spawn([]() -> Task<> {
    for (;;) co_await YieldNow();
  });
  EXPECT_EQ(executor.Dump().tasks.size(), 0u);
  EXPECT_EQ(executor.Dump().queued, 1u);
  EXPECT_TRUE(executor.TryTick());
  const TaskDump dump = executor.Dump();
  EXPECT_EQ(dump.tasks.at(0).state, State::kScheduled);
  EXPECT_EQ(dump.queued, 1u);
}

TEST(TaskDumpTest, ATaskMayAsk) {
  Executor executor;
  Runners runners(executor, 2);
  const TaskDump dump = BlockOn(executor.Spawn([&]() -> Task<TaskDump> {
    co_await YieldNow();
    co_return executor.Dump(kLong);
  }));
  ASSERT_EQ(dump.tasks.size(), 1u);
  EXPECT_EQ(dump.tasks[0].state, State::kRunning);
  ASSERT_EQ(dump.tasks[0].awaits.size(), 1u);
  EXPECT_TRUE(dump.tasks[0].awaits[0].runs);
}

TEST(TaskDumpTest, WakesThoseWhoSleepToAnswer) {
  Executor executor;
  Runners runners(executor, 4);
  Gate gate;
  std::vector<JoinHandle<>> tasks;
  for (int i = 0; i < 100; ++i) {
    tasks.push_back(executor.SpawnBorrowing(Outer(gate)));
  }
  SpinUntil([&] { return executor.Stats().suspended == 100; });
  SpinUntil([&] { return executor.Stats().parked == 4; });
  const TaskDump dump = executor.Dump(kLong);
  EXPECT_EQ(dump.tasks.size(), 100u);
  for (const TaskInfo& info : dump.tasks) {
    EXPECT_EQ(info.state, State::kWaiting);
  }
  gate.Open();
  for (JoinHandle<>& task : tasks) BlockOn(task);
}

TEST(TaskDumpTest, NamesARunnerThatDoesNotAnswer) {
  Executor executor;
  Runners runners(executor, 1);
  std::atomic<bool> runs{false};
  std::atomic<bool> go_on{false};
  JoinHandle<> task = executor.SpawnBorrowing([&]() -> Task<> {
    runs.store(true);
    SpinUntil([&] { return go_on.load(); });
    co_return;
  });
  SpinUntil([&] { return runs.load(); });
  const TaskDump dump = executor.Dump(absl::Milliseconds(1));
  EXPECT_EQ(dump.silent_runners, std::vector<int>({0}));
  EXPECT_NE(dump.ToString().find("no answer from runners 0"),
            std::string::npos);
  go_on.store(true);
  BlockOn(task);
}

// The executor below has tasks that run these, and shows nothing of them.
TEST(TaskDumpTest, OfWhatRunsOnAnExecutor) {
  Executor executor;
  Gate gate;
  const Strand strand(executor.spawner());
  const PriorityExecutor levels(executor.spawner());
  const ConcurrencyLimit limit(executor.spawner(), 1);
  std::vector<JoinHandle<>> tasks;
  tasks.push_back(strand.SpawnBorrowing(Outer(gate)));
  tasks.push_back(levels.SpawnBorrowing(0, Outer(gate)));
  tasks.push_back(limit.SpawnBorrowing(Outer(gate)));
  tasks.push_back(limit.SpawnBorrowing(Outer(gate)));
  TickAll(executor);
  const TaskDump dumps[] = {strand.Dump(), levels.Dump(), limit.Dump()};
  for (size_t i = 0; i < std::size(dumps); ++i) {
    ASSERT_EQ(dumps[i].tasks.size(), 1u);
    EXPECT_EQ(dumps[i].tasks[0].id, tasks[i].id());
    EXPECT_EQ(dumps[i].tasks[0].state, State::kWaiting);
    EXPECT_EQ(dumps[i].tasks[0].awaits.size(), 3u);
  }
  EXPECT_EQ(limit.Dump().queued, 1u);
  EXPECT_EQ(executor.Dump().tasks.size(), 3u);
  gate.Open();
  TickAll(executor);
  for (const JoinHandle<>& task : tasks) EXPECT_TRUE(task.IsFinished());
  EXPECT_EQ(strand.Dump().tasks.size(), 0u);
}

// The last reference is the dump's.
TEST(TaskDumpTest, MayEndAForgottenTaskOfWhatRunsOnAnExecutor) {
  Executor executor;
  Runners runners(executor, 2);
  const Strand strand(executor.spawner());
  const ConcurrencyLimit limit(executor.spawner(), 2);
  std::atomic<bool> stop{false};
  std::thread asks([&] {
    while (!stop.load()) {
      static_cast<void>(strand.Dump());
      static_cast<void>(limit.Dump());
    }
  });
  for (int i = 0; i < RoundsOrLong(300, 10'000); ++i) {
    Gate gate;
    strand.Spawn(Forgets()).Detach();
    limit.Spawn(Forgets()).Detach();
    JoinHandle<> first = strand.SpawnBorrowing(Outer(gate));
    JoinHandle<> second = limit.SpawnBorrowing(Outer(gate));
    gate.Open();
    BlockOn(first);
    BlockOn(second);
  }
  stop.store(true);
  asks.join();
}

// A task further out on this thread, in the middle of its poll.
TEST(TaskDumpTest, OfALocalExecutorInsideAPollOfAnotherTask) {
  LocalExecutor executor;
  std::optional<TaskDump> dump;
  JoinHandle<> inner = executor.SpawnBorrowing([&]() -> Task<> {
    co_await YieldNow();
    dump = executor.Dump();
  });
  JoinHandle<> outer = executor.SpawnBorrowing([&]() -> Task<> {
    co_await YieldNow();
    while (!dump.has_value() && executor.TryTick()) {
    }
  });
  const TaskId id = outer.id();
  executor.Run(std::move(outer));
  ASSERT_EQ(dump->tasks.size(), 2u);
  const TaskInfo& info = dump->tasks[dump->tasks[0].id == id ? 0 : 1];
  EXPECT_EQ(info.state, State::kScheduled);
  EXPECT_EQ(info.awaits.size(), 0u);
}

// And one that is about to end: its future is gone.
TEST(TaskDumpTest, OfALocalExecutorInsideTheEndOfAnotherTask) {
  LocalExecutor executor;
  std::optional<TaskDump> dump;
  executor.SetHooks({.on_end = [&](const HookedTask& task, TaskEnd) {
    if (task.name != "ends") return;
    executor
        .SpawnBorrowing([&]() -> Task<> {
          dump = executor.Dump();
          co_return;
        })
        .Detach();
    executor.TryTick();
  }});
  JoinHandle<> task =
      SpawnBuilder().On(executor.spawner()).Name("ends").Spawn(YieldNow());
  executor.Run(std::move(task));
  ASSERT_TRUE(dump.has_value());
  for (const TaskInfo& info : dump->tasks) EXPECT_EQ(info.awaits.size(), 0u);
}

// The tasks of its runner are nobody's meanwhile.
TEST(TaskDumpTest, OfARunnerThatBlocksInPlace) {
  Executor executor;
  Runners runners(executor, 1);
  Gate gate;
  JoinHandle<> waits = executor.SpawnBorrowing(Outer(gate));
  SpinUntil([&] { return executor.Stats().suspended == 1; });
  Gate blocks;
  std::atomic<bool> go_on{false};
  JoinHandle<> task = executor.SpawnBorrowing([&]() -> Task<> {
    co_await YieldNow();
    BlockInPlace([&] {
      blocks.Open();
      SpinUntil([&] { return go_on.load(); });
    });
  });
  BlockOn(blocks.Wait());
  const TaskDump dump = executor.Dump(kLong);
  EXPECT_EQ(dump.silent_runners, std::vector<int>());
  EXPECT_EQ(dump.tasks.size(), 2u);
  go_on.store(true);
  BlockOn(task);
  gate.Open();
  BlockOn(waits);
}

TEST(TaskDumpTest, OfAClosedLocalExecutorIsEmpty) {
  LocalExecutor executor;
  executor.Close();
  std::thread([&] {
    executor_internal::LocalDumps dumps;
    dumps.Ask(0, executor);
    EXPECT_EQ(dumps.Await(Instant::Infinite()).silent_runners,
              std::vector<int>());
  }).join();
}

// What is looked at is woken, run, and cancelled meanwhile.
TEST(TaskDumpTest, LosesNoWake) {
  Executor executor;
  Runners runners(executor, 2);
  std::atomic<bool> stop{false};
  std::thread asks([&] {
    while (!stop.load()) static_cast<void>(executor.Dump());
  });
  for (int i = 0; i < RoundsOrLong(300, 10'000); ++i) {
    Gate gate;
    std::vector<JoinHandle<>> tasks;
    for (int k = 0; k < 10; ++k) {
      tasks.push_back(executor.SpawnBorrowing(Outer(gate)));
    }
    JoinHandle<> cancelled = executor.Spawn(Forgets());
    gate.Open();
    for (JoinHandle<>& task : tasks) BlockOn(task);
    BlockOn(std::move(cancelled).Cancel());
  }
  stop.store(true);
  asks.join();
}

}  // namespace
}  // namespace weft
