// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The pool where memory is short. Replaces operator new.
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <optional>
#include <thread>
#include <utility>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "weft/executor/blocking_pool.h"
#include "weft/task/block_on.h"
#include "weft/task/frame_cache.h"
#include "weft/task/join_handle.h"
#include "weft/task/offload.h"

namespace {
// If positive: this allocation of the thread, counted from 1, fails.
constinit thread_local int allocations_until_failure = 0;
}  // namespace

[[gnu::noinline]] void* operator new(size_t size,
                                     const std::nothrow_t&) noexcept {
  if (allocations_until_failure > 0 && --allocations_until_failure == 0) {
    allocations_until_failure = -1;
    return nullptr;
  }
  return std::malloc(size != 0 ? size : 1);
}
[[gnu::noinline]] void* operator new(size_t size) {
  void* block = operator new(size, std::nothrow);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}
[[gnu::noinline]] void operator delete(void* block) noexcept {
  std::free(block);
}
[[gnu::noinline]] void operator delete(void* block, size_t) noexcept {
  std::free(block);
}

namespace weft {
namespace {

// A coroutine frame that cannot be had ends the program, so they come from
// elsewhere.
constexpr FrameAllocator kFrames = {
    .allocate = [](size_t size) { return std::malloc(size); },
    .deallocate = [](void* block, size_t) { std::free(block); },
};

// Whichever allocation fails while a job is submitted: no place is lost, and the
// thread that could not start is started for the next job.
TEST(BlockingPoolMemoryTest, AFailedAllocationLeavesThePoolAsItWas) {
  SetFrameAllocator(&kFrames);
  int failures = 0;
  for (bool failed = true; failed; ++failures) {
    std::atomic<bool> inside{false};
    std::atomic<bool> open{false};
    BlockingPool pool(BlockingPoolOptions().MaxThreads(2).Name(
        "a-name-that-has-no-room-in-a-string-itself"));
    auto running = pool.Run(OffloadLane::kGeneral, [&] {
      inside = true;
      while (!open) std::this_thread::yield();
    });
    while (!inside) std::this_thread::yield();
    std::optional<JoinHandle<void>> second;
    allocations_until_failure = failures + 1;
    try {
      second = pool.Run(OffloadLane::kGeneral, [] {});
    } catch (const std::bad_alloc&) {
    }
    failed = allocations_until_failure < 0;
    allocations_until_failure = 0;
    EXPECT_EQ(pool.GetStats().threads, failed ? 1 : 2) << failures;
    // The second thread runs these.
    BlockOn(pool.Run(OffloadLane::kGeneral, [] {}));
    if (second.has_value()) BlockOn(*second);
    EXPECT_EQ(pool.GetStats().threads, 2);
    EXPECT_EQ(pool.GetStats().queued, 0u);
    open = true;
  }
  EXPECT_GE(failures, 3);
}

// The thread that would be started when another one has ended: what waits for it
// is refused, since nobody is left to try again.
TEST(BlockingPoolMemoryTest, AJobThatWaitsForAThreadToEndIsRefused) {
  SetFrameAllocator(&kFrames);
  int refused = 0;
  for (bool failed = true; failed; refused += failed) {
    std::atomic<bool> ending{false};
    std::atomic<bool> go_on{false};
    BlockingPool pool(BlockingPoolOptions()
                          .MaxThreads(1)
                          .KeepAlive(absl::ZeroDuration())
                          .Name("a-name-that-has-no-room-in-a-string-itself")
                          .OnThreadStop([&, failure = refused + 1] {
                            ending = true;
                            while (!go_on) std::this_thread::yield();
                            allocations_until_failure = failure;
                          }));
    BlockOn(pool.Run(OffloadLane::kGeneral, [] {}));
    while (!ending) std::this_thread::yield();
    auto job = pool.Run(OffloadLane::kGeneral, [] {});
    go_on = true;
    failed = !BlockOn(std::move(job).Outcome()).ok();
  }
  EXPECT_GE(refused, 3);
}

}  // namespace
}  // namespace weft
