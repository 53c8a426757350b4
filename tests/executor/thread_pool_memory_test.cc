// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The pool where memory is short.

#include <atomic>
#include <new>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "weft/executor/thread_pool.h"
#include "weft/task/block_on.h"
#include "weft/task/ready.h"
#include "weft/tests/executor/failing_new.h"

namespace weft {
namespace {

using executor_testing::FailAllocation;
using executor_testing::StopFailing;

// Whichever allocation fails, the pool is as it was, or has grown.
TEST(ThreadPoolMemoryTest, AFailedResizeLeavesThePoolAsItWas) {
  std::atomic<int> alive{0};
  absl::StatusOr<ThreadPool> pool =
      ThreadPool::Start(ThreadPoolOptions()
                            .Threads(1)
                            .Name("a-name-that-has-no-room-in-a-string-itself")
                            .Affinity({{}})
                            .OnThreadStart([&](int) { ++alive; })
                            .OnThreadStop([&](int) { --alive; }));
  ASSERT_TRUE(pool.ok());
  BlockOn(pool->Spawn(Ready()));  // the first thread has started
  int failures = 0;
  for (bool failed = true; failed; ++failures) {
    ASSERT_LT(failures, 1000);
    absl::Status status;
    bool threw = false;
    FailAllocation(failures + 1);
    try {
      status = pool->Resize(4);
    } catch (const std::bad_alloc&) {
      threw = true;
    }
    failed = StopFailing() != 0;

    EXPECT_EQ(threw || !status.ok(), failed);
    EXPECT_EQ(pool->threads(), failed ? 1 : 4);
    if (failed) EXPECT_EQ(alive, 1);
  }

  EXPECT_GE(failures, 12);
  BlockOn(pool->Spawn(Ready()));
}

TEST(ThreadPoolMemoryTest, AFailedStartLeavesNothing) {
  std::atomic<int> alive{0};
  int failures = 0;
  for (bool failed = true; failed;) {
    ASSERT_LT(failures, 1000);
    auto options = ThreadPoolOptions()
                       .Threads(3)
                       .OnThreadStart([&](int) { ++alive; })
                       .OnThreadStop([&](int) { --alive; });
    FailAllocation(++failures);
    try {
      absl::StatusOr<ThreadPool> pool = ThreadPool::Start(std::move(options));
      failed = StopFailing() != 0;
      EXPECT_EQ(pool.ok(), !failed);
    } catch (const std::bad_alloc&) {
      StopFailing();
    }

    EXPECT_EQ(alive, 0);
  }
}

}  // namespace
}  // namespace weft
