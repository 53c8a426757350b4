// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/executor/block_in_place.h"

#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "weft/executor/blocking_pool.h"
#include "weft/executor/executor.h"
#include "weft/executor/local_executor.h"
#include "weft/runtime/runtime.h"
#include "weft/runtime/runtime_builder.h"
#include "weft/sync/event.h"
#include "weft/task/block_on.h"
#include "weft/task/driver.h"
#include "weft/task/environment.h"
#include "weft/task/instant.h"
#include "weft/task/join_handle.h"
#include "weft/task/offload.h"
#include "weft/task/parker.h"
#include "weft/task/spawner.h"
#include "weft/task/task.h"
#include "weft/task/waker.h"
#include "weft/task/yield_now.h"
#include "weft/tests/executor/runners.h"
#include "weft/timer/sleep.h"

namespace weft {
namespace {

using executor_testing::RoundsOrLong;

Runtime MakeRuntime(int workers) {
  return *RuntimeBuilder().WorkerThreads(workers).EnableAll().Build();
}

Task<int> Give(int value) { co_return value; }

class BlockInPlaceTest : public testing::TestWithParam<int> {};

// Alone, the worker would wait for a task in its own queue.
TEST_P(BlockInPlaceTest, ATaskMayWaitForItsChild) {
  Runtime runtime = MakeRuntime(GetParam());
  const int value = runtime.BlockOn(runtime.Spawn([]() -> Task<int> {
    JoinHandle<int> child = weft::Spawn(Give(7));
    co_return BlockInPlace([&] { return BlockOn(child); });
  }));
  EXPECT_EQ(value, 7);
}

// Also for one that it has just woken, which is in its slot.
TEST_P(BlockInPlaceTest, ATaskMayWaitForWhatItWoke) {
  Runtime runtime = MakeRuntime(GetParam());
  runtime.BlockOn(runtime.Spawn([]() -> Task<> {
    auto event = std::make_shared<sync::Event>();
    JoinHandle<void> child =
        weft::Spawn([event]() -> Task<> { co_await event->Wait(); });
    for (int i = 0; i < 3; ++i) co_await YieldNow();
    event->Set();
    BlockInPlace([&] { BlockOn(child); });
  }));
}

TEST_P(BlockInPlaceTest, TimersOfTheBlockedThreadFire) {
  Runtime runtime = MakeRuntime(GetParam());
  runtime.BlockOn(runtime.Spawn([]() -> Task<> {
    auto event = std::make_shared<sync::Event>();
    JoinHandle<void> sleeper = weft::Spawn([event]() -> Task<> {
      co_await timer::After(absl::Milliseconds(2));
      event->Set();
    });
    // So that the timer is this worker's, if it is the only one.
    co_await YieldNow();
    BlockInPlace([&] { event->BlockingWait(); });
    co_await sleeper;
  }));
}

// The stand-in's own task blocks, too, and so on.
Task<int> Nest(int depth) {
  if (depth == 0) co_return 1;
  JoinHandle<int> child = weft::Spawn(Nest(depth - 1));
  co_return 1 + BlockInPlace([&] { return BlockOn(child); });
}

TEST_P(BlockInPlaceTest, Nests) {
  Runtime runtime = MakeRuntime(GetParam());
  EXPECT_EQ(runtime.BlockOn(runtime.Spawn(Nest(10))), 11);
}

// The second time the first stand-in may still be about to leave.
TEST_P(BlockInPlaceTest, ManyTimesInOnePoll) {
  Runtime runtime = MakeRuntime(GetParam());
  runtime.BlockOn(runtime.Spawn([]() -> Task<> {
    for (int i = 0; i < 100; ++i) {
      JoinHandle<int> child = weft::Spawn(Give(i));
      const int value = BlockInPlace([&] { return BlockOn(child); });
      EXPECT_EQ(value, i);
    }
    co_return;
  }));
}

TEST_P(BlockInPlaceTest, ManyTasksAtOnce) {
  Runtime runtime = MakeRuntime(GetParam());
  constexpr int kTasks = 30;
  const int sum = runtime.BlockOn(runtime.Spawn([]() -> Task<int> {
    std::vector<JoinHandle<int>> handles;
    for (int i = 0; i < kTasks; ++i) handles.push_back(weft::Spawn(Nest(2)));
    int sum = 0;
    for (JoinHandle<int>& handle : handles) sum += co_await handle;
    co_return sum;
  }));
  EXPECT_EQ(sum, 3 * kTasks);
}

// The only thread of the pool stands in, and its task waits for a third one, for
// which the first thread must not wait in turn.
TEST(BlockInPlaceTest, TheThreadGoesOnWhileItsDriverIsInUse) {
  Runtime runtime = *RuntimeBuilder()
                         .WorkerThreads(1)
                         .MaxBlockingThreads(1)
                         .EnableAll()
                         .Build();
  auto started = std::make_shared<sync::Event>();
  const int value = runtime.BlockOn(runtime.Spawn([started]() -> Task<int> {
    JoinHandle<int> blocks = weft::Spawn([started]() -> Task<int> {
      JoinHandle<int> child = weft::Spawn(Give(3));
      started->Set();
      co_return BlockInPlace([&] { return BlockOn(child); });
    });
    BlockInPlace([&] { started->BlockingWait(); });
    const int value = co_await blocks;
    co_return value;
  }));
  EXPECT_EQ(value, 3);
}

// Whoever stands in leaves a thread for what the tasks wait for.
Task<> WaitForAJob() {
  BlockInPlace([] { BlockOn(SpawnBlocking([] {})); });
  co_return;
}

TEST_P(BlockInPlaceTest, MoreTasksThanThreadsMayWaitForJobs) {
  Runtime runtime =
      *RuntimeBuilder().WorkerThreads(GetParam()).MaxBlockingThreads(4).Build();
  runtime.BlockOn(runtime.Spawn([]() -> Task<> {
    std::vector<JoinHandle<void>> handles;
    for (int i = 0; i < 16; ++i) handles.push_back(weft::Spawn(WaitForAJob()));
    for (JoinHandle<void>& handle : handles) co_await handle;
  }));
}

void Spend(absl::Duration d) {
  const Instant end = Instant::Now() + d;
  while (Instant::Now() < end) std::this_thread::yield();
}

// A thread of the pool for each call would leave none for the job.
TEST(BlockInPlaceTest, CallsInARowHaveOneStandIn) {
  Runtime runtime =
      *RuntimeBuilder().WorkerThreads(1).MaxBlockingThreads(4).Build();
  auto entered = std::make_shared<sync::Event>();
  auto enough = std::make_shared<sync::Event>();
  runtime.BlockOn(runtime.Spawn([entered, enough]() -> Task<> {
    JoinHandle<void> blocks = weft::Spawn([entered, enough]() -> Task<> {
      entered->Set();
      BlockInPlace([&] {
        enough->BlockingWait();
        BlockOn(SpawnBlocking([] {}));
      });
      co_return;
    });
    BlockInPlace([&] { entered->BlockingWait(); });
    for (int i = 0; i < 16; ++i) {
      BlockInPlace([] { Spend(absl::Milliseconds(2)); });
    }
    enough->Set();
    co_await blocks;
  }));
}

// Run() has its output, but not its driver; nobody else can run the child. `end` is
// what the run's future does at its end.
template <class End>
void EndARunWhoseChildIsAwaited(std::shared_ptr<int> value, End end) {
  BlockingPool pool(BlockingPoolOptions().MaxThreads(1));
  Environment environment;
  environment.offload = &pool;
  const EnvironmentScope scope(environment);
  Executor executor;
  executor.Run([](std::shared_ptr<int> value, End end) -> Task<> {
    auto started = std::make_shared<sync::Event>();
    auto over = std::make_shared<sync::Event>();
    weft::Spawn([value, started, over]() -> Task<> {
      JoinHandle<int> child = weft::Spawn(Give(3));
      started->Set();
      BlockInPlace([&] {
        over->BlockingWait();
        *value = BlockOn(child);
      });
      co_return;
    }).Detach();
    BlockInPlace([&] { started->BlockingWait(); });
    over->Set();
    end();
    co_return;
  }(value, end));
}

TEST(BlockInPlaceTest, ARunThatIsOverRunsTasksUntilItMayLeave) {
  auto value = std::make_shared<int>(0);
  EndARunWhoseChildIsAwaited(value, [] {});
  EXPECT_EQ(*value, 3);
}

// A thread that is told to leave needs `delay` to get out of this one.
class SlowDriver final : public Driver {
 public:
  explicit SlowDriver(absl::Duration delay) : delay_(delay) {}

  void Park(Instant deadline) override {
    if (deadline.IsInfinite()) asleep_.Set();
    inner_.Park(deadline);
    if (deadline.IsInfinite()) Spend(delay_);
  }
  Waker Unparker() override { return inner_.Unparker(); }
  bool TryPoll() override { return true; }
  // Set when a thread sleeps here for good: no other has to be looked after.
  sync::Event& asleep() { return asleep_; }

 private:
  const absl::Duration delay_;
  sync::Event asleep_;
  Parker inner_;
};

// Runs what `make` returns on this thread, in such a driver.
void RunInSlowDriver(BlockingPool& pool, absl::Duration delay,
                     Task<> (*make)(SlowDriver&)) {
  SlowDriver driver(delay);
  Environment environment;
  environment.offload = &pool;
  environment.driver = &driver;
  const EnvironmentScope scope(environment);
  Executor executor;
  executor.Run(make(driver));
}

// The stand-in goes, with the last unpark, while the thread, which waits for it to
// end its run, watches over other drivers.
TEST(BlockInPlaceTest, ARunThatIsOverEndsWhenTheStandInHasGone) {
  BlockingPool pool;
  for (int i = 0; i < 100; ++i) {
    RunInSlowDriver(pool, absl::Microseconds(1000 + 20 * i),
                    [](SlowDriver& driver) -> Task<> {
                      BlockInPlace([&] { driver.asleep().BlockingWait(); });
                      co_return;
                    });
  }
}

// The stand-in, which has stolen the last task, goes between two looks at it: the
// one with which the run would have ended, and one at the driver.
TEST(BlockInPlaceTest, ARunThatIsOverDoesNotSleepWhenItFindsThatTooLate) {
  BlockingPool pool;
  for (int i = 0; i < RoundsOrLong(100, 1000); ++i) {
    RunInSlowDriver(pool, absl::Nanoseconds(1'000'000 + 100 * i),
                    [](SlowDriver& driver) -> Task<> {
                      weft::Spawn([]() -> Task<> {
                        for (int k = 0; k < 2; ++k) co_await YieldNow();
                      }).Detach();
                      co_await YieldNow();
                      BlockInPlace([&] { driver.asleep().BlockingWait(); });
                    });
  }
}

// Each call leaves a stand-in behind that is about to go.
TEST(BlockInPlaceTest, ARunEndsThoughTasksKeepBlocking) {
  BlockingPool pool;
  Environment environment;
  environment.offload = &pool;
  const EnvironmentScope scope(environment);
  Executor executor;
  executor.Run([]() -> Task<> {
    for (int i = 0; i < 4; ++i) {
      weft::Spawn([]() -> Task<> {
        for (;;) {
          BlockInPlace([] {});
          co_await YieldNow();
        }
      }).Detach();
    }
    for (int i = 0; i < 20; ++i) co_await YieldNow();
    BlockInPlace([] {});
  }());
}

INSTANTIATE_TEST_SUITE_P(Workers, BlockInPlaceTest,
                         testing::Values(1, 2, 4, 8));

TEST(BlockInPlaceTest, OnAThreadThatMayBlockItOnlyCalls) {
  int calls = 0;
  BlockInPlace([&] { ++calls; });
  EXPECT_EQ(calls, 1);
}

// Nobody stands in; another runner takes the child.
TEST(BlockInPlaceTest, WithoutAnOffloadOthersTakeTheTasks) {
  Executor executor;
  EXPECT_EQ(executor.Run([](Executor& executor) -> Task<int> {
    JoinHandle<int> child = executor.Spawn(Give(5));
    co_return BlockInPlace([&] { return executor.Run(child); });
  }(executor)),
            5);
}

TEST(BlockInPlaceDeathTest, InALocalTaskItNamesTheRemedy) {
  EXPECT_DEATH(
      {
        LocalExecutor executor;
        executor.Run([]() -> Task<> {
          BlockInPlace([] {});
          co_return;
        }());
      },
      "SpawnBlocking");
}

#if defined(__cpp_exceptions)
TEST(BlockInPlaceTest, ARunThatHasThrownRunsTasksUntilItMayLeave) {
  auto value = std::make_shared<int>(0);
  EXPECT_THROW(EndARunWhoseChildIsAwaited(value, [] { throw 7; }), int);
  EXPECT_EQ(*value, 3);
}

TEST(BlockInPlaceTest, ExceptionsPassThrough) {
  Runtime runtime = MakeRuntime(1);
  const int value = runtime.BlockOn(runtime.Spawn([]() -> Task<int> {
    int thrown = 0;
    try {
      BlockInPlace([] { throw 3; });
    } catch (int value) {
      thrown = value;
    }
    // The place is the thread's again.
    const int given = co_await weft::Spawn(Give(1));
    co_return thrown + given;
  }));
  EXPECT_EQ(value, 4);
}
#endif

}  // namespace
}  // namespace weft
