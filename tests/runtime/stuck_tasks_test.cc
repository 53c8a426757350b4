// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// RuntimeBuilder::ReportStuckTasks() on every flavour.
#include <poll.h>

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "weft/executor/stuck_task_monitor.h"
#include "weft/runtime/runtime.h"
#include "weft/runtime/runtime_builder.h"
#include "weft/task/join_handle.h"
#include "weft/task/spawn_builder.h"
#include "weft/task/task.h"

namespace weft {
namespace {

// What was reported; the tests' polls last until something was.
class Reports {
 public:
  Reports() = default;

  void Add(const StuckTask& stuck) {
    const std::lock_guard lock(mutex_);
    all_.push_back(stuck);
  }
  std::vector<StuckTask> all() {
    const std::lock_guard lock(mutex_);
    return all_;
  }

 private:
  std::mutex mutex_;
  std::vector<StuckTask> all_;  // guarded by mutex_
};

StuckTaskMonitorOptions Into(std::shared_ptr<Reports> reports) {
  StuckTaskMonitorOptions options;
  options.limit = absl::Milliseconds(20);
  options.on_stuck = [reports](const StuckTask& stuck) { reports->Add(stuck); };
  return options;
}

Task<> HoldUntilReported(std::shared_ptr<Reports> reports) {
  while (reports->all().empty()) ::poll(nullptr, 0, /*timeout=*/1);
  co_return;
}

using MakeBuilder = RuntimeBuilder (*)();

class StuckTasksTest : public testing::TestWithParam<MakeBuilder> {};
INSTANTIATE_TEST_SUITE_P(
    Flavours, StuckTasksTest,
    testing::Values([] { return RuntimeBuilder().WorkerThreads(2); },
                    [] { return RuntimeBuilder().CurrentThread(); },
                    [] {
                      return RuntimeBuilder().ThreadPerCore().WorkerThreads(2);
                    }));

TEST_P(StuckTasksTest, AreReported) {
  auto reports = std::make_shared<Reports>();
  Runtime runtime = *GetParam()().ReportStuckTasks(Into(reports)).Build();
  JoinHandle<> task = SpawnBuilder()
                          .On(runtime.spawner())
                          .Name("stuck")
                          .Spawn(HoldUntilReported(reports));
  runtime.BlockOn(task);
  EXPECT_EQ(reports->all().at(0).name, "stuck");
  EXPECT_TRUE(reports->all().at(0).answered);
}

TEST_P(StuckTasksTest, AMonitorThatCannotBeStartedFailsTheBuild) {
  StuckTaskMonitorOptions options;
  options.limit = absl::ZeroDuration();
  EXPECT_EQ(GetParam()().ReportStuckTasks(options).Build().status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace weft
