// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// weft-lint: allow-file(R22): the tests' tasks end before what they refer to.

// Executors with many threads: nothing is lost, nothing waits for ever.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "weft/executor/executor.h"
#include "weft/executor/injector.h"
#include "weft/executor/poll_interval.h"
#include "weft/executor/run_queue.h"
#include "weft/task/block_on.h"
#include "weft/task/context.h"
#include "weft/task/counting_waker.h"
#include "weft/task/instant.h"
#include "weft/task/invoke.h"
#include "weft/task/join_handle.h"
#include "weft/task/polled.h"
#include "weft/task/random.h"
#include "weft/task/spawner.h"
#include "weft/task/task.h"
#include "weft/task/waker.h"
#include "weft/task/yield_now.h"
#include "weft/tests/executor/runners.h"

namespace weft {
namespace {

using executor_testing::RoundsOrLong;
using executor_testing::Runners;
using executor_testing::SpinUntil;

using SharedCount = std::shared_ptr<std::atomic<int>>;

SharedCount MakeCount() { return std::make_shared<std::atomic<int>>(0); }

Task<> Count(SharedCount count) {
  count->fetch_add(1);
  co_return;
}

// True if `done()` within two seconds.
template <class Done>
bool Soon(Done done) {
  const Instant deadline = Instant::Now() + absl::Seconds(2);
  while (!done()) {
    if (Instant::Now() > deadline) return false;
    std::this_thread::yield();
  }
  return true;
}

class ExecutorStressTest : public testing::TestWithParam<int> {
 protected:
  int runner_count() const { return GetParam(); }
};

INSTANTIATE_TEST_SUITE_P(Runners, ExecutorStressTest,
                         testing::Values(1, 2, 4, 8));

TEST_P(ExecutorStressTest, ATaskFromOutsideWakesAParkedRunner) {
  Executor executor;
  Runners runners(executor, runner_count());
  Random random(20260101);
  const uint64_t count = static_cast<uint64_t>(runner_count());
  const int rounds = RoundsOrLong(100, 10'000);

  for (int round = 0; round < rounds; ++round) {
    // Sometimes all are parked, sometimes the last is just about to.
    if (random.Below(2) == 0) {
      ASSERT_TRUE(Soon([&] { return executor.Stats().parked == count; }));
    }
    const Instant pause_end =
        Instant::Now() + absl::Microseconds(random.Below(200));
    while (Instant::Now() < pause_end) {
    }
    SharedCount flag = MakeCount();
    executor.Spawn(Count(flag)).Detach();
    ASSERT_TRUE(Soon([&] { return flag->load() == 1; }))
        << "round " << round << " " << executor.DebugString();
  }
}

// As many as there are runners, while those come and go to sleep: all in one poll at
// the same time, or none of them ends.
TEST_P(ExecutorStressTest, EachTaskFromOutsideHasARunner) {
  Executor executor;
  Runners runners(executor, runner_count());
  Random random(20260102);
  const int rounds = RoundsOrLong(300, 30'000);

  for (int round = 0; round < rounds; ++round) {
    SharedCount inside = MakeCount();
    const auto meet = [](SharedCount inside, int all) -> Task<> {
      inside->fetch_add(1);
      while (inside->load() < all) std::this_thread::yield();
      co_return;
    };
    std::vector<JoinHandle<void>> handles;
    for (int i = 0; i < runner_count(); ++i) {
      handles.push_back(executor.Spawn(meet(inside, runner_count())));
      const Instant pause_end =
          Instant::Now() + absl::Microseconds(random.Below(20));
      while (Instant::Now() < pause_end) {
      }
    }
    const bool met = Soon([&] { return inside->load() == runner_count(); });
    EXPECT_TRUE(met) << "round " << round << " " << executor.DebugString();
    inside->store(runner_count());
    for (JoinHandle<void>& handle : handles) BlockOn(handle);
    if (!met) break;
  }
}

// What tasks wait for and threads raise.
class Level {
 public:
  class ReachFuture {
   public:
    using Output = void;
    ReachFuture(Level& level, int value) : level_(level), value_(value) {}
    Polled<void> Poll(Context& cx) {
      Waker waker = cx.waker();
      const std::lock_guard lock(level_.mutex_);
      if (level_.value_ >= value_) return Unit();
      std::swap(level_.waker_, waker);
      return kPending;
    }

   private:
    Level& level_;
    const int value_;
  };

  ReachFuture Reach(int value) { return ReachFuture(*this, value); }
  void Raise() {
    Waker waker;
    {
      const std::lock_guard lock(mutex_);
      ++value_;
      waker = waker_;
    }
    std::move(waker).Wake();
  }

 private:
  std::mutex mutex_;
  int value_ = 0;
  Waker waker_;
};

TEST_P(ExecutorStressTest, AWakeStormLosesNoWake) {
  constexpr int kTasks = 16;
  constexpr int kThreads = 4;
  const int raises = RoundsOrLong(500, 50'000);
  Executor executor;
  std::vector<Level> levels(kTasks);
  std::vector<JoinHandle<>> handles;
  Runners runners(executor, runner_count());
  for (Level& level : levels) {
    handles.push_back(
        executor.SpawnBorrowing([](Level& level, int last) -> Task<> {
          for (int i = 1; i <= last; ++i) co_await level.Reach(i);
        }(level, raises * kThreads)));
  }

  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      Random random(static_cast<uint64_t>(i));
      for (int k = 0; k < raises; ++k) {
        for (Level& level : levels) level.Raise();
        if (random.Below(16) == 0) std::this_thread::yield();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();

  for (JoinHandle<>& handle : handles) BlockOn(handle);
}

// Spawns its successor until told to stop.
Task<> Respawn(SharedCount stop, SharedCount ended) {
  if (stop->load() == 0) {
    weft::Spawn(Respawn(stop, ended)).Detach();
  } else {
    ended->fetch_add(1);
  }
  co_return;
}

TEST_P(ExecutorStressTest, ATaskFromOutsideRunsBesideACrowd) {
  // More than a runner's queue takes, so that the crowd overflows it.
  constexpr int kCrowd = 600;
  Executor executor;
  SharedCount stop = MakeCount();
  SharedCount ended = MakeCount();
  std::atomic<uint64_t> polls_between{0};
  Runners runners(executor, runner_count());
  BlockOn(executor.Spawn([stop, ended]() -> Task<> {
    for (int i = 0; i < kCrowd; ++i) weft::Spawn(Respawn(stop, ended)).Detach();
    co_return;
  }));

  // Takes the time on a runner, between two polls of the crowd.
  BlockOn(executor.SpawnBorrowing([](Executor& executor,
                                     std::atomic<uint64_t>& between) -> Task<> {
    for (int i = 0; i < 20; ++i) {
      std::optional<JoinHandle<uint64_t>> handle;
      std::thread([&] {
        handle.emplace(
            executor.SpawnBorrowing([](Executor& executor) -> Task<uint64_t> {
              co_return executor.Stats().polls;
            }(executor)));
      }).join();
      const uint64_t before = executor.Stats().polls;
      const uint64_t after = co_await *handle;
      // Another runner may have run it before the time was taken.
      if (after > before) between = std::max(between.load(), after - before);
    }
  }(executor, polls_between)));

  // With more runners the count goes on while the one that has the task waits
  // for a processor; then it is enough that each task was run.
  if (runner_count() == 1) {
    // Two rounds of the injector's producers, each a look after short polls, and
    // then what is in the runner's queue.
    constexpr uint64_t kLooks =
        uint64_t{2} * executor_internal::Injector::kProducers;
    EXPECT_LE(polls_between.load(),
              kLooks * executor_internal::PollInterval::kMax +
                  executor_internal::RunQueue<void*>::kCapacity);
  }
  stop->store(1);
  SpinUntil([&] { return ended->load() == kCrowd; });
}

TEST_P(ExecutorStressTest, TickersAloneRunEverything) {
  struct Tree {
    static Task<int> Leaves(int depth) {
      if (depth == 0) co_return 1;
      JoinHandle<int> left = weft::Spawn(Leaves(depth - 1));
      JoinHandle<int> right = weft::Spawn(Leaves(depth - 1));
      co_await YieldNow();
      const int sum = co_await left;
      co_return sum + co_await right;
    }
  };
  Executor executor;
  std::atomic<bool> stop{false};
  std::atomic<int> left{0};
  std::vector<std::thread> tickers;
  for (int i = 0; i < runner_count(); ++i) {
    tickers.emplace_back([&] {
      while (!stop.load()) BlockOn(executor.Tick());
      ++left;
    });
  }

  EXPECT_EQ(BlockOn(executor.Spawn(Tree::Leaves(9))), 512);

  stop = true;
  SharedCount count = MakeCount();
  while (left.load() < runner_count()) {
    executor.Spawn(Count(count)).Detach();
    std::this_thread::yield();
  }
  for (std::thread& ticker : tickers) ticker.join();
}

TEST_P(ExecutorStressTest, TickersSeeWhatIsInARunnersQueueAndSlot) {
  Executor executor;
  Runners runners(executor, runner_count());

  // Every runner is held by a task that waits for two others without
  // returning: one that it spawned, one that it woke.
  std::atomic<int> held{0};
  std::atomic<bool> ticking{true};
  std::thread ticker([&] {
    while (ticking.load()) {
      if (!executor.TryTick()) std::this_thread::yield();
    }
  });
  std::vector<JoinHandle<>> handles;
  std::vector<Level> levels(static_cast<size_t>(runner_count()));
  std::vector<JoinHandle<>> woken;
  for (Level& level : levels) {
    woken.push_back(executor.SpawnBorrowing(level.Reach(1)));
  }
  SpinUntil([&] { return executor.Stats().suspended == levels.size(); });
  for (size_t i = 0; i < levels.size(); ++i) {
    handles.push_back(
        executor.SpawnBorrowing([](Level& level, JoinHandle<>& woken,
                                   std::atomic<int>& held) -> Task<> {
          SharedCount count = MakeCount();
          weft::Spawn(Count(count)).Detach();
          level.Raise();
          ++held;
          SpinUntil([&] { return woken.IsFinished() && count->load() == 1; });
          co_return;
        }(levels[i], woken[i], held)));
  }

  for (JoinHandle<>& handle : handles) BlockOn(handle);
  EXPECT_EQ(held.load(), runner_count());
  ticking = false;
  ticker.join();
}

TEST_P(ExecutorStressTest, TicksThatAreDroppedLoseNoTask) {
  Executor executor;
  std::atomic<bool> stop{false};
  std::thread dropper([&] {
    Random random(7);
    CountingWaker waker;
    Context cx(waker.waker());
    while (!stop.load()) {
      std::optional<TickFuture> ticks[4];
      for (auto& tick : ticks) tick.emplace(executor.Tick());
      for (auto& tick : ticks) static_cast<void>(tick->Poll(cx));
      for (auto& tick : ticks) {
        if (random.Below(2) == 0) tick.reset();
      }
      std::this_thread::yield();
    }
  });
  {
    Runners runners(executor, runner_count());
    SharedCount count = MakeCount();
    const int tasks = RoundsOrLong(2'000, 200'000);
    for (int i = 0; i < tasks; ++i) {
      executor.Spawn(Count(count)).Detach();
      if (i % 16 == 0) {
        ASSERT_TRUE(Soon([&] { return count->load() == i + 1; }))
            << executor.DebugString();
      }
    }
    EXPECT_TRUE(Soon([&] { return count->load() == tasks; }));
  }
  stop = true;
  dropper.join();
}

TEST_P(ExecutorStressTest, AYieldingCrowdSharesTheRunners) {
  Executor executor;
  Runners runners(executor, runner_count());
  std::vector<JoinHandle<>> handles;
  SharedCount count = MakeCount();

  for (int i = 0; i < 100; ++i) {
    handles.push_back(executor.Spawn([count]() -> Task<> {
      for (int k = 0; k < 100; ++k) {
        count->fetch_add(1);
        co_await YieldNow();
      }
    }));
  }
  for (JoinHandle<>& handle : handles) BlockOn(handle);

  EXPECT_EQ(count->load(), 10'000);
}

// Asks all the time whether an executor is empty.
class EmptinessWatch {
 public:
  explicit EmptinessWatch(Executor& executor)
      : thread_([this, &executor] {
          while (!stop_.load()) {
            const uint64_t life = life_.load();
            if (executor.IsEmpty() && life % 2 == 1 && life_.load() == life) {
              wrong_.fetch_add(1);
            }
          }
        }) {}
  EmptinessWatch(const EmptinessWatch&) = delete;
  EmptinessWatch& operator=(const EmptinessWatch&) = delete;
  ~EmptinessWatch() {
    stop_.store(true);
    thread_.join();
  }

  // Between the two, whose `round` goes up from 0, there is a task.
  void Spawned(uint64_t round) { life_.store(2 * round + 1); }
  void Ends(uint64_t round) { life_.store(2 * round + 2); }
  // How often the answer was wrong.
  int wrong() const { return wrong_.load(); }

 private:
  std::atomic<uint64_t> life_{0};
  std::atomic<int> wrong_{0};
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

TEST(ExecutorEmptinessTest, ATaskThatALeavingRunnerHandsOnIsSeen) {
  Executor executor;
  EmptinessWatch watch(executor);
  const auto rounds = static_cast<uint64_t>(RoundsOrLong(20'000, 1'000'000));
  for (uint64_t round = 0; round < rounds; ++round) {
    executor.Run(Invoke([&]() -> Task<> {
      weft::Spawn(YieldNow()).Detach();
      watch.Spawned(round);
      co_return;
    }));
    watch.Ends(round);
    while (executor.TryTick()) {
    }
  }
  EXPECT_EQ(watch.wrong(), 0);
}

TEST_P(ExecutorStressTest, TasksCancelledAtOnceAreDestroyed) {
  const int tasks = RoundsOrLong(2'000, 10'000);
  Executor executor;
  Runners runners(executor, runner_count());
  auto token = std::make_shared<int>(0);

  const int cancelled = BlockOn(executor.Spawn([token, tasks]() -> Task<int> {
    int cancelled = 0;
    for (int i = 0; i < tasks; ++i) {
      auto body = [token]() -> Task<> { co_await YieldNow(); };
      JoinHandle<> handle = weft::Spawn(std::move(body));
      std::optional<Unit> output = co_await std::move(handle).Cancel();
      if (!output.has_value()) ++cancelled;
    }
    co_return cancelled;
  }));

  EXPECT_GT(cancelled, 0);
  SpinUntil([&] { return token.use_count() == 1; });
}

}  // namespace
}  // namespace weft
