// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/sync/small_mutex.h"

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace weft::sync_internal {
namespace {

constinit SmallMutex constant_initialized;

int Rounds(int rounds) {
  return std::getenv("WEFT_LONG") != nullptr ? 100 * rounds : rounds;
}

TEST(SmallMutexTest, IsHeldByOne) {
  std::unique_lock lock(constant_initialized);

  EXPECT_FALSE(constant_initialized.try_lock());

  lock.unlock();
  EXPECT_TRUE(constant_initialized.try_lock());
  constant_initialized.unlock();
}

TEST(SmallMutexTest, IsSmall) { EXPECT_EQ(sizeof(SmallMutex), 4u); }

TEST(SmallMutexTest, KeepsThreadsApart) {
  const int rounds = Rounds(20'000);
  SmallMutex mutex;
  int64_t count = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < rounds; ++i) {
        std::lock_guard lock(mutex);
        ++count;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();

  EXPECT_EQ(count, 4 * int64_t{rounds});
}

TEST(SmallMutexTest, ASleeperIsWoken) {
  for (int round = 0; round < Rounds(20); ++round) {
    SmallMutex mutex;
    std::unique_lock lock(mutex);
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t) {
      threads.emplace_back([&] { std::lock_guard inner(mutex); });
    }
    // Long enough for them to sleep, most of the time.
    for (int i = 0; i < 200; ++i) std::this_thread::yield();
    lock.unlock();
    for (std::thread& thread : threads) thread.join();
  }
}

TEST(SmallMutexTest, MayBeDestroyedByTheNextHolder) {
  for (int round = 0; round < Rounds(500); ++round) {
    struct Shared {
      SmallMutex mutex;
      int users = 2;
    };
    auto* shared = new Shared;
    const auto leave = [shared] {
      shared->mutex.lock();
      const bool last = --shared->users == 0;
      shared->mutex.unlock();
      if (last) delete shared;
    };
    std::thread other(leave);
    leave();
    other.join();
  }
}

}  // namespace
}  // namespace weft::sync_internal
