// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// weft-lint: allow-file(R22): the tests' tasks end before what they refer to.

#include "weft/executor/task_lints.h"

#include <poll.h>

#include <array>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "weft/executor/executor.h"
#include "weft/executor/executor_hooks.h"
#include "weft/executor/local_executor.h"
#include "weft/task/abort_handle.h"
#include "weft/task/block_on.h"
#include "weft/task/context.h"
#include "weft/task/join_handle.h"
#include "weft/task/polled.h"
#include "weft/task/ready.h"
#include "weft/task/spawn_builder.h"
#include "weft/task/spawner.h"
#include "weft/task/task.h"
#include "weft/task/task_info.h"
#include "weft/task/waker.h"
#include "weft/task/yield_now.h"
#include "weft/tests/executor/runners.h"

// Outside of weft, as a program's functions are: those of weft are not reported.
using Buffer = std::array<char, 20'000>;
[[gnu::noinline]] void Fill(Buffer& buffer) { buffer.fill('x'); }
weft::Task<char> KeepsTooMuch() {
  Buffer buffer;
  Fill(buffer);
  co_await weft::YieldNow();
  co_return buffer[7];
}

namespace weft {
namespace {

using executor_testing::Runners;
using executor_testing::SpinUntil;

class Reports {
 public:
  TaskLintsOptions Options() {
    TaskLintsOptions options;
    options.interval = absl::Milliseconds(2);
    options.poll_limit = absl::Milliseconds(20);
    options.on_report = [this](const LintReport& report) {
      const std::lock_guard lock(mutex_);
      all_.push_back(report);
    };
    return options;
  }
  std::vector<LintReport> Of(TaskLint lint) {
    const std::lock_guard lock(mutex_);
    std::vector<LintReport> found;
    for (const LintReport& report : all_) {
      if (report.lint == lint) found.push_back(report);
    }
    return found;
  }
  LintReport Await(TaskLint lint) {
    SpinUntil([&] { return !Of(lint).empty(); });
    return Of(lint)[0];
  }

 private:
  std::mutex mutex_;
  std::vector<LintReport> all_;  // guarded by mutex_
};

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

class TaskLintsTest : public testing::Test {
 protected:
  TaskLintsTest() {
    absl::StatusOr<TaskLints> lints =
        TaskLints::Start(executor_, reports_.Options());
    EXPECT_TRUE(lints.ok()) << lints.status();
    lints_.emplace(*std::move(lints));
  }

  Reports reports_;
  Executor executor_;
  std::optional<TaskLints> lints_;
};

Task<> Forgets() { co_await Pending(); }

TEST_F(TaskLintsTest, ReportsATaskWhoseWakerWasLost) {
  Runners runners(executor_, 2);
  JoinHandle<> task =
      SpawnBuilder().On(executor_.spawner()).Name("lost").Spawn(Forgets());
  const LintReport report = reports_.Await(TaskLint::kLostWaker);
  EXPECT_EQ(report.task, task.id());
  EXPECT_TRUE(Contains(report.text, "\"lost\", spawned at task_lints_test.cc:"))
      << report.text;
  EXPECT_TRUE(Contains(report.text, "Forgets at task_lints_test.cc:"));
}

// It is destroyed, for nobody has its handle.
TEST_F(TaskLintsTest, ReportsADetachedTaskWhoseWakerWasLost) {
  Runners runners(executor_, 2);
  Waker waker;
  executor_testing::Gate waits;
  executor_
      .SpawnBorrowing([&]() -> Task<> {
        co_await PollFn([&](Context& cx) -> Polled<void> {
          waker = cx.waker();
          waits.Open();
          return kPending;
        });
      })
      .Detach();
  BlockOn(waits.Wait());
  waker = Waker();
  const LintReport report = reports_.Await(TaskLint::kLostWaker);
  EXPECT_TRUE(
      Contains(report.text,
               " is destroyed while it waits: nobody has its waker, nor "
               "its handle\n"))
      << report.text;
  EXPECT_TRUE(Contains(report.text, " at task_lints_test.cc:"));
}

TEST_F(TaskLintsTest, AnAbortedTaskIsNotLost) {
  Runners runners(executor_, 1);
  JoinHandle<> task = executor_.Spawn(Forgets());
  task.MakeAbortHandle().Abort();
  std::move(task).Detach();
  BlockOn(executor_.Spawn(YieldNow()));  // comes behind it
  EXPECT_EQ(reports_.Of(TaskLint::kLostWaker).size(), 0u);
}

TEST_F(TaskLintsTest, OfThoseSpawnedAtOnePlaceReportsTen) {
  Runners runners(executor_, 1);
  for (int i = 0; i < 50; ++i) executor_.Spawn(Forgets()).Detach();
  executor_.Spawn(Forgets()).Detach();
  SpinUntil([&] { return reports_.Of(TaskLint::kLostWaker).size() >= 11; });
  BlockOn(executor_.Spawn(YieldNow()));  // comes behind them
  EXPECT_EQ(reports_.Of(TaskLint::kLostWaker).size(), 11u);
}

TEST_F(TaskLintsTest, ReportsATaskThatWakesItselfAllTheTime) {
  Runners runners(executor_, 2);
  JoinHandle<> task = executor_.SpawnBorrowing([&]() -> Task<> {
    while (reports_.Of(TaskLint::kSelfWake).empty()) co_await YieldNow();
  });
  const TaskId id = task.id();
  BlockOn(task);
  const LintReport report = reports_.Await(TaskLint::kSelfWake);
  EXPECT_EQ(report.task, id);
  EXPECT_TRUE(Contains(report.text, "spawned at task_lints_test.cc:"));
}

// A wake by somebody else comes in between.
TEST_F(TaskLintsTest, ATaskThatWaitsNowAndThenMayWakeItself) {
  Runners runners(executor_, 1);
  const auto ping = [](executor_testing::Gate& gate) -> Task<> {
    gate.Open();
    co_return;
  };
  BlockOn(executor_.SpawnBorrowing([&]() -> Task<> {
    for (int i = 0; i < 5; ++i) {
      for (int k = 0; k < 900; ++k) co_await YieldNow();
      executor_testing::Gate gate;
      JoinHandle<> other = weft::SpawnBorrowing(ping(gate));
      co_await gate.Wait();
      co_await other;
    }
  }));
  EXPECT_EQ(reports_.Of(TaskLint::kSelfWake).size(), 0u);
}

TEST_F(TaskLintsTest, ReportsATaskThatDoesNotYield) {
  Runners runners(executor_, 2);
  JoinHandle<> task = executor_.SpawnBorrowing([&]() -> Task<> {
    while (reports_.Of(TaskLint::kNeverYields).empty()) {
      ::poll(nullptr, 0, /*timeout=*/1);
    }
    co_return;
  });
  const TaskId id = task.id();
  BlockOn(task);
  EXPECT_EQ(reports_.Of(TaskLint::kNeverYields)[0].task, id);
}

TEST_F(TaskLintsTest, ReportsALargeFrameOnce) {
  EXPECT_EQ(BlockOn(KeepsTooMuch()), 'x');
  EXPECT_EQ(BlockOn(KeepsTooMuch()), 'x');
  const std::vector<LintReport> reports = reports_.Of(TaskLint::kLargeFrame);
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_TRUE(Contains(reports[0].text, " bytes is made in "))
      << reports[0].text;
}

// Large frames are those of the process.
TEST_F(TaskLintsTest, SeveralShareAProcess) {
  Reports others;
  Executor other;
  absl::StatusOr<TaskLints> lints = TaskLints::Start(other, others.Options());
  ASSERT_TRUE(lints.ok()) << lints.status();
  other.Spawn(Forgets()).Detach();
  other.Run(KeepsTooMuch());
  EXPECT_EQ(others.Of(TaskLint::kLostWaker).size(), 1u);
  EXPECT_EQ(others.Of(TaskLint::kLargeFrame).size(), 0u);
  EXPECT_EQ(reports_.Of(TaskLint::kLostWaker).size(), 0u);
  EXPECT_EQ(reports_.Of(TaskLint::kLargeFrame).size(), 1u);
}

TEST(TaskLintsStartTest, TheProgramMayHaveHooksOfItsOwn) {
  Reports reports;
  std::vector<std::string> told;
  ExecutorHooks own;
  own.on_spawn = [&](const HookedTask&) { told.push_back("spawn"); };
  own.after_poll = [&](const HookedTask&) { told.push_back("after"); };
  own.on_forgotten = [&](const TaskInfo&) { told.push_back("forgotten"); };
  Executor executor;
  absl::StatusOr<TaskLints> lints =
      TaskLints::Start(executor, reports.Options(), std::move(own));
  ASSERT_TRUE(lints.ok()) << lints.status();
  executor.Spawn(Forgets()).Detach();
  executor.Run(YieldNow());
  EXPECT_EQ(told, (std::vector<std::string>{"spawn", "after", "forgotten"}));
  EXPECT_EQ(reports.Of(TaskLint::kLostWaker).size(), 1u);
}

TEST(TaskLintsStartTest, OfExecutorsWhoseTasksStayOnOneThread) {
  Reports reports;
  LocalExecutor executor;
  TaskLints lints(reports.Options());
  executor.SetHooks(lints.Hooks());
  const absl::Status status = lints.Start({&executor});
  ASSERT_TRUE(status.ok()) << status;
  JoinHandle<> lost = executor.Spawn(Forgets());
  executor.Run(executor.SpawnBorrowing([&]() -> Task<> {
    while (reports.Of(TaskLint::kLostWaker).empty()) co_await YieldNow();
    while (reports.Of(TaskLint::kSelfWake).empty()) co_await YieldNow();
    while (reports.Of(TaskLint::kNeverYields).empty()) {
      ::poll(nullptr, 0, /*timeout=*/1);
    }
  }));
  EXPECT_EQ(reports.Of(TaskLint::kLostWaker)[0].task, lost.id());
}

TEST(TaskLintsStartTest, TwoOnOneExecutorBothCount) {
  Reports first;
  Reports second;
  TaskLints a(first.Options());
  TaskLints b(second.Options());
  Executor executor;
  executor.SetHooks(b.Hooks(a.Hooks()));
  executor.Run(executor.Spawn([]() -> Task<> {
    for (int i = 0; i < 1000; ++i) co_await YieldNow();
  }));
  EXPECT_EQ(first.Of(TaskLint::kSelfWake).size(), 1u);
  EXPECT_EQ(second.Of(TaskLint::kSelfWake).size(), 1u);
}

TEST(TaskLintsStartTest, FailsForZeroWakes) {
  TaskLintsOptions options;
  options.self_wakes = 0;
  Executor executor;
  EXPECT_EQ(TaskLints::Start(executor, options).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(TaskLintsStartTest, FailsWhereAMonitorDoes) {
  TaskLintsOptions options;
  options.poll_limit = absl::ZeroDuration();
  Executor executor;
  EXPECT_EQ(TaskLints::Start(executor, options).status().code(),
            absl::StatusCode::kInvalidArgument);
  executor.SetHooks({.on_park = [] {}});  // it has none
}

TEST_F(TaskLintsTest, MayGoBeforeTheExecutor) {
  lints_.reset();
  Runners runners(executor_, 1);
  BlockOn(executor_.Spawn([]() -> Task<> {
    for (int i = 0; i < 3000; ++i) co_await YieldNow();
  }));
  EXPECT_EQ(BlockOn(KeepsTooMuch()), 'x');
  EXPECT_EQ(reports_.Of(TaskLint::kSelfWake).size(), 0u);
  EXPECT_EQ(reports_.Of(TaskLint::kLargeFrame).size(), 0u);
}

TEST(LintNameTest, IsWhatReportsBeginWith) {
  EXPECT_EQ(LintName(TaskLint::kLostWaker), "lost-waker");
  EXPECT_EQ(LintName(TaskLint::kSelfWake), "self-wake");
  EXPECT_EQ(LintName(TaskLint::kNeverYields), "never-yields");
  EXPECT_EQ(LintName(TaskLint::kLargeFrame), "large-frame");
}

}  // namespace
}  // namespace weft
