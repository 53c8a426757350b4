// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/executor/thread_pool.h"

#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "weft/executor/block_in_place.h"
#include "weft/executor/blocking_pool.h"
#include "weft/executor/executor.h"
#include "weft/task/block_on.h"
#include "weft/task/environment.h"
#include "weft/task/join_handle.h"
#include "weft/task/live_counter.h"
#include "weft/task/offload.h"
#include "weft/task/ready.h"
#include "weft/task/spawner.h"
#include "weft/task/status.h"
#include "weft/task/task.h"
#include "weft/task/yield_now.h"
#include "weft/tests/executor/hammer.h"
#include "weft/tests/executor/runners.h"

namespace weft {
namespace {

using executor_testing::Hammer;
using executor_testing::RoundsOrLong;
using executor_testing::SpinUntil;

ThreadPool StartPool(ThreadPoolOptions options) {
  absl::StatusOr<ThreadPool> pool = ThreadPool::Start(std::move(options));
  EXPECT_TRUE(pool.ok()) << pool.status();
  return *std::move(pool);
}

// The processors that this process may use.
std::vector<int> AllowedCpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  EXPECT_EQ(sched_getaffinity(0, sizeof(set), &set), 0);
  std::vector<int> cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  }
  return cpus;
}

// One that no machine has.
constexpr int kNoCpu = CPU_SETSIZE - 1;

Task<std::string> ThreadName() {
  char name[16] = {};
  pthread_getname_np(pthread_self(), name, sizeof(name));
  co_return name;
}

Task<> Yield(int times) {
  for (int i = 0; i < times; ++i) co_await YieldNow();
}

Task<> Hold(LiveCounter::Object) { co_await Pending(); }

absl::StatusCode CodeOf(JoinHandle<> handle) {
  return BlockOn(std::move(handle).Outcome()).code();
}

TEST(ThreadPoolTest, RunsTasksOnItsThreads) {
  ThreadPool pool = StartPool(ThreadPoolOptions().Threads(1).Name("abc"));

  EXPECT_EQ(BlockOn(pool.Spawn(ThreadName())), "abc-0");
  EXPECT_EQ(pool.threads(), 1);
}

TEST(ThreadPoolTest, HasThreadsByDefault) {
  ThreadPool pool = StartPool(ThreadPoolOptions());

  EXPECT_GE(pool.threads(), 1);
  EXPECT_EQ(BlockOn(pool.Spawn(Ready(7))), 7);
}

TEST(ThreadPoolTest, MovesWithItsTasks) {
  ThreadPool first = StartPool(ThreadPoolOptions().Threads(2));
  JoinHandle<> handle = first.Spawn(Yield(100));

  ThreadPool second = std::move(first);

  BlockOn(handle);
  EXPECT_EQ(BlockOn(second.Spawn(Ready(7))), 7);
}

TEST(ThreadPoolTest, CallsTheHooksOnItsThreads) {
  std::mutex mutex;
  std::set<std::pair<int, std::thread::id>> started;
  std::set<std::pair<int, std::thread::id>> stopped;
  const auto note = [&mutex](auto& set) {
    return [&mutex, &set](int index) {
      const std::lock_guard lock(mutex);
      EXPECT_TRUE(set.emplace(index, std::this_thread::get_id()).second);
    };
  };
  {
    ThreadPool pool = StartPool(ThreadPoolOptions()
                                    .Threads(3)
                                    .OnThreadStart(note(started))
                                    .OnThreadStop(note(stopped)));
    ASSERT_TRUE(pool.Resize(1).ok());
    const std::lock_guard lock(mutex);
    EXPECT_EQ(stopped.size(), 2u);
  }

  EXPECT_EQ(started.size(), 3u);
  EXPECT_EQ(started, stopped);
}

TEST(ThreadPoolTest, PinsItsThreads) {
  const std::vector<int> cpus = AllowedCpus();
  ThreadPoolOptions options;
  options.Threads(1).Affinity({{cpus.back()}});
  ThreadPool pool = StartPool(options);
  auto ask = []() -> Task<std::vector<int>> { co_return AllowedCpus(); };

  EXPECT_EQ(BlockOn(pool.Spawn(ask())), std::vector<int>{cpus.back()});
}

TEST(ThreadPoolTest, SaysWhyItDoesNotStart) {
  const auto pool = ThreadPool::Start(ThreadPoolOptions().StackSize(1));
  ASSERT_FALSE(pool.ok());
  EXPECT_EQ(ErrnoOf(pool.status()), EINVAL);

  for (const int cpu : {kNoCpu, -1, CPU_SETSIZE}) {
    const auto pinned =
        ThreadPool::Start(ThreadPoolOptions().Affinity({{cpu}}));
    ASSERT_FALSE(pinned.ok());
    EXPECT_EQ(ErrnoOf(pinned.status()), EINVAL);
  }
}

TEST(ThreadPoolTest, WhereAThreadCannotStartThePoolStaysAsItWas) {
  std::atomic<int> running{0};
  ThreadPoolOptions options;
  options.Threads(2)
      .Affinity({{}, {}, {}, {kNoCpu}})
      .OnThreadStart([&running](int) { running.fetch_add(1); })
      .OnThreadStop([&running](int) { running.fetch_sub(1); });
  ThreadPool pool = StartPool(options);

  const absl::Status status = pool.Resize(8);

  EXPECT_EQ(ErrnoOf(status), EINVAL);
  EXPECT_EQ(pool.threads(), 2);
  SpinUntil([&] { return running.load() == 2; });
  EXPECT_EQ(BlockOn(pool.Spawn(Ready(7))), 7);
  EXPECT_TRUE(pool.Resize(3).ok());
}

TEST(ThreadPoolTest, TheEndDestroysAllTasks) {
  LiveCounter counter;
  std::vector<JoinHandle<>> handles;
  {
    ThreadPool pool = StartPool(ThreadPoolOptions().Threads(2));
    for (int i = 0; i < 100; ++i) {
      handles.push_back(pool.Spawn(Hold(counter.Make())));
    }
    EXPECT_EQ(counter.live(), 100);
  }

  EXPECT_EQ(counter.live(), 0);
  for (JoinHandle<>& handle : handles) {
    EXPECT_EQ(CodeOf(std::move(handle)), absl::StatusCode::kCancelled);
  }
}

TEST(ThreadPoolTest, OtherThreadsMayHelp) {
  ThreadPool pool = StartPool(ThreadPoolOptions().Threads(1).Name("abc"));
  std::atomic<bool> started{false};
  std::atomic<bool> stop{false};
  auto block = [](std::atomic<bool>* started,
                  std::atomic<bool>* stop) -> Task<> {
    started->store(true);
    SpinUntil([stop] { return stop->load(); });
    co_return;
  };
  JoinHandle<> blocked = pool.SpawnBorrowing(block(&started, &stop));
  SpinUntil([&] { return started.load(); });
  JoinHandle<std::string> name = pool.Spawn(ThreadName());

  EXPECT_TRUE(pool.executor().TryTick());

  EXPECT_NE(BlockOn(name), "abc-0");
  stop.store(true);
  BlockOn(blocked);
}

#if defined(__cpp_exceptions)
TEST(ThreadPoolTest, WhatATaskThrowsGoesToItsHandle) {
  ThreadPool pool = StartPool(ThreadPoolOptions().Threads(2));
  auto fail = []() -> Task<> {
    co_await YieldNow();
    throw std::runtime_error("failed");
  };

  EXPECT_THROW(BlockOn(pool.Spawn(fail())), std::runtime_error);
  EXPECT_EQ(BlockOn(pool.Spawn(Ready(7))), 7);
}
#endif

TEST(ThreadPoolDeathTest, ChecksItsArguments) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(ThreadPoolOptions().Threads(0), "at least one thread");
  EXPECT_DEATH(static_cast<void>(ThreadPool::Start(
                   ThreadPoolOptions().Threads(Executor::kMaxRunners + 1))),
               "kMaxRunners");
  EXPECT_DEATH(
      {
        ThreadPool pool = StartPool(ThreadPoolOptions().Threads(1));
        static_cast<void>(pool.Resize(0));
      },
      "from 1 to");
}

TEST(ThreadPoolDeathTest, IsNotUsedAfterAMove) {
  ThreadPool pool = StartPool(ThreadPoolOptions().Threads(1));
  const ThreadPool other = std::move(pool);

  EXPECT_DEATH(pool.Spawn(Ready()).Detach(), "ThreadPool was moved from");
  EXPECT_DEATH(static_cast<void>(pool.threads()), "ThreadPool was moved from");
  EXPECT_DEATH(static_cast<void>(pool.Resize(2)), "ThreadPool was moved from");
}

TEST(ThreadPoolDeathTest, ATaskDoesNotWaitForThePool) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        ThreadPool pool = StartPool(ThreadPoolOptions().Threads(2));
        auto resize = [](ThreadPool* pool) -> Task<> {
          static_cast<void>(pool->Resize(1));
          co_return;
        };
        BlockOn(pool.SpawnBorrowing(resize(&pool)));
      },
      "was resized by a task");
  EXPECT_DEATH(
      {
        auto pool = std::make_unique<ThreadPool>(
            StartPool(ThreadPoolOptions().Threads(2)));
        auto destroy = [](std::unique_ptr<ThreadPool>* pool) -> Task<> {
          pool->reset();
          co_return;
        };
        BlockOn(pool->SpawnBorrowing(destroy(&pool)));
      },
      "was destroyed by a task");
}

class ThreadPoolThreadsTest : public testing::TestWithParam<int> {};

INSTANTIATE_TEST_SUITE_P(Threads, ThreadPoolThreadsTest,
                         testing::Values(1, 2, 4, 8));

TEST_P(ThreadPoolThreadsTest, ResizingLosesNoTask) {
  const int rounds = RoundsOrLong(30, 2000);
  ThreadPool pool = StartPool(ThreadPoolOptions().Threads(GetParam()));
  std::vector<JoinHandle<>> handles;
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < 100; ++i) handles.push_back(pool.Spawn(Yield(20)));
    ASSERT_TRUE(pool.Resize(1 + round % 8).ok());
    EXPECT_EQ(pool.threads(), 1 + round % 8);
  }

  for (JoinHandle<>& handle : handles) BlockOn(handle);
}

TEST_P(ThreadPoolThreadsTest, SeveralThreadsMayResize) {
  ThreadPool pool = StartPool(ThreadPoolOptions().Threads(GetParam()));
  std::vector<JoinHandle<>> handles;
  for (int i = 0; i < 100; ++i) handles.push_back(pool.Spawn(Yield(500)));
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&pool, i] {
      for (int round = 0; round < RoundsOrLong(20, 1000); ++round) {
        EXPECT_TRUE(pool.Resize(1 + (round + i) % 4).ok());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();

  for (JoinHandle<>& handle : handles) BlockOn(handle);
}

TEST_P(ThreadPoolThreadsTest, TasksAreWokenWhileItEnds) {
  for (int round = 0; round < RoundsOrLong(50, 2000); ++round) {
    LiveCounter counter;
    Hammer hammer(2);
    auto wait = [](Hammer* hammer, LiveCounter::Object) -> Task<> {
      co_await hammer->Wait();
    };
    std::vector<JoinHandle<>> handles;
    {
      ThreadPool pool = StartPool(ThreadPoolOptions().Threads(GetParam()));
      for (int i = 0; i < 8; ++i) {
        handles.push_back(pool.SpawnBorrowing(wait(&hammer, counter.Make())));
      }
      SpinUntil([&] { return hammer.targets() >= 4; });
    }
    EXPECT_EQ(counter.live(), 0);
  }
}

Task<int> BlocksInBothWays() {
  const int there = co_await SpawnBlocking([] { return 1; });
  JoinHandle<int> other = weft::Spawn(Ready(2));
  co_return there + BlockInPlace([&] { return BlockOn(other); });
}

TEST(ThreadPoolTest, ItsTasksHaveTheServicesThatItWasGiven) {
  BlockingPool blocking;
  auto environment = std::make_shared<Environment>();
  environment->offload = &blocking;
  ThreadPool pool = *ThreadPool::Start(
      ThreadPoolOptions().Threads(1).InEnvironment(environment));
  EXPECT_EQ(BlockOn(pool.Spawn(BlocksInBothWays())), 3);
}

}  // namespace
}  // namespace weft
