// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/executor/level_queue.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace weft::executor_internal {
namespace {

// A task that is only a number.
void* Task(uintptr_t n) { return reinterpret_cast<void*>(n); }

// The levels of the next `count` tasks, as digits.
std::string PopLevels(LevelQueue& queue, int count) {
  std::string levels;
  LevelQueue::Item item;
  for (int i = 0; i < count && queue.Pop(item); ++i) {
    levels += std::to_string(item.level);
  }
  return levels;
}

void Fill(LevelQueue& queue, size_t level, int count) {
  for (int i = 0; i < count; ++i) queue.Push(level, Task(1));
}

TEST(LevelQueueTest, KeepsTheOrderOfALevel) {
  LevelQueue queue = LevelQueue::Strict(1);
  for (uintptr_t i = 1; i <= 100; ++i) queue.Push(0, Task(i));

  for (uintptr_t i = 1; i <= 100; ++i) {
    LevelQueue::Item item;
    ASSERT_TRUE(queue.Pop(item));
    EXPECT_EQ(item.task, Task(i));
    EXPECT_EQ(queue.size(), 100 - i);
  }
  LevelQueue::Item item;
  EXPECT_FALSE(queue.Pop(item));
}

TEST(LevelQueueTest, StrictTakesTheFirstLevelThatHasATask) {
  LevelQueue queue = LevelQueue::Strict(3);
  Fill(queue, 2, 2);
  Fill(queue, 1, 2);
  EXPECT_EQ(PopLevels(queue, 1), "1");
  Fill(queue, 0, 1);

  EXPECT_EQ(PopLevels(queue, 10), "0122");
}

TEST(LevelQueueTest, WeightedSharesInProportion) {
  LevelQueue queue({4, 2, 1});
  for (size_t level = 0; level < 3; ++level) Fill(queue, level, 700);

  std::vector<int> taken(3);
  for (const char level : PopLevels(queue, 700)) ++taken[level - '0'];

  EXPECT_NEAR(taken[0], 400, 2);
  EXPECT_NEAR(taken[1], 200, 2);
  EXPECT_NEAR(taken[2], 100, 2);
  PopLevels(queue, 2100);
}

TEST(LevelQueueTest, WeightedNeverStarvesALevel) {
  LevelQueue queue({100, 1});
  Fill(queue, 0, 1);
  Fill(queue, 1, 10);
  int since = 0;
  int longest = 0;
  for (int i = 0; i < 500; ++i) {
    LevelQueue::Item item;
    ASSERT_TRUE(queue.Pop(item));
    since = item.level == 1 ? 0 : since + 1;
    longest = std::max(longest, since);
    if (item.level == 0) queue.Push(0, Task(1));
  }

  EXPECT_LE(longest, 101);
  PopLevels(queue, 100);
}

TEST(LevelQueueTest, ALevelThatWasEmptyHasSavedNothing) {
  LevelQueue queue({1, 1});
  Fill(queue, 0, 1000);
  PopLevels(queue, 900);
  Fill(queue, 1, 100);

  std::vector<int> taken(2);
  for (const char level : PopLevels(queue, 20)) ++taken[level - '0'];

  EXPECT_NEAR(taken[0], 10, 1);
  PopLevels(queue, 1000);
}

// A level that stays empty keeps its pass, while that of the others goes around
// the range: at whatever distance the two are, it comes in as any other.
TEST(LevelQueueTest, ALevelThatWasEmptyForEverTakesItsTurn) {
  constexpr uint64_t kStride = uint64_t{1} << 31;
  constexpr uint64_t kHalf = uint64_t{1} << 63;
  for (const uint64_t distance :
       {kStride + 1, kHalf - kStride, kHalf - 1, kHalf, kHalf + kStride,
        2 * kHalf - 2 * kStride, 2 * kHalf - kStride, 2 * kHalf - 1}) {
    LevelQueue queue({1, 1}, distance);
    Fill(queue, 1, 10);
    EXPECT_EQ(PopLevels(queue, 4), "1111");
    Fill(queue, 0, 2);

    const std::string levels = PopLevels(queue, 4);

    EXPECT_EQ(std::count(levels.begin(), levels.end(), '0'), 2) << distance;
    PopLevels(queue, 10);
  }
}

TEST(LevelQueueDeathTest, RefusesWhatIsNoQueue) {
  EXPECT_DEATH(LevelQueue(std::vector<int>()), "at least one level");
  EXPECT_DEATH(LevelQueue({1, 0}), "weight is from 1");
  EXPECT_DEATH(LevelQueue({LevelQueue::kMaxWeight + 1}), "weight is from 1");
  EXPECT_DEATH(static_cast<void>(LevelQueue::Strict(0)), "at least one level");
}

TEST(LevelQueueDeathTest, IsNotDestroyedWithTasks) {
  EXPECT_DEATH(
      {
        LevelQueue queue({1});
        queue.Push(0, Task(1));
      },
      "with tasks in it");
}

}  // namespace
}  // namespace weft::executor_internal
