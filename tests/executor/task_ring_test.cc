// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/executor/task_ring.h"

#include <cstddef>
#include <deque>
#include <utility>

#include "gtest/gtest.h"

namespace weft::executor_internal {
namespace {

TEST(TaskRingTest, IsEmptyAtFirst) {
  const TaskRing ring;
  EXPECT_TRUE(ring.empty());
  EXPECT_EQ(ring.size(), 0u);
}

// Beside a deque, at every fill and position, through several growths.
TEST(TaskRingTest, KeepsTheOrder) {
  TaskRing ring;
  std::deque<void*> expected;
  static char items[10'000];
  size_t next = 0;
  for (int round = 1; next + round <= sizeof(items); ++round) {
    for (int i = 0; i < round; ++i) {
      ring.Push(&items[next]);
      expected.push_back(&items[next++]);
    }
    for (int i = 0; i < round / 2; ++i) {
      ASSERT_EQ(ring.Pop(), expected.front());
      expected.pop_front();
    }
    ASSERT_EQ(ring.size(), expected.size());
  }
  while (!ring.empty()) {
    ASSERT_EQ(ring.Pop(), expected.front());
    expected.pop_front();
  }
  EXPECT_TRUE(expected.empty());
}

TEST(TaskRingTest, IsUsedAgainAfterATrim) {
  TaskRing ring;
  static char items[5000];
  for (int round = 0; round < 2; ++round) {
    for (char& item : items) ring.Push(&item);
    ring.Trim();  // not empty: keeps all
    EXPECT_EQ(ring.size(), sizeof(items));
    for (char& item : items) ASSERT_EQ(ring.Pop(), &item);
    ring.Trim();
    EXPECT_TRUE(ring.empty());
  }
}

TEST(TaskRingTest, MovesItsTasks) {
  TaskRing ring;
  char items[2];
  ring.Push(&items[0]);
  ring.Push(&items[1]);

  TaskRing other = std::move(ring);
  ring = TaskRing();

  EXPECT_TRUE(ring.empty());
  EXPECT_EQ(other.Pop(), &items[0]);
  EXPECT_EQ(other.Pop(), &items[1]);
  ring.Push(&items[0]);
  EXPECT_EQ(ring.Pop(), &items[0]);
}

}  // namespace
}  // namespace weft::executor_internal
