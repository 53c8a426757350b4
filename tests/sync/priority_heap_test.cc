// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/sync/priority_heap.h"

#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "gtest/gtest.h"
#include "weft/sync/priority_message.h"
#include "weft/task/random.h"

namespace weft::sync_internal {
namespace {

using Message = PriorityMessageOf<int>;

// A heap and its lock, which pops what it is asked for as a number.
class HeapTest : public testing::Test {
 protected:
  void Push(uint64_t rank, int value) {
    std::vector<PriorityHeap::Entry> spare;
    std::unique_lock lock(mutex_);
    while (!heap_.HasRoom()) heap_.Grow(lock, spare);
    heap_.Push(*messages_.emplace_back(std::make_unique<Message>(rank, value)));
  }
  int PopFirst() { return static_cast<Message&>(heap_.PopFirst()).value; }
  int PopLast() { return static_cast<Message&>(heap_.PopLast()).value; }

  PriorityHeap heap_;

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Message>> messages_;
};

TEST_F(HeapTest, GivesTheGreatestRankFirst) {
  for (const int rank : {3, 1, 4, 5, 2})
    Push(static_cast<uint64_t>(rank), rank);

  for (const int rank : {5, 4, 3, 2, 1}) EXPECT_EQ(PopFirst(), rank);
  EXPECT_EQ(heap_.size(), 0u);
}

TEST_F(HeapTest, GivesEqualsInOrder) {
  for (int i = 0; i < 100; ++i) Push(7, i);

  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(PopFirst(), i);
    EXPECT_EQ(PopLast(), 99 - i);
  }
}

TEST_F(HeapTest, SaysWhatWouldBeLast) {
  EXPECT_TRUE(heap_.WouldBeLast(0));
  Push(5, 0);
  Push(9, 0);
  Push(7, 0);

  EXPECT_TRUE(heap_.WouldBeLast(4));
  EXPECT_TRUE(heap_.WouldBeLast(5));  // what comes later is later
  EXPECT_FALSE(heap_.WouldBeLast(6));
}

// Against a map in which equals stay in the order of their insertion.
TEST_F(HeapTest, DoesAsAMultimap) {
  Random random(17);
  const int steps = std::getenv("WEFT_LONG") != nullptr ? 2'000'000 : 50'000;
  std::multimap<uint64_t, int, std::greater<>> model;

  for (int i = 0; i < steps; ++i) {
    // Grows and shrinks in turn; ranks are few, so that many are equal.
    const bool grows = i / 500 % 2 == 0;
    if (model.empty() || random.Below(4) < (grows ? 3u : 1u)) {
      const uint64_t rank = random.Below(1 + random.Below(40));
      Push(rank, i);
      model.emplace(rank, i);
    } else if (random.Below(2) == 0) {
      ASSERT_EQ(PopFirst(), model.begin()->second) << "step " << i;
      model.erase(model.begin());
    } else {
      const auto last = std::prev(model.end());
      ASSERT_EQ(heap_.WouldBeLast(last->first + 1), false);
      ASSERT_EQ(PopLast(), last->second) << "step " << i;
      model.erase(last);
    }
    ASSERT_EQ(heap_.size(), model.size());
  }
}

TEST(RankOfTest, ComparesAsThePriorityDoes) {
  enum class Signed : int8_t { kLow = -1, kHigh = 1 };
  enum class Unsigned : uint8_t { kLow = 1, kHigh = 200 };

  EXPECT_LT(RankOf(INT_MIN), RankOf(-1));
  EXPECT_LT(RankOf(-1), RankOf(0));
  EXPECT_LT(RankOf(0), RankOf(INT_MAX));
  EXPECT_LT(RankOf(INT64_MIN), RankOf(int64_t{INT_MIN}));
  EXPECT_LT(RankOf(uint64_t{1}), RankOf(UINT64_MAX));
  EXPECT_LT(RankOf(false), RankOf(true));
  EXPECT_LT(RankOf(Signed::kLow), RankOf(Signed::kHigh));
  EXPECT_LT(RankOf(Unsigned::kLow), RankOf(Unsigned::kHigh));
}

}  // namespace
}  // namespace weft::sync_internal
