// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/task/atomic_waker.h"

#include <atomic>
#include <cstdlib>
#include <thread>
#include <utility>

#include "gtest/gtest.h"
#include "weft/task/block_on.h"
#include "weft/task/context.h"
#include "weft/task/counting_waker.h"
#include "weft/task/polled.h"
#include "weft/task/ready.h"
#include "weft/task/waker.h"

namespace weft {
namespace {

TEST(AtomicWakerTest, WakingAnEmptyOneDoesNothing) {
  AtomicWaker slot;
  slot.Wake();
  EXPECT_FALSE(static_cast<bool>(slot.Take()));
}

TEST(AtomicWakerTest, WakesOnceWhatWasRegistered) {
  CountingWaker waker;
  AtomicWaker slot;
  slot.Register(waker.waker());
  EXPECT_EQ(waker.wakes(), 0);

  slot.Wake();
  slot.Wake();

  EXPECT_EQ(waker.wakes(), 1);
  EXPECT_EQ(waker.outstanding(), 0);
}

TEST(AtomicWakerTest, TheSameWakerIsNotClonedAgain) {
  CountingWaker waker;
  AtomicWaker slot;

  for (int i = 0; i < 3; ++i) slot.Register(waker.waker());

  EXPECT_EQ(waker.clones(), 1);
}

TEST(AtomicWakerTest, ANewWakerReplacesTheOld) {
  CountingWaker a;
  CountingWaker b;
  AtomicWaker slot;
  slot.Register(a.waker());

  slot.Register(b.waker());
  EXPECT_EQ(a.outstanding(), 0);

  slot.Wake();
  EXPECT_EQ(a.wakes(), 0);
  EXPECT_EQ(b.wakes(), 1);
}

TEST(AtomicWakerTest, TakeGivesItAway) {
  CountingWaker waker;
  AtomicWaker slot;
  slot.Register(waker.waker());

  Waker taken = slot.Take();
  EXPECT_TRUE(taken.WillWake(waker.waker()));
  slot.Wake();
  EXPECT_EQ(waker.wakes(), 0);

  std::move(taken).Wake();
  EXPECT_EQ(waker.wakes(), 1);
}

TEST(AtomicWakerTest, DroppedItKeepsNothing) {
  CountingWaker waker;
  {
    AtomicWaker().Register(waker.waker());
  }
  EXPECT_EQ(waker.outstanding(), 0);
  EXPECT_EQ(waker.wakes(), 0);
}

// A flag, a slot, and the usual order: register, look; set, wake.
TEST(AtomicWakerTest, NoWakeIsLostBetweenThreads) {
  const int rounds = std::getenv("WEFT_LONG") != nullptr ? 1'000'000 : 20'000;
  AtomicWaker slot;
  std::atomic<int> sent{0};
  std::atomic<int> received{0};
  std::thread sender([&] {
    for (int i = 1; i <= rounds; ++i) {
      sent.store(i);
      slot.Wake();
      while (received.load() != i) std::this_thread::yield();
    }
  });

  for (int i = 1; i <= rounds; ++i) {
    BlockOn(PollFn([&](Context& cx) -> Polled<void> {
      if (sent.load() == i) return Unit();
      slot.Register(cx.waker());
      if (sent.load() == i) return Unit();
      return kPending;
    }));
    received.store(i);
  }
  sender.join();
}

// Several may wake at once; every registered waker is woken or dropped.
TEST(AtomicWakerTest, ManyMayWakeAtOnce) {
  CountingWaker waker;
  AtomicWaker slot;
  std::atomic<bool> stop{false};
  auto wake = [&] {
    while (!stop.load()) slot.Wake();
  };
  std::thread a(wake);
  std::thread b(wake);

  for (int i = 0; i < 20'000; ++i) slot.Register(waker.waker());
  stop.store(true);
  a.join();
  b.join();

  slot.Wake();
  EXPECT_EQ(waker.outstanding(), 0);
  EXPECT_GE(waker.wakes(), 1);
}

}  // namespace
}  // namespace weft
