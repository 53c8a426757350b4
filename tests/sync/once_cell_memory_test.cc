// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// sync/once_cell.h where memory runs out.

#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "weft/sync/once_cell.h"
#include "weft/task/context.h"
#include "weft/task/counting_waker.h"
#include "weft/task/live_counter.h"
#include "weft/tests/executor/failing_new.h"

namespace weft::sync {
namespace {

TEST(OnceCellMemoryTest, ManyAreWokenWithoutMemory) {
  LiveCounter counter;
  OnceCell<LiveCounter::Object> cell;
  CountingWaker waker;
  Context cx(waker.waker());
  std::vector<OnceCellWait<LiveCounter::Object>> waits;
  for (int i = 0; i < 20; ++i) waits.push_back(cell.Wait());
  for (auto& wait : waits) EXPECT_TRUE(wait.Poll(cx).IsPending());
  LiveCounter::Object value = counter.Make();

  executor_testing::FailAllAllocations();
  const bool was_set = cell.Set(std::move(value));
  const auto failed = executor_testing::StopFailing();

  EXPECT_TRUE(was_set);
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(waker.wakes(), 20);
  for (auto& wait : waits) EXPECT_TRUE(wait.Poll(cx).IsReady());
}

}  // namespace
}  // namespace weft::sync
