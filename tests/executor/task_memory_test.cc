// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// How many bytes an idle task takes, all told: its cell and its coroutine's frame.

#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>

#include "gtest/gtest.h"
#include "weft/executor/executor.h"
#include "weft/executor/local_executor.h"
#include "weft/task/frame_cache.h"
#include "weft/task/ready.h"
#include "weft/task/spawner.h"
#include "weft/task/task.h"

namespace weft {
namespace {

constexpr size_t kMost = 256;

size_t bytes = 0;
constexpr FrameAllocator kCounting = {
    .allocate =
        [](size_t size) {
          bytes += size;
          return std::malloc(size);
        },
    .deallocate = [](void* block, size_t) { std::free(block); },
};

Task<> Idle() { co_await Pending(); }

// In a process of its own, where nothing was allocated before.
template <class AnyExecutor>
void SpawnCounting() {
  SetFrameAllocator(&kCounting);
  AnyExecutor executor;
  executor.Spawn(Idle()).Detach();
  while (executor.TryTick()) {
  }
  std::fprintf(stderr, "%zu bytes\n", bytes);
  _exit(bytes > 0 && bytes <= kMost ? 0 : 1);
}

TEST(TaskMemoryDeathTest, AnIdleTaskIsSmall) {
  EXPECT_EXIT(SpawnCounting<Executor>(), testing::ExitedWithCode(0), "bytes");
}

TEST(TaskMemoryDeathTest, AnIdleLocalTaskIsSmall) {
  EXPECT_EXIT(SpawnCounting<LocalExecutor>(), testing::ExitedWithCode(0),
              "bytes");
}

}  // namespace
}  // namespace weft
