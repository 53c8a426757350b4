// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/executor/task_census.h"

#include <memory>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "weft/executor/executor.h"
#include "weft/executor/task_list.h"
#include "weft/task/instant.h"
#include "weft/task/ready.h"
#include "weft/task/runnable.h"
#include "weft/task/spawner.h"

namespace weft::executor_internal {
namespace {

// Keeps the tasks that are spawned on it in a list, never runs them.
class Keeper final : public Spawner {
 public:
  ~Keeper() override {
    while (!runnables_.empty()) runnables_.pop_back();
  }
  const TaskList& list() const { return list_; }
  void DropAll() { runnables_.clear(); }

 private:
  void Schedule(Runnable<SpawnedTask> runnable, ScheduleInfo) override {
    runnable.metadata().registered = true;
    list_.Add(runnable.metadata());
    runnables_.push_back(std::move(runnable));
  }
  void Unregister(SpawnedTask& task) override { list_.Remove(task); }

  TaskList list_;
  std::vector<Runnable<SpawnedTask>> runnables_;
};

TEST(TaskCensusTest, GivesTheTasksOfAllWhoAnswer) {
  Keeper first;
  Keeper second;
  first.Spawn(Ready(1)).Detach();
  second.Spawn(Ready(2)).Detach();
  second.Spawn(Ready(3)).Detach();
  TaskCensus census;
  EXPECT_FALSE(census.Wait(1, Instant::Past()));
  census.Answer(0, first.list());
  EXPECT_TRUE(census.Wait(1, Instant::Past()));
  EXPECT_FALSE(census.Wait(2, Instant::Past()));
  census.Answer(4, second.list());
  EXPECT_TRUE(census.Wait(2, Instant::Past()));
  EXPECT_EQ(census.Answered(), std::vector<int>({0, 4}));
  const std::vector<SpawnedTask*> tasks = census.Take();
  EXPECT_EQ(tasks.size(), 3u);
  for (SpawnedTask* task : tasks) UnrefTask(*task);
  EXPECT_EQ(census.Take().size(), 0u);
}

// What it has keeps the cells.
TEST(TaskCensusTest, ReferencesThatNobodyTakesAreGivenBack) {
  Keeper keeper;
  keeper.Spawn(Ready(1)).Detach();
  auto census = std::make_unique<TaskCensus>();
  census->Answer(0, keeper.list());
  keeper.DropAll();
  EXPECT_EQ(keeper.list().size(), 0u);
  census.reset();
}

}  // namespace
}  // namespace weft::executor_internal
