// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Initializers of sync/once_cell.h that throw.

#include <stdexcept>
#include <utility>

#include "gtest/gtest.h"
#include "weft/sync/once_cell.h"
#include "weft/task/block_on.h"
#include "weft/task/context.h"
#include "weft/task/counting_waker.h"
#include "weft/task/ready.h"
#include "weft/task/task.h"
#include "weft/task/yield_now.h"

namespace weft::sync {
namespace {

Task<int> ThrowsLater() {
  co_await YieldNow();
  throw std::runtime_error("later");
}

ReadyFuture<int> ThrowsAtOnce() { throw std::runtime_error("at once"); }

TEST(OnceCellExceptionTest, TheNextTakesOverWhereOneThrows) {
  OnceCell<int> cell;
  CountingWaker waker;
  Context cx(waker.waker());
  auto thrower = cell.GetOrInit(&ThrowsLater);
  auto next = cell.GetOrInit([] { return Ready(3); });
  EXPECT_TRUE(thrower.Poll(cx).IsPending());
  EXPECT_TRUE(next.Poll(cx).IsPending());
  waker.TakeWakes();

  EXPECT_THROW(static_cast<void>(thrower.Poll(cx)), std::runtime_error);

  EXPECT_EQ(waker.TakeWakes(), 1);
  EXPECT_TRUE(next.Poll(cx).IsReady());
  EXPECT_EQ(*cell.Get(), 3);
}

TEST(OnceCellExceptionTest, AFunctionThatThrowsEndsItsTurn) {
  OnceCell<int> cell;

  EXPECT_THROW(static_cast<void>(BlockOn(cell.GetOrInit(&ThrowsAtOnce))),
               std::runtime_error);
  EXPECT_THROW(
      cell.BlockingGetOrInit([]() -> int { throw std::runtime_error("here"); }),
      std::runtime_error);

  EXPECT_EQ(cell.BlockingGetOrInit([] { return 4; }), 4);
}

struct ThrowsWhenMoved {
  ThrowsWhenMoved() = default;
  ThrowsWhenMoved(ThrowsWhenMoved&& other) : throws(other.throws) {
    if (throws) throw std::runtime_error("moved");
  }
  bool throws = false;
};

TEST(OnceCellExceptionTest, AValueThatCannotBeStoredLeavesItEmpty) {
  OnceCell<ThrowsWhenMoved> cell;
  ThrowsWhenMoved value;
  value.throws = true;

  EXPECT_THROW(static_cast<void>(cell.Set(std::move(value))),
               std::runtime_error);

  EXPECT_FALSE(cell.HasValue());
  EXPECT_TRUE(cell.Set(ThrowsWhenMoved()));
}

}  // namespace
}  // namespace weft::sync
