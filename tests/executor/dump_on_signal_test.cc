// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/executor/dump_on_signal.h"

#include <csignal>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gtest/gtest.h"

namespace weft {
namespace {

class Reports {
 public:
  std::function<void(const std::string&)> Writer() {
    return [this](const std::string& report) {
      const std::lock_guard lock(mutex_);
      reports_.push_back(report);
    };
  }
  void AwaitSome() {
    for (;;) {
      {
        const std::lock_guard lock(mutex_);
        if (!reports_.empty()) return;
      }
      std::this_thread::yield();
    }
  }
  std::vector<std::string> all() {
    const std::lock_guard lock(mutex_);
    return reports_;
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> reports_;  // guarded by mutex_
};

std::string Hello() { return "hello"; }

TEST(DumpOnSignalTest, WritesAReport) {
  Reports reports;
  auto dump = DumpOnSignal::Start(SIGUSR1, &Hello, reports.Writer());
  ASSERT_TRUE(dump.ok()) << dump.status();
  std::raise(SIGUSR1);
  reports.AwaitSome();
  EXPECT_EQ(reports.all(), std::vector<std::string>{"hello"});
}

TEST(DumpOnSignalTest, OneForEachSignal) {
  Reports first;
  Reports second;
  auto dump = DumpOnSignal::Start(SIGUSR1, &Hello, first.Writer());
  auto other = DumpOnSignal::Start(SIGUSR2, &Hello, second.Writer());
  ASSERT_TRUE(dump.ok() && other.ok());
  EXPECT_EQ(DumpOnSignal::Start(SIGUSR1, &Hello).status().code(),
            absl::StatusCode::kFailedPrecondition);
  std::raise(SIGUSR2);
  second.AwaitSome();
  EXPECT_EQ(first.all().size(), 0u);
}

volatile std::sig_atomic_t before = 0;

TEST(DumpOnSignalTest, GivesTheSignalBack) {
  std::signal(SIGUSR1, [](int) { before = before + 1; });
  {
    Reports reports;
    auto dump = DumpOnSignal::Start(SIGUSR1, &Hello, reports.Writer());
    ASSERT_TRUE(dump.ok());
    std::raise(SIGUSR1);
    reports.AwaitSome();
    EXPECT_EQ(before, 0);
  }
  std::raise(SIGUSR1);
  EXPECT_EQ(before, 1);
  std::signal(SIGUSR1, SIG_DFL);
  Reports reports;
  auto again = DumpOnSignal::Start(SIGUSR1, &Hello, reports.Writer());
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(reports.all().size(), 0u);
}

TEST(DumpOnSignalTest, RefusesWhatIsNoSignal) {
  EXPECT_EQ(DumpOnSignal::Start(-1, &Hello).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(DumpOnSignal::Start(100000, &Hello).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(DumpOnSignal::Start(SIGKILL, &Hello).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace weft
