// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/task/offload.h"

#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "weft/task/block_on.h"
#include "weft/task/blocking_check.h"
#include "weft/task/context.h"
#include "weft/task/environment.h"
#include "weft/task/join_handle.h"
#include "weft/task/live_counter.h"
#include "weft/task/manual_executor.h"
#include "weft/task/parker.h"
#include "weft/task/runnable.h"
#include "weft/task/status_matchers.h"
#include "weft/task/task.h"
#include "weft/task/waker.h"
#include "weft/tests/kit/thread_offload.h"

namespace weft {
namespace {

// Keeps jobs until told.
class HeldOffload final : public Offload {
 public:
  void Submit(Runnable<OffloadJob> job) override {
    jobs.push_back(std::move(job));
  }
  void RunAll() {
    for (Runnable<OffloadJob>& job : std::exchange(jobs, {})) {
      std::move(job).Run();
    }
  }
  std::vector<Runnable<OffloadJob>> jobs;
};

TEST(OffloadTest, RunsAFunctionOfAnyKind) {
  ThreadOffload offload;
  int number = 1;

  EXPECT_EQ(BlockOn(offload.Run(OffloadLane::kGeneral, [] { return 7; })), 7);
  BlockOn(offload.Run(OffloadLane::kGeneral, [] {}));
  EXPECT_EQ(*BlockOn(offload.Run(OffloadLane::kGeneral,
                                 [] { return std::make_unique<int>(7); })),
            7);
  EXPECT_EQ(&BlockOn(offload.Run(OffloadLane::kGeneral,
                                 [&]() -> int& { return number; })),
            &number);
  EXPECT_EQ(BlockOn(offload.Run(OffloadLane::kGeneral,
                                [n = std::make_unique<int>(3)] { return *n; })),
            3);
}

TEST(OffloadTest, TellsTheLane) {
  ThreadOffload offload;
  Environment environment;
  environment.offload = &offload;
  const EnvironmentScope scope(environment);

  BlockOn(offload.Run(OffloadLane::kFile, [] {}));
  BlockOn(SpawnBlocking([] {}));
  BlockOn(SpawnBlocking([] {}, OffloadLane::kName));

  EXPECT_EQ(offload.lanes(),
            (std::vector{OffloadLane::kFile, OffloadLane::kGeneral,
                         OffloadLane::kName}));
}

TEST(OffloadTest, RunsElsewhereWhileATaskWaits) {
  ThreadOffload offload;
  ManualExecutor executor;
  Environment environment;
  environment.offload = &offload;
  const EnvironmentScope scope(environment);
  auto task = []() -> Task<bool> {
    const std::thread::id here = std::this_thread::get_id();
    const std::thread::id there =
        co_await SpawnBlocking([] { return std::this_thread::get_id(); });
    co_return here != there;
  };

  const JoinHandle<bool> handle = executor.Spawn(task());
  executor.RunUntilIdle();
  offload.Join();
  executor.RunUntilIdle();

  EXPECT_TRUE(handle.IsFinished());
}

TEST(OffloadTest, AJobMayBlockEvenOnAThreadThatMayNot) {
  HeldOffload offload;
  bool could_block = false;
  JoinHandle<> handle = offload.Run(
      OffloadLane::kGeneral, [&] { could_block = task_internal::MayBlock(); });
  {
    const task_internal::NoBlockingScope no_blocking;
    offload.RunAll();
    EXPECT_FALSE(task_internal::MayBlock());
  }
  EXPECT_TRUE(could_block);
}

TEST(OffloadTest, ADroppedHandleDropsAJobThatHasNotStarted) {
  LiveCounter counter;
  HeldOffload offload;
  int ran = 0;
  {
    const JoinHandle<> dropped = offload.Run(
        OffloadLane::kGeneral, [&, object = counter.Make()] { ++ran; });
  }
  offload.RunAll();

  EXPECT_EQ(ran, 0);
  EXPECT_EQ(counter.live(), 0);
}

TEST(OffloadTest, ADroppedHandleDiscardsTheResultOfARunningJob) {
  LiveCounter counter;
  HeldOffload offload;
  std::optional<JoinHandle<LiveCounter::Object>> handle;
  handle = offload.Run(OffloadLane::kGeneral, [&] {
    handle.reset();
    return counter.Make();
  });

  offload.RunAll();

  EXPECT_EQ(counter.made(), 1);
  EXPECT_EQ(counter.live(), 0);
}

TEST(OffloadTest, ARefusedJobIsCancelled) {
  LiveCounter counter;
  HeldOffload offload;
  JoinHandle<> handle =
      offload.Run(OffloadLane::kGeneral, [object = counter.Make()] {});

  offload.jobs.clear();

  EXPECT_EQ(counter.live(), 0);
  EXPECT_THAT(BlockOn(std::move(handle).Outcome()),
              StatusIs(absl::StatusCode::kCancelled));
}

TEST(OffloadTest, DetachedItRuns) {
  HeldOffload offload;
  int ran = 0;
  offload.Run(OffloadLane::kGeneral, [&] { ++ran; }).Detach();

  offload.RunAll();

  EXPECT_EQ(ran, 1);
}

}  // namespace
}  // namespace weft
