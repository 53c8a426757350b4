// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Shutdown's promise about time; needs the clock.
#include <atomic>
#include <memory>
#include <thread>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "weft/runtime/runtime.h"
#include "weft/runtime/runtime_builder.h"
#include "weft/sync/event.h"
#include "weft/task/instant.h"
#include "weft/task/join_handle.h"
#include "weft/task/task.h"

namespace weft {
namespace {

// Something that does not return until it is told to.
struct Gate {
  std::atomic<bool> open{false};
  std::atomic<int> inside{0};

  void Pass() {
    ++inside;
    while (!open) std::this_thread::yield();
    --inside;
  }
};

class ShutdownTest : public testing::Test {
 protected:
  ShutdownTest() : runtime_(*RuntimeBuilder().WorkerThreads(2).Build()) {}
  ~ShutdownTest() override {
    gate_->open = true;
    while (gate_->inside != 0) std::this_thread::yield();
  }

  void AwaitInside(int n) {
    while (gate_->inside != n) std::this_thread::yield();
  }
  // Shuts down with 100 ms and checks that it took no longer than promised.
  ShutdownReport ShutdownInTime() {
    const Instant start = Instant::Now();
    const ShutdownReport report = runtime_.Shutdown(absl::Milliseconds(100));
    EXPECT_LE(Instant::Now() - start, absl::Milliseconds(200));
    return report;
  }

  Runtime runtime_;
  const std::shared_ptr<Gate> gate_ = std::make_shared<Gate>();
  const std::shared_ptr<sync::Event> never_ = std::make_shared<sync::Event>();
};

TEST_F(ShutdownTest, ReturnsInTimeThoughAPollNeverDoes) {
  runtime_
      .Spawn([gate = gate_]() -> Task<> {
        gate->Pass();
        co_return;
      })
      .Detach();
  for (int i = 0; i < 5; ++i) {
    runtime_.Spawn([never = never_]() -> Task<> { co_await never->Wait(); })
        .Detach();
  }
  AwaitInside(1);

  const ShutdownReport report = ShutdownInTime();

  EXPECT_EQ(report.workers_running, 1u);
  EXPECT_EQ(report.tasks_dropped, 5u);
}

TEST_F(ShutdownTest, WhatALatePollLeftIsDestroyedWhenItReturns) {
  auto token = std::make_shared<int>(0);
  runtime_
      .Spawn([gate = gate_]() -> Task<> {
        gate->Pass();
        co_return;
      })
      .Detach();
  runtime_
      .Spawn([token, never = never_]() -> Task<> { co_await never->Wait(); })
      .Detach();
  AwaitInside(1);
  static_cast<void>(ShutdownInTime());
  EXPECT_EQ(token.use_count(), 2);

  gate_->open = true;

  while (token.use_count() != 1) std::this_thread::yield();
}

TEST_F(ShutdownTest, ReturnsInTimeThoughAJobNeverDoes) {
  runtime_.SpawnBlocking([gate = gate_] { gate->Pass(); }).Detach();
  AwaitInside(1);

  const ShutdownReport report = ShutdownInTime();

  EXPECT_EQ(report.jobs_running, 1u);
  EXPECT_EQ(report.jobs_dropped, 0u);
}

TEST_F(ShutdownTest, TakesNoLongerThanItsTasks) {
  const Instant start = Instant::Now();
  static_cast<void>(runtime_.Shutdown(absl::Seconds(60)));
  EXPECT_LE(Instant::Now() - start, absl::Seconds(5));
}

}  // namespace
}  // namespace weft
