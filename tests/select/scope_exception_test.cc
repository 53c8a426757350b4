// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// What InScope does with what throws.

#include <stdexcept>
#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "weft/select/scope.h"
#include "weft/task/block_on.h"
#include "weft/task/context.h"
#include "weft/task/counting_waker.h"
#include "weft/task/live_counter.h"
#include "weft/task/ready.h"
#include "weft/task/task.h"
#include "weft/task/waker.h"
#include "weft/task/yield_now.h"

namespace weft {
namespace {

Task<> Throw(std::string what) {
  co_await YieldNow();
  throw std::runtime_error(what);
}

template <class F>
std::string WhatItThrows(F future) {
  try {
    static_cast<void>(BlockOn(future));
    return "";
  } catch (const std::runtime_error& error) {
    return error.what();
  }
}

TEST(ScopeExceptionTest, AChildThatThrowsEndsTheScope) {
  LiveCounter counter;

  EXPECT_EQ(WhatItThrows(InScope([&](Scope& scope) {
              scope.Start([object = counter.Make()] { return Pending(); });
              scope.Start(Throw("boom"));
              scope.Start([object = counter.Make()] { return Pending(); });
              return Pending();
            })),
            "boom");

  EXPECT_EQ(counter.live(), 0);
}

TEST(ScopeExceptionTest, ABodyThatThrowsEndsTheScope) {
  LiveCounter counter;

  EXPECT_EQ(WhatItThrows(InScope([&](Scope& scope) {
              scope.Start([object = counter.Make()] { return Pending(); });
              return Throw("boom");
            })),
            "boom");

  EXPECT_EQ(counter.live(), 0);
}

TEST(ScopeExceptionTest, AFunctionThatThrowsEndsTheScope) {
  EXPECT_EQ(WhatItThrows(InScope([&](Scope& scope) -> PendingFuture<void> {
              scope.Start(Pending());
              throw std::runtime_error("boom");
            })),
            "boom");
}

// At once, as for whatever else throws.
TEST(ScopeExceptionTest, AFunctionThatThrowsDropsWhatItHasStarted) {
  LiveCounter counter;
  Context cx(NoopWaker());
  auto future = InScope([&](Scope& scope) -> PendingFuture<void> {
    scope.Start([object = counter.Make()] { return Pending(); });
    throw std::runtime_error("boom");
  });

  EXPECT_THROW(static_cast<void>(future.Poll(cx).IsReady()),
               std::runtime_error);

  EXPECT_EQ(counter.live(), 0);
}

TEST(ScopeExceptionTest, NobodyKeepsTheWakerThen) {
  CountingWaker waker;
  Context cx(waker.waker());
  auto future = InScope([&](Scope& scope) {
    scope.Start(Throw("boom"));
    return Pending();
  });
  EXPECT_TRUE(future.Poll(cx).IsPending());

  EXPECT_THROW(static_cast<void>(future.Poll(cx).IsReady()),
               std::runtime_error);

  EXPECT_EQ(waker.outstanding(), 0);
}

}  // namespace
}  // namespace weft
