// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/executor/blocking_pool.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "weft/task/block_on.h"
#include "weft/task/environment.h"
#include "weft/task/instant.h"
#include "weft/task/join_handle.h"
#include "weft/task/offload.h"

namespace weft {
namespace {

// Jobs that wait until they are let go.
class Gate {
 public:
  void Pass() {
    ++inside_;
    while (!open_) std::this_thread::yield();
    --inside_;
  }
  void Open() { open_ = true; }
  void AwaitInside(int n) const {
    while (inside_ != n) std::this_thread::yield();
  }

 private:
  std::atomic<int> inside_{0};
  std::atomic<bool> open_{false};
};

absl::StatusCode CodeOf(JoinHandle<void> job) {
  return BlockOn(std::move(job).Outcome()).code();
}

TEST(BlockingPoolTest, RunsAJobOnAnotherThread) {
  BlockingPool pool;
  auto job = pool.Run(OffloadLane::kGeneral,
                      [] { return std::this_thread::get_id(); });
  EXPECT_NE(BlockOn(job), std::this_thread::get_id());
}

TEST(BlockingPoolTest, StartsNoThreadBeforeTheFirstJob) {
  BlockingPool pool;
  EXPECT_EQ(pool.GetStats().threads, 0);
  EXPECT_TRUE(pool.IsIdle());
}

TEST(BlockingPoolTest, UsesAnIdleThreadBeforeItStartsAnother) {
  BlockingPool pool;
  for (int i = 0; i < 100; ++i) {
    BlockOn(pool.Run(OffloadLane::kGeneral, [] {}));
    while (pool.GetStats().idle_threads != 1) std::this_thread::yield();
  }
  EXPECT_EQ(pool.GetStats().threads, 1);
  EXPECT_EQ(pool.GetStats().started, 100u);
}

TEST(BlockingPoolTest, StartsThreadsUpToTheLimit) {
  Gate gate;
  BlockingPool pool(BlockingPoolOptions().MaxThreads(3));
  std::vector<JoinHandle<void>> jobs;
  for (int i = 0; i < 10; ++i) {
    jobs.push_back(pool.Run(OffloadLane::kGeneral, [&gate] { gate.Pass(); }));
  }
  gate.AwaitInside(3);
  EXPECT_EQ(pool.GetStats().threads, 3);
  EXPECT_EQ(pool.GetStats().queued, 7u);
  gate.Open();
  for (JoinHandle<void>& job : jobs) BlockOn(job);
}

TEST(BlockingPoolTest, IdleThreadsEnd) {
  BlockingPool pool(BlockingPoolOptions().KeepAlive(absl::Milliseconds(1)));
  BlockOn(pool.Run(OffloadLane::kGeneral, [] {}));
  while (pool.GetStats().threads != 0) std::this_thread::yield();
  BlockOn(pool.Run(OffloadLane::kGeneral, [] {}));
}

TEST(BlockingPoolTest, NameLookupsLeaveThreadsForFiles) {
  Gate gate;
  BlockingPool pool(BlockingPoolOptions().MaxThreads(4));
  std::vector<JoinHandle<void>> lookups;
  for (int i = 0; i < 64; ++i) {
    lookups.push_back(pool.Run(OffloadLane::kName, [&gate] { gate.Pass(); }));
  }
  gate.AwaitInside(2);
  BlockOn(pool.Run(OffloadLane::kFile, [] {}));
  BlockOn(pool.Run(OffloadLane::kGeneral, [] {}));
  lookups.clear();  // those that wait are dropped
  gate.Open();
}

TEST(BlockingPoolTest, AFullQueueRefusesAndSaysSo) {
  Gate gate;
  BlockingPool pool(BlockingPoolOptions().MaxThreads(1).QueueCapacity(2));
  auto running = pool.Run(OffloadLane::kGeneral, [&gate] { gate.Pass(); });
  gate.AwaitInside(1);
  auto a = pool.Run(OffloadLane::kGeneral, [] {});
  auto b = pool.Run(OffloadLane::kGeneral, [] {});
  EXPECT_EQ(CodeOf(pool.Run(OffloadLane::kGeneral, [] {})),
            absl::StatusCode::kCancelled);
  EXPECT_EQ(pool.GetStats().rejected, 1u);
  gate.Open();
  BlockOn(a);
  BlockOn(b);
}

TEST(BlockingPoolTest, AJobDroppedBeforeItStartedNeverRuns) {
  Gate gate;
  BlockingPool pool(BlockingPoolOptions().MaxThreads(1));
  auto running = pool.Run(OffloadLane::kGeneral, [&gate] { gate.Pass(); });
  gate.AwaitInside(1);
  std::atomic<bool> ran{false};
  {
    auto dropped = pool.Run(OffloadLane::kGeneral, [&ran] { ran = true; });
  }
  auto last = pool.Run(OffloadLane::kGeneral, [] {});
  gate.Open();
  BlockOn(last);
  EXPECT_FALSE(ran);
}

TEST(BlockingPoolTest, ShutdownDropsWhatWaitsAndCountsWhatRuns) {
  auto gate = std::make_shared<Gate>();
  BlockingPool pool(BlockingPoolOptions().MaxThreads(1));
  auto running = pool.Run(OffloadLane::kGeneral, [gate] { gate->Pass(); });
  gate->AwaitInside(1);
  auto waiting = pool.Run(OffloadLane::kGeneral, [] {});
  const BlockingPool::Leftover leftover = pool.Shutdown(Instant::Past());
  EXPECT_EQ(leftover.dropped, 1u);
  EXPECT_EQ(leftover.running, 1u);
  EXPECT_EQ(CodeOf(std::move(waiting)), absl::StatusCode::kCancelled);
  EXPECT_EQ(CodeOf(pool.Run(OffloadLane::kGeneral, [] {})),
            absl::StatusCode::kCancelled);
  gate->Open();
  BlockOn(running);
  EXPECT_EQ(pool.Shutdown(Instant::Infinite()).running, 0u);
}

TEST(BlockingPoolTest, DestructionWaitsForRunningJobs) {
  std::atomic<bool> finished{false};
  std::optional<JoinHandle<void>> job;
  Gate gate;
  std::thread opener;
  {
    BlockingPool pool;
    job.emplace(pool.Run(OffloadLane::kGeneral, [&] {
      gate.Pass();
      finished = true;
    }));
    gate.AwaitInside(1);
    opener = std::thread([&gate] { gate.Open(); });
  }
  EXPECT_TRUE(finished);
  opener.join();
}

TEST(BlockingPoolTest, AJobMayDestroyItsPool) {
  std::atomic<bool> destroyed{false};
  auto pool = std::make_unique<BlockingPool>();
  BlockingPool* raw = pool.get();
  auto job = raw->Run(OffloadLane::kGeneral,
                      [pool = std::move(pool), &destroyed]() mutable {
                        pool.reset();
                        destroyed = true;
                      });
  BlockOn(job);
  EXPECT_TRUE(destroyed);
}

TEST(BlockingPoolTest, TheLastOwnerOfThePoolMayBeItsEnvironment) {
  // A thread of the pool drops the environment, and with it the pool.
  for (int round = 0; round < 200; ++round) {
    struct Owner {
      std::unique_ptr<BlockingPool> pool;
      Environment environment;
    };
    auto owner = std::make_shared<Owner>();
    std::weak_ptr<Owner> gone = owner;
    owner->pool = std::make_unique<BlockingPool>(
        BlockingPoolOptions(),
        std::shared_ptr<const Environment>(owner, &owner->environment));
    BlockOn(owner->pool->Run(OffloadLane::kGeneral, [] {}));
    owner->pool->Shutdown(Instant::Infinite());
    owner.reset();
    while (!gone.expired()) std::this_thread::yield();
  }
}

TEST(BlockingPoolTest, HooksRunOnEachThread) {
  std::atomic<int> started{0};
  std::atomic<int> stopped{0};
  {
    BlockingPool pool(BlockingPoolOptions()
                          .OnThreadStart([&] { ++started; })
                          .OnThreadStop([&] { ++stopped; }));
    BlockOn(pool.Run(OffloadLane::kGeneral, [] {}));
  }
  EXPECT_EQ(started, 1);
  EXPECT_EQ(stopped, 1);
}

TEST(BlockingPoolTest, WhereTheSystemGivesNoThreadJobsAreCancelled) {
  // A stack that no machine can map.
  BlockingPool pool(BlockingPoolOptions().StackSize(size_t{1} << 60));
  testing::internal::CaptureStderr();
  EXPECT_EQ(CodeOf(pool.Run(OffloadLane::kGeneral, [] {})),
            absl::StatusCode::kCancelled);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("start thread"),
            std::string::npos);
  EXPECT_EQ(pool.GetStats().failed_starts, 1u);
  EXPECT_EQ(pool.GetStats().threads, 0);
}

TEST(BlockingPoolTest, JobsFromManyThreadsAllRun) {
  constexpr int kThreads = 4;
  constexpr int kJobs = 2000;
  std::atomic<int> ran{0};
  {
    BlockingPool pool(
        BlockingPoolOptions().MaxThreads(8).KeepAlive(absl::Microseconds(10)));
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        std::vector<JoinHandle<void>> jobs;
        for (int j = 0; j < kJobs; ++j) {
          jobs.push_back(pool.Run(static_cast<OffloadLane>(j % kOffloadLanes),
                                  [&ran] { ++ran; }));
        }
        for (JoinHandle<void>& job : jobs) BlockOn(job);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  EXPECT_EQ(ran, kThreads * kJobs);
}

}  // namespace
}  // namespace weft
