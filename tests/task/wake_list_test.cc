// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/task/wake_list.h"

#include <cstddef>

#include "gtest/gtest.h"
#include "weft/task/counting_waker.h"
#include "weft/task/waker.h"

namespace weft {
namespace {

TEST(WakeListTest, WakesAllOnce) {
  CountingWaker waker;
  WakeList list;
  EXPECT_TRUE(list.IsEmpty());

  for (int i = 0; i < 5; ++i) list.Add(waker.waker());
  EXPECT_FALSE(list.IsEmpty());
  EXPECT_EQ(waker.wakes(), 0);

  list.WakeAll();
  list.WakeAll();
  EXPECT_TRUE(list.IsEmpty());
  EXPECT_EQ(waker.wakes(), 5);
  EXPECT_EQ(waker.outstanding(), 0);
}

TEST(WakeListTest, IsFullAtItsCapacity) {
  CountingWaker waker;
  WakeList list;
  for (size_t i = 0; i < WakeList::kCapacity; ++i) {
    EXPECT_FALSE(list.IsFull());
    list.Add(waker.waker());
  }
  EXPECT_TRUE(list.IsFull());

  list.WakeAll();

  EXPECT_FALSE(list.IsFull());
  EXPECT_EQ(waker.wakes(), static_cast<int64_t>(WakeList::kCapacity));
}

TEST(WakeListTest, DroppedItWakesNobodyAndKeepsNothing) {
  CountingWaker waker;
  {
    WakeList list;
    list.Add(waker.waker());
  }
  EXPECT_EQ(waker.wakes(), 0);
  EXPECT_EQ(waker.outstanding(), 0);
}

// A waker may run user code that comes back to the same list.
struct Refill {
  static const WakerVTable kVTable;

  WakeList* list;
  CountingWaker* other;
};
const WakerVTable Refill::kVTable = {
    .clone = [](void* data) { return Waker(&kVTable, data); },
    .wake =
        [](void* data) {
          auto* refill = static_cast<Refill*>(data);
          refill->list->Add(refill->other->waker());
        },
    .wake_by_ref = [](void*) {},
    .drop = [](void*) {},
};

TEST(WakeListTest, MayBeFilledAgainByWhatItWakes) {
  CountingWaker other;
  WakeList list;
  Refill refill{&list, &other};
  list.Add(Waker(&Refill::kVTable, &refill));
  list.Add(other.waker());

  list.WakeAll();
  EXPECT_EQ(other.wakes(), 1);
  EXPECT_FALSE(list.IsEmpty());

  list.WakeAll();
  EXPECT_EQ(other.wakes(), 2);
}

}  // namespace
}  // namespace weft
