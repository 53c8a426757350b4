// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// RuntimeBuilder::ReportLints() on every flavour.
#include <poll.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "weft/executor/executor_hooks.h"
#include "weft/executor/task_lints.h"
#include "weft/runtime/runtime.h"
#include "weft/runtime/runtime_builder.h"
#include "weft/task/join_handle.h"
#include "weft/task/ready.h"
#include "weft/task/spawn_builder.h"
#include "weft/task/task.h"
#include "weft/task/task_id.h"
#include "weft/task/yield_now.h"

namespace weft {
namespace {

// What was reported; the tests' tasks go on until something was.
class Reports {
 public:
  Reports() = default;

  void Add(const LintReport& report) {
    const std::lock_guard lock(mutex_);
    all_.push_back(report);
  }
  std::vector<LintReport> Of(TaskLint lint) {
    const std::lock_guard lock(mutex_);
    std::vector<LintReport> found;
    for (const LintReport& report : all_) {
      if (report.lint == lint) found.push_back(report);
    }
    return found;
  }

 private:
  std::mutex mutex_;
  std::vector<LintReport> all_;  // guarded by mutex_
};

TaskLintsOptions Into(std::shared_ptr<Reports> reports) {
  TaskLintsOptions options;
  options.interval = absl::Milliseconds(5);
  options.poll_limit = absl::Milliseconds(20);
  options.on_report = [reports](const LintReport& report) {
    reports->Add(report);
  };
  return options;
}

Task<> YieldUntil(std::shared_ptr<Reports> reports, TaskLint lint) {
  while (reports->Of(lint).empty()) co_await YieldNow();
}

Task<> HoldUntilReported(std::shared_ptr<Reports> reports) {
  while (reports->Of(TaskLint::kNeverYields).empty()) {
    ::poll(nullptr, 0, /*timeout=*/1);
  }
  co_return;
}

Task<> WaitForever() { co_await Pending(); }

using MakeBuilder = RuntimeBuilder (*)();

class LintsTest : public testing::TestWithParam<MakeBuilder> {
 protected:
  LintsTest()
      : runtime_(*GetParam()()
                      .OnTaskAfterPoll([this](const HookedTask&) { ++polls_; })
                      .ReportLints(Into(reports_))
                      .Build()) {}

  template <class F>
  JoinHandle<> Spawn(std::string name, F future) {
    return SpawnBuilder()
        .On(runtime_.spawner())
        .Name(std::move(name))
        .Spawn(std::move(future));
  }

  std::atomic<int> polls_{0};
  std::shared_ptr<Reports> reports_ = std::make_shared<Reports>();
  Runtime runtime_;
};
INSTANTIATE_TEST_SUITE_P(
    Flavours, LintsTest,
    testing::Values([] { return RuntimeBuilder().WorkerThreads(2); },
                    [] { return RuntimeBuilder().CurrentThread(); },
                    [] {
                      return RuntimeBuilder().ThreadPerCore().WorkerThreads(2);
                    }));

TEST_P(LintsTest, ALostTaskIsReported) {
  JoinHandle<> lost = Spawn("lost", WaitForever());
  runtime_.BlockOn(Spawn("looks", YieldUntil(reports_, TaskLint::kLostWaker)));
  const LintReport report = reports_->Of(TaskLint::kLostWaker).at(0);
  EXPECT_EQ(report.task, lost.id());
  EXPECT_NE(report.text.find("WaitForever at lints_test.cc:"),
            std::string::npos);
}

TEST_P(LintsTest, ALostTaskWithoutAHandleIsReported) {
  Spawn("lost", WaitForever()).Detach();
  runtime_.BlockOn(Spawn("looks", YieldUntil(reports_, TaskLint::kLostWaker)));
  EXPECT_NE(reports_->Of(TaskLint::kLostWaker).at(0).text.find("is destroyed"),
            std::string::npos);
}

TEST_P(LintsTest, ATaskThatWakesItselfIsReported) {
  JoinHandle<> task = Spawn("asks", YieldUntil(reports_, TaskLint::kSelfWake));
  const TaskId id = task.id();
  runtime_.BlockOn(task);
  EXPECT_EQ(reports_->Of(TaskLint::kSelfWake).at(0).task, id);
}

TEST_P(LintsTest, ATaskThatDoesNotYieldIsReported) {
  JoinHandle<> task = Spawn("holds", HoldUntilReported(reports_));
  const TaskId id = task.id();
  runtime_.BlockOn(task);
  EXPECT_EQ(reports_->Of(TaskLint::kNeverYields).at(0).task, id);
}

TEST_P(LintsTest, HooksOfTheProgramAreCalledBeside) {
  runtime_.BlockOn(Spawn("polled", YieldNow()));
  EXPECT_EQ(polls_.load(), 2);
}

TEST_P(LintsTest, LintsThatCannotBeStartedFailTheBuild) {
  TaskLintsOptions options;
  options.poll_limit = absl::ZeroDuration();
  EXPECT_EQ(GetParam()().ReportLints(options).Build().status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace weft
