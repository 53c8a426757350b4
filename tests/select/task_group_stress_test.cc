// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// weft-lint: allow-file(R22): the tests' tasks end before what they refer to.
// weft-lint: allow-file(R4): groups keep the lambdas that they are given.

// Groups and trackers whose tasks run on several threads.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "weft/executor/thread_pool.h"
#include "weft/select/task_group.h"
#include "weft/select/task_tracker.h"
#include "weft/task/block_on.h"
#include "weft/task/join_handle.h"
#include "weft/task/live_counter.h"
#include "weft/task/ready.h"
#include "weft/task/spawner.h"
#include "weft/task/status_matchers.h"
#include "weft/task/task.h"
#include "weft/task/task_id.h"
#include "weft/task/yield_now.h"

namespace weft {
namespace {

// Many more rounds with WEFT_LONG=1.
int Rounds(int rounds) {
  return std::getenv("WEFT_LONG") != nullptr ? 100 * rounds : rounds;
}

class TaskGroupStressTest : public testing::Test {
 protected:
  TaskGroupStressTest()
      : pool_(*ThreadPool::Start(ThreadPoolOptions().Threads(3))) {}

  TaskGroupOptions Options(TaskGroupOptions options = {}) {
    options.spawner = &pool_.spawner();
    return options;
  }

  ThreadPool pool_;
  LiveCounter counter_;
};

Task<int> WorkFor(int yields, int value, LiveCounter::Object) {
  for (int i = 0; i < yields; ++i) co_await YieldNow();
  co_return value;
}

TEST_F(TaskGroupStressTest, EachResultIsTakenOnce) {
  const int rounds = Rounds(50);
  constexpr int kTasks = 100;
  for (int round = 0; round < rounds; ++round) {
    TaskGroup<int> group(Options({.limit = round % 2 == 0 ? 0u : 5u}));
    for (int i = 0; i < kTasks; ++i) {
      group.Spawn(WorkFor(i % 3, i, counter_.Make()));
    }
    std::atomic<int> sum{0};
    std::atomic<int> results{0};
    std::vector<std::thread> takers;
    for (int i = 0; i < 2; ++i) {
      takers.emplace_back([&] {
        while (auto result = BlockOn(group.Next())) {
          sum += **result;
          ++results;
        }
      });
    }
    for (std::thread& taker : takers) taker.join();
    EXPECT_EQ(results, kTasks);
    EXPECT_EQ(sum, kTasks * (kTasks - 1) / 2);
    EXPECT_EQ(counter_.live(), 0);
  }
}

// Never more tasks than the limit run, whoever spawns them.
TEST_F(TaskGroupStressTest, TheLimitHolds) {
  const int rounds = Rounds(20);
  constexpr int kTasks = 100;
  for (int round = 0; round < rounds; ++round) {
    TaskGroup<> group(Options({.limit = 2}));
    std::atomic<int> running{0};
    std::atomic<int> most{0};
    const auto task = [&running, &most]() -> Task<> {
      const int now = ++running;
      if (now > most) most = now;
      co_await YieldNow();
      --running;
    };
    std::thread other([&] {
      for (int i = 0; i < kTasks; ++i) group.Spawn(task);
    });
    for (int i = 0; i < kTasks; ++i) {
      EXPECT_THAT(BlockOn(group.SpawnWhenRoom(task)), IsOk());
    }
    other.join();
    EXPECT_THAT(BlockOn(group.Join()), IsOk());
    EXPECT_LE(most, 2);
  }
}

// Spawning, ending, failing and cancelling all at once.
TEST_F(TaskGroupStressTest, CancellingLeavesNothingBehind) {
  const int rounds = Rounds(100);
  for (int round = 0; round < rounds; ++round) {
    TaskGroup<absl::StatusOr<int>> group(
        Options({.limit = round % 3 == 0 ? 16u : 0u}));
    std::thread spawner([&] {
      for (int i = 0; i < 100; ++i) {
        group.Spawn([i, round,
                     object = counter_.Make()]() -> Task<absl::StatusOr<int>> {
          co_await YieldNow();
          if (i % 7 == 0) co_await Pending();
          if (i == 50 && round % 2 == 0) co_return absl::AbortedError("fifty");
          co_return i;
        });
      }
    });
    if (round % 2 == 1) group.CancelAll();
    spawner.join();
    const absl::Status status = BlockOn(group.Join()).status();
    EXPECT_TRUE(round % 2 == 1 ? absl::IsCancelled(status)
                               : absl::IsAborted(status))
        << status;
    EXPECT_EQ(counter_.live(), 0);
  }
}

TEST_F(TaskGroupStressTest, ShutdownWaitsForTasksOnOtherThreads) {
  const int rounds = Rounds(100);
  for (int round = 0; round < rounds; ++round) {
    int borrowed[4] = {};
    TaskGroup<> group(Options());
    for (int& slot : borrowed) {
      group.Spawn([&slot]() -> Task<> {
        for (;;) {
          ++slot;
          co_await YieldNow();
        }
      });
    }
    BlockOn(group.Shutdown());
    for (int& slot : borrowed) slot = 0;  // a race if a task still ran
  }
}

// Tasks end, and are cancelled one by one, at the same time.
TEST_F(TaskGroupStressTest, CancellingOneByOneLosesNoResult) {
  const int rounds = Rounds(100);
  constexpr int kTasks = 50;
  int cancelled = 0;
  for (int round = 0; round < rounds; ++round) {
    TaskGroup<int> group(Options({.limit = round % 2 == 0 ? 0u : 5u}));
    std::vector<TaskId> ids;
    for (int i = 0; i < kTasks; ++i) {
      ids.push_back(group.Spawn(WorkFor(i % 5, i, counter_.Make())));
    }
    std::thread canceller([&] {
      for (size_t i = 0; i < ids.size(); i += 2) group.Cancel(ids[i]);
    });
    int results = 0;
    while (auto result = BlockOn(group.NextResult())) {
      ++results;
      if (result->has_value()) {
        EXPECT_EQ(result->id(), ids[static_cast<size_t>(result->value())]);
      } else {
        EXPECT_TRUE(absl::IsCancelled(result->status()));
        ++cancelled;
      }
    }
    canceller.join();
    EXPECT_EQ(results, kTasks);
    EXPECT_FALSE(group.IsCancelled());
    EXPECT_EQ(counter_.live(), 0);
  }
  EXPECT_GT(cancelled, 0);
}

// Dropped, or let go, while they are being run.
TEST_F(TaskGroupStressTest, DroppedGroupsLeaveNothing) {
  const int rounds = Rounds(200);
  TaskTracker tracker;
  for (int round = 0; round < rounds; ++round) {
    TaskGroup<> group(Options());
    for (int i = 0; i < 10; ++i) {
      auto task = tracker.Track([](bool ends, LiveCounter::Object) -> Task<> {
        co_await YieldNow();
        if (!ends) co_await Pending();
      }(round % 2 == 0, counter_.Make()));
      group.Spawn(std::move(task));
    }
    if (round % 2 == 0) group.DetachAll();
  }

  tracker.Close();
  BlockOn(tracker.Wait());

  EXPECT_EQ(counter_.live(), 0);
}

}  // namespace
}  // namespace weft
