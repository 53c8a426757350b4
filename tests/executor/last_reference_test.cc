// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// weft-lint: allow-file(R22): the tests' tasks end before what they refer to.

// The last waker or handle of a suspended task goes on one thread, while on another one
// an executor makes references of its tasks: for a dump, or because it ends.
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "weft/executor/executor.h"
#include "weft/task/context.h"
#include "weft/task/join_handle.h"
#include "weft/task/polled.h"
#include "weft/task/ready.h"
#include "weft/task/waker.h"
#include "weft/tests/executor/runners.h"

namespace weft {
namespace {

using executor_testing::RoundsOrLong;

constexpr int kTasks = 20;

class Wakers {
 public:
  Wakers() = default;

  void Keep(Waker waker) {
    const std::lock_guard lock(mutex_);
    all_.push_back(std::move(waker));
  }
  void DropAll() {
    std::vector<Waker> gone;
    const std::lock_guard lock(mutex_);
    gone.swap(all_);
  }

 private:
  std::mutex mutex_;
  std::vector<Waker> all_;  // guarded by mutex_
};

// Counts how often a future is destroyed.
auto WaitWith(Wakers& wakers, std::atomic<int>& gone) {
  auto guard = std::shared_ptr<void>(nullptr, [&gone](void*) { ++gone; });
  auto poll = [&wakers, guard](Context& cx) -> Polled<void> {
    wakers.Keep(cx.waker());
    return kPending;
  };
  return PollFn(std::move(poll));
}

void TickAll(Executor& executor) {
  while (executor.TryTick()) {
  }
}

// Dumps all the time, on a thread of its own.
class Dumps {
 public:
  explicit Dumps(Executor& executor)
      : thread_([this, &executor] {
          while (!stop_.load()) {
            static_cast<void>(executor.Dump(absl::Milliseconds(1)));
          }
        }) {}
  ~Dumps() {
    stop_.store(true);
    thread_.join();
  }

 private:
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

void TickUntilGone(Executor& executor, std::atomic<int>& gone, int all) {
  executor_testing::SpinUntil([&] {
    TickAll(executor);
    return gone.load() == all;
  });
}

TEST(LastReferenceTest, AWakerGoesBesideADump) {
  const int rounds = RoundsOrLong(500, 20'000);
  std::atomic<int> gone{0};
  Wakers wakers;
  Executor executor;
  std::optional<Dumps> dumps(std::in_place, executor);
  std::atomic<bool> stop{false};
  std::thread drops([&] {
    while (!stop.load()) wakers.DropAll();
  });
  for (int i = 0; i < rounds; ++i) {
    for (int k = 0; k < kTasks; ++k) {
      executor.SpawnBorrowing(WaitWith(wakers, gone)).Detach();
    }
    TickAll(executor);
  }
  TickUntilGone(executor, gone, rounds * kTasks);
  stop.store(true);
  dumps.reset();
  drops.join();
  EXPECT_EQ(gone.load(), rounds * kTasks);
}

TEST(LastReferenceTest, AHandleGoesBesideADump) {
  const int rounds = RoundsOrLong(500, 20'000);
  std::atomic<int> gone{0};
  Wakers wakers;
  Executor executor;
  std::optional<Dumps> dumps(std::in_place, executor);
  for (int i = 0; i < rounds; ++i) {
    std::vector<JoinHandle<>> handles;
    for (int k = 0; k < kTasks; ++k) {
      handles.push_back(executor.SpawnBorrowing(WaitWith(wakers, gone)));
    }
    TickAll(executor);
    wakers.DropAll();
    for (JoinHandle<>& handle : handles) std::move(handle).Detach();
    TickAll(executor);
  }
  TickUntilGone(executor, gone, rounds * kTasks);
  dumps.reset();
  EXPECT_EQ(gone.load(), rounds * kTasks);
}

TEST(LastReferenceTest, AWakerGoesBesideTheEnd) {
  const int rounds = RoundsOrLong(200, 5'000);
  std::atomic<int> gone{0};
  for (int i = 0; i < rounds; ++i) {
    Wakers wakers;
    Executor executor;
    for (int k = 0; k < 10 * kTasks; ++k) {
      executor.SpawnBorrowing(WaitWith(wakers, gone)).Detach();
    }
    TickAll(executor);
    std::atomic<bool> begins{false};
    std::thread drops([&] {
      begins.store(true);
      wakers.DropAll();
    });
    executor_testing::SpinUntil([&] { return begins.load(); });
    executor.Close();
    drops.join();
  }
  EXPECT_EQ(gone.load(), rounds * 10 * kTasks);
}

}  // namespace
}  // namespace weft
