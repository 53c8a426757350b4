// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// weft-lint: allow-file(R22): the tests' tasks end before what they refer to.

#include "weft/runtime/runtime.h"

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "weft/executor/block_in_place.h"
#include "weft/executor/strand.h"
#include "weft/runtime/runtime_builder.h"
#include "weft/select/join.h"
#include "weft/sync/event.h"
#include "weft/task/block_on.h"
#include "weft/task/join_handle.h"
#include "weft/task/offload.h"
#include "weft/task/ready.h"
#include "weft/task/spawner.h"
#include "weft/task/task.h"
#include "weft/task/yield_now.h"
#include "weft/timer/sleep.h"

namespace weft {
namespace {

enum class Flavour {
  kMultiThread1,
  kMultiThread4,
  kThreadPerCore1,
  kThreadPerCore4,
  kCurrentThread,
};

Runtime MakeRuntime(Flavour flavour) {
  RuntimeBuilder builder;
  builder.EnableAll();
  switch (flavour) {
    case Flavour::kMultiThread1:
      builder.WorkerThreads(1);
      break;
    case Flavour::kMultiThread4:
      builder.WorkerThreads(4);
      break;
    case Flavour::kThreadPerCore1:
      builder.ThreadPerCore().WorkerThreads(1);
      break;
    case Flavour::kThreadPerCore4:
      builder.ThreadPerCore().WorkerThreads(4);
      break;
    case Flavour::kCurrentThread:
      builder.CurrentThread();
      break;
  }
  absl::StatusOr<Runtime> runtime = builder.Build();
  EXPECT_TRUE(runtime.ok()) << runtime.status();
  return *std::move(runtime);
}

Task<int> AddLater(int a, int b) {
  co_await YieldNow();
  co_await timer::After(absl::Milliseconds(1));
  co_return a + b;
}

// Something to wait for that never comes; unlike Pending() it keeps the waker,
// so that a detached task that waits for it lives.
sync::Event& Never() {
  static auto* const never = new sync::Event;
  return *never;
}

class RuntimeTest : public testing::TestWithParam<Flavour> {
 protected:
  RuntimeTest() : runtime_(MakeRuntime(GetParam())) {}

  Runtime runtime_;
};

INSTANTIATE_TEST_SUITE_P(Flavours, RuntimeTest,
                         testing::Values(Flavour::kMultiThread1,
                                         Flavour::kMultiThread4,
                                         Flavour::kThreadPerCore1,
                                         Flavour::kThreadPerCore4,
                                         Flavour::kCurrentThread));

TEST_P(RuntimeTest, BlockOnGivesTheOutput) {
  EXPECT_EQ(runtime_.BlockOn(AddLater(1, 2)), 3);
}

TEST_P(RuntimeTest, BlockOnTwiceOnTheSameRuntime) {
  EXPECT_EQ(runtime_.BlockOn(AddLater(1, 2)), 3);
  EXPECT_EQ(runtime_.BlockOn(AddLater(3, 4)), 7);
}

TEST_P(RuntimeTest, SpawnedTasksAreAwaited) {
  JoinHandle<int> outer = runtime_.Spawn([]() -> Task<int> {
    // The free function finds the runtime that polls this.
    JoinHandle<int> inner = Spawn(AddLater(20, 1));
    const int n = co_await inner;
    co_return 2 * n;
  });
  EXPECT_EQ(runtime_.BlockOn(outer), 42);
}

TEST_P(RuntimeTest, BlockingJobsRunElsewhere) {
  const auto home = std::this_thread::get_id();
  auto elsewhere = runtime_.BlockOn([]() -> Task<std::thread::id> {
    auto job = SpawnBlocking([] { return std::this_thread::get_id(); });
    co_return co_await job;
  }());
  EXPECT_NE(elsewhere, home);
}

TEST_P(RuntimeTest, BlockOnWorksInsideABlockingJob) {
  const int n = runtime_.BlockOn([]() -> Task<int> {
    auto job = SpawnBlocking([] { return BlockOn(AddLater(5, 6)); });
    co_return co_await job;
  }());
  EXPECT_EQ(n, 11);
}

TEST_P(RuntimeTest, ItsSpawnerIsBelowOthers) {
  const Strand strand(runtime_.spawner());
  const weft::Handle handle = runtime_.handle();
  Spawner& same = handle.spawner();

  EXPECT_EQ(runtime_.BlockOn(strand.Spawn(AddLater(1, 2))), 3);
  EXPECT_EQ(runtime_.BlockOn(same.Spawn(AddLater(3, 4))), 7);
  EXPECT_EQ(&same, &runtime_.spawner());
  std::vector<Task<int>> tasks;
  tasks.push_back(AddLater(1, 1));
  EXPECT_EQ(runtime_.BlockOn(runtime_.SpawnMany(std::move(tasks)).front()), 2);
  auto add = [] { return AddLater(2, 2); };
  const std::vector<decltype(add)> functions = {add};
  EXPECT_EQ(runtime_.BlockOn(handle.SpawnMany(functions).front()), 4);
}

TEST_P(RuntimeTest, ItsSpawnerOutlivesIt) {
  const weft::Handle handle = runtime_.handle();
  runtime_.Shutdown(absl::Seconds(10));

  JoinHandle<int> late = handle.spawner().Spawn(AddLater(1, 2));

  EXPECT_EQ(BlockOn(std::move(late).Outcome()).status().code(),
            absl::StatusCode::kCancelled);
}

TEST_P(RuntimeTest, HandleIsCurrentInside) {
  EXPECT_FALSE(Handle::TryCurrent().has_value());
  const int n = runtime_.BlockOn([]() -> Task<int> {
    Handle handle = Handle::Current();
    JoinHandle<int> task = handle.Spawn([]() -> Task<int> {
      EXPECT_TRUE(Handle::TryCurrent().has_value());
      co_return 7;
    });
    co_return co_await task;
  }());
  EXPECT_EQ(n, 7);
  EXPECT_FALSE(Handle::TryCurrent().has_value());
}

TEST_P(RuntimeTest, EnterMakesFreeFunctionsUseIt) {
  std::optional<JoinHandle<int>> task;
  {
    const EnterGuard guard = runtime_.Enter();
    EXPECT_TRUE(Handle::TryCurrent().has_value());
    task.emplace(Spawn(AddLater(1, 1)));
  }
  EXPECT_FALSE(Handle::TryCurrent().has_value());
  EXPECT_EQ(runtime_.BlockOn(*task), 2);
}

TEST_P(RuntimeTest, HandleWorksOnOtherThreads) {
  std::atomic<int> sum{0};
  sync::Event done;
  std::thread other([handle = runtime_.handle(), &sum, &done] {
    handle
        .Spawn([&sum, &done]() -> Task<> {
          sum += co_await AddLater(10, 20);
          done.Set();
        })
        .Detach();
  });
  runtime_.BlockOn(done.Wait());
  other.join();
  EXPECT_EQ(sum, 30);
}

TEST_P(RuntimeTest, ShutdownLetsTasksFinish) {
  bool finished = false;
  runtime_
      .Spawn([&finished]() -> Task<> {
        co_await timer::After(absl::Milliseconds(5));
        finished = true;
      })
      .Detach();
  const ShutdownReport report = runtime_.Shutdown(absl::Seconds(60));
  EXPECT_TRUE(finished);
  EXPECT_EQ(report.tasks_dropped, 0u);
  EXPECT_EQ(report.workers_running, 0u);
}

TEST_P(RuntimeTest, ShutdownCancelsWhatIsLeftAndCountsIt) {
  auto token = std::make_shared<int>(0);
  for (int i = 0; i < 3; ++i) {
    runtime_.Spawn([token]() -> Task<> { co_await Never().Wait(); }).Detach();
  }
  const ShutdownReport report = runtime_.Shutdown(absl::Milliseconds(1));
  EXPECT_EQ(report.tasks_dropped, 3u);
  EXPECT_EQ(token.use_count(), 1);
}

TEST_P(RuntimeTest, WorkGivenToItAfterItsShutdownIsCancelled) {
  static_cast<void>(runtime_.Shutdown(absl::Seconds(60)));
  auto task = runtime_.Spawn([]() -> Task<> { co_return; });
  EXPECT_EQ(BlockOn(std::move(task).Outcome()).code(),
            absl::StatusCode::kCancelled);
  auto late = runtime_.handle().Spawn([]() -> Task<> { co_return; });
  EXPECT_EQ(BlockOn(std::move(late).Outcome()).code(),
            absl::StatusCode::kCancelled);
}

TEST_P(RuntimeTest, WorkGivenToOneThatIsGoneIsCancelled) {
  Handle handle = runtime_.handle();
  static_cast<void>(runtime_.Shutdown(absl::Seconds(60)));
  auto token = std::make_shared<int>(0);
  auto task = handle.Spawn([token]() -> Task<> { co_return; });
  EXPECT_EQ(BlockOn(std::move(task).Outcome()).code(),
            absl::StatusCode::kCancelled);
  auto job = handle.SpawnBlocking([token] {});
  EXPECT_EQ(BlockOn(std::move(job).Outcome()).code(),
            absl::StatusCode::kCancelled);
  EXPECT_EQ(token.use_count(), 1);
}

TEST_P(RuntimeTest, AHandleKeepsNobodyAsleepOnTimersThatAreGone) {
  const Handle handle = runtime_.handle();
  std::thread other([handle] {
    const EnterGuard guard = handle.Enter();
    BlockOn(timer::After(absl::Milliseconds(20)));
  });
  static_cast<void>(runtime_.Shutdown(absl::ZeroDuration()));
  other.join();
  const EnterGuard guard = handle.Enter();
  BlockOn(timer::After(absl::Milliseconds(1)));
}

// Submits work when it is destroyed, and counts what becomes of it.
struct Tally {
  std::atomic<int> ran{0};
  std::atomic<int> destroyed{0};
};

struct CountsDestruction {
  explicit CountsDestruction(std::shared_ptr<Tally> tally)
      : tally(std::move(tally)) {}
  CountsDestruction(CountsDestruction&&) = default;
  ~CountsDestruction() {
    if (tally != nullptr) ++tally->destroyed;
  }
  std::shared_ptr<Tally> tally;
};

struct SubmitsWhenDestroyed {
  explicit SubmitsWhenDestroyed(std::shared_ptr<Tally> tally)
      : tally(std::move(tally)) {}
  SubmitsWhenDestroyed(SubmitsWhenDestroyed&&) = default;
  ~SubmitsWhenDestroyed() {
    if (tally == nullptr) return;
    Spawn([c = CountsDestruction(tally)]() -> Task<> {
      ++c.tally->ran;
      co_return;
    }).Detach();
    SpawnBlocking([c = CountsDestruction(tally)] { ++c.tally->ran; }).Detach();
  }
  std::shared_ptr<Tally> tally;
};

TEST_P(RuntimeTest, WorkSubmittedDuringTeardownHasOneOutcome) {
  for (int round = 0; round < 50; ++round) {
    auto tally = std::make_shared<Tally>();
    {
      Runtime runtime = MakeRuntime(GetParam());
      JoinHandle<> task =
          runtime.Spawn([s = SubmitsWhenDestroyed(tally)]() -> Task<> {
            co_await Never().Wait();
          });
      std::move(task).Detach();
      runtime.BlockOn(YieldNow());
    }
    EXPECT_EQ(tally->ran, 0);
    EXPECT_EQ(tally->destroyed, 2);
  }
}

Task<int> Bounce(Handle elsewhere, int depth) {
  if (depth == 0) co_return 0;
  JoinHandle<int> task = elsewhere.Spawn(Bounce(Handle::Current(), depth - 1));
  const int n = co_await task;
  co_return n + 1;
}

TEST_P(RuntimeTest, TwoRuntimesAwaitEachOthersTasks) {
  Runtime other = MakeRuntime(Flavour::kMultiThread1);
  EXPECT_EQ(runtime_.BlockOn(Bounce(other.handle(), 20)), 20);
}

TEST(RuntimeBuilderTest, StartsAsManyWorkersAsAsked) {
  std::atomic<int> started{0};
  std::atomic<int> stopped{0};
  {
    absl::StatusOr<Runtime> runtime = RuntimeBuilder()
                                          .WorkerThreads(3)
                                          .OnThreadStart([&] { ++started; })
                                          .OnThreadStop([&] { ++stopped; })
                                          .Build();
    ASSERT_TRUE(runtime.ok());
    static_cast<void>(runtime->Shutdown(absl::Seconds(60)));
    EXPECT_EQ(started, 3);
    EXPECT_EQ(stopped, 3);
  }
}

TEST(RuntimeBuilderTest, TheEnvironmentOverridesTheWorkerCount) {
  for (const auto& [text, expected] :
       std::vector<std::pair<const char*, int>>{{"2", 2}, {"0", 3}, {"x", 3}}) {
    std::atomic<int> started{0};
    setenv("WEFT_WORKER_THREADS", text, 1);
    {
      absl::StatusOr<Runtime> runtime = RuntimeBuilder()
                                            .WorkerThreads(3)
                                            .OnThreadStart([&] { ++started; })
                                            .Build();
      ASSERT_TRUE(runtime.ok());
      static_cast<void>(runtime->Shutdown(absl::Seconds(60)));
    }
    unsetenv("WEFT_WORKER_THREADS");
    EXPECT_EQ(started, expected) << text;
  }
}

TEST(RuntimeBuilderTest, CurrentThreadHasNoWorkerThreads) {
  for (RuntimeBuilder builder :
       {RuntimeBuilder().CurrentThread().WorkerThreads(4),
        RuntimeBuilder().WorkerThreads(4).CurrentThread()}) {
    const absl::StatusOr<Runtime> runtime = builder.Build();
    EXPECT_EQ(runtime.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(runtime.status().message()),
                testing::HasSubstr("exclude each other"));
  }
}

TEST(RuntimeBuilderTest, MoreWorkersThanAnExecutorTakesAreAnError) {
  const absl::StatusOr<Runtime> runtime =
      RuntimeBuilder().WorkerThreads(1 << 30).EnableAll().Build();
  EXPECT_EQ(runtime.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(runtime.status().message()),
              testing::HasSubstr("at most 256"));
}

TEST(RuntimeBuilderTest, ParkHooksAreCalledInTurn) {
  std::atomic<int> parked{0};
  std::atomic<int> unparked{0};
  std::atomic<bool> in_turn{true};
  {
    absl::StatusOr<Runtime> runtime =
        RuntimeBuilder()
            .WorkerThreads(1)
            .EnableAll()
            .OnThreadPark([&] { in_turn = in_turn && parked++ == unparked; })
            .OnThreadUnpark([&] { in_turn = in_turn && ++unparked == parked; })
            .Build();
    ASSERT_TRUE(runtime.ok());
    JoinHandle<int> task = runtime->Spawn(AddLater(1, 2));
    EXPECT_EQ(runtime->BlockOn(task), 3);
  }
  EXPECT_GE(parked, 1);
  EXPECT_EQ(parked, unparked);
  EXPECT_TRUE(in_turn);
}

TEST(RuntimeBuilderTest, TheQueueOfBlockingJobsIsAsLongAsAsked) {
  absl::StatusOr<Runtime> runtime = RuntimeBuilder()
                                        .WorkerThreads(1)
                                        .MaxBlockingThreads(1)
                                        .BlockingQueueCapacity(1)
                                        .Build();
  ASSERT_TRUE(runtime.ok());
  sync::Event inside;
  sync::Event release;
  JoinHandle<> runs = runtime->SpawnBlocking([&] {
    inside.Set();
    release.BlockingWait();
  });
  inside.BlockingWait();
  JoinHandle<> waits = runtime->SpawnBlocking([] {});
  // A task learns of the refusal as of any other outcome.
  const absl::Status refused =
      runtime->BlockOn(runtime->Spawn([]() -> Task<absl::Status> {
        JoinHandle<> job = SpawnBlocking([] {});
        co_return co_await std::move(job).Outcome();
      }));
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(refused.message()),
              testing::MatchesRegex("blocking job [0-9]+ was refused.*"));
  release.Set();
  runtime->BlockOn(runs);
  runtime->BlockOn(waits);
}

TEST(RuntimeBuilderDeathTest, AwaitingAJobThatWasRefusedSaysSo) {
  absl::StatusOr<Runtime> runtime = RuntimeBuilder()
                                        .WorkerThreads(1)
                                        .MaxBlockingThreads(1)
                                        .BlockingQueueCapacity(0)
                                        .Build();
  ASSERT_TRUE(runtime.ok());
  sync::Event inside;
  sync::Event release;
  JoinHandle<> runs = runtime->SpawnBlocking([&] {
    inside.Set();
    release.BlockingWait();
  });
  inside.BlockingWait();
  EXPECT_DEATH(runtime->BlockOn(runtime->SpawnBlocking([] {})), "was refused");
  release.Set();
  runtime->BlockOn(runs);
}

std::string ThisThreadsName() {
  char name[16] = {};
  pthread_getname_np(pthread_self(), name, sizeof(name));
  return name;
}

TEST(RuntimeBuilderTest, ThreadsAreNamed) {
  absl::StatusOr<Runtime> runtime =
      RuntimeBuilder().WorkerThreads(1).ThreadName("loom").Build();
  ASSERT_TRUE(runtime.ok());
  auto task = runtime->Spawn(
      []() -> Task<std::string> { co_return ThisThreadsName(); });
  EXPECT_EQ(runtime->BlockOn(task), "loom-0");
}

TEST(RuntimeBuilderTest, TheStackIsAsLargeAsAsked) {
  absl::StatusOr<Runtime> runtime = RuntimeBuilder()
                                        .WorkerThreads(1)
                                        .ThreadStackSize(size_t{7} << 20)
                                        .Build();
  ASSERT_TRUE(runtime.ok());
  auto task = runtime->Spawn([]() -> Task<size_t> {
    pthread_attr_t attributes;
    pthread_getattr_np(pthread_self(), &attributes);
    size_t size = 0;
    pthread_attr_getstacksize(&attributes, &size);
    pthread_attr_destroy(&attributes);
    co_return size;
  });
  EXPECT_EQ(runtime->BlockOn(task), size_t{7} << 20);
}

TEST(RuntimeBuilderTest, AStackThatCannotBeMadeIsAnErrorThatNamesTheThread) {
  absl::StatusOr<Runtime> runtime = RuntimeBuilder()
                                        .WorkerThreads(1)
                                        .ThreadStackSize(size_t{1} << 60)
                                        .Build();
  ASSERT_FALSE(runtime.ok());
  EXPECT_THAT(std::string(runtime.status().message()),
              testing::HasSubstr("weft-worker-0"));
}

TEST(RuntimeBuilderDeathTest, ZeroThreadsAreRefused) {
  EXPECT_DEATH(RuntimeBuilder().WorkerThreads(0), "at least one thread");
  EXPECT_DEATH(RuntimeBuilder().MaxBlockingThreads(0), "at least one thread");
}

TEST(CurrentThreadRuntimeTest, EverythingRunsOnOneThread) {
  Runtime runtime = MakeRuntime(Flavour::kCurrentThread);
  std::set<std::thread::id> threads;
  auto record = [&threads]() -> Task<> {
    threads.insert(std::this_thread::get_id());
    co_await timer::After(absl::Milliseconds(1));
    threads.insert(std::this_thread::get_id());
  };
  JoinHandle<> a = runtime.Spawn(record);
  JoinHandle<> b = runtime.Spawn(record);
  runtime.BlockOn(Join(a, b));
  EXPECT_THAT(threads, testing::ElementsAre(std::this_thread::get_id()));
}

TEST(CurrentThreadRuntimeTest, SpawnLocalRunsBesideSpawn) {
  Runtime runtime = MakeRuntime(Flavour::kCurrentThread);
  const int n = runtime.BlockOn([]() -> Task<int> {
    auto local = std::make_unique<int>(5);
    JoinHandle<int> task = SpawnLocal([p = local.get()]() -> Task<int> {
      co_await YieldNow();
      co_return *p;
    });
    co_return co_await task;
  }());
  EXPECT_EQ(n, 5);
}

TEST(CurrentThreadRuntimeDeathTest, SpawnLocalNeedsSuchARuntime) {
  EXPECT_DEATH(static_cast<void>(SpawnLocal(Ready(1))), "current-thread");
}

TEST(CurrentThreadRuntimeDeathTest, ItsOwnThreadDoesNotWaitForItByAHandle) {
  Runtime runtime = MakeRuntime(Flavour::kCurrentThread);
  JoinHandle<int> task = runtime.Spawn(Ready(1));
  EXPECT_DEATH(runtime.handle().BlockOn(task), "Runtime::BlockOn");
}

TEST(CurrentThreadRuntimeDeathTest, OneThreadDrivesIt) {
  Runtime runtime = MakeRuntime(Flavour::kCurrentThread);
  EXPECT_DEATH(std::thread([&runtime] { runtime.BlockOn(Ready(1)); }).join(),
               "the thread that");
}

TEST(RuntimeTest, MayBeDestroyedByItsOwnTask) {
  auto token = std::make_shared<int>(0);
  sync::Event destroyed;
  auto runtime = std::make_unique<Runtime>(MakeRuntime(Flavour::kMultiThread4));
  Handle handle = runtime->handle();
  handle.Spawn([token]() -> Task<> { co_await Never().Wait(); }).Detach();
  handle
      .Spawn([runtime = std::move(runtime), &destroyed]() mutable -> Task<> {
        runtime.reset();
        destroyed.Set();
        co_return;
      })
      .Detach();
  BlockOn(destroyed.Wait());
  // The workers end by themselves and destroy what was pending.
  while (token.use_count() != 1) std::this_thread::yield();
}

TEST(RuntimeTest, MayBeDestroyedByAHookOnItsThread) {
  struct Shared {
    std::unique_ptr<Runtime> runtime;
    std::atomic<bool> made{false};
    std::atomic<int> stopped{0};
  };
  auto shared = std::make_shared<Shared>();
  absl::StatusOr<Runtime> runtime =
      RuntimeBuilder()
          .WorkerThreads(2)
          .OnThreadStart(
              [shared, hooks = std::make_shared<std::atomic<int>>(0)] {
                if ((*hooks)++ != 0) return;
                while (!shared->made) std::this_thread::yield();
                shared->runtime.reset();
              })
          .OnThreadStop([shared] { ++shared->stopped; })
          .Build();
  ASSERT_TRUE(runtime.ok());
  shared->runtime = std::make_unique<Runtime>(*std::move(runtime));
  shared->made = true;
  while (shared->stopped != 2) std::this_thread::yield();
}

TEST(RuntimeDeathTest, AHookCannotWaitForTheEndOfItsRuntime) {
  EXPECT_DEATH(
      {
        std::atomic<Runtime*> made{nullptr};
        absl::StatusOr<Runtime> runtime =
            RuntimeBuilder()
                .WorkerThreads(1)
                .OnThreadStart([&made] {
                  while (made == nullptr) std::this_thread::yield();
                  static_cast<void>(made.load()->Shutdown(absl::Seconds(60)));
                })
                .Build();
        made = &*runtime;
        runtime->BlockOn(Never().Wait());
      },
      "a hook of a worker thread, cannot wait");
}

TEST(RuntimeDeathTest, NothingMayBeAskedOfOneThatWasMovedFrom) {
  Runtime runtime = MakeRuntime(Flavour::kCurrentThread);
  const Runtime moved = std::move(runtime);
  EXPECT_DEATH(static_cast<void>(runtime.Spawn(Ready(1))), "was moved from");
  EXPECT_DEATH(static_cast<void>(runtime.SpawnBlocking([] {})),
               "was moved from");
  EXPECT_DEATH(EnterGuard guard = runtime.Enter(), "was moved from");
  EXPECT_DEATH(static_cast<void>(runtime.handle()), "was moved from");
  EXPECT_DEATH(static_cast<void>(runtime.environment()), "was moved from");

  Handle handle = moved.handle();
  const Handle moved_handle = std::move(handle);
  EXPECT_DEATH(static_cast<void>(handle.Spawn(Ready(1))), "was moved from");
  EXPECT_DEATH(static_cast<void>(handle.SpawnBlocking([] {})),
               "was moved from");
  EXPECT_DEATH(handle.BlockOn(Ready(1)), "was moved from");
  EXPECT_DEATH(EnterGuard guard = handle.Enter(), "was moved from");
}

size_t CountThreads() {
  const std::filesystem::directory_iterator threads("/proc/self/task");
  return static_cast<size_t>(std::distance(begin(threads), end(threads)));
}

TEST(RuntimeTest, LeavesNoThreadBehind) {
  const size_t before = CountThreads();
  for (int round = 0; round < 100; ++round) {
    Runtime runtime = MakeRuntime(Flavour::kMultiThread1);
    std::vector<JoinHandle<>> jobs;
    for (int i = 0; i < 3; ++i) jobs.push_back(runtime.SpawnBlocking([] {}));
  }
  while (CountThreads() > before) std::this_thread::yield();
}

TEST(RuntimeDeathTest, AGuardIsNotHeldWhileATaskIsSuspended) {
  EXPECT_DEATH(
      {
        Runtime runtime = MakeRuntime(Flavour::kMultiThread1);
        Runtime other = MakeRuntime(Flavour::kMultiThread1);
        auto task = runtime.Spawn([handle = other.handle()]() -> Task<> {
          const EnterGuard guard = handle.Enter();
          co_await YieldNow();
        });
        runtime.BlockOn(task);
      },
      "across co_await");
}

TEST(RuntimeTest, ShutdownBackgroundReturnsWithoutWaiting) {
  Runtime runtime = MakeRuntime(Flavour::kMultiThread1);
  auto token = std::make_shared<int>(0);
  auto release = std::make_shared<std::atomic<bool>>(false);
  auto inside = std::make_shared<std::atomic<bool>>(false);
  runtime
      .Spawn([token, release, inside]() -> Task<> {
        *inside = true;
        while (!*release) std::this_thread::yield();
        co_return;
      })
      .Detach();
  while (!*inside) std::this_thread::yield();
  runtime.ShutdownBackground();
  EXPECT_EQ(token.use_count(), 2);
  *release = true;
  while (token.use_count() != 1) std::this_thread::yield();
}

// The other worker has stopped; what is waited for sleeps on its timers.
TEST(RuntimeTest, APollThatBlocksInPlaceIsServedWhileTheRuntimeEnds) {
  std::optional<Runtime> runtime(MakeRuntime(Flavour::kMultiThread4));
  std::atomic<bool> began{false};
  std::atomic<bool> asleep{false};
  std::atomic<bool> done{false};
  std::atomic<bool> blocks{false};
  std::atomic<JoinHandle<>*> sleeper{nullptr};
  runtime
      ->Spawn([&]() -> Task<> {
        began = true;
        // Holds its worker: the other task is on the other one.
        while (sleeper == nullptr || !asleep) std::this_thread::yield();
        BlockInPlace([&] {
          blocks = true;
          BlockOn(*sleeper.load());
        });
        co_return;
      })
      .Detach();
  while (!began) std::this_thread::yield();
  JoinHandle<> handle = runtime->Spawn([&]() -> Task<> {
    asleep = true;
    co_await timer::After(absl::Milliseconds(50));
    done = true;
  });
  sleeper = &handle;
  while (!blocks) std::this_thread::yield();

  runtime.reset();

  EXPECT_TRUE(done);
}

}  // namespace
}  // namespace weft
