// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The hooks of RuntimeBuilder that are called for tasks, in each flavour.

#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "weft/executor/executor_hooks.h"
#include "weft/runtime/runtime.h"
#include "weft/runtime/runtime_builder.h"
#include "weft/task/join_handle.h"
#include "weft/task/offload.h"
#include "weft/task/spawn_builder.h"
#include "weft/task/task.h"
#include "weft/task/task_cell.h"
#include "weft/task/yield_now.h"
#include "weft/tests/kit/signal.h"

namespace weft {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

enum class Flavour { kMultiThread, kThreadPerCore, kCurrentThread };

// What was told of each task, by its name.
class Log {
 public:
  auto Note(const char* what) {
    return [this, what](const HookedTask& task) { Add(task, what); };
  }
  auto NoteEnd() {
    return [this](const HookedTask& task, TaskEnd end) {
      Add(task, end == TaskEnd::kFinished ? "finished" : "cancelled");
    };
  }
  std::vector<std::string> Of(const std::string& name) {
    const std::lock_guard lock(mutex_);
    return lines_[name];
  }

 private:
  void Add(const HookedTask& task, const char* what) {
    const std::lock_guard lock(mutex_);
    lines_[std::string(task.name)].emplace_back(what);
  }

  std::mutex mutex_;
  std::map<std::string, std::vector<std::string>> lines_;
};

class TaskHooksTest : public testing::TestWithParam<Flavour> {
 protected:
  Runtime Make() {
    RuntimeBuilder builder;
    switch (GetParam()) {
      case Flavour::kMultiThread:
        builder.WorkerThreads(2);
        break;
      case Flavour::kThreadPerCore:
        builder.ThreadPerCore().WorkerThreads(2);
        break;
      case Flavour::kCurrentThread:
        builder.CurrentThread();
        break;
    }
    absl::StatusOr<Runtime> runtime = builder.OnTaskSpawn(log_.Note("spawn"))
                                          .OnTaskBeforePoll(log_.Note("before"))
                                          .OnTaskAfterPoll(log_.Note("after"))
                                          .OnTaskEnd(log_.NoteEnd())
                                          .Build();
    EXPECT_TRUE(runtime.ok()) << runtime.status();
    return *std::move(runtime);
  }

  Log log_;
};

Task<> YieldOnce() { co_await YieldNow(); }

Task<> SpawnAndAwait() {
  JoinHandle<> child = SpawnBuilder().Name("child").Spawn(YieldOnce());
  co_await child;
}

TEST_P(TaskHooksTest, ATaskIsToldOfFromItsSpawnToItsEnd) {
  {
    Runtime runtime = Make();
    runtime.BlockOn(SpawnAndAwait());
  }
  EXPECT_THAT(log_.Of("child"), ElementsAre("spawn", "before", "after",
                                            "before", "after", "finished"));
}

Task<> LeaveBehind(Signal* signal) {
  SpawnBuilder().Name("left").Spawn(signal->Wait()).Detach();
  co_await YieldNow();
}

TEST_P(TaskHooksTest, TheEndOfTheRuntimeEndsItsTasks) {
  Signal signal;  // keeps the task
  {
    Runtime runtime = Make();
    runtime.BlockOn(LeaveBehind(&signal));
    EXPECT_THAT(log_.Of("left"), Not(Contains("cancelled")));
  }
  const std::vector<std::string> told = log_.Of("left");
  ASSERT_GE(told.size(), 2u);
  EXPECT_EQ(told.front(), "spawn");
  EXPECT_EQ(told.back(), "cancelled");
}

Task<> RunJob() {
  JoinHandle<int> job =
      SpawnBuilder().Name("job").SpawnBlocking([] { return 7; });
  EXPECT_EQ(co_await job, 7);
}

TEST_P(TaskHooksTest, ABlockingJobIsNotToldOf) {
  {
    Runtime runtime = Make();
    runtime.BlockOn(RunJob());
  }
  EXPECT_THAT(log_.Of("job"), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Flavours, TaskHooksTest,
                         testing::Values(Flavour::kMultiThread,
                                         Flavour::kThreadPerCore,
                                         Flavour::kCurrentThread));

}  // namespace
}  // namespace weft
