// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// sync/once_cell.h where memory runs out.

#include <new>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "weft/sync/once_cell.h"
#include "weft/task/context.h"
#include "weft/task/counting_waker.h"
#include "weft/task/live_counter.h"
#include "weft/task/ready.h"
#include "weft/tests/executor/failing_new.h"

namespace weft::sync {
namespace {

// More waiters than can be woken without it.
TEST(OnceCellMemoryTest, ATurnEndsAlsoWhereMemoryRunsOut) {
  LiveCounter counter;
  OnceCell<LiveCounter::Object> cell;
  CountingWaker waker;
  Context cx(waker.waker());
  std::vector<OnceCellWait<LiveCounter::Object>> waits;
  for (int i = 0; i < 20; ++i) waits.push_back(cell.Wait());
  for (auto& wait : waits) EXPECT_TRUE(wait.Poll(cx).IsPending());
  const auto make = [&] { return Ready(counter.Make()); };
  {
    auto init = cell.GetOrInit(make);
    LiveCounter::Object value = counter.Make();

    executor_testing::FailAllAllocations();
    EXPECT_THROW(static_cast<void>(cell.Set(std::move(value))), std::bad_alloc);
    EXPECT_THROW(static_cast<void>(init.Poll(cx)), std::bad_alloc);
    EXPECT_GT(executor_testing::StopFailing(), 0);
  }

  EXPECT_FALSE(cell.HasValue());
  EXPECT_EQ(counter.live(), 0);
  EXPECT_TRUE(cell.Set(counter.Make()));
  EXPECT_EQ(waker.wakes(), 20);
  for (auto& wait : waits) EXPECT_TRUE(wait.Poll(cx).IsReady());
}

}  // namespace
}  // namespace weft::sync
