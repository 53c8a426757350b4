// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// More waiters than a WakeBatch has wakers in place, seen through an Event and a
// Semaphore.

#include "weft/sync/wait_queue.h"

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "weft/sync/event.h"
#include "weft/sync/semaphore.h"
#include "weft/task/context.h"
#include "weft/task/counting_waker.h"
#include "weft/task/waker.h"
#include "weft/tests/sync/callback_waker.h"

namespace weft::sync_internal {
namespace {

using testing::ElementsAreArray;

constexpr int kWaits = 100;

class WakeBatchTest : public testing::Test {
 protected:
  using Wait = std::optional<sync::Event::WaitFuture>;

  WakeBatchTest() : waits_(kWaits) {}

  // Begins wait `i`. Its wake is logged, then on_wake(i) called.
  template <class OnWake>
  void Begin(int i, OnWake on_wake) {
    const Waker waker = CallbackWaker([this, i, on_wake] {
      woken_.push_back(i);
      on_wake(i);
    });
    Context cx(waker);
    waits_[i].emplace(event_->Wait());
    EXPECT_TRUE(waits_[i]->Poll(cx).IsPending());
  }
  template <class OnWake>
  void BeginAll(OnWake on_wake) {
    for (int i = 0; i < kWaits; ++i) Begin(i, on_wake);
  }
  static std::vector<int> Numbers(int end) {
    std::vector<int> numbers;
    for (int i = 0; i < end; ++i) numbers.push_back(i);
    return numbers;
  }

  std::unique_ptr<sync::Event> event_ = std::make_unique<sync::Event>();
  std::vector<Wait> waits_;
  std::vector<int> woken_;
};

TEST_F(WakeBatchTest, WakesAllInOrder) {
  BeginAll([](int) {});

  event_->Set();

  EXPECT_THAT(woken_, ElementsAreArray(Numbers(kWaits)));
}

TEST_F(WakeBatchTest, WhoIsDroppedBeforeItsTurnIsNotWoken) {
  BeginAll([this](int i) {
    if (i != 0) return;
    for (int other = 50; other < kWaits; ++other) waits_[other].reset();
  });

  event_->Set();

  EXPECT_THAT(woken_, ElementsAreArray(Numbers(50)));
}

TEST_F(WakeBatchTest, TheFirstMayDestroyAllAndThePrimitive) {
  BeginAll([this](int i) {
    if (i != 0) return;
    waits_.clear();
    event_.reset();
  });

  event_->Set();

  // The wakers of these had left their nodes.
  EXPECT_THAT(woken_, ElementsAreArray(Numbers(8)));
}

TEST_F(WakeBatchTest, WhoIsPolledBeforeItsTurnIsReadyAndMayWaitAgain) {
  CountingWaker again;
  BeginAll([&](int i) {
    if (i != 0) return;
    Context cx(again.waker());
    for (Wait& wait : waits_) EXPECT_TRUE(wait->Poll(cx).IsReady());
    event_->Reset();
    for (Wait& wait : waits_) {
      wait.emplace(event_->Wait());
      EXPECT_TRUE(wait->Poll(cx).IsPending());
    }
  });

  event_->Set();
  EXPECT_EQ(again.wakes(), 0);
  EXPECT_THAT(woken_, ElementsAreArray(Numbers(8)));

  event_->Set();
  EXPECT_EQ(again.wakes(), kWaits);
}

TEST_F(WakeBatchTest, PermitsOfThoseThatAreDroppedBeforeTheirTurnAreKept) {
  sync::Semaphore semaphore(0);
  std::vector<std::optional<sync::Semaphore::AcquireFuture>> acquires(kWaits);
  const Waker waker = CallbackWaker([&] {
    for (auto& acquire : acquires) acquire.reset();
  });
  Context cx(waker);
  for (auto& acquire : acquires) {
    acquire.emplace(semaphore.Acquire());
    EXPECT_TRUE(acquire->Poll(cx).IsPending());
  }

  semaphore.AddPermits(kWaits);

  EXPECT_EQ(semaphore.AvailablePermits(), size_t{kWaits});
}

// --- Threads.

TEST_F(WakeBatchTest, WaitsMayBePolledAndDroppedWhileTheyAreWoken) {
  constexpr int kRounds = 200;
  constexpr int kThreads = 3;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<CountingWaker> wakers(kThreads);
    std::atomic<bool> go = false;
    sync::Event event;
    std::vector<Wait> waits(kWaits);
    for (int i = 0; i < kWaits; ++i) {
      Context cx(wakers[i % kThreads].waker());
      waits[i].emplace(event.Wait());
      ASSERT_TRUE(waits[i]->Poll(cx).IsPending());
    }

    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        Context cx(wakers[t].waker());
        go.wait(false);
        for (int i = t; i < kWaits; i += kThreads) {
          if (i % 2 == 0) {
            while (waits[i]->Poll(cx).IsPending()) std::this_thread::yield();
          }
          waits[i].reset();
        }
      });
    }
    go = true;
    go.notify_all();
    event.Set();
    for (std::thread& thread : threads) thread.join();
  }
}

}  // namespace
}  // namespace weft::sync_internal
