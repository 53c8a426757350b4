// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Threads with executors of their own, where memory is short.

#include <atomic>
#include <new>
#include <utility>

#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "weft/executor/thread_per_core.h"
#include "weft/tests/executor/failing_new.h"

namespace weft {
namespace {

using executor_testing::FailAllocation;
using executor_testing::StopFailing;

// Whichever allocation fails, no thread is left.
TEST(ThreadPerCoreMemoryTest, AFailedStartLeavesNothing) {
  std::atomic<int> alive{0};
  int failures = 0;
  for (bool failed = true; failed; ++failures) {
    ASSERT_LT(failures, 1000);
    auto options = ThreadPerCoreOptions()
                       .Threads(3)
                       .Name("a-name-that-has-no-room-in-a-string-itself")
                       .OnThreadStart([&](int) { ++alive; })
                       .OnThreadStop([&](int) { --alive; });
    FailAllocation(failures + 1);
    try {
      absl::StatusOr<ThreadPerCore> shards =
          ThreadPerCore::Start(std::move(options));
      failed = StopFailing() != 0;
      EXPECT_EQ(shards.ok(), !failed);
    } catch (const std::bad_alloc&) {
      StopFailing();
    }

    EXPECT_EQ(alive, 0);
  }

  EXPECT_GE(failures, 12);
}

}  // namespace
}  // namespace weft
