// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/task/task_id.h"

#include <cstdint>
#include <set>
#include <thread>
#include <unordered_set>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "gtest/gtest.h"

namespace weft {
namespace {

TEST(TaskIdTest, TheDefaultIsNoTask) {
  EXPECT_FALSE(static_cast<bool>(TaskId()));
  EXPECT_EQ(TaskId().value(), 0u);
  EXPECT_EQ(TaskId(), TaskId(0));
  EXPECT_TRUE(static_cast<bool>(TaskId(7)));
}

TEST(TaskIdTest, IsAKey) {
  EXPECT_LT(TaskId(1), TaskId(2));
  EXPECT_TRUE(std::unordered_set<TaskId>({TaskId(1)}).contains(TaskId(1)));
  EXPECT_TRUE(absl::flat_hash_set<TaskId>({TaskId(1)}).contains(TaskId(1)));
}

// More than a block per thread, and more threads than live at once.
TEST(TaskIdTest, NoneIsGivenTwice) {
  constexpr int kThreads = 8;
  constexpr int kIds = 3000;
  std::vector<std::vector<TaskId>> given(2 * kThreads);
  for (int half = 0; half < 2; ++half) {
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&ids = given[half * kThreads + i]] {
        for (int n = 0; n < kIds; ++n) {
          ids.push_back(task_internal::NewTaskId());
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }

  std::set<TaskId> all = {TaskId()};
  for (const auto& ids : given) all.insert(ids.begin(), ids.end());
  EXPECT_EQ(all.size(), 1u + 2 * kThreads * kIds);
}

}  // namespace
}  // namespace weft
