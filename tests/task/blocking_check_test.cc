// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/task/blocking_check.h"

#include <thread>

#include "gtest/gtest.h"

namespace weft::task_internal {
namespace {

TEST(BlockingCheckTest, AThreadMayBlockByDefault) { EXPECT_TRUE(MayBlock()); }

TEST(BlockingCheckTest, TheInnermostScopeDecides) {
  {
    const NoBlockingScope none;
    EXPECT_FALSE(MayBlock());
    {
      const MayBlockScope may;
      EXPECT_TRUE(MayBlock());
      {
        const NoBlockingScope again;
        EXPECT_FALSE(MayBlock());
      }
      EXPECT_TRUE(MayBlock());
    }
    EXPECT_FALSE(MayBlock());
  }
  EXPECT_TRUE(MayBlock());
}

TEST(BlockingCheckTest, OtherThreadsAreNotConcerned) {
  const NoBlockingScope none;
  bool may = false;
  std::thread([&] { may = MayBlock(); }).join();
  EXPECT_TRUE(may);
}

}  // namespace
}  // namespace weft::task_internal
