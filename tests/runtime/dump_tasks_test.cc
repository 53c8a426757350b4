// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Runtime::DumpTasks() on every flavour.
#include <poll.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "weft/executor/executor_hooks.h"
#include "weft/executor/stuck_task_monitor.h"
#include "weft/executor/task_dump.h"
#include "weft/runtime/runtime.h"
#include "weft/runtime/runtime_builder.h"
#include "weft/sync/event.h"
#include "weft/task/await_trace.h"
#include "weft/task/join_handle.h"
#include "weft/task/spawn_builder.h"
#include "weft/task/task.h"
#include "weft/task/task_info.h"
#include "weft/task/yield_now.h"

namespace weft {
namespace {

constexpr absl::Duration kLong = absl::Seconds(100);

Task<> Wait(std::shared_ptr<sync::Event> event) { co_await event->Wait(); }

using MakeBuilder = RuntimeBuilder (*)();

class DumpTasksTest : public testing::TestWithParam<MakeBuilder> {};
INSTANTIATE_TEST_SUITE_P(
    Flavours, DumpTasksTest,
    testing::Values([] { return RuntimeBuilder().WorkerThreads(2); },
                    [] { return RuntimeBuilder().CurrentThread(); },
                    [] {
                      return RuntimeBuilder().ThreadPerCore().WorkerThreads(3);
                    }));

TEST_P(DumpTasksTest, ShowsTheTasksOfAllWorkers) {
  Runtime runtime = *GetParam()().Build();
  auto event = std::make_shared<sync::Event>();
  std::vector<JoinHandle<>> tasks;
  for (int i = 0; i < 6; ++i) tasks.push_back(runtime.Spawn(Wait(event)));
  const TaskDump dump = runtime.BlockOn([](Runtime& runtime) -> Task<TaskDump> {
    TaskDump dump = runtime.DumpTasks(kLong);
    while (dump.tasks.size() < 6) {
      co_await YieldNow();
      dump = runtime.DumpTasks(kLong);
    }
    co_return dump;
  }(runtime));
  EXPECT_EQ(dump.silent_runners, std::vector<int>());
  for (const TaskInfo& task : dump.tasks) {
    EXPECT_EQ(task.state, TaskInfo::State::kWaiting);
    ASSERT_GE(task.awaits.size(), 1u);
    EXPECT_EQ(ShortFunctionName(task.awaits[0].at.function_name()), "Wait");
  }
  event->Set();
  for (JoinHandle<>& task : tasks) runtime.BlockOn(task);
}

TEST(DumpTasksSilenceTest, OfACurrentThreadRuntimeThatIsNotDriven) {
  Runtime runtime = *RuntimeBuilder().CurrentThread().Build();
  std::thread([handle = runtime.handle()] {
    EXPECT_EQ(handle.DumpTasks(absl::Milliseconds(1)).silent_runners,
              std::vector<int>({0}));
  }).join();
}

// Nobody waits for the answer any more when it can be given.
TEST(DumpTasksSilenceTest, AWorkerInALongPollIsNamed) {
  Runtime runtime = *RuntimeBuilder().ThreadPerCore().WorkerThreads(2).Build();
  auto runs = std::make_shared<std::atomic<bool>>(false);
  auto go_on = std::make_shared<std::atomic<bool>>(false);
  JoinHandle<> task = runtime.SpawnAt(1, [runs, go_on]() -> Task<> {
    runs->store(true);
    while (!go_on->load()) std::this_thread::yield();
    co_return;
  });
  while (!runs->load()) std::this_thread::yield();
  EXPECT_EQ(runtime.DumpTasks(absl::Milliseconds(10)).silent_runners,
            std::vector<int>({1}));
  go_on->store(true);
  runtime.BlockOn(task);
  EXPECT_EQ(runtime.DumpTasks(kLong).silent_runners, std::vector<int>());
}

TEST(DumpTasksSilenceTest, TwoWorkersThatAskAnswerEachOther) {
  Runtime runtime = *RuntimeBuilder().ThreadPerCore().WorkerThreads(2).Build();
  const auto ask = [&runtime](int worker) {
    return runtime.SpawnAt(worker, [handle = runtime.handle()]() -> Task<bool> {
      bool silent = false;
      for (int i = 0; i < 100; ++i) {
        silent = silent || !handle.DumpTasks(kLong).silent_runners.empty();
      }
      co_return silent;
    });
  };
  JoinHandle<bool> first = ask(0);
  JoinHandle<bool> second = ask(1);
  EXPECT_FALSE(runtime.BlockOn(first));
  EXPECT_FALSE(runtime.BlockOn(second));
}

// Nobody is there to answer; hooks and counts see nothing of it.
TEST(DumpTasksSilenceTest, QuestionsAreNoTasks) {
  auto spawned = std::make_shared<std::atomic<int>>(0);
  Runtime runtime =
      *RuntimeBuilder()
           .CurrentThread()
           .OnTaskSpawn([spawned](const HookedTask&) { ++*spawned; })
           .Build();
  std::thread([handle = runtime.handle()] {
    for (int i = 0; i < 1000; ++i) {
      static_cast<void>(handle.DumpTasks(absl::ZeroDuration()));
    }
  }).join();
  runtime.BlockOn(YieldNow());
  EXPECT_EQ(spawned->load(), 0);
}

// The task that it polls; those that wait there are missing.
TEST(DumpTasksSilenceTest, WithAMonitorAWorkerInALongPollTellsWhatItPolls) {
  StuckTaskMonitorOptions options;
  options.limit = absl::Hours(1);
  Runtime runtime = *RuntimeBuilder()
                         .ThreadPerCore()
                         .WorkerThreads(2)
                         .ReportStuckTasks(options)
                         .Build();
  auto runs = std::make_shared<std::atomic<bool>>(false);
  auto go_on = std::make_shared<std::atomic<bool>>(false);
  JoinHandle<> task = runtime.SpawnAt(1, [runs, go_on]() -> Task<> {
    runs->store(true);
    // The thread sanitizer holds signals back until there is a system call.
    while (!go_on->load()) ::poll(nullptr, 0, /*timeout=*/1);
    co_return;
  });
  while (!runs->load()) std::this_thread::yield();
  const TaskDump dump = runtime.DumpTasks(absl::Milliseconds(10));
  EXPECT_EQ(dump.silent_runners, std::vector<int>({1}));
  ASSERT_EQ(dump.tasks.size(), 1u);
  EXPECT_EQ(dump.tasks[0].id, task.id());
  EXPECT_EQ(dump.tasks[0].state, TaskInfo::State::kRunning);
  go_on->store(true);
  runtime.BlockOn(task);
}

}  // namespace
}  // namespace weft
