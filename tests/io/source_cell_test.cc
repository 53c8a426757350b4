// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/io/source_cell.h"

#include <cstdint>
#include <deque>
#include <mutex>
#include <set>
#include <vector>

#include "gtest/gtest.h"
#include "weft/io/readiness.h"
#include "weft/task/counting_waker.h"
#include "weft/task/wake_list.h"
#include "weft/task/waker.h"

namespace weft::io::io_internal {
namespace {

uint32_t GenerationOf(const SourceCell& cell) {
  return cell.readiness.Load().generation();
}

TEST(SourceCellTest, CellsAreReusedWithAnotherGeneration) {
  SourceCell* cell = AllocateSourceCell(3, false);
  const uint32_t index = cell->index;
  const uint32_t generation = GenerationOf(*cell);
  EXPECT_EQ(cell->token(), uint64_t{generation} << 32 | index);
  EXPECT_EQ(&SourceCellAt(index), cell);
  cell->Unref();

  SourceCell* next = AllocateSourceCell(4, true);

  EXPECT_EQ(next, cell);
  EXPECT_EQ(next->index, index);
  EXPECT_EQ(GenerationOf(*next), generation + 1);
  EXPECT_EQ(next->fd, 4);
  WakeList wakers;
  EXPECT_FALSE(next->Deliver(generation, kReadable, wakers));
  EXPECT_FALSE(next->readiness.Load().IsReady(Direction::kRead));
  next->Unref();
}

TEST(SourceCellTest, ManyCellsExistAtATime) {
  std::vector<SourceCell*> cells;
  std::set<uint32_t> indices;
  for (int i = 0; i < 1000; ++i) {
    cells.push_back(AllocateSourceCell(i, false));
    indices.insert(cells.back()->index);
  }

  EXPECT_EQ(indices.size(), 1000u);
  for (SourceCell* cell : cells) {
    EXPECT_EQ(&SourceCellAt(cell->index), cell);
    cell->Unref();
  }
}

// More waiters than a WakeList holds: it is flushed in between, and those that
// wait for the other direction stay.
TEST(SourceCellTest, DeliversToAllWaitersOfTheDirection) {
  SourceCell* cell = AllocateSourceCell(3, false);
  CountingWaker readers;
  CountingWaker writers;
  std::deque<WaitNode> nodes;
  for (int i = 0; i < 200; ++i) {
    WaitNode& node =
        nodes.emplace_back(i % 2 == 0 ? Direction::kRead : Direction::kWrite);
    node.waker = i % 2 == 0 ? readers.waker() : writers.waker();
    cell->waiters.PushBack(node);
  }
  cell->slots[0] = readers.waker();
  WakeList wakers;

  EXPECT_TRUE(cell->Deliver(GenerationOf(*cell), kReadable, wakers));
  wakers.WakeAll();

  EXPECT_EQ(readers.wakes(), 101);
  EXPECT_EQ(writers.wakes(), 0);
  EXPECT_TRUE(cell->Deliver(GenerationOf(*cell), kClosed, wakers));
  wakers.WakeAll();
  EXPECT_EQ(readers.wakes(), 101);
  EXPECT_EQ(writers.wakes(), 100);
  EXPECT_TRUE(cell->waiters.IsEmpty());
  cell->Unref();
}

TEST(SourceCellTest, RemovingANodeThatIsInNoListHasNoEffect) {
  WaitQueue queue;
  WaitNode node(Direction::kRead);
  WaitQueue::Remove(node);
  queue.PushBack(node);

  WaitQueue::Remove(node);
  WaitQueue::Remove(node);

  EXPECT_TRUE(queue.IsEmpty());
}

// A wake may leave another waiter, which is in the list that is being
// delivered.
TEST(SourceCellTest, WaiterMayLeaveWhileOthersAreWoken) {
  SourceCell* cell = AllocateSourceCell(3, false);
  CountingWaker waker;
  std::deque<WaitNode> nodes;
  for (int i = 0; i < 64; ++i) {
    WaitNode& node = nodes.emplace_back(Direction::kRead);
    node.waker = waker.waker();
    cell->waiters.PushBack(node);
  }
  struct Leaver {
    SourceCell* cell;
    WaitNode* leaves;
  } leaver{cell, &nodes.back()};
  static constexpr WakerVTable kVTable = {
      .clone = [](void* data) { return Waker(&kVTable, data); },
      .wake =
          [](void* data) {
            auto* leaver = static_cast<Leaver*>(data);
            std::lock_guard lock(leaver->cell->mutex);
            WaitQueue::Remove(*leaver->leaves);
          },
      .wake_by_ref = [](void*) {},
      .drop = [](void*) {},
  };
  nodes.front().waker = Waker(&kVTable, &leaver);
  WakeList wakers;

  EXPECT_TRUE(cell->Deliver(GenerationOf(*cell), kReadable, wakers));
  wakers.WakeAll();

  EXPECT_EQ(waker.wakes(), 62);
  EXPECT_EQ(nodes.back().previous, nullptr);
  cell->Unref();
}

}  // namespace
}  // namespace weft::io::io_internal
