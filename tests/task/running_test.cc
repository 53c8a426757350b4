// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/task/running.h"

#include <thread>

#include "gtest/gtest.h"
#include "weft/task/task_identity.h"

namespace weft::task_internal {
namespace {

TEST(RunningTest, AThreadRunsNothingByDefault) {
  EXPECT_EQ(ThisThreadRuns().task, nullptr);
  EXPECT_EQ(ThisThreadRuns().locals, nullptr);
  EXPECT_TRUE(ThisThreadRuns().may_block);
}

TEST(RunningTest, ScopesNestAndPutBack) {
  const TaskIdentity a;
  const TaskIdentity b;
  {
    const RunningScope outer({.task = &a, .may_block = false});
    {
      const RunningScope inner({.task = &b});
      EXPECT_EQ(ThisThreadRuns().task, &b);
      EXPECT_TRUE(ThisThreadRuns().may_block);
    }
    EXPECT_EQ(ThisThreadRuns().task, &a);
    EXPECT_FALSE(ThisThreadRuns().may_block);
  }
  EXPECT_EQ(ThisThreadRuns().task, nullptr);
  EXPECT_TRUE(ThisThreadRuns().may_block);
}

TEST(RunningTest, ALeftTaskIsForgottenAndTheThreadMayStillNotBlock) {
  const TaskIdentity a;
  const LocalNode node = {};
  RunningScope scope({.task = &a, .locals = &node, .may_block = false});

  scope.LeaveTask();

  EXPECT_EQ(ThisThreadRuns().task, nullptr);
  EXPECT_EQ(ThisThreadRuns().locals, nullptr);
  EXPECT_FALSE(ThisThreadRuns().may_block);
}

TEST(RunningTest, AWakeOfTheTaskOutsideIsKept) {
  const TaskIdentity a;
  const TaskIdentity b;
  RunningScope outer({.task = &a});
  {
    RunningScope inner({.task = &b});
    ThisThreadRuns().woken = true;  // of b
    EXPECT_TRUE(inner.woken());
    inner.LeaveTask();
  }
  EXPECT_FALSE(outer.woken());
  {
    RunningScope inner({.task = &b});
    inner.LeaveTask();
    ThisThreadRuns().woken = true;  // of a
  }
  EXPECT_TRUE(outer.woken());
}

TEST(RunningTest, OtherThreadsAreNotConcerned) {
  const TaskIdentity a;
  const RunningScope scope({.task = &a});
  const TaskIdentity* other = &a;
  std::thread([&] { other = ThisThreadRuns().task; }).join();
  EXPECT_EQ(other, nullptr);
}

}  // namespace
}  // namespace weft::task_internal
