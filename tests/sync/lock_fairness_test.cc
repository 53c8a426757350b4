// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// weft-lint: allow-file(R22): the tests' tasks end before what they refer to.

// Nobody waits for long for a lock that is never left alone. How often a waiter may
// be overtaken is tested where nothing depends on the time, with each lock.

#include <algorithm>
#include <atomic>
#include <thread>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "weft/sync/mutex.h"
#include "weft/sync/rw_lock.h"
#include "weft/sync/semaphore.h"
#include "weft/task/instant.h"
#include "weft/task/join_handle.h"
#include "weft/task/manual_executor.h"
#include "weft/task/task.h"
#include "weft/task/yield_now.h"

namespace weft::sync {
namespace {

constexpr int kTries = 1'000;
constexpr absl::Duration kLongest = absl::Milliseconds(100);

// The longest of kTries calls of `wait`, while a thread calls `hog` all the time.
template <class Hog, class Wait>
absl::Duration LongestWaitBeside(Hog hog, Wait wait) {
  std::atomic<bool> stop{false};
  std::thread thread([&] {
    while (!stop.load()) hog();
  });
  absl::Duration longest = absl::ZeroDuration();
  for (int i = 0; i < kTries; ++i) {
    const Instant start = Instant::Now();
    wait();
    longest = std::max(longest, Instant::Now() - start);
  }
  stop = true;
  thread.join();
  return longest;
}

TEST(LockFairnessTest, AMutexThatAThreadTakesInATightLoop) {
  Mutex<int> mutex(0);
  const auto lock = [&] { ++*mutex.BlockingLock(); };

  EXPECT_LT(LongestWaitBeside(lock, lock), kLongest);
}

TEST(LockFairnessTest, ABargingSemaphoreThatAThreadUsesInATightLoop) {
  Semaphore semaphore(2, Semaphore::Order::kBarging);
  const auto take_one = [&] { EXPECT_TRUE(semaphore.BlockingAcquire().ok()); };
  const auto take_both = [&] {
    EXPECT_TRUE(semaphore.BlockingAcquire(2).ok());
  };

  EXPECT_LT(LongestWaitBeside(take_one, take_both), kLongest);
}

// Runs `hogs` beside kTries rounds of wait(), in one thread.
template <class MakeHog, class MakeWait>
absl::Duration LongestWaitOfATask(int hogs, MakeHog make_hog,
                                  MakeWait make_wait) {
  ManualExecutor executor;
  bool stop = false;
  std::vector<JoinHandle<>> handles;
  for (int i = 0; i < hogs; ++i) {
    handles.push_back(executor.SpawnBorrowing(make_hog(i, stop)));
  }
  absl::Duration longest = absl::ZeroDuration();
  handles.push_back(executor.SpawnBorrowing(
      [](MakeWait make_wait, bool& stop, absl::Duration& longest) -> Task<> {
        for (int i = 0; i < kTries; ++i) {
          const Instant start = Instant::Now();
          co_await make_wait();
          longest = std::max(longest, Instant::Now() - start);
          co_await YieldNow();
        }
        stop = true;
      }(make_wait, stop, longest)));
  executor.RunUntilIdle();
  EXPECT_TRUE(stop);
  return longest;
}

TEST(LockFairnessTest, AMutexThatATaskTakesInATightLoop) {
  Mutex<int> mutex(0);
  const auto hog = [](Mutex<int>& mutex, bool& stop) -> Task<> {
    while (!stop) {
      auto guard = co_await mutex.Lock();
      ++*guard;
      co_await YieldNow();
    }
  };
  const auto wait = [](Mutex<int>& mutex) -> Task<> {
    auto guard = co_await mutex.Lock();
    ++*guard;
  };

  EXPECT_LT(LongestWaitOfATask(
                1, [&](int, bool& stop) { return hog(mutex, stop); },
                [&] { return wait(mutex); }),
            kLongest);
}

// Eight readers, whose turns overlap: it is never free.
TEST(LockFairnessTest, AnRwLockThatReadersNeverLeaveAlone) {
  RwLock<int> lock(0);
  const auto hog = [](RwLock<int>& lock, int turn, bool& stop) -> Task<> {
    while (!stop) {
      auto guard = co_await lock.Read();
      EXPECT_GE(*guard, 0);
      for (int i = 0; i < 5 + turn; ++i) co_await YieldNow();
    }
  };
  const auto wait = [](RwLock<int>& lock) -> Task<> {
    auto guard = co_await lock.Write();
    ++*guard;
  };

  EXPECT_LT(LongestWaitOfATask(
                8, [&](int i, bool& stop) { return hog(lock, i, stop); },
                [&] { return wait(lock); }),
            kLongest);
  EXPECT_EQ(*lock.BlockingRead(), kTries);
}

}  // namespace
}  // namespace weft::sync
