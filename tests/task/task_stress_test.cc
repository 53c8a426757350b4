// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Many threads that wake, run, cancel, detach and join the same tasks.

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "weft/task/atomic_waker.h"
#include "weft/task/block_on.h"
#include "weft/task/context.h"
#include "weft/task/join_handle.h"
#include "weft/task/live_counter.h"
#include "weft/task/manual_executor.h"
#include "weft/task/polled.h"
#include "weft/task/random.h"
#include "weft/task/ready.h"
#include "weft/task/runnable.h"
#include "weft/task/task.h"
#include "weft/task/waker.h"
#include "weft/task/yield_now.h"

namespace weft {
namespace {

int Rounds(int rounds) {
  return std::getenv("WEFT_LONG") != nullptr ? rounds * 50 : rounds;
}

// The smallest executor with threads: one queue under a lock.
class Pool {
 public:
  explicit Pool(int threads) {
    for (int i = 0; i < threads; ++i) {
      threads_.emplace_back([this] { Work(); });
    }
  }
  ~Pool() {
    {
      std::lock_guard lock(mutex_);
      closed_ = true;
    }
    arrived_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  template <Future F>
  JoinHandle<OutputOf<F>> Spawn(F future) {
    auto [runnable, handle] = SpawnOn(
        std::move(future), [this](Runnable<> r) { Push(std::move(r)); });
    Push(std::move(runnable));
    return std::move(handle);
  }

 private:
  void Push(Runnable<> runnable) {
    {
      std::lock_guard lock(mutex_);
      queue_.push_back(std::move(runnable));
    }
    arrived_.notify_one();
  }
  // Works until closed and empty.
  void Work() {
    for (;;) {
      std::optional<Runnable<>> runnable;
      {
        std::unique_lock lock(mutex_);
        arrived_.wait(lock, [this] { return closed_ || !queue_.empty(); });
        if (queue_.empty()) return;
        runnable.emplace(std::move(queue_.front()));
        queue_.pop_front();
      }
      std::move(*runnable).Run();
    }
  }

  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<Runnable<>> queue_;
  bool closed_ = false;
  std::vector<std::thread> threads_;
};

// Touched by each poll without a lock: polls must not overlap.
struct Exclusive {
  int64_t polls = 0;
};

// Wakes itself, keeps its waker where others fire it, and ends after a while.
// The slot is the others': once they drop it, nobody can wake this any more.
class Busy {
 public:
  using Output = int64_t;

  Busy(int polls, const std::shared_ptr<AtomicWaker>& slot,
       LiveCounter& counter)
      : left_(polls),
        slot_(slot),
        exclusive_(std::make_unique<Exclusive>()),
        object_(counter.Make()) {}

  Polled<int64_t> Poll(Context& cx) {
    ++exclusive_->polls;
    if (--left_ <= 0) return exclusive_->polls;
    if (auto slot = slot_.lock()) slot->Register(cx.waker());
    if (left_ % 3 == 0) cx.waker().WakeByRef();
    if (left_ % 5 == 0) Waker(cx.waker()).Wake();
    return kPending;
  }

 private:
  int left_;
  std::weak_ptr<AtomicWaker> slot_;
  std::unique_ptr<Exclusive> exclusive_;
  LiveCounter::Object object_;
};

TEST(TaskStressTest, WokenByManyThreadsATaskNeverOverlapsItself) {
  LiveCounter counter;
  for (int round = 0; round < Rounds(100); ++round) {
    Pool pool(3);
    auto slot = std::make_shared<AtomicWaker>();
    JoinHandle<int64_t> handle = pool.Spawn(Busy(500, slot, counter));
    std::atomic<bool> stop{false};
    std::vector<std::thread> wakers;
    for (int i = 0; i < 2; ++i) {
      wakers.emplace_back([&] {
        while (!stop.load()) {
          slot->Wake();
          std::this_thread::yield();
        }
      });
    }
    EXPECT_EQ(BlockOn(handle), 500);
    stop.store(true);
    for (std::thread& waker : wakers) waker.join();
  }
  EXPECT_EQ(counter.live(), 0);
}

// Handles are joined, cancelled, dropped and detached while the tasks run.
TEST(TaskStressTest, EveryEndOfAHandleAgainstEveryStateOfATask) {
  constexpr uint64_t kSeed = 7;
  SCOPED_TRACE(kSeed);
  LiveCounter counter;
  for (int round = 0; round < Rounds(40); ++round) {
    Pool pool(2);
    std::vector<std::thread> users;
    for (uint64_t user = 0; user < 2; ++user) {
      users.emplace_back([&,
                          random = Random(kSeed + round * 2 + user)]() mutable {
        for (int i = 0; i < 100; ++i) {
          auto slot = std::make_shared<AtomicWaker>();
          const int polls = 1 + static_cast<int>(random.Below(4));
          JoinHandle<int64_t> handle = pool.Spawn(Busy(polls, slot, counter));
          const uint32_t end = random.Below(4);
          for (uint32_t n = random.Below(3); n != 0; --n) slot->Wake();
          if (end == 0) {
            while (!handle.IsFinished()) {
              slot->Wake();
              std::this_thread::yield();
            }
            EXPECT_EQ(BlockOn(handle), polls);
          } else if (end == 1) {
            const std::optional<int64_t> output =
                BlockOn(std::move(handle).Cancel());
            EXPECT_EQ(output.value_or(polls), polls);
          } else if (end == 2) {
            std::move(handle).Detach();
          }  // else it is dropped
          slot->Wake();
        }
      });
    }
    for (std::thread& user : users) user.join();
  }
  EXPECT_EQ(counter.live(), 0);
}

// A handle that is waited for on one thread, then on another.
TEST(TaskStressTest, AHandleIsAwaitedByOneThreadAfterAnother) {
  Pool pool(1);
  for (int round = 0; round < Rounds(1000); ++round) {
    auto task = [](int yields) -> Task<int> {
      for (int i = 0; i < yields; ++i) co_await YieldNow();
      co_return yields;
    };
    JoinHandle<int> handle = pool.Spawn(task(round % 7));
    auto look = [](JoinHandle<int>* handle) -> Task<std::optional<int>> {
      co_return co_await PollOnce(*handle);
    };
    std::optional<int> early;
    std::thread([&] { early = BlockOn(look(&handle)); }).join();
    if (!early.has_value()) early = BlockOn(handle);
    EXPECT_EQ(*early, round % 7);
  }
}

// Wakers that outlive task, handle and executor, fired by many threads.
TEST(TaskStressTest, WakersOutliveEverything) {
  LiveCounter counter;
  for (int round = 0; round < Rounds(200); ++round) {
    std::vector<std::shared_ptr<AtomicWaker>> slots;
    std::vector<std::thread> wakers;
    std::atomic<bool> stop{false};
    {
      ManualExecutor executor;
      std::vector<JoinHandle<int64_t>> handles;
      for (int i = 0; i < 8; ++i) {
        slots.push_back(std::make_shared<AtomicWaker>());
        handles.push_back(executor.Spawn(Busy(1000, slots[i], counter)));
      }
      for (int t = 0; t < 2; ++t) {
        wakers.emplace_back([&] {
          while (!stop.load()) {
            for (auto& slot : slots) {
              Waker waker = slot->Take();
              const Waker copy = waker;
              std::move(waker).Wake();
              copy.WakeByRef();
            }
            std::this_thread::yield();
          }
        });
      }
      for (int i = 0; i < 200; ++i) executor.RunOne();
      handles.erase(handles.begin(), handles.begin() + 4);
    }
    EXPECT_EQ(counter.live(), 0);
    stop.store(true);
    for (std::thread& waker : wakers) waker.join();
  }
}

}  // namespace
}  // namespace weft
