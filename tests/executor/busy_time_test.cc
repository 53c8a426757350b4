// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/executor/busy_time.h"

#include <atomic>
#include <cstdint>
#include <thread>

#include "gtest/gtest.h"
#include "weft/task/instant.h"

namespace weft::executor_internal {
namespace {

Instant At(int64_t ns) { return Instant::FromNanoseconds(ns); }

int64_t ReadAt(const BusyTime& busy, int64_t ns) {
  return busy.Read([ns] { return At(ns); });
}

TEST(BusyTimeTest, IsZeroAtFirst) {
  const BusyTime busy;

  EXPECT_EQ(ReadAt(busy, 1000), 0);
}

TEST(BusyTimeTest, AddsTheTimesAtWork) {
  BusyTime busy;

  busy.Begin(At(1000));
  EXPECT_EQ(ReadAt(busy, 1000), 0);
  EXPECT_EQ(ReadAt(busy, 1010), 10);
  busy.End(At(1020));
  EXPECT_EQ(ReadAt(busy, 1500), 20);
  busy.Begin(At(2000));
  EXPECT_EQ(ReadAt(busy, 2003), 23);
  busy.End(At(2004));

  EXPECT_EQ(ReadAt(busy, 9999), 24);
}

TEST(BusyTimeTest, SayingItTwiceChangesNothing) {
  BusyTime busy;

  busy.End(At(500));
  busy.Begin(At(1000));
  busy.Begin(At(1005));
  EXPECT_EQ(ReadAt(busy, 1010), 10);
  busy.End(At(1010));
  busy.End(At(1020));

  EXPECT_EQ(ReadAt(busy, 9999), 10);
}

TEST(BusyTimeTest, WhoEndsBesideAReadIsNotAtWorkUntilTheRead) {
  BusyTime busy;
  busy.Begin(At(1000));

  const int64_t read = busy.Read([&busy] {
    busy.End(At(1010));
    return At(5000);
  });

  EXPECT_EQ(read, 10);
}

// It has looked at the clock, but not written yet.
TEST(BusyTimeTest, WhoHasEndedWithoutSayingSoDoesNotMakeReadsFall) {
  BusyTime busy;
  busy.Begin(At(1000));
  EXPECT_EQ(ReadAt(busy, 1030), 30);

  busy.End(At(1010));

  EXPECT_EQ(ReadAt(busy, 1040), 30);
  busy.Begin(At(1050));
  EXPECT_EQ(ReadAt(busy, 1060), 30);
  EXPECT_EQ(ReadAt(busy, 1080), 40);
}

TEST(BusyTimeTest, ResetForgetsAll) {
  BusyTime busy;
  busy.Begin(At(1000));
  busy.End(At(1010));

  busy.Reset();

  EXPECT_EQ(ReadAt(busy, 2000), 0);
}

TEST(BusyTimeTest, WhatAnotherThreadReadsNeverFalls) {
  BusyTime busy;
  std::atomic<bool> stop{false};
  std::thread worker([&] {
    for (int i = 0; i < 20'000; ++i) {
      busy.Begin(Instant::Now());
      busy.End(Instant::Now());
    }
    stop.store(true);
  });

  int64_t last = 0;
  while (!stop.load()) {
    const int64_t now = busy.Read();
    EXPECT_GE(now, last);
    last = now;
  }

  worker.join();
  EXPECT_GE(busy.Read(), last);
}

}  // namespace
}  // namespace weft::executor_internal
