// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/sync/slot_table.h"

#include <atomic>
#include <cstddef>
#include <set>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace weft::sync_internal {
namespace {

struct Slot {
  std::atomic<int> state{7};
};

TEST(SlotTableTest, HasNothingBeforeItIsUsed) {
  SlotTable<Slot> table(size_t{1} << 20);

  EXPECT_EQ(table.size(), size_t{1} << 20);
  EXPECT_EQ(table.Find(0), nullptr);
  EXPECT_EQ(table.Find(31), nullptr);
  EXPECT_EQ(table.Find(32), nullptr);
  EXPECT_EQ(table.Find((size_t{1} << 20) - 1), nullptr);
}

TEST(SlotTableTest, EachIndexHasASlotOfItsOwn) {
  for (const size_t size : {1, 2, 16, 32, 64, 128, 1024}) {
    SlotTable<Slot> table(size);
    std::set<Slot*> slots;
    for (size_t i = 0; i < size; ++i) {
      Slot& slot = table.FindOrMake(i);
      EXPECT_EQ(slot.state, 7);
      EXPECT_EQ(table.Find(i), &slot);
      slots.insert(&slot);
    }
    EXPECT_EQ(slots.size(), size);
    for (size_t i = 0; i < size; ++i) {
      EXPECT_EQ(&table.FindOrMake(i), table.Find(i));
    }
  }
}

TEST(SlotTableTest, MakesTheLastSlotFirst) {
  SlotTable<Slot> table(256);

  EXPECT_EQ(table.FindOrMake(255).state, 7);

  EXPECT_NE(table.Find(128), nullptr);
  EXPECT_EQ(table.Find(127), nullptr);
  EXPECT_EQ(table.Find(0), nullptr);
}

TEST(SlotTableTest, ThreadsMakeTheSameSlots) {
  for (int round = 0; round < 200; ++round) {
    SlotTable<Slot> table(128);
    const auto use = [&] {
      for (size_t i = 0; i < 128; ++i) ++table.FindOrMake(i).state;
    };
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) threads.emplace_back(use);
    for (std::thread& thread : threads) thread.join();
    for (size_t i = 0; i < 128; ++i) EXPECT_EQ(table.Find(i)->state, 10);
  }
}

}  // namespace
}  // namespace weft::sync_internal
