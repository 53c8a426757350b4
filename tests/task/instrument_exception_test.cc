// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// How exceptions pass through Instrument.

#include <exception>
#include <stdexcept>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "weft/task/context.h"
#include "weft/task/counting_waker.h"
#include "weft/task/environment.h"
#include "weft/task/instrument.h"
#include "weft/task/polled.h"
#include "weft/task/ready.h"
#include "weft/task/task.h"
#include "weft/task/task_monitor.h"
#include "weft/task/waker.h"
#include "weft/tests/kit/signal.h"
#include "weft/timer/fake_clock.h"

namespace weft {
namespace {

TEST(InstrumentExceptionTest, APollThatThrowsIsTimedAndEndsTheFuture) {
  timer::FakeClock clock;
  Environment environment;
  environment.clock = &clock;
  const EnvironmentScope scope(environment);
  CountingWaker waker;
  Context cx(waker.waker());
  Signal signal;
  TaskMonitor monitor;
  {
    auto future = Instrument(
        monitor, PollFn([&, wait = signal.Wait()](Context& inner) mutable {
          clock.Advance(absl::Microseconds(70));
          return wait.Poll(inner);
        }));
    EXPECT_TRUE(future.Poll(cx).IsPending());
    signal.Fail(std::make_exception_ptr(std::runtime_error("lost")));
    EXPECT_THROW(static_cast<void>(future.Poll(cx)), std::runtime_error);
    EXPECT_EQ(waker.outstanding(), 0);
  }

  const TaskMetrics m = monitor.Totals();
  EXPECT_EQ(m.finished, 1u);
  EXPECT_EQ(m.threw, 1u);
  EXPECT_EQ(m.dropped, 0u);
  EXPECT_EQ(m.polls.sum, 140e-6);
  EXPECT_EQ(m.slow_polls.count, 2u);
}

Task<int> AwaitInstrumented(TaskMonitor monitor, Signal* signal) {
  try {
    auto future = Instrument(monitor, signal->Wait());
    co_return co_await future;
  } catch (const std::runtime_error&) {
    co_return -1;
  }
}

TEST(InstrumentExceptionTest, WhatTheFutureThrowsReachesWhoeverAwaitsIt) {
  Context cx(NoopWaker());
  const auto error = std::make_exception_ptr(std::runtime_error("lost"));
  for (const bool pending_first : {false, true}) {
    Signal signal;
    TaskMonitor monitor;
    Task<int> task = AwaitInstrumented(monitor, &signal);
    if (pending_first) {
      EXPECT_TRUE(task.Poll(cx).IsPending());
    }
    signal.Fail(error);
    EXPECT_EQ(*task.Poll(cx), -1);
    EXPECT_EQ(monitor.Totals().threw, 1u);
  }
}

}  // namespace
}  // namespace weft
