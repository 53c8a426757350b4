// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/task/waker.h"

#include <utility>

#include "gtest/gtest.h"
#include "weft/task/counting_waker.h"

namespace weft {
namespace {

TEST(WakerTest, IsTwoWords) { EXPECT_EQ(sizeof(Waker), 2 * sizeof(void*)); }

TEST(WakerTest, AnEmptyOneWakesNobody) {
  Waker waker;
  EXPECT_FALSE(static_cast<bool>(waker));

  waker.WakeByRef();
  const Waker copy = waker;
  EXPECT_FALSE(static_cast<bool>(copy));
  EXPECT_TRUE(copy.WillWake(waker));
  std::move(waker).Wake();
}

TEST(WakerTest, CopiesOwnReferences) {
  CountingWaker counting;
  {
    const Waker a = counting.waker();
    Waker b;
    b = a;
    EXPECT_EQ(counting.outstanding(), 2);
    b = Waker();
    EXPECT_EQ(counting.outstanding(), 1);
  }
  EXPECT_EQ(counting.outstanding(), 0);
  EXPECT_EQ(counting.wakes(), 0);
}

TEST(WakerTest, MovesCloneNothing) {
  CountingWaker counting;
  Waker a = counting.waker();

  Waker b = std::move(a);
  Waker c;
  c = std::move(b);

  EXPECT_EQ(counting.clones(), 1);
  EXPECT_FALSE(static_cast<bool>(a));  // NOLINT: moved from
  EXPECT_FALSE(static_cast<bool>(b));  // NOLINT: moved from
  EXPECT_TRUE(static_cast<bool>(c));
}

TEST(WakerTest, AssigningItselfKeepsIt) {
  CountingWaker counting;
  Waker waker = counting.waker();
  Waker& same = waker;

  waker = same;
  waker = std::move(same);

  EXPECT_EQ(counting.outstanding(), 1);
  std::move(waker).Wake();
  EXPECT_EQ(counting.wakes(), 1);
}

TEST(WakerTest, WakeConsumesAndWakeByRefDoesNot) {
  CountingWaker counting;
  Waker waker = counting.waker();

  waker.WakeByRef();
  EXPECT_EQ(counting.outstanding(), 1);
  std::move(waker).Wake();
  EXPECT_EQ(counting.outstanding(), 0);
  EXPECT_FALSE(static_cast<bool>(waker));  // NOLINT: empty, as documented
  std::move(waker).Wake();

  EXPECT_EQ(counting.wakes(), 2);
}

TEST(WakerTest, WillWakeComparesTargets) {
  CountingWaker a;
  CountingWaker b;
  const Waker clone = a.waker();

  EXPECT_TRUE(clone.WillWake(a.waker()));
  EXPECT_FALSE(clone.WillWake(b.waker()));
  EXPECT_FALSE(clone.WillWake(Waker()));
}

TEST(WakerTest, ABorrowedOneDropsNothing) {
  CountingWaker counting;
  const Waker owner = counting.waker();
  {
    const BorrowedWaker borrowed(owner.vtable(), owner.data());
    EXPECT_TRUE(borrowed.get().WillWake(owner));
    const Waker clone = borrowed.get();
    EXPECT_EQ(counting.outstanding(), 2);
  }
  EXPECT_EQ(counting.outstanding(), 1);
}

TEST(WakerTest, TheNoopWakerMayBeCopiedAndWoken) {
  Waker clone = NoopWaker();

  EXPECT_TRUE(clone.WillWake(NoopWaker()));
  clone.WakeByRef();
  std::move(clone).Wake();
}

}  // namespace
}  // namespace weft
