// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// weft-lint: allow-file(R22): the tests' tasks end before what they refer to.

#include "weft/executor/stuck_task_monitor.h"

#include <poll.h>

#include <atomic>
#include <csignal>
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
#include "weft/executor/block_in_place.h"
#include "weft/executor/blocking_pool.h"
#include "weft/executor/executor.h"
#include "weft/executor/local_executor.h"
#include "weft/task/await_trace.h"
#include "weft/task/block_on.h"
#include "weft/task/context.h"
#include "weft/task/environment.h"
#include "weft/task/join_handle.h"
#include "weft/task/polled.h"
#include "weft/task/ready.h"
#include "weft/task/spawn_builder.h"
#include "weft/task/spawner.h"
#include "weft/task/task.h"
#include "weft/task/task_id.h"
#include "weft/task/yield_now.h"
#include "weft/tests/executor/runners.h"

namespace weft {
namespace {

using executor_testing::Gate;
using executor_testing::Runners;
using executor_testing::SpinUntil;

// The thread sanitizer may call a handler from where no unwinder gets out.
#if defined(__SANITIZE_THREAD__)
constexpr bool kSeesStack = false;
#elif defined(__has_feature)
constexpr bool kSeesStack = !__has_feature(thread_sanitizer);
#else
constexpr bool kSeesStack = true;
#endif

// Collects reports; the tests' polls last until one has come.
class Reports {
 public:
  StuckTaskMonitorOptions Options() {
    StuckTaskMonitorOptions options;
    options.limit = absl::Milliseconds(20);
    options.on_stuck = [this](const StuckTask& stuck) { Add(stuck); };
    return options;
  }
  bool Any() {
    const std::lock_guard lock(mutex_);
    return !all_.empty();
  }
  std::vector<StuckTask> all() {
    const std::lock_guard lock(mutex_);
    return all_;
  }

 private:
  void Add(const StuckTask& stuck) {
    const std::lock_guard lock(mutex_);
    all_.push_back(stuck);
  }

  std::mutex mutex_;
  std::vector<StuckTask> all_;  // guarded by mutex_
};

// In system calls: the thread sanitizer holds signals back until there is one.
[[gnu::noinline]] void HoldUntilReported(Reports& reports) {
  while (!reports.Any()) ::poll(nullptr, 0, /*timeout=*/1);
}

Task<> Innermost(Reports& reports) {
  co_await YieldNow();
  HoldUntilReported(reports);
}
Task<> Middle(Reports& reports) { co_await Innermost(reports); }
Task<> Outer(Reports& reports) { co_await Middle(reports); }

TEST(StuckTaskMonitorTest, NamesTheTaskAndItsAwaits) {
  Executor executor;
  Runners runners(executor, 2);
  Reports reports;
  auto monitor = StuckTaskMonitor::Start(executor, reports.Options());
  ASSERT_TRUE(monitor.ok()) << monitor.status();
  JoinHandle<> task = SpawnBuilder()
                          .On(executor.spawner())
                          .Name("greedy")
                          .SpawnBorrowing(Outer(reports));
  const TaskId id = task.id();
  BlockOn(task);

  const StuckTask stuck = reports.all().at(0);
  EXPECT_TRUE(stuck.answered);
  EXPECT_EQ(stuck.task, id);
  EXPECT_EQ(stuck.name, "greedy");
  EXPECT_GE(stuck.for_, absl::Milliseconds(20));
  ASSERT_EQ(stuck.awaits.size(), 3u);
  const auto name = [&](size_t i) {
    return ShortFunctionName(stuck.awaits[i].at.function_name());
  };
  EXPECT_EQ(name(0), "Outer");
  EXPECT_EQ(name(1), "Middle");
  EXPECT_EQ(name(2), "Innermost");
  EXPECT_TRUE(stuck.awaits[2].runs);
  const std::string text = stuck.ToString();
  EXPECT_NE(text.find("\"greedy\", spawned at stuck_task_monitor_test.cc:"),
            std::string::npos)
      << text;
  if (kSeesStack) {
    EXPECT_NE(text.find("HoldUntilReported"), std::string::npos) << text;
  }
}

// Its future is being destroyed, so nobody may look what it waits for.
TEST(StuckTaskMonitorTest, NamesATaskWhoseDestructorIsSlow) {
  struct Slow {
    explicit Slow(Reports& reports) : reports(&reports) {}
    Slow(Slow&& other) noexcept
        : reports(std::exchange(other.reports, nullptr)) {}
    ~Slow() {
      if (reports != nullptr) HoldUntilReported(*reports);
    }
    Reports* reports;
  };
  Executor executor;
  Runners runners(executor, 1);
  Reports reports;
  auto monitor = StuckTaskMonitor::Start(executor, reports.Options());
  ASSERT_TRUE(monitor.ok()) << monitor.status();
  auto poll = [slow = Slow(reports)](Context&) -> Polled<void> {
    return Unit();
  };
  JoinHandle<> task = SpawnBuilder()
                          .On(executor.spawner())
                          .Name("slow")
                          .SpawnBorrowing(PollFn(std::move(poll)));
  BlockOn(task);
  EXPECT_EQ(reports.all().at(0).name, "slow");
  EXPECT_EQ(reports.all()[0].awaits.size(), 0u);
}

TEST(StuckTaskMonitorTest, ReportsEachPollOnce) {
  Executor executor;
  Runners runners(executor, 1);
  Reports first;
  Reports second;
  auto monitor = StuckTaskMonitor::Start(executor, first.Options());
  auto other_monitor = StuckTaskMonitor::Start(executor, second.Options());
  ASSERT_TRUE(monitor.ok() && other_monitor.ok());
  BlockOn(executor.SpawnBorrowing([&]() -> Task<> {
    HoldUntilReported(first);
    HoldUntilReported(second);
    co_return;
  }));
  EXPECT_EQ(first.all().size(), 1u);
  EXPECT_EQ(second.all().size(), 1u);
}

TEST(StuckTaskMonitorTest, NamesTheFutureGivenToRun) {
  Executor executor;
  Reports reports;
  auto monitor = StuckTaskMonitor::Start(executor, reports.Options());
  ASSERT_TRUE(monitor.ok());
  executor.Run(Outer(reports));
  const StuckTask stuck = reports.all().at(0);
  EXPECT_FALSE(stuck.task);
  EXPECT_NE(stuck.ToString().find("given to Run()"), std::string::npos);
}

// The destructor of what the coroutine holds: its frame is going.
TEST(StuckTaskMonitorTest, WhileTheFutureIsDestroyedOnlyTheStackIsShown) {
  struct Slow {
    explicit Slow(Reports& reports) : reports(reports) {}
    Slow(const Slow&) = delete;
    ~Slow() { HoldUntilReported(reports); }
    Reports& reports;
  };
  Executor executor;
  Runners runners(executor, 1);
  Reports reports;
  auto monitor = StuckTaskMonitor::Start(executor, reports.Options());
  ASSERT_TRUE(monitor.ok());
  Gate never;
  JoinHandle<> task = executor.SpawnBorrowing([&]() -> Task<> {
    const Slow slow(reports);
    co_await never.Wait();
  });
  SpinUntil([&] { return executor.Stats().suspended == 1; });
  BlockOn(std::move(task).Cancel());
  const StuckTask stuck = reports.all().at(0);
  EXPECT_TRUE(stuck.answered);
  EXPECT_EQ(stuck.awaits.size(), 0u);
  if (kSeesStack) {
    EXPECT_NE(stuck.ToString().find("HoldUntilReported"), std::string::npos);
  }
}

// Both may take as long as they like. A task that is stuck afterwards shows that the
// monitor has looked.
TEST(StuckTaskMonitorTest, LeavesBlockInPlaceAndSleepersAlone) {
  BlockingPool pool;
  Environment environment = Environment::Current();
  environment.offload = &pool;
  Executor executor;
  Reports reports;
  std::thread sleeper([&] {
    const EnvironmentScope scope(environment);
    Gate never;
    executor.Run(YieldNow());
  });
  sleeper.join();
  auto monitor = StuckTaskMonitor::Start(executor, reports.Options());
  ASSERT_TRUE(monitor.ok());
  const EnvironmentScope scope(environment);
  executor.Run([](Executor& executor, Reports& reports) -> Task<> {
    BlockInPlace([] { ::poll(nullptr, 0, /*timeout=*/100); });
    JoinHandle<> task = SpawnBuilder()
                            .On(executor.spawner())
                            .Name("stuck")
                            .SpawnBorrowing(Outer(reports));
    co_await task;
  }(executor, reports));
  ASSERT_EQ(reports.all().size(), 1u);
  EXPECT_EQ(reports.all()[0].name, "stuck");
}

// One of several, whose tasks stay on their threads.
TEST(StuckTaskMonitorTest, OfLocalExecutors) {
  LocalExecutor idle;
  std::optional<LocalExecutor> executor;
  Reports reports;
  std::atomic<bool> made{false};
  std::atomic<bool> go_on{false};
  std::atomic<bool> unwatched{false};
  std::thread thread([&] {
    executor.emplace();
    made.store(true);
    SpinUntil([&] { return go_on.load(); });
    executor->Run([](Reports& reports) -> Task<> {
      JoinHandle<> task =
          SpawnBuilder().Name("local").SpawnBorrowing(Outer(reports));
      co_await task;
    }(reports));
    SpinUntil([&] { return unwatched.load(); });
    executor.reset();
  });
  SpinUntil([&] { return made.load(); });
  {
    auto monitor =
        StuckTaskMonitor::Start({&idle, &*executor}, reports.Options());
    ASSERT_TRUE(monitor.ok());
    go_on.store(true);
    SpinUntil([&] { return reports.Any(); });
  }
  unwatched.store(true);
  thread.join();
  const StuckTask stuck = reports.all().at(0);
  EXPECT_EQ(stuck.runner, 1);
  EXPECT_EQ(stuck.name, "local");
  EXPECT_EQ(stuck.awaits.size(), 3u);
}

TEST(StuckTaskMonitorTest, RefusesAnotherSignal) {
  Executor executor;
  ASSERT_TRUE(StuckTaskMonitor::Start(executor).ok());
  StuckTaskMonitorOptions options;
  options.signal = SIGUSR2;
  EXPECT_EQ(StuckTaskMonitor::Start(executor, options).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST(StuckTaskMonitorTest, RefusesALimitThatIsNone) {
  Executor executor;
  StuckTaskMonitorOptions options;
  options.limit = absl::ZeroDuration();
  EXPECT_EQ(StuckTaskMonitor::Start(executor, options).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace weft
