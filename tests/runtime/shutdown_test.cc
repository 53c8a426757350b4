// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// weft-lint: allow-file(R22): the tests' tasks end before what they refer to.

// Shutdown's promise about time, which both flavours with workers keep; needs the
// clock.
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

Runtime MakeRuntime(bool thread_per_core,
                    RuntimeBuilder builder = RuntimeBuilder()) {
  builder.WorkerThreads(2);
  if (thread_per_core) builder.ThreadPerCore();
  return *builder.Build();
}

class ShutdownTest : public testing::TestWithParam<bool> {
 protected:
  ShutdownTest() : runtime_(MakeRuntime(GetParam())) {}
  ~ShutdownTest() override {
    gate_->open = true;
    while (gate_->inside != 0) std::this_thread::yield();
  }

  void AwaitInside(int n) {
    while (gate_->inside != n) std::this_thread::yield();
  }
  // Shuts down with 100 ms and checks that it took no longer than promised.
  ShutdownReport ShutdownInTime() { return ShutdownInTime(runtime_); }
  ShutdownReport ShutdownInTime(Runtime& runtime) {
    const Instant start = Instant::Now();
    const ShutdownReport report = runtime.Shutdown(absl::Milliseconds(100));
    EXPECT_LE(Instant::Now() - start, absl::Milliseconds(200));
    return report;
  }

  Runtime runtime_;
  const std::shared_ptr<Gate> gate_ = std::make_shared<Gate>();
  const std::shared_ptr<sync::Event> never_ = std::make_shared<sync::Event>();
};

INSTANTIATE_TEST_SUITE_P(ThreadPerCore, ShutdownTest, testing::Bool());

TEST_P(ShutdownTest, ReturnsInTimeThoughAPollNeverDoes) {
  std::atomic<int> suspended{0};
  for (int i = 0; i < 5; ++i) {
    runtime_
        .Spawn([&suspended, never = never_]() -> Task<> {
          ++suspended;
          co_await never->Wait();
        })
        .Detach();
  }
  while (suspended != 5) std::this_thread::yield();
  runtime_
      .Spawn([gate = gate_]() -> Task<> {
        gate->Pass();
        co_return;
      })
      .Detach();
  AwaitInside(1);

  const ShutdownReport report = ShutdownInTime();

  EXPECT_EQ(report.workers_running, 1u);
  EXPECT_EQ(report.tasks_dropped, 5u);
}

TEST_P(ShutdownTest, WhatALatePollLeftIsDestroyedWhenItReturns) {
  auto token = std::make_shared<int>(0);
  for (int i = 0; i < 2; ++i) {
    runtime_
        .Spawn([token, never = never_]() -> Task<> { co_await never->Wait(); })
        .Detach();
  }
  runtime_
      .Spawn([gate = gate_]() -> Task<> {
        gate->Pass();
        co_return;
      })
      .Detach();
  AwaitInside(1);
  static_cast<void>(ShutdownInTime());
  EXPECT_EQ(token.use_count(), 3);

  gate_->open = true;

  while (token.use_count() != 1) std::this_thread::yield();
}

TEST_P(ShutdownTest, ReturnsInTimeThoughAJobNeverDoes) {
  runtime_.SpawnBlocking([gate = gate_] { gate->Pass(); }).Detach();
  AwaitInside(1);

  const ShutdownReport report = ShutdownInTime();

  EXPECT_EQ(report.jobs_running, 1u);
  EXPECT_EQ(report.jobs_dropped, 0u);
}

TEST_P(ShutdownTest, ReturnsInTimeThoughAHookNeverDoes) {
  Runtime runtime = MakeRuntime(
      GetParam(),
      RuntimeBuilder().OnThreadStop([gate = gate_] { gate->Pass(); }));

  const ShutdownReport report = ShutdownInTime(runtime);

  EXPECT_EQ(report.workers_running, 2u);
}

TEST_P(ShutdownTest, TakesNoLongerThanItsTasks) {
  const Instant start = Instant::Now();
  static_cast<void>(runtime_.Shutdown(absl::Seconds(60)));
  EXPECT_LE(Instant::Now() - start, absl::Seconds(5));
}

}  // namespace
}  // namespace weft
