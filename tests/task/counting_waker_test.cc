// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/task/counting_waker.h"

#include <optional>
#include <thread>
#include <utility>

#include "gtest/gtest.h"
#include "weft/task/waker.h"

namespace weft {
namespace {

TEST(CountingWakerTest, WhatItLendsDoesNotCount) {
  CountingWaker waker;

  EXPECT_EQ(waker.clones(), 0);
  EXPECT_EQ(waker.drops(), 0);
  EXPECT_EQ(waker.outstanding(), 0);
  waker.waker().WakeByRef();
  EXPECT_EQ(waker.wakes(), 1);
}

TEST(CountingWakerTest, ClonesCountUntilDropped) {
  CountingWaker waker;
  {
    const Waker a = waker.waker();
    Waker b = a;
    const Waker moved = std::move(b);
    EXPECT_EQ(waker.clones(), 2);
    EXPECT_EQ(waker.outstanding(), 2);
    EXPECT_TRUE(a.WillWake(waker.waker()));
    EXPECT_TRUE(moved.WillWake(waker.waker()));
  }
  EXPECT_EQ(waker.drops(), 2);
  EXPECT_EQ(waker.outstanding(), 0);
  EXPECT_EQ(waker.wakes(), 0);
}

TEST(CountingWakerTest, AWakeThatConsumesIsAWakeAndADrop) {
  CountingWaker waker;
  Waker clone = waker.waker();

  clone.WakeByRef();
  std::move(clone).Wake();

  EXPECT_EQ(waker.wakes(), 2);
  EXPECT_EQ(waker.drops(), 1);
  EXPECT_EQ(waker.TakeWakes(), 2);
  EXPECT_EQ(waker.TakeWakes(), 0);
}

TEST(CountingWakerTest, ALateWakeFindsNobody) {
  std::optional<CountingWaker> waker(std::in_place);
  Waker late = waker->waker();
  const Waker later = waker->waker();

  waker.reset();

  std::move(late).Wake();
  later.WakeByRef();
}

TEST(CountingWakerTest, TwoOfThemAreDifferent) {
  const CountingWaker a;
  const CountingWaker b;

  EXPECT_FALSE(a.waker().WillWake(b.waker()));
}

TEST(CountingWakerTest, CountsFromAnyThread) {
  CountingWaker waker;
  auto wake = [clone = Waker(waker.waker())] {
    for (int i = 0; i < 1000; ++i) Waker(clone).Wake();
  };
  std::thread other(wake);
  wake();
  other.join();

  EXPECT_EQ(waker.wakes(), 2000);
  EXPECT_EQ(waker.outstanding(), 1);  // that of `wake`
}

}  // namespace
}  // namespace weft
