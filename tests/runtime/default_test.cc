// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// This binary links //runtime:default.
#include <cstddef>
#include <filesystem>
#include <iterator>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "weft/runtime/runtime.h"
#include "weft/task/block_on.h"
#include "weft/task/join_handle.h"
#include "weft/task/offload.h"
#include "weft/task/ready.h"
#include "weft/task/spawner.h"
#include "weft/task/task.h"
#include "weft/timer/sleep.h"

namespace weft {
namespace {

size_t CountThreads() {
  const std::filesystem::directory_iterator threads("/proc/self/task");
  return static_cast<size_t>(std::distance(begin(threads), end(threads)));
}

// Runs first: nothing has used the default runtime yet.
TEST(DefaultRuntimeTest, StartsNoThreadBeforeItIsUsed) {
  const size_t before = CountThreads();
  Spawn(Ready(1)).Detach();
  EXPECT_GT(CountThreads(), before);
}

TEST(DefaultRuntimeTest, SpawnWorksOnABareThread) {
  JoinHandle<int> task = Spawn([]() -> Task<int> {
    co_await timer::After(absl::Milliseconds(1));
    EXPECT_TRUE(Handle::TryCurrent().has_value());
    co_return 3;
  });
  EXPECT_EQ(BlockOn(task), 3);
}

TEST(DefaultRuntimeTest, SpawnBlockingWorksOnABareThread) {
  JoinHandle<int> job = SpawnBlocking([] { return 4; });
  EXPECT_EQ(BlockOn(job), 4);
}

}  // namespace
}  // namespace weft
