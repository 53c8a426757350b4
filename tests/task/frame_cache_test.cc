// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/task/frame_cache.h"

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace weft {
namespace {

using task_internal::AllocateFrame;
using task_internal::FreeFrame;

#if defined(__has_feature)
#define HAS_FEATURE(x) __has_feature(x)
#else
#define HAS_FEATURE(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || HAS_FEATURE(address_sanitizer) || \
    HAS_FEATURE(memory_sanitizer)
constexpr bool kCaches = false;
#else
constexpr bool kCaches = true;
#endif

size_t FromAllocator() { return GetFrameCacheStats().blocks_from_allocator; }
size_t InUse() {
  const FrameCacheStats stats = GetFrameCacheStats();
  return stats.blocks_from_allocator - stats.blocks_to_allocator;
}

TEST(FrameCacheTest, BlocksAreApartAlignedAndWritable) {
  std::vector<std::pair<void*, size_t>> blocks;
  for (size_t size = 1; size <= 2000; size += 7) {
    void* block = AllocateFrame(size);
    EXPECT_EQ(
        reinterpret_cast<uintptr_t>(block) % task_internal::kFrameAlignment,
        0u);
    std::memset(block, static_cast<int>(size & 0xff), size);
    blocks.emplace_back(block, size);
  }
  for (const auto& [block, size] : blocks) {
    const auto* bytes = static_cast<unsigned char*>(block);
    EXPECT_EQ(bytes[0], size & 0xff);
    EXPECT_EQ(bytes[size - 1], size & 0xff);
    FreeFrame(block, size);
  }
}

TEST(FrameCacheTest, FreedBlocksAreUsedAgainIfCached) {
  if (!kCaches) GTEST_SKIP() << "passes through under this sanitizer";
  void* first = AllocateFrame(100);
  FreeFrame(first, 100);
  const size_t before = FromAllocator();

  for (int i = 0; i < 1'000'000; ++i) {
    void* block = AllocateFrame(100);
    EXPECT_EQ(block, first);
    FreeFrame(block, 100);
  }

  EXPECT_EQ(FromAllocator(), before);
}

TEST(FrameCacheTest, OneClassServesItsSizesIfCached) {
  if (!kCaches) GTEST_SKIP() << "passes through under this sanitizer";
  void* first = AllocateFrame(65);
  FreeFrame(first, 65);

  void* second = AllocateFrame(128);
  EXPECT_EQ(second, first);
  FreeFrame(second, 128);
}

TEST(FrameCacheTest, LargeBlocksGoStraightToTheAllocator) {
  const FrameCacheStats before = GetFrameCacheStats();
  FreeFrame(AllocateFrame(1025), 1025);
  const FrameCacheStats after = GetFrameCacheStats();

  EXPECT_EQ(after.blocks_from_allocator, before.blocks_from_allocator + 1);
  EXPECT_EQ(after.blocks_to_allocator, before.blocks_to_allocator + 1);
}

// A working set larger than the magazines goes through the depot and back.
TEST(FrameCacheTest, ALargeWorkingSetIsUsedAgainIfCached) {
  if (!kCaches) GTEST_SKIP() << "passes through under this sanitizer";
  constexpr size_t kBlocks = 5000;
  std::vector<void*> blocks(kBlocks);
  auto round = [&] {
    for (void*& block : blocks) block = AllocateFrame(200);
    const std::set<void*> distinct(blocks.begin(), blocks.end());
    EXPECT_EQ(distinct.size(), kBlocks);
    for (void* block : blocks) FreeFrame(block, 200);
  };
  round();
  const size_t before = FromAllocator();

  for (int i = 0; i < 20; ++i) round();

  EXPECT_EQ(FromAllocator(), before);
}

// One thread allocates, another frees: the blocks come back.
TEST(FrameCacheTest, BlocksFreedOnAnotherThreadReturnIfCached) {
  if (!kCaches) GTEST_SKIP() << "passes through under this sanitizer";
  constexpr size_t kBlocks = 2000;
  std::vector<void*> blocks(kBlocks);
  auto round = [&] {
    for (void*& block : blocks) block = AllocateFrame(240);
    std::thread([&] {
      for (void* block : blocks) FreeFrame(block, 240);
    }).join();
  };
  round();
  const size_t before = FromAllocator();

  for (int i = 0; i < 10; ++i) round();

  EXPECT_EQ(FromAllocator(), before);
}

TEST(FrameCacheTest, AThreadThatEndsGivesItsMagazinesBackIfCached) {
  if (!kCaches) GTEST_SKIP() << "passes through under this sanitizer";
  auto in_a_thread = [] {
    std::thread([] {
      std::vector<void*> blocks(100);
      for (void*& block : blocks) block = AllocateFrame(272);
      for (void* block : blocks) FreeFrame(block, 272);
    }).join();
  };
  in_a_thread();
  const size_t before = FromAllocator();

  for (int i = 0; i < 20; ++i) in_a_thread();

  EXPECT_EQ(FromAllocator(), before);
}

// The counts of a thread outlive it, and are seen while it lives.
TEST(FrameCacheTest, CountsAddUpOverThreads) {
  const FrameCacheStats before = GetFrameCacheStats();
  std::thread([&before] {
    FreeFrame(AllocateFrame(1100), 1100);
    void* kept = AllocateFrame(2000);
    EXPECT_EQ(GetFrameCacheStats().blocks_from_allocator,
              before.blocks_from_allocator + 2);
    FreeFrame(kept, 2000);
  }).join();
  const FrameCacheStats after = GetFrameCacheStats();
  EXPECT_EQ(after.blocks_from_allocator, before.blocks_from_allocator + 2);
  EXPECT_EQ(after.blocks_to_allocator, before.blocks_to_allocator + 2);
}

// The depot is bounded: beyond it, blocks go back to the allocator.
TEST(FrameCacheTest, WhatTheDepotCannotHoldIsFreed) {
  constexpr size_t kBlocks = 40'000;
  const size_t before = InUse();
  std::vector<void*> blocks(kBlocks);
  for (void*& block : blocks) block = AllocateFrame(16);
  for (void* block : blocks) FreeFrame(block, 16);

  EXPECT_LE((InUse() - before) * 128, (size_t{4} << 20) + 2 * 64 * 128);
}

// Another thread-local's destructor may run after the cache is gone.
TEST(FrameCacheTest, WorksWhileTheThreadEnds) {
  struct UsesWhenDestroyed {
    ~UsesWhenDestroyed() {
      if (block == nullptr) return;
      FreeFrame(block, 1000);
      FreeFrame(AllocateFrame(1000), 1000);
    }
    void* block = nullptr;
  };
  const size_t before = InUse();
  std::thread([] {
    static thread_local UsesWhenDestroyed last;
    last.block = AllocateFrame(1000);
  }).join();

  EXPECT_EQ(InUse(), before);
}

TEST(FrameCacheTest, ManyThreadsShareTheDepot) {
  constexpr int kThreads = 4;
  auto work = [](unsigned seed) {
    std::vector<std::pair<unsigned char*, size_t>> held;
    for (int i = 0; i < 20'000; ++i) {
      seed = seed * 1664525 + 1013904223;
      if ((seed >> 16) % 3 != 0 || held.empty()) {
        const size_t size = 1 + (seed >> 8) % 600;
        auto* block = static_cast<unsigned char*>(AllocateFrame(size));
        block[0] = block[size - 1] = static_cast<unsigned char>(size);
        held.emplace_back(block, size);
      } else {
        std::swap(held[(seed >> 8) % held.size()], held.back());
        const auto [block, size] = held.back();
        ASSERT_EQ(block[0], static_cast<unsigned char>(size));
        ASSERT_EQ(block[size - 1], static_cast<unsigned char>(size));
        FreeFrame(block, size);
        held.pop_back();
      }
    }
    for (const auto& [block, size] : held) FreeFrame(block, size);
  };
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < kThreads; ++i) threads.emplace_back(work, i);
  for (std::thread& thread : threads) thread.join();
}

// In a process of its own, where nothing was allocated before.
TEST(FrameCacheDeathTest, TheAllocatorCanBeReplaced) {
  static size_t allocated = 0;
  static size_t deallocated = 0;
  static constexpr FrameAllocator kCounting = {
      .allocate =
          [](size_t size) {
            allocated += size;
            return std::malloc(size);
          },
      .deallocate =
          [](void* block, size_t size) {
            deallocated += size;
            std::free(block);
          },
  };
  auto use = [] {
    SetFrameAllocator(&kCounting);
    FreeFrame(AllocateFrame(1100), 1100);
    const bool large = allocated == 1100 && deallocated == 1100;
    FreeFrame(AllocateFrame(500), 500);
    const bool small = allocated == 1100 + (kCaches ? 512 : 500);
    _exit(large && small ? 0 : 1);
  };
  EXPECT_EXIT(use(), testing::ExitedWithCode(0), "");
}

TEST(FrameCacheDeathTest, WithoutMemoryItSaysSo) {
  static constexpr FrameAllocator kEmpty = {
      .allocate = [](size_t) -> void* { return nullptr; },
      .deallocate = [](void*, size_t) {},
  };
  auto use = [] {
    SetFrameAllocator(&kEmpty);
    AllocateFrame(1100);
  };
  EXPECT_DEATH(use(), "out of memory for a coroutine frame");
}

}  // namespace
}  // namespace weft
