// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/bench/executor/main_thread_cases.h"

#include <cstddef>
#include <utility>
#include <vector>

#include "weft/bench/executor/common.h"
#include "weft/executor/executor.h"
#include "weft/runtime/runtime.h"
#include "weft/task/join_handle.h"
#include "weft/task/spawner.h"
#include "weft/task/task.h"

namespace weft::bench {
namespace {

void Create(Bench& bench) {
  bench.Measure(bench.size(), [&] {
    for (size_t i = 0; i < bench.size(); ++i) {
      Executor executor;
      executor.Run(executor.Spawn(Nothing()));
    }
  });
}

// Measures `size` runs of n tasks that make() gives: spawned and awaited by the
// main thread.
template <class Make>
void MeasureTasks(Bench& bench, size_t rounds, size_t n, size_t ops_per_task,
                  Make make) {
  Runtime runtime = MultiThread(bench);
  bench.Measure(rounds * n * ops_per_task, [&] {
    for (size_t round = 0; round < rounds; ++round) {
      std::vector<JoinHandle<>> handles;
      handles.reserve(n);
      for (size_t i = 0; i < n; ++i) handles.push_back(runtime.Spawn(make()));
      runtime.BlockOn(JoinAll(std::move(handles)));
    }
  });
}

void SpawnOne(Bench& bench) {
  MeasureTasks(bench, bench.size(), 1, 1, Nothing);
}

void SpawnBatch(Bench& bench) {
  constexpr size_t kRounds = 10;
  MeasureTasks(bench, kRounds, bench.size(), 1, [] { return Yield(1); });
}

void SpawnMany(Bench& bench) {
  MeasureTasks(bench, 1, bench.size(), 1, Nothing);
}

Task<> Recurse(size_t depth) {
  if (depth == 0) co_return;
  JoinHandle<> child = Spawn(Recurse(depth - 1));
  co_await child;
}

void SpawnRecursively(Bench& bench) {
  const size_t n = bench.size();
  MeasureTasks(bench, 1, n, n + 1, [n] { return Recurse(n); });
}

void YieldNowMany(Bench& bench) {
  const size_t n = bench.size();
  MeasureTasks(bench, 1, n, n, [n] { return Yield(n); });
}

constexpr Case kCases[] = {
    {"create", Create},
    {"spawn_one", SpawnOne},
    {"spawn_batch", SpawnBatch},
    {"spawn_many", SpawnMany},
    {"spawn_recursively", SpawnRecursively},
    {"yield_now", YieldNowMany},
};

}  // namespace

std::span<const Case> MainThreadCases() { return kCases; }

}  // namespace weft::bench
