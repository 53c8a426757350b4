// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// weft-lint: allow-file(R22): the tests' tasks end before what they refer to.

// Dumps where a thread is in a long poll, and is interrupted.
#include <poll.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "weft/executor/executor.h"
#include "weft/executor/local_executor.h"
#include "weft/executor/stuck_task_monitor.h"
#include "weft/executor/task_dump.h"
#include "weft/task/await_trace.h"
#include "weft/task/block_on.h"
#include "weft/task/join_handle.h"
#include "weft/task/ready.h"
#include "weft/task/spawn_builder.h"
#include "weft/task/spawner.h"
#include "weft/task/task.h"
#include "weft/task/task_id.h"
#include "weft/task/task_info.h"
#include "weft/task/yield_now.h"
#include "weft/tests/executor/runners.h"

namespace weft {
namespace {

using executor_testing::Gate;
using executor_testing::RoundsOrLong;
using executor_testing::Runners;
using executor_testing::SpinUntil;
using State = TaskInfo::State;

Task<> Inner(Gate& gate) { co_await gate.Wait(); }
Task<> Outer(Gate& gate) { co_await Inner(gate); }

// In a system call: the thread sanitizer holds signals back until there is one.
Task<> Hold(std::atomic<bool>& holds, std::atomic<bool>& go_on) {
  co_await Ready(1);  // so there is a place that it has come to
  holds.store(true);
  while (!go_on.load()) ::poll(nullptr, 0, /*timeout=*/1);
}

class TaskDumpBusyTest : public testing::Test {
 protected:
  TaskDumpBusyTest() {
    StuckTaskMonitorOptions options;
    options.limit = absl::Hours(1);
    absl::StatusOr<StuckTaskMonitor> monitor =
        StuckTaskMonitor::Start(executor_, options);
    EXPECT_TRUE(monitor.ok()) << monitor.status();
    monitor_.emplace(*std::move(monitor));
  }

  Executor executor_;
  std::optional<StuckTaskMonitor> monitor_;
};

const TaskInfo* Find(const TaskDump& dump, TaskId id) {
  const auto found =
      std::find_if(dump.tasks.begin(), dump.tasks.end(),
                   [id](const TaskInfo& task) { return task.id == id; });
  return found == dump.tasks.end() ? nullptr : &*found;
}

TEST_F(TaskDumpBusyTest, ShowsTheTasksOfAThreadThatDoesNotAnswer) {
  Runners runners(executor_, 1);
  Gate gate;
  std::vector<JoinHandle<>> waiting;
  for (int i = 0; i < 100; ++i) {
    waiting.push_back(executor_.SpawnBorrowing(Outer(gate)));
  }
  SpinUntil([&] { return executor_.Stats().suspended == 100; });
  std::atomic<bool> holds{false};
  std::atomic<bool> go_on{false};
  JoinHandle<> task = SpawnBuilder()
                          .On(executor_.spawner())
                          .Name("holds")
                          .SpawnBorrowing(Hold(holds, go_on));
  SpinUntil([&] { return holds.load(); });

  const TaskDump dump = executor_.Dump(absl::Milliseconds(1));

  EXPECT_EQ(dump.silent_runners, std::vector<int>());
  EXPECT_EQ(dump.tasks.size(), 101u);
  for (const JoinHandle<>& handle : waiting) {
    const TaskInfo* info = Find(dump, handle.id());
    ASSERT_NE(info, nullptr);
    EXPECT_EQ(info->state, State::kWaiting);
    EXPECT_EQ(info->awaits.size(), 3u);
  }
  const TaskInfo* busy = Find(dump, task.id());
  ASSERT_NE(busy, nullptr);
  EXPECT_EQ(busy->name, "holds");
  EXPECT_EQ(busy->state, State::kRunning);
  ASSERT_EQ(busy->awaits.size(), 1u);
  EXPECT_EQ(ShortFunctionName(busy->awaits[0].at.function_name()), "Hold");
  go_on.store(true);
  BlockOn(task);
  gate.Open();
  for (JoinHandle<>& handle : waiting) BlockOn(handle);
}

// One that was suspended before is in the list, too.
TEST_F(TaskDumpBusyTest, ATaskIsThereOnce) {
  Runners runners(executor_, 1);
  std::atomic<bool> holds{false};
  std::atomic<bool> go_on{false};
  JoinHandle<> task = executor_.SpawnBorrowing([&]() -> Task<> {
    co_await YieldNow();
    co_await Hold(holds, go_on);
  });
  SpinUntil([&] { return holds.load(); });
  const TaskDump dump = executor_.Dump(absl::Milliseconds(1));
  ASSERT_EQ(dump.tasks.size(), 1u);
  EXPECT_EQ(dump.tasks[0].state, State::kRunning);
  EXPECT_EQ(dump.tasks[0].awaits.size(), 2u);
  go_on.store(true);
  BlockOn(task);
}

// Nobody has time to answer, so threads are interrupted at any moment: as tasks are
// suspended, woken, moved, cancelled, and end.
TEST_F(TaskDumpBusyTest, AtAnyMoment) {
  Runners runners(executor_, 2);
  std::atomic<bool> stop{false};
  std::thread asks([&] {
    while (!stop.load()) {
      static_cast<void>(executor_.Dump(absl::ZeroDuration()));
    }
  });
  for (int i = 0; i < RoundsOrLong(300, 10'000); ++i) {
    Gate gate;
    std::vector<JoinHandle<>> tasks;
    for (int k = 0; k < 10; ++k) {
      tasks.push_back(executor_.SpawnBorrowing(Outer(gate)));
    }
    JoinHandle<> cancelled = executor_.SpawnBorrowing(Outer(gate));
    JoinHandle<> yields = executor_.Spawn([]() -> Task<> {
      for (int n = 0; n < 10; ++n) co_await YieldNow();
    });
    BlockOn(std::move(cancelled).Cancel());
    gate.Open();
    for (JoinHandle<>& task : tasks) BlockOn(task);
    BlockOn(yields);
  }
  stop.store(true);
  asks.join();
}

TEST_F(TaskDumpBusyTest, ALocalExecutorTellsWhichTaskItPolls) {
  std::atomic<bool> holds{false};
  std::atomic<bool> go_on{false};
  std::atomic<LocalExecutor*> made{nullptr};
  std::thread home([&] {
    LocalExecutor local;
    made.store(&local);
    local.Run(local.SpawnBorrowing(Hold(holds, go_on)));
  });
  SpinUntil([&] { return holds.load(); });
  const std::optional<TaskInfo> running = made.load()->RunningTask();
  ASSERT_TRUE(running.has_value());
  EXPECT_EQ(running->state, State::kRunning);
  ASSERT_EQ(running->awaits.size(), 1u);
  EXPECT_EQ(ShortFunctionName(running->awaits[0].at.function_name()), "Hold");
  go_on.store(true);
  home.join();
}

}  // namespace
}  // namespace weft
