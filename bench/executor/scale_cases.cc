// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/bench/executor/scale_cases.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "weft/bench/executor/common.h"
#include "weft/runtime/runtime.h"
#include "weft/task/environment.h"
#include "weft/task/join_handle.h"
#include "weft/task/ready.h"
#include "weft/task/spawner.h"
#include "weft/task/task.h"

namespace weft::bench {
namespace {

Task<> SpawnAndJoin(size_t n) {
  std::vector<JoinHandle<>> handles;
  handles.reserve(n);
  for (size_t i = 0; i < n; ++i) handles.push_back(Spawn(Nothing()));
  for (JoinHandle<>& handle : handles) co_await handle;
}

void FlatSpawn(Bench& bench) {
  Runtime runtime = MultiThread(bench);
  bench.Measure(bench.size(), [&] {
    runtime.BlockOn(runtime.Spawn(SpawnAndJoin(bench.size())));
  });
}

Task<> SpawnManyAndJoin(size_t n) {
  std::vector<Task<>> tasks;
  tasks.reserve(n);
  for (size_t i = 0; i < n; ++i) tasks.push_back(Nothing());
  std::vector<JoinHandle<>> handles =
      Environment::CurrentSpawner().SpawnMany(tasks);
  for (JoinHandle<>& handle : handles) co_await handle;
}

void FlatSpawnMany(Bench& bench) {
  Runtime runtime = MultiThread(bench);
  bench.Measure(bench.size(), [&] {
    runtime.BlockOn(runtime.Spawn(SpawnManyAndJoin(bench.size())));
  });
}

// Global, so that the tasks hold nothing.
std::atomic<size_t> suspended{0};

Task<> Suspend() {
  // Relaxed: only counted.
  suspended.fetch_add(1, std::memory_order_relaxed);
  co_await Pending();
}

void MemoryPerTask(Bench& bench) {
  Runtime runtime = MultiThread(bench);
  suspended.store(0);
  const int64_t before = ReadStatus("VmRSS");
  // Kept: nobody could wake them, so without their handles they would end.
  std::vector<JoinHandle<>> handles;
  handles.reserve(bench.size());
  for (size_t i = 0; i < bench.size(); ++i) {
    handles.push_back(runtime.Spawn(Suspend()));
  }
  while (suspended.load() < bench.size()) Rest(1'000'000);
  const double kib = static_cast<double>(ReadStatus("VmRSS") - before);
  bench.Record("bytes_per_task",
               kib * 1024 / static_cast<double>(bench.size()));
}

constexpr Case kCases[] = {
    {"flat_spawn", FlatSpawn},
    {"flat_spawn_many", FlatSpawnMany},
    {"memory_per_task", MemoryPerTask},
};

}  // namespace

std::span<const Case> ScaleCases() { return kCases; }

}  // namespace weft::bench
