// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// weft-lint: allow-file(R22): the tests' tasks end before what they refer to.

#include "weft/executor/thread_per_core.h"

#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "weft/task/block_on.h"
#include "weft/task/join_handle.h"
#include "weft/task/live_counter.h"
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

ThreadPerCore StartThreads(ThreadPerCoreOptions options) {
  absl::StatusOr<ThreadPerCore> threads =
      ThreadPerCore::Start(std::move(options));
  EXPECT_TRUE(threads.ok()) << threads.status();
  return *std::move(threads);
}

std::string NameOfThisThread() {
  char name[16] = {};
  pthread_getname_np(pthread_self(), name, sizeof(name));
  return name;
}

Task<> Hold(LiveCounter::Object) { co_await Pending(); }

absl::StatusCode CodeOf(JoinHandle<> handle) {
  return BlockOn(std::move(handle).Outcome()).code();
}

TEST(ThreadPerCoreTest, ATaskRunsOnItsThread) {
  ThreadPerCore threads =
      StartThreads(ThreadPerCoreOptions().Threads(3).Name("abc"));
  EXPECT_EQ(threads.threads(), 3);
  for (int i = 0; i < 3; ++i) {
    auto names = [] {
      auto body = [](std::string maker) -> Task<std::string> {
        std::string names = maker + " " + NameOfThisThread();
        co_await YieldNow();
        co_return names + " " + NameOfThisThread();
      };
      return body(NameOfThisThread());
    };
    const std::string name = "abc-" + std::to_string(i);

    EXPECT_EQ(BlockOn(threads.SpawnAt(i, names)),
              name + " " + name + " " + name);
  }
}

TEST(ThreadPerCoreTest, HasThreadsByDefault) {
  ThreadPerCore threads = StartThreads(ThreadPerCoreOptions());

  EXPECT_GE(threads.threads(), 1);
  EXPECT_EQ(BlockOn(threads.SpawnAt(0, [] { return Ready(7); })), 7);
}

TEST(ThreadPerCoreTest, SpawnInsideATaskStaysOnItsThread) {
  ThreadPerCore threads =
      StartThreads(ThreadPerCoreOptions().Threads(2).Name("abc"));
  auto outer = []() -> Task<std::string> {
    auto inner = []() -> Task<std::string> { co_return NameOfThisThread(); };
    JoinHandle<std::string> handle = weft::Spawn(inner());
    co_return co_await handle;
  };

  EXPECT_EQ(BlockOn(threads.SpawnAt(1, outer)), "abc-1");
}

TEST(ThreadPerCoreTest, AHandleIsAwaitedOnAnotherThread) {
  ThreadPerCore threads =
      StartThreads(ThreadPerCoreOptions().Threads(2).Name("abc"));
  auto ask = [](const ThreadPerCore* threads) -> Task<std::string> {
    auto name = []() -> Task<std::string> { co_return NameOfThisThread(); };
    JoinHandle<std::string> handle = threads->SpawnAt(1, name);
    std::string there = co_await handle;
    co_return there + " " + NameOfThisThread();
  };
  JoinHandle<std::string> names =
      threads.SpawnAt(0, [&] { return ask(&threads); });

  EXPECT_EQ(BlockOn(names), "abc-1 abc-0");
}

TEST(ThreadPerCoreTest, AKeyHasOneThread) {
  ThreadPerCore threads =
      StartThreads(ThreadPerCoreOptions().Threads(4).Name("abc"));
  auto name = []() -> Task<std::string> { co_return NameOfThisThread(); };
  std::vector<int> keys(4);
  for (uint64_t key = 0; key < 1000; ++key) {
    ASSERT_GE(threads.IndexOf(key), 0);
    ASSERT_LT(threads.IndexOf(key), 4);
    ++keys[threads.IndexOf(key)];
  }
  for (const int count : keys) EXPECT_NEAR(count, 250, 60);

  const std::string expected = "abc-" + std::to_string(threads.IndexOf("key"));
  EXPECT_EQ(BlockOn(threads.SpawnByKey("key", name)), expected);
  EXPECT_EQ(BlockOn(threads.SpawnByKey(uint64_t{5}, name)),
            "abc-" + std::to_string(threads.IndexOf(uint64_t{5})));
}

// Data that was placed by one release is found by the next.
TEST(ThreadPerCoreTest, TheThreadOfAKeyNeverChanges) {
  ThreadPerCore threads = StartThreads(ThreadPerCoreOptions().Threads(7));
  std::string indices;
  for (uint64_t key = 0; key < 16; ++key) {
    indices += std::to_string(threads.IndexOf(key));
  }
  for (const char* key : {"", "a", "b", "weft", "a longer key"}) {
    indices += std::to_string(threads.IndexOf(key));
  }

  EXPECT_EQ(indices, "634032524402452352211");
}

TEST(ThreadPerCoreTest, PinsItsThreads) {
  ThreadPerCore threads =
      StartThreads(ThreadPerCoreOptions().Threads(2).Pinned());
  auto count = []() -> Task<int> {
    cpu_set_t set;
    CPU_ZERO(&set);
    EXPECT_EQ(sched_getaffinity(0, sizeof(set), &set), 0);
    co_return CPU_COUNT(&set);
  };

  EXPECT_EQ(BlockOn(threads.SpawnAt(0, count)), 1);
  EXPECT_EQ(BlockOn(threads.SpawnAt(1, count)), 1);
}

TEST(ThreadPerCoreTest, CallsTheHooksOnItsThreads) {
  LiveCounter counter;
  std::atomic<int> started{0};
  std::atomic<int> stopped{0};
  std::vector<JoinHandle<>> handles;
  {
    ThreadPerCoreOptions options;
    options.Threads(3)
        .Name("abc")
        .OnThreadStart([&started](int index) {
          EXPECT_EQ(NameOfThisThread(), "abc-" + std::to_string(index));
          started.fetch_add(1 << (8 * index));
        })
        .OnThreadStop([&stopped, &counter](int index) {
          EXPECT_EQ(NameOfThisThread(), "abc-" + std::to_string(index));
          EXPECT_EQ(counter.live(), 0);
          stopped.fetch_add(1 << (8 * index));
        });
    ThreadPerCore threads = StartThreads(options);
    EXPECT_EQ(started.load(), 0x010101);
    handles.push_back(threads.SpawnAt(1, [&] { return Hold(counter.Make()); }));
  }

  EXPECT_EQ(stopped.load(), 0x010101);
}

TEST(ThreadPerCoreTest, SaysWhyItDoesNotStart) {
  const auto threads =
      ThreadPerCore::Start(ThreadPerCoreOptions().StackSize(1));

  ASSERT_FALSE(threads.ok());
  EXPECT_EQ(ErrnoOf(threads.status()), EINVAL);
}

// Notes on which thread it is destroyed.
class NotesThread {
 public:
  explicit NotesThread(std::string* name) : name_(name) {}
  NotesThread(NotesThread&& other) noexcept
      : name_(std::exchange(other.name_, nullptr)) {}
  ~NotesThread() {
    if (name_ != nullptr) *name_ = NameOfThisThread();
  }

 private:
  std::string* name_;
};

TEST(ThreadPerCoreTest, TheEndDestroysEachTaskOnItsThread) {
  auto hold = [](NotesThread) -> Task<> { co_await Pending(); };
  std::vector<std::string> names(3);
  std::vector<JoinHandle<>> handles;
  {
    ThreadPerCore threads =
        StartThreads(ThreadPerCoreOptions().Threads(3).Name("abc"));
    std::atomic<int> made{0};
    for (int i = 0; i < 3; ++i) {
      handles.push_back(threads.SpawnAt(i, [&hold, &names, &made, i] {
        made.fetch_add(1);
        return hold(NotesThread(&names[i]));
      }));
    }
    SpinUntil([&] { return made.load() == 3; });
  }

  EXPECT_EQ(names, (std::vector<std::string>{"abc-0", "abc-1", "abc-2"}));
  for (JoinHandle<>& handle : handles) {
    EXPECT_EQ(CodeOf(std::move(handle)), absl::StatusCode::kCancelled);
  }
}

// Spawns on the next thread when it is destroyed.
class SpawnsAtExit {
 public:
  SpawnsAtExit(const ThreadPerCore& threads, int index, int left)
      : threads_(&threads), index_(index), left_(left) {}
  SpawnsAtExit(SpawnsAtExit&& other) noexcept
      : threads_(std::exchange(other.threads_, nullptr)),
        index_(other.index_),
        left_(other.left_) {}
  ~SpawnsAtExit() {
    if (threads_ == nullptr || left_ == 0) return;
    Start(*threads_, (index_ + 1) % threads_->threads(), left_ - 1);
  }

  static void Start(const ThreadPerCore& threads, int index, int left) {
    auto hold = [](SpawnsAtExit) -> Task<> { co_await Pending(); };
    threads.spawner(index)
        .Spawn(hold(SpawnsAtExit(threads, index, left)))
        .Detach();
  }

 private:
  const ThreadPerCore* threads_;
  int index_;
  int left_;
};

TEST(ThreadPerCoreTest, DestructorsMaySpawnOnOtherThreadsAtTheEnd) {
  for (int round = 0; round < RoundsOrLong(50, 2000); ++round) {
    ThreadPerCore threads = StartThreads(ThreadPerCoreOptions().Threads(3));
    for (int i = 0; i < 3; ++i) SpawnsAtExit::Start(threads, i, 20);
  }
}

// Awaits tasks of the other thread, one after the other.
Task<> Ask(const ThreadPerCore* threads, int other, std::atomic<int>* asked) {
  for (;;) {
    JoinHandle<> answer = threads->SpawnAt(other, [] { return YieldNow(); });
    co_await answer;
    asked->fetch_add(1);
  }
}

TEST(ThreadPerCoreTest, ItEndsWhileTasksAwaitThoseOfOtherThreads) {
  for (int round = 0; round < RoundsOrLong(100, 5000); ++round) {
    std::atomic<int> asked{0};
    ThreadPerCore threads = StartThreads(ThreadPerCoreOptions().Threads(2));
    for (int i = 0; i < 20; ++i) {
      threads
          .SpawnAt(i % 2, [&, i] { return Ask(&threads, 1 - i % 2, &asked); })
          .Detach();
    }
    SpinUntil([&] { return asked.load() >= 20; });
  }
}

#if defined(__cpp_exceptions)
TEST(ThreadPerCoreTest, WhatATaskThrowsGoesToItsHandle) {
  ThreadPerCore threads = StartThreads(ThreadPerCoreOptions().Threads(2));
  auto fail = []() -> Task<> {
    co_await YieldNow();
    throw std::runtime_error("failed");
  };

  EXPECT_THROW(BlockOn(threads.SpawnAt(1, fail)), std::runtime_error);
}
#endif

TEST(ThreadPerCoreDeathTest, IsNotUsedAfterAMove) {
  absl::StatusOr<ThreadPerCore> shards =
      ThreadPerCore::Start(ThreadPerCoreOptions().Threads(1));
  ASSERT_TRUE(shards.ok());
  const ThreadPerCore other = *std::move(shards);

  EXPECT_DEATH(static_cast<void>(shards->threads()), "was moved from");
  EXPECT_DEATH(static_cast<void>(shards->IndexOf(1)), "was moved from");
  EXPECT_DEATH(static_cast<void>(shards->spawner(0)), "was moved from");
}

TEST(ThreadPerCoreDeathTest, ChecksItsArguments) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(ThreadPerCoreOptions().Threads(0), "at least one thread");
  ThreadPerCore threads = StartThreads(ThreadPerCoreOptions().Threads(2));
  EXPECT_DEATH(static_cast<void>(threads.spawner(2)), "no such thread");
  EXPECT_DEATH(static_cast<void>(threads.spawner(-1)), "no such thread");
}

class ThreadPerCoreThreadsTest : public testing::TestWithParam<int> {};

INSTANTIATE_TEST_SUITE_P(Threads, ThreadPerCoreThreadsTest,
                         testing::Values(1, 2, 4, 8));

// Counts without a lock.
Task<> Count(int* count) {
  for (int i = 0; i < 10; ++i) {
    ++*count;
    co_await YieldNow();
  }
}

TEST_P(ThreadPerCoreThreadsTest, TasksOfOneThreadShareWithoutALock) {
  const int tasks = RoundsOrLong(1000, 100'000);
  ThreadPerCore threads =
      StartThreads(ThreadPerCoreOptions().Threads(GetParam()));
  std::vector<int> counts(GetParam());
  std::vector<JoinHandle<>> handles;
  for (int i = 0; i < tasks; ++i) {
    const int index = threads.IndexOf(static_cast<uint64_t>(i));
    handles.push_back(threads.SpawnAt(
        index, [count = &counts[index]] { return Count(count); }));
  }
  for (JoinHandle<>& handle : handles) BlockOn(handle);

  int sum = 0;
  for (const int count : counts) sum += count;
  EXPECT_EQ(sum, 10 * tasks);
}

TEST_P(ThreadPerCoreThreadsTest, TasksAreWokenWhileItEnds) {
  for (int round = 0; round < RoundsOrLong(50, 2000); ++round) {
    LiveCounter counter;
    Hammer hammer(2);
    auto wait = [](Hammer* hammer, LiveCounter::Object) -> Task<> {
      co_await hammer->Wait();
    };
    std::vector<JoinHandle<>> handles;
    {
      ThreadPerCore threads =
          StartThreads(ThreadPerCoreOptions().Threads(GetParam()));
      for (int i = 0; i < 8; ++i) {
        handles.push_back(threads.SpawnAt(
            i % GetParam(),
            [&wait, &hammer, object = counter.Make()]() mutable {
              return wait(&hammer, std::move(object));
            }));
      }
      SpinUntil([&] { return hammer.targets() >= 4; });
    }
    EXPECT_EQ(counter.live(), 0);
  }
}

}  // namespace
}  // namespace weft
