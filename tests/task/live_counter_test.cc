// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/task/live_counter.h"

#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace weft {
namespace {

TEST(LiveCounterTest, CountsObjectsAndCopies) {
  LiveCounter counter;
  {
    const LiveCounter::Object a = counter.Make();
    const std::vector<LiveCounter::Object> copies(3, a);
    EXPECT_EQ(counter.live(), 4);
  }
  EXPECT_EQ(counter.live(), 0);
  EXPECT_EQ(counter.gone(), counter.made());
}

TEST(LiveCounterTest, AMovedFromObjectDoesNotCount) {
  LiveCounter counter;
  LiveCounter::Object a = counter.Make();

  LiveCounter::Object b = std::move(a);
  EXPECT_EQ(counter.live(), 1);
  EXPECT_EQ(counter.made(), 1);

  b = counter.Make();
  EXPECT_EQ(counter.live(), 1);
  EXPECT_EQ(counter.gone(), 1);
}

}  // namespace
}  // namespace weft
