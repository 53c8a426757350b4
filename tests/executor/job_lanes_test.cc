// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/executor/job_lanes.h"

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "weft/task/offload.h"
#include "weft/tests/executor/job_collector.h"

namespace weft::executor_internal {
namespace {

using executor_testing::JobCollector;

constexpr JobLanes::Limits kNoLimits = {9, 9, 9, 9};

class JobLanesTest : public testing::Test {
 protected:
  // A job that gives its number.
  OffloadJob& Push(JobLanes& lanes, OffloadLane lane, int number) {
    collector_.Run(lane, [this, number] { ran_.push_back(number); }).Detach();
    JobLanes::Job job = collector_.Take();
    OffloadJob& metadata = job.metadata();
    lanes.Push(std::move(job));
    return metadata;
  }
  // Runs those that may be run, and leaves them counted as running.
  void RunReady(JobLanes& lanes) {
    while (std::optional<JobLanes::Job> job = lanes.TakeReady(turn_)) {
      (*std::move(job)).Run();
    }
  }

  JobCollector collector_;
  std::vector<int> ran_;
  size_t turn_ = 0;
};

TEST_F(JobLanesTest, LanesTakeTurns) {
  JobLanes lanes(kNoLimits);
  for (int i = 0; i < 3; ++i) Push(lanes, OffloadLane::kGeneral, i);
  for (int i = 10; i < 12; ++i) Push(lanes, OffloadLane::kName, i);
  RunReady(lanes);
  EXPECT_EQ(ran_, (std::vector{10, 0, 11, 1, 2}));
}

TEST_F(JobLanesTest, ALaneAtItsLimitIsPassedOver) {
  JobLanes lanes({1, 2, 9, 9});
  for (int i = 0; i < 3; ++i) Push(lanes, OffloadLane::kGeneral, i);
  for (int i = 10; i < 13; ++i) Push(lanes, OffloadLane::kFile, i);
  EXPECT_EQ(lanes.CountWaiting(), 6u);
  EXPECT_EQ(lanes.CountReady(), 3u);
  EXPECT_EQ(lanes.CountPlaces(OffloadLane::kFile), 2u);
  RunReady(lanes);
  EXPECT_EQ(ran_, (std::vector{10, 0, 11}));
  EXPECT_EQ(lanes.CountPlaces(OffloadLane::kFile), 0u);
  EXPECT_EQ(lanes.CountWaiting(OffloadLane::kFile), 1u);
  lanes.Finished(OffloadLane::kGeneral);
  RunReady(lanes);
  EXPECT_EQ(ran_, (std::vector{10, 0, 11, 1}));
  while (lanes.TakeAny().has_value()) {
  }
}

TEST_F(JobLanesTest, AJobIsTakenOutOnce) {
  JobLanes lanes(kNoLimits);
  Push(lanes, OffloadLane::kFile, 0);
  OffloadJob& second = Push(lanes, OffloadLane::kFile, 1);
  std::optional<JobLanes::Job> job = lanes.TakeOut(second);
  ASSERT_TRUE(job.has_value());
  EXPECT_FALSE(lanes.TakeOut(second).has_value());
  RunReady(lanes);
  EXPECT_EQ(ran_, (std::vector{0}));
}

TEST_F(JobLanesTest, OneThatRunsDoesNotWait) {
  JobLanes lanes(kNoLimits);
  OffloadJob& metadata = Push(lanes, OffloadLane::kFile, 0);
  std::optional<JobLanes::Job> job = lanes.TakeReady(turn_);
  ASSERT_TRUE(job.has_value());
  EXPECT_FALSE(lanes.TakeOut(metadata).has_value());
}

TEST_F(JobLanesTest, AnyIsTakenWhateverTheLimit) {
  JobLanes lanes({1, 1, 1, 1});
  for (int i = 0; i < 3; ++i) Push(lanes, OffloadLane::kStandIn, i);
  OffloadJob& last = Push(lanes, OffloadLane::kStandIn, 3);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(lanes.TakeAny().has_value());
  std::optional<JobLanes::Job> job = lanes.TakeAny();
  ASSERT_TRUE(job.has_value());
  EXPECT_FALSE(lanes.TakeOut(last).has_value());
  EXPECT_FALSE(lanes.TakeAny().has_value());
  EXPECT_EQ(lanes.CountWaiting(), 0u);
}

}  // namespace
}  // namespace weft::executor_internal
