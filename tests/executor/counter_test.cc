// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/executor/counter.h"

#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "weft/executor/count.h"

namespace weft::executor_internal {
namespace {

TEST(CounterTest, CountsFromZero) {
  Counter counter;
  EXPECT_EQ(counter.Get(), 0u);

  counter.Add();
  counter.Add(4);

  EXPECT_EQ(counter.Get(), 5u);
  counter.Reset();
  EXPECT_EQ(counter.Get(), 0u);
}

TEST(CounterTest, WhatIsOnlyShownIsCounted) {
  Counter counter;

  Count(counter);
  Count(counter, 2);

  EXPECT_EQ(CountShared(counter, 3), 3u);
  EXPECT_EQ(counter.Get(), 6u);
}

TEST(CounterTest, AnybodyMayReadWhatOneThreadWrites) {
  constexpr uint64_t kTimes = 10'000;
  Counter counter;
  std::thread writer([&counter] {
    for (uint64_t i = 0; i < kTimes; ++i) counter.Add();
  });

  for (uint64_t last = 0; last < kTimes; std::this_thread::yield()) {
    const uint64_t now = counter.Get();
    EXPECT_GE(now, last);
    last = now;
  }

  writer.join();
  EXPECT_EQ(counter.Get(), kTimes);
}

TEST(CounterTest, SharedCountsGiveEachCallANumber) {
  constexpr int kThreads = 4;
  constexpr uint64_t kTimes = 1000;
  Counter counter;
  std::vector<uint64_t> sums(kThreads);
  std::vector<std::thread> threads;

  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&counter, &sum = sums[static_cast<size_t>(i)]] {
      for (uint64_t n = 0; n < kTimes; ++n) sum += counter.AddShared();
    });
  }
  for (std::thread& thread : threads) thread.join();

  uint64_t sum = 0;
  for (const uint64_t part : sums) sum += part;
  constexpr uint64_t kAll = kThreads * kTimes;
  EXPECT_EQ(counter.Get(), kAll);
  EXPECT_EQ(sum, kAll * (kAll - 1) / 2);
}

}  // namespace
}  // namespace weft::executor_internal
