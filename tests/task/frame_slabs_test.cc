// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/task/frame_slabs.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "weft/task/block_list.h"

namespace weft::task_internal {
namespace {

constexpr size_t kSize = 2 * FrameSlabs::kGranule;

// All blocks of a supply.
std::vector<void*> BlocksOf(FrameSlabs::Supply supply, size_t size = kSize) {
  std::vector<void*> blocks;
  while (supply.used.size() != 0) blocks.push_back(supply.used.Pop());
  while (!supply.row.IsEmpty()) blocks.push_back(supply.row.Cut(size));
  return blocks;
}

BlockList ListOf(const std::vector<void*>& blocks) {
  BlockList list;
  for (void* block : blocks) list.Push(block);
  return list;
}

TEST(FrameSlabsTest, BlocksAreWholeGranulesApartAndFillTheSlab) {
  for (size_t size = FrameSlabs::kGranule; size <= 1024;
       size += FrameSlabs::kGranule) {
    FrameSlabs slabs(size);
    const std::vector<void*> blocks = BlocksOf(slabs.Take(), size);
    EXPECT_GE((blocks.size() + 2) * size, FrameSlabs::kSlabSize);
    for (void* block : blocks) {
      EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % FrameSlabs::kGranule, 0u);
      std::memset(block, 0xa5, size);
    }
    EXPECT_EQ(std::set<void*>(blocks.begin(), blocks.end()).size(),
              blocks.size());
    EXPECT_EQ(
        static_cast<char*>(blocks.back()) - static_cast<char*>(blocks.front()),
        static_cast<ptrdiff_t>((blocks.size() - 1) * size));
    slabs.Give(ListOf(blocks));
  }
}

TEST(FrameSlabsTest, WhatCameBackIsGivenBeforeANewSlab) {
  FrameSlabs slabs(kSize);
  std::vector<void*> first = BlocksOf(slabs.Take());
  slabs.Give(ListOf({first.begin(), first.begin() + 10}));

  const std::vector<void*> again = BlocksOf(slabs.Take());
  EXPECT_EQ(again.size(), 10u);
  EXPECT_EQ(slabs.slabs(), 1u);

  const BlockRow row = slabs.Take().row;
  EXPECT_EQ(slabs.slabs(), 2u);
  slabs.Give(row);
  slabs.Give(ListOf(first));  // of which `again` is a part
}

TEST(FrameSlabsTest, ARowThatCameBackIsGoneOnWith) {
  FrameSlabs slabs(kSize);
  FrameSlabs::Supply supply = slabs.Take();
  void* block = supply.row.Cut(kSize);
  const BlockRow rest = supply.row;
  slabs.Give(supply.row);
  BlockList one;
  one.Push(block);
  slabs.Give(one);

  supply = slabs.Take();
  EXPECT_EQ(supply.row.begin, rest.begin);
  EXPECT_EQ(supply.row.end, rest.end);
  ASSERT_EQ(supply.used.size(), 1u);
  slabs.Give(supply.row);
  EXPECT_EQ(supply.used.Pop(), block);
  slabs.Give(ListOf({block}));
}

TEST(FrameSlabsTest, OneAtATimeTheyComeFromOneSlabUntilItIsEmpty) {
  FrameSlabs slabs(kSize);
  const std::vector<void*> all_of_one = BlocksOf(slabs.Take());
  std::vector<void*> blocks;
  while (blocks.size() != all_of_one.size()) blocks.push_back(slabs.TakeOne());
  EXPECT_EQ(slabs.slabs(), 2u);
  slabs.Give(ListOf({blocks[3]}));
  EXPECT_EQ(slabs.TakeOne(), blocks[3]);
  EXPECT_EQ(slabs.slabs(), 2u);
  blocks.push_back(slabs.TakeOne());
  EXPECT_EQ(slabs.slabs(), 3u);
  EXPECT_EQ(std::set<void*>(blocks.begin(), blocks.end()).size(),
            blocks.size());
  slabs.Give(ListOf(all_of_one));
  slabs.Give(ListOf(blocks));
}

TEST(FrameSlabsTest, AllButAFewSlabsOfWhichNothingIsInUseGoBack) {
  FrameSlabs slabs(kSize);
  std::vector<void*> blocks;
  for (size_t i = 0; i < FrameSlabs::kReserve + 5; ++i) {
    const std::vector<void*> more = BlocksOf(slabs.Take());
    blocks.insert(blocks.end(), more.begin(), more.end());
  }
  EXPECT_EQ(slabs.slabs(), FrameSlabs::kReserve + 5);
  void* kept = blocks.back();
  blocks.pop_back();
  slabs.Give(ListOf(blocks));
  EXPECT_EQ(slabs.slabs(), FrameSlabs::kReserve + 1);

  BlockList last;
  last.Push(kept);
  slabs.Give(last);
  EXPECT_EQ(slabs.slabs(), FrameSlabs::kReserve);
}

TEST(FrameSlabsTest, AThreadThatTakesAndGivesMapsOnce) {
  FrameSlabs slabs(kSize);
  for (int i = 0; i < 1000; ++i) slabs.Give(slabs.Take().row);
  EXPECT_EQ(slabs.slabs(), 1u);
}

TEST(FrameSlabsTest, ThreadsTakeAndGiveEachOthersBlocks) {
  FrameSlabs slabs(kSize);
  auto work = [&slabs](unsigned char mark) {
    for (int i = 0; i < 200; ++i) {
      std::vector<void*> blocks = BlocksOf(slabs.Take());
      ASSERT_FALSE(blocks.empty());
      for (void* block : blocks) std::memset(block, mark, kSize);
      for (void* block : blocks) {
        ASSERT_EQ(static_cast<unsigned char*>(block)[kSize - 1], mark);
      }
      slabs.Give(ListOf(blocks));
    }
  };
  std::thread other(work, 1);
  work(2);
  other.join();
  EXPECT_LE(slabs.slabs(), 2u);
}

}  // namespace
}  // namespace weft::task_internal
