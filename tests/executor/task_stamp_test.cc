// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/executor/task_stamp.h"

#include <cstdint>

#include "gtest/gtest.h"
#include "weft/task/instant.h"
#include "weft/task/spawner.h"

namespace weft::executor_internal {
namespace {

constexpr int64_t kUnit = 64;
constexpr int64_t kRange = kUnit << 28;

Instant At(int64_t ns) { return Instant::FromNanoseconds(ns); }

TEST(TaskStampTest, IsNotSetAtFirst) {
  SpawnedTask task(nullptr);

  EXPECT_FALSE(TaskStamp().IsSet());
  EXPECT_FALSE(TaskStamp::TakeOff(task).IsSet());
}

TEST(TaskStampTest, IsSetAlsoAtTheBeginningOfTime) {
  EXPECT_TRUE(TaskStamp(At(0), 0).IsSet());
  EXPECT_TRUE(TaskStamp(At(kRange), 0).IsSet());
}

TEST(TaskStampTest, KeepsItsWeight) {
  for (int shift = 0; shift < 15; ++shift) {
    EXPECT_EQ(TaskStamp(At(12345), shift).Weight(), uint64_t{1} << shift);
  }
}

TEST(TaskStampTest, IsAsOldAsTheTimeThatHasPassed) {
  const int64_t begin = 1'000 * kUnit;
  const TaskStamp stamp(At(begin), 3);

  EXPECT_EQ(stamp.Age(At(begin)), 0);
  EXPECT_EQ(stamp.Age(At(begin + kUnit - 1)), 0);
  EXPECT_EQ(stamp.Age(At(begin + kUnit)), kUnit);
  EXPECT_EQ(stamp.Age(At(begin + kRange - 1)), kRange - kUnit);
}

TEST(TaskStampTest, TheEndOfItsRangeMayPassMeanwhile) {
  const TaskStamp stamp(At(kRange - kUnit), 3);

  EXPECT_EQ(stamp.Age(At(kRange + kUnit)), 2 * kUnit);
}

TEST(TaskStampTest, IsTakenOffOnce) {
  SpawnedTask task(nullptr);
  TaskStamp(At(5 * kUnit), 7).PutOn(task);

  const TaskStamp stamp = TaskStamp::TakeOff(task);

  EXPECT_EQ(stamp.Weight(), 128u);
  EXPECT_EQ(stamp.Age(At(9 * kUnit)), 4 * kUnit);
  EXPECT_FALSE(TaskStamp::TakeOff(task).IsSet());
}

TEST(TaskStampTest, LeavesThePlaceAlone) {
  SpawnedTask task(nullptr);

  SetPlace(task, 0x1234);
  TaskStamp(At(kRange - 1), 14).PutOn(task);
  EXPECT_EQ(PlaceOf(task), 0x1234u);
  SetPlace(task, 0xffff);
  EXPECT_EQ(PlaceOf(task), 0xffffu);
  EXPECT_EQ(TaskStamp::TakeOff(task).Age(At(kRange)), kUnit);

  EXPECT_EQ(PlaceOf(task), 0xffffu);
}

TEST(TaskStampTest, ATaskHasNotGrown) {
  EXPECT_EQ(sizeof(SpawnedTask), 4 * sizeof(void*));
}

}  // namespace
}  // namespace weft::executor_internal
