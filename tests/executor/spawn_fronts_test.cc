// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Whatever stands before a Spawner spawns as it does: one or many, futures or
// functions, values or, where that is said, references.
#include <ranges>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "weft/executor/concurrency_limit.h"
#include "weft/executor/executor.h"
#include "weft/executor/local_executor.h"
#include "weft/executor/priority_executor.h"
#include "weft/executor/strand.h"
#include "weft/executor/thread_pool.h"
#include "weft/task/block_on.h"
#include "weft/task/join_handle.h"
#include "weft/task/ready.h"
#include "weft/task/task.h"
#include "weft/task/yield_now.h"

namespace weft {
namespace {

Task<int> AddTo(int& sum, int n) {
  co_await YieldNow();
  co_return sum += n;
}

// `run` waits for a handle; `place` is what else `front` wants to know.
template <class Front, class Run, class... Place>
void ExpectToSpawn(Front&& front, Run run, Place... place) {
  int sum = 0;
  EXPECT_EQ(run(front.SpawnBorrowing(place..., AddTo(sum, 1))), 1);
  EXPECT_EQ(run(front.SpawnBorrowing(place..., [&] { return AddTo(sum, 2); })),
            3);

  auto square = [](int n) { return Ready(n * n); };
  std::vector<JoinHandle<int>> squares = front.SpawnMany(
      place..., std::views::iota(1, 4) | std::views::transform(square));
  ASSERT_EQ(squares.size(), 3u);
  for (JoinHandle<int>& handle : squares) sum += run(std::move(handle));
  EXPECT_EQ(sum, 17);

  auto later = [square](int n) { return [square, n] { return square(n); }; };
  std::vector<JoinHandle<int>> called = front.SpawnMany(
      place..., std::views::iota(2, 4) | std::views::transform(later));
  ASSERT_EQ(called.size(), 2u);
  EXPECT_EQ(run(std::move(called[0])), 4);
  EXPECT_EQ(run(std::move(called[1])), 9);
}

TEST(SpawnFrontsTest, SpawnAsASpawnerDoes) {
  Executor executor;
  const auto run = [&](JoinHandle<int> handle) {
    return executor.Run(std::move(handle));
  };

  ExpectToSpawn(executor, run);
  ExpectToSpawn(Strand(executor.spawner()), run);
  ExpectToSpawn(ConcurrencyLimit(executor.spawner(), 2), run);
  ExpectToSpawn(PriorityExecutor(executor.spawner()), run, 1);
}

TEST(SpawnFrontsTest, SoDoesALocalExecutor) {
  LocalExecutor executor;
  ExpectToSpawn(executor, [&](JoinHandle<int> handle) {
    return executor.Run(std::move(handle));
  });
}

TEST(SpawnFrontsTest, SoDoesAThreadPool) {
  absl::StatusOr<ThreadPool> pool =
      ThreadPool::Start(ThreadPoolOptions().Threads(1));
  ASSERT_TRUE(pool.ok());
  ExpectToSpawn(
      *pool, [](JoinHandle<int> handle) { return BlockOn(std::move(handle)); });
}

}  // namespace
}  // namespace weft
