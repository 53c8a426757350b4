// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/executor/blocking_pool.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "weft/executor/allowed_cpus.h"
#include "weft/task/block_on.h"
#include "weft/task/environment.h"
#include "weft/task/instant.h"
#include "weft/task/join_handle.h"
#include "weft/task/live_counter.h"
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

TEST(BlockingPoolTest, AnIdleThreadEndsNoSoonerThanAsked) {
  constexpr absl::Duration kKeepAlive = absl::Milliseconds(20);
  BlockingPool pool(BlockingPoolOptions().KeepAlive(kKeepAlive));
  const Instant before = Instant::Now();
  BlockOn(pool.Run(OffloadLane::kGeneral, [] {}));
  while (pool.GetStats().threads != 0) std::this_thread::yield();
  EXPECT_GE(Instant::Now() - before, kKeepAlive);
}

TEST(BlockingPoolTest, ThreadsThatAreNotNeededEndThoughJobsKeepComing) {
  Gate gate;
  BlockingPool pool(BlockingPoolOptions().KeepAlive(absl::Milliseconds(20)));
  std::vector<JoinHandle<void>> jobs;
  for (int i = 0; i < 4; ++i) {
    jobs.push_back(pool.Run(OffloadLane::kGeneral, [&gate] { gate.Pass(); }));
  }
  gate.AwaitInside(4);
  gate.Open();
  for (JoinHandle<void>& job : jobs) BlockOn(job);
  while (pool.GetStats().threads > 2) {
    BlockOn(pool.Run(OffloadLane::kGeneral, [] {}));
  }
}

TEST(BlockingPoolTest, AJobWakesOneThread) {
  Gate gate;
  BlockingPool pool;
  std::vector<JoinHandle<void>> jobs;
  for (int i = 0; i < 3; ++i) {
    jobs.push_back(pool.Run(OffloadLane::kGeneral, [&gate] { gate.Pass(); }));
  }
  gate.AwaitInside(3);
  gate.Open();
  for (uint64_t i = 0; i < 50; ++i) {
    while (pool.GetStats().idle_threads != 3) std::this_thread::yield();
    EXPECT_EQ(pool.GetStats().wakeups, i);
    BlockOn(pool.Run(OffloadLane::kGeneral, [] {}));
  }
  EXPECT_EQ(pool.GetStats().threads, 3);
}

TEST(BlockingPoolTest, TellsHowLongJobsWaitedAndRan) {
  Gate gate;
  BlockingPool pool(BlockingPoolOptions().MaxThreads(1));
  auto running = pool.Run(OffloadLane::kGeneral, [&gate] { gate.Pass(); });
  gate.AwaitInside(1);
  auto waiting = pool.Run(OffloadLane::kGeneral, [] {});
  EXPECT_EQ(pool.GetStats().running, 1u);
  const Instant start = Instant::Now();
  while (Instant::Now() - start < absl::Milliseconds(5)) {
    std::this_thread::yield();
  }
  const absl::Duration held = Instant::Now() - start;
  gate.Open();
  BlockOn(waiting);
  EXPECT_GE(pool.GetStats().max_queue_wait, held);
  EXPECT_GE(pool.GetStats().max_run_time, held);
}

TEST(BlockingPoolTest, ALaneHasALimitOfItsOwn) {
  Gate gate;
  BlockingPool pool(BlockingPoolOptions()
                        .MaxThreads(4)
                        .MaxThreads(OffloadLane::kFile, 1)
                        .MaxThreads(OffloadLane::kName, 3));
  std::vector<JoinHandle<void>> jobs;
  for (int i = 0; i < 8; ++i) {
    jobs.push_back(pool.Run(OffloadLane::kName, [&gate] { gate.Pass(); }));
  }
  gate.AwaitInside(3);
  for (int i = 0; i < 8; ++i) {
    jobs.push_back(pool.Run(OffloadLane::kFile, [&gate] { gate.Pass(); }));
  }
  gate.AwaitInside(4);
  EXPECT_EQ(pool.GetStats().queued, 12u);
  gate.Open();
  for (JoinHandle<void>& job : jobs) BlockOn(job);
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

TEST(BlockingPoolTest, ThoseWhoStandInLeaveAThread) {
  Gate gate;
  BlockingPool pool(BlockingPoolOptions().MaxThreads(4));
  std::vector<JoinHandle<void>> jobs;
  for (int i = 0; i < 8; ++i) {
    jobs.push_back(pool.Run(OffloadLane::kStandIn, [&gate] { gate.Pass(); }));
  }
  gate.AwaitInside(3);
  BlockOn(pool.Run(OffloadLane::kGeneral, [] {}));
  EXPECT_EQ(pool.GetStats().queued, 5u);
  gate.Open();
  for (JoinHandle<void>& job : jobs) BlockOn(job);
}

TEST(BlockingPoolTest, TheOnlyThreadMayStandIn) {
  BlockingPool pool(BlockingPoolOptions().MaxThreads(1));
  BlockOn(pool.Run(OffloadLane::kStandIn, [] {}));
}

TEST(BlockingPoolDeathTest, ALimitIsAtLeastOne) {
  EXPECT_DEATH(BlockingPoolOptions().MaxThreads(0), "at least one thread");
  EXPECT_DEATH(BlockingPoolOptions().MaxThreads(OffloadLane::kFile, 0),
               "of a lane needs at least one thread");
}

// Those that are ending count, so the job waits for the place.
TEST(BlockingPoolTest, ThereAreNoMoreThreadsThanAllowedWhileOneEnds) {
  Gate ending;
  BlockingPool pool(BlockingPoolOptions()
                        .MaxThreads(1)
                        .KeepAlive(absl::ZeroDuration())
                        .OnThreadStop([&ending] { ending.Pass(); }));
  BlockOn(pool.Run(OffloadLane::kGeneral, [] {}));
  ending.AwaitInside(1);
  auto first = pool.Run(OffloadLane::kGeneral, [] {});
  auto second = pool.Run(OffloadLane::kFile, [] {});
  EXPECT_EQ(pool.GetStats().threads, 1);
  EXPECT_EQ(pool.GetStats().queued, 2u);
  ending.Open();
  BlockOn(first);
  BlockOn(second);
}

TEST(BlockingPoolTest, AFullQueueRefusesAndSaysSo) {
  Gate gate;
  BlockingPool pool(BlockingPoolOptions().MaxThreads(1).QueueCapacity(2));
  auto running = pool.Run(OffloadLane::kGeneral, [&gate] { gate.Pass(); });
  gate.AwaitInside(1);
  auto a = pool.Run(OffloadLane::kGeneral, [] {});
  auto b = pool.Run(OffloadLane::kGeneral, [] {});
  EXPECT_EQ(CodeOf(pool.Run(OffloadLane::kGeneral, [] {})),
            absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(pool.GetStats().rejected, 1u);
  gate.Open();
  BlockOn(a);
  BlockOn(b);
}

TEST(BlockingPoolTest, ABurstIsNotRefusedWhileThreadsCanStart) {
  Gate gate;
  BlockingPool pool(BlockingPoolOptions().MaxThreads(4).QueueCapacity(0));
  std::vector<JoinHandle<void>> jobs;
  for (int i = 0; i < 4; ++i) {
    jobs.push_back(pool.Run(OffloadLane::kGeneral, [&gate] { gate.Pass(); }));
  }
  EXPECT_EQ(CodeOf(pool.Run(OffloadLane::kGeneral, [] {})),
            absl::StatusCode::kResourceExhausted);
  gate.Open();
  for (JoinHandle<void>& job : jobs) BlockOn(job);
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

TEST(BlockingPoolTest, ADroppedJobIsDestroyedAtOnceAndLeavesItsPlace) {
  Gate gate;
  LiveCounter counter;
  BlockingPool pool(BlockingPoolOptions().MaxThreads(1).QueueCapacity(1));
  auto running = pool.Run(OffloadLane::kGeneral, [&gate] { gate.Pass(); });
  gate.AwaitInside(1);
  for (int i = 0; i < 3; ++i) {
    auto dropped =
        pool.Run(OffloadLane::kGeneral, [object = counter.Make()] {});
    EXPECT_EQ(counter.live(), 1);
    EXPECT_EQ(pool.GetStats().queued, 1u);
  }
  EXPECT_EQ(counter.live(), 0);
  EXPECT_EQ(pool.GetStats().queued, 0u);
  EXPECT_EQ(pool.GetStats().rejected, 0u);
  gate.Open();
}

TEST(BlockingPoolTest, CancelOfAJobThatWaitsIsReadyAtOnce) {
  Gate gate;
  BlockingPool pool(BlockingPoolOptions().MaxThreads(1));
  auto running = pool.Run(OffloadLane::kGeneral, [&gate] { gate.Pass(); });
  gate.AwaitInside(1);
  auto waiting = pool.Run(OffloadLane::kGeneral, [] { return 1; });
  EXPECT_EQ(BlockOn(std::move(waiting).Cancel()), std::nullopt);
  gate.Open();
}

TEST(BlockingPoolTest, JobsInTheMiddleOfAQueueAreDropped) {
  Gate gate;
  std::vector<int> ran;
  BlockingPool pool(BlockingPoolOptions().MaxThreads(1));
  auto running = pool.Run(OffloadLane::kGeneral, [&gate] { gate.Pass(); });
  gate.AwaitInside(1);
  std::vector<std::optional<JoinHandle<void>>> jobs;
  for (int i = 0; i < 6; ++i) {
    jobs.emplace_back(
        pool.Run(OffloadLane::kGeneral, [&ran, i] { ran.push_back(i); }));
  }
  for (int i : {0, 2, 3, 5}) jobs[i].reset();
  gate.Open();
  BlockOn(*jobs[1]);
  BlockOn(*jobs[4]);
  EXPECT_EQ(ran, (std::vector{1, 4}));
}

// Each owns the handle of the one before: without recursion.
TEST(BlockingPoolTest, AChainOfJobsIsDroppedWithItsLastHandle) {
  constexpr int kJobs = 60000;
  Gate gate;
  LiveCounter counter;
  BlockingPool pool(BlockingPoolOptions().MaxThreads(1));
  auto running = pool.Run(OffloadLane::kGeneral, [&gate] { gate.Pass(); });
  gate.AwaitInside(1);
  {
    auto last = pool.Run(OffloadLane::kGeneral, [] {});
    for (int i = 1; i < kJobs; ++i) {
      last = pool.Run(
          OffloadLane::kGeneral,
          [object = counter.Make(), handle = std::move(last)]() mutable {});
    }
    EXPECT_EQ(counter.live(), kJobs - 1);
  }
  EXPECT_EQ(counter.live(), 0);
  EXPECT_EQ(pool.GetStats().queued, 0u);
  gate.Open();
}

TEST(BlockingPoolTest, ADestructorOfAJobMayAwaitTheCancelOfAnother) {
  struct Cancels {
    std::optional<JoinHandle<int>> job;
    Cancels(Cancels&& other) noexcept
        : job(std::exchange(other.job, std::nullopt)) {}
    explicit Cancels(JoinHandle<int> job) : job(std::move(job)) {}
    ~Cancels() {
      if (job.has_value()) BlockOn(std::move(*job).Cancel());
    }
    void operator()() {}
  };
  Gate gate;
  BlockingPool pool(BlockingPoolOptions().MaxThreads(1));
  auto running = pool.Run(OffloadLane::kGeneral, [&gate] { gate.Pass(); });
  gate.AwaitInside(1);
  {
    auto first = pool.Run(OffloadLane::kGeneral, [] { return 1; });
    auto second = pool.Run(OffloadLane::kGeneral, Cancels(std::move(first)));
  }
  EXPECT_EQ(pool.GetStats().queued, 0u);
  gate.Open();
}

TEST(BlockingPoolTest, AJobDroppedWhileItRunsFinishes) {
  Gate gate;
  std::atomic<bool> finished{false};
  {
    BlockingPool pool;
    {
      auto job = pool.Run(OffloadLane::kGeneral, [&] {
        gate.Pass();
        finished = true;
      });
      gate.AwaitInside(1);
    }
    gate.Open();
  }
  EXPECT_TRUE(finished);
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

TEST(BlockingPoolTest, JobsThatShutThePoolDownDoNotWaitForEachOther) {
  Gate gate;
  BlockingPool pool;
  std::vector<JoinHandle<size_t>> jobs;
  for (int i = 0; i < 3; ++i) {
    jobs.push_back(pool.Run(OffloadLane::kGeneral, [&] {
      gate.Pass();
      return pool.Shutdown(Instant::Infinite()).running;
    }));
  }
  gate.AwaitInside(3);
  gate.Open();
  for (JoinHandle<size_t>& job : jobs) EXPECT_EQ(BlockOn(job), 0u);
  EXPECT_EQ(pool.Shutdown(Instant::Infinite()).running, 0u);
  EXPECT_EQ(pool.GetStats().threads, 0);
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

TEST(BlockingPoolTest, ThreadsRunOnTheProcessorsAsked) {
  const int last = executor_internal::AllowedCpus().back();
  BlockingPool pool(BlockingPoolOptions().Affinity({last}));

  EXPECT_EQ(BlockOn(pool.Run(OffloadLane::kGeneral,
                             [] { return executor_internal::AllowedCpus(); })),
            std::vector<int>{last});
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

// Whether the hook was called, and whether the pool let go of it.
struct HookReport {
  std::atomic<bool> called{false};
  std::weak_ptr<int> alive;

  // A hook that sets `called`.
  std::function<void()> MakeHook() {
    auto token = std::make_shared<int>(0);
    alive = token;
    return [this, token] { called = true; };
  }
  void AwaitLetGo() const {
    while (!alive.expired()) std::this_thread::yield();
  }
};

TEST(BlockingPoolTest, AThreadThatIsLeftBehindEndsWithoutTheHook) {
  Gate gate;
  HookReport report;
  {
    BlockingPool pool(BlockingPoolOptions().OnThreadStop(report.MakeHook()));
    pool.Run(OffloadLane::kGeneral, [&gate] { gate.Pass(); }).Detach();
    gate.AwaitInside(1);
    EXPECT_EQ(pool.Shutdown(Instant::Past()).running, 1u);
  }
  gate.Open();
  report.AwaitLetGo();
  EXPECT_FALSE(report.called);
}

TEST(BlockingPoolTest, TheThreadThatDestroysThePoolEndsWithoutTheHook) {
  HookReport report;
  auto pool = std::make_unique<BlockingPool>(
      BlockingPoolOptions().OnThreadStop(report.MakeHook()));
  BlockingPool* raw = pool.get();
  BlockOn(raw->Run(OffloadLane::kGeneral,
                   [pool = std::move(pool)]() mutable { pool.reset(); }));
  report.AwaitLetGo();
  EXPECT_FALSE(report.called);
}

TEST(BlockingPoolTest, OneThatWasGivenUpButEndsInTimeCallsTheHook) {
  Gate gate;
  HookReport report;
  BlockingPool pool(BlockingPoolOptions().OnThreadStop(report.MakeHook()));
  pool.Run(OffloadLane::kGeneral, [&gate] { gate.Pass(); }).Detach();
  gate.AwaitInside(1);
  EXPECT_EQ(pool.Shutdown(Instant::Past()).running, 1u);
  gate.Open();
  EXPECT_EQ(pool.Shutdown(Instant::Infinite()).running, 0u);
  EXPECT_TRUE(report.called);
}

// Here the one at the start; both are the same.
TEST(BlockingPoolTest, DestructionWaitsForAHookEvenWhereItGaveUp) {
  Gate gate;
  std::atomic<bool> over{false};
  std::thread opener;
  {
    BlockingPool pool(BlockingPoolOptions().OnThreadStart([&] {
      gate.Pass();
      for (int i = 0; i < 100; ++i) std::this_thread::yield();
      over = true;
    }));
    pool.Run(OffloadLane::kGeneral, [] {}).Detach();
    gate.AwaitInside(1);
    pool.Shutdown(Instant::Past());
    opener = std::thread([&gate] { gate.Open(); });
  }
  EXPECT_TRUE(over);
  opener.join();
}

TEST(BlockingPoolTest, WhereTheSystemGivesNoThreadJobsAreRefused) {
  // A stack that no machine can map.
  BlockingPool pool(BlockingPoolOptions().StackSize(size_t{1} << 60));
  testing::internal::CaptureStderr();
  EXPECT_EQ(CodeOf(pool.Run(OffloadLane::kGeneral, [] {})),
            absl::StatusCode::kResourceExhausted);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("start thread"),
            std::string::npos);
  EXPECT_EQ(pool.GetStats().failed_starts, 1u);
  EXPECT_EQ(pool.GetStats().threads, 0);
}

TEST(BlockingPoolTest, HandlesDroppedWhileThreadsTakeTheirJobsLeakNothing) {
  constexpr int kThreads = 3;
  constexpr int kJobs = 2000;
  LiveCounter counter;
  std::atomic<int> ran{0};
  {
    BlockingPool pool(BlockingPoolOptions().MaxThreads(2));
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        std::vector<JoinHandle<void>> kept;
        for (int j = 0; j < kJobs; ++j) {
          auto job = pool.Run(OffloadLane::kGeneral,
                              [&ran, object = counter.Make()] { ++ran; });
          if (j % 4 == 0) kept.push_back(std::move(job));
        }
        for (JoinHandle<void>& job : kept) BlockOn(job);
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(pool.GetStats().queued, 0u);
  }
  EXPECT_GE(ran, kThreads * kJobs / 4);
  EXPECT_EQ(counter.live(), 0);
}

#if defined(__cpp_exceptions)

TEST(BlockingPoolTest, AnExceptionGoesToWhoAwaits) {
  BlockingPool pool;
  auto job = pool.Run(OffloadLane::kGeneral, []() -> int { throw 7; });
  EXPECT_THROW(BlockOn(job), int);
  EXPECT_EQ(BlockOn(pool.Run(OffloadLane::kGeneral, [] { return 1; })), 1);
}

#endif  // __cpp_exceptions

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
