// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// How exceptions pass through Timeout.
#include <exception>
#include <stdexcept>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "weft/task/context.h"
#include "weft/task/counting_waker.h"
#include "weft/task/environment.h"
#include "weft/task/polled.h"
#include "weft/task/task.h"
#include "weft/tests/kit/signal.h"
#include "weft/timer/fake_clock.h"
#include "weft/timer/timeout.h"

namespace weft::timer {
namespace {

Task<int> AwaitInTime(Signal* signal) {
  try {
    auto timeout = Timeout(absl::Seconds(1), signal->Wait());
    const absl::StatusOr<int> result = co_await timeout;
    co_return result.ok() ? *result : -1;
  } catch (const std::runtime_error&) {
    co_return -2;
  }
}

TEST(TimeoutExceptionTest, WhatTheFutureThrowsReachesWhoeverAwaitsTheTimeout) {
  FakeClock clock;
  Environment environment;
  environment.clock = &clock;
  const EnvironmentScope scope(environment);
  CountingWaker waker;
  Context cx(waker.waker());
  const auto error = std::make_exception_ptr(std::runtime_error("lost"));
  for (int polls_before = 0; polls_before < 2; ++polls_before) {
    Signal signal;
    Task<int> task = AwaitInTime(&signal);
    if (polls_before == 1) {
      EXPECT_TRUE(task.Poll(cx).IsPending());
    }
    signal.Fail(error);
    EXPECT_EQ(*task.Poll(cx), -2);
  }
  EXPECT_FALSE(clock.AdvanceToNext());
  EXPECT_EQ(waker.outstanding(), 0);
}

}  // namespace
}  // namespace weft::timer
