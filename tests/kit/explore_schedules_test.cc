// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/tests/kit/explore_schedules.h"

#include "absl/status/status.h"
#include "gtest/gtest-spi.h"
#include "gtest/gtest.h"
#include "weft/executor/deterministic_executor.h"
#include "weft/task/task.h"
#include "weft/task/yield_now.h"

namespace weft {
namespace {

absl::Status RunTasks(DeterministicExecutor& executor, int tasks) {
  for (int i = 0; i < tasks; ++i) {
    executor.Spawn([]() -> Task<> { co_await YieldNow(); }()).Detach();
  }
  return executor.RunUntilIdle();
}

TEST(ExploreSchedulesTest, CountsThoseThatDiffer) {
  const auto alone = [](DeterministicExecutor& executor) {
    return RunTasks(executor, 1);
  };
  const auto two = [](DeterministicExecutor& executor) {
    return RunTasks(executor, 2);
  };

  EXPECT_EQ(ExploreSchedules(20, alone), 1u);
  EXPECT_GT(ExploreSchedules(20, two), 1u);
}

TEST(ExploreSchedulesTest, AFailureIsATestsFailure) {
  const auto fails = [](DeterministicExecutor&) {
    return absl::InternalError("something is lost");
  };

  EXPECT_NONFATAL_FAILURE(ExploreSchedules(1, fails), "something is lost");
}

}  // namespace
}  // namespace weft
