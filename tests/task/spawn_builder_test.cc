// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/task/spawn_builder.h"

#include <deque>
#include <string>
#include <thread>
#include <utility>

#include "gtest/gtest.h"
#include "weft/task/block_on.h"
#include "weft/task/current_task.h"
#include "weft/task/environment.h"
#include "weft/task/join_handle.h"
#include "weft/task/manual_executor.h"
#include "weft/task/offload.h"
#include "weft/task/runnable.h"
#include "weft/task/spawner.h"
#include "weft/task/task.h"
#include "weft/task/task_local.h"
#include "weft/task/yield_now.h"
#include "weft/tests/kit/thread_offload.h"

namespace weft {
namespace {

constinit TaskLocal<int> depth;

Task<std::string> Name() { co_return std::string(CurrentTaskName()); }
Task<int> Depth() {
  co_await YieldNow();
  const int* value = depth.TryGet();
  co_return value == nullptr ? -1 : *value;
}

// Runs what it is given at once, on the thread that gives it.
class InlineSpawner final : public Spawner {
 public:
  explicit InlineSpawner(bool local) : local_(local) {}
  bool IsLocal() const override { return local_; }

 private:
  void Schedule(Runnable<SpawnedTask> runnable, ScheduleInfo) override {
    std::move(runnable).Run();
  }
  const bool local_;
};

TEST(SpawnBuilderTest, NamesATask) {
  ManualExecutor executor;
  SpawnBuilder builder;
  builder.Name("reader").On(executor.spawner());
  JoinHandle<std::string> future = builder.Spawn(Name());
  JoinHandle<std::string> function = builder.Spawn([] { return Name(); });
  JoinHandle<std::string> borrowing = builder.SpawnBorrowing(Name());

  EXPECT_EQ(future.name(), "reader");
  EXPECT_EQ(executor.Run(std::move(future)), "reader");
  EXPECT_EQ(executor.Run(std::move(function)), "reader");
  EXPECT_EQ(executor.Run(std::move(borrowing)), "reader");
}

TEST(SpawnBuilderTest, WithoutWishesItSpawnsAsSpawnDoes) {
  ManualExecutor executor;
  auto parent = []() -> Task<std::string> {
    JoinHandle<std::string> child = SpawnBuilder().Spawn(Name());
    EXPECT_EQ(child.name(), "");
    co_return co_await child;
  };
  EXPECT_EQ(executor.Run(executor.Spawn(parent())), "");
  EXPECT_EQ(SpawnBuilder().Extras(), nullptr);
  EXPECT_EQ(SpawnBuilder().InheritLocals().Extras(), nullptr);
}

TEST(SpawnBuilderTest, OnChoosesTheSpawner) {
  ManualExecutor one;
  ManualExecutor other;
  auto parent = [&]() -> Task<> {
    SpawnBuilder().On(other.spawner()).Spawn(Name()).Detach();
    SpawnBuilder().Spawn(Name()).Detach();
    co_return;
  };
  one.Run(one.Spawn(parent));

  EXPECT_EQ(other.live(), 1u);
  EXPECT_EQ(one.live(), 1u);
}

TEST(SpawnBuilderTest, InheritsLocalsOnRequestOnly) {
  ManualExecutor executor;
  const int inherited = depth.Call(5, [&] {
    return executor.Run(
        SpawnBuilder().InheritLocals().On(executor.spawner()).Spawn(Depth()));
  });
  EXPECT_EQ(inherited, 5);
  const int not_inherited = depth.Call(5, [&] {
    return executor.Run(SpawnBuilder().On(executor.spawner()).Spawn(Depth()));
  });
  EXPECT_EQ(not_inherited, -1);
}

TEST(SpawnBuilderTest, ABlockingJobMayHaveANameAndLocals) {
  ThreadOffload offload;
  Environment environment;
  environment.offload = &offload;
  const EnvironmentScope scope(environment);
  auto job = depth.Call(5, [] {
    return SpawnBuilder().Name("job").InheritLocals().SpawnBlocking([] {
      return std::string(CurrentTaskName()) + std::to_string(depth.Get());
    });
  });

  EXPECT_EQ(job.name(), "job");
  EXPECT_EQ(BlockOn(job), "job5");
  offload.Join();
}

// An executor of one's own.
TEST(SpawnBuilderTest, ExtrasAreForRunnablesOfOnesOwn) {
  std::deque<Runnable<>> queue;
  auto [runnable, handle] =
      SpawnOn(Depth(), [&](Runnable<> r) { queue.push_back(std::move(r)); });
  runnable.SetExtras(depth.Call(
      5, [] { return SpawnBuilder().Name("mine").InheritLocals().Extras(); }));
  EXPECT_EQ(runnable.name(), "mine");
  std::move(runnable).Run();
  ASSERT_EQ(queue.size(), 1u);
  std::move(queue.front()).Run();

  EXPECT_EQ(BlockOn(std::move(handle)), 5);
}

TEST(SpawnBuilderTest, LocalTakesASpawnerOfThisThread) {
  InlineSpawner spawner(/*local=*/true);
  EXPECT_EQ(
      BlockOn(SpawnBuilder().Name("ui").Local().On(spawner).Spawn(Name())),
      "ui");
}

TEST(SpawnBuilderDeathTest, LocalRefusesASpawnerThatIsNot) {
  InlineSpawner spawner(/*local=*/false);
  EXPECT_DEATH(
      static_cast<void>(SpawnBuilder().Local().On(spawner).Spawn(Name())),
      "inside a LocalExecutor or a current-thread runtime");
}

}  // namespace
}  // namespace weft
