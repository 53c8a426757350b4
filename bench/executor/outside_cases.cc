// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/bench/executor/outside_cases.h"

#include <barrier>
#include <cstddef>
#include <iterator>
#include <thread>
#include <utility>
#include <vector>

#include "weft/bench/executor/common.h"
#include "weft/runtime/runtime.h"
#include "weft/task/join_handle.h"
#include "weft/task/offload.h"
#include "weft/task/task.h"

namespace weft::bench {
namespace {

// `threads` threads start together and spawn `n` tasks each.
std::vector<JoinHandle<>> SpawnFromThreads(Runtime& runtime, size_t threads,
                                           size_t n) {
  std::vector<std::vector<JoinHandle<>>> spawned(threads);
  std::vector<std::thread> spawners;
  std::barrier start(static_cast<std::ptrdiff_t>(threads));
  for (std::vector<JoinHandle<>>& handles : spawned) {
    spawners.emplace_back([&, handle = runtime.handle()] {
      handles.reserve(n);
      start.arrive_and_wait();
      for (size_t i = 0; i < n; ++i) handles.push_back(handle.Spawn(Nothing()));
    });
  }
  std::vector<JoinHandle<>> all;
  for (size_t i = 0; i < threads; ++i) {
    spawners[i].join();
    all.insert(all.end(), std::make_move_iterator(spawned[i].begin()),
               std::make_move_iterator(spawned[i].end()));
  }
  return all;
}

void RemoteSpawn(Bench& bench) {
  constexpr size_t kTasks = 12'800;
  Runtime runtime = MultiThread(bench);
  bench.Measure(kTasks, [&] {
    runtime.BlockOn(JoinAll(
        SpawnFromThreads(runtime, bench.size(), kTasks / bench.size())));
  });
}

constexpr size_t kBatches = 100;
constexpr size_t kBatch = 16;

Task<> RunBatches() {
  for (size_t i = 0; i < kBatches; ++i) {
    std::vector<JoinHandle<>> jobs;
    jobs.reserve(kBatch);
    for (size_t j = 0; j < kBatch; ++j) jobs.push_back(SpawnBlocking([] {}));
    for (JoinHandle<>& job : jobs) co_await job;
  }
}

void SpawnBlockingJobs(Bench& bench) {
  Runtime runtime = MultiThread(bench);
  bench.Measure(bench.size() * kBatches * kBatch, [&] {
    std::vector<JoinHandle<>> handles;
    for (size_t i = 0; i < bench.size(); ++i) {
      handles.push_back(runtime.Spawn(RunBatches()));
    }
    runtime.BlockOn(JoinAll(std::move(handles)));
  });
}

constexpr Case kCases[] = {
    {"remote_spawn", RemoteSpawn},
    {"spawn_blocking", SpawnBlockingJobs},
};

}  // namespace

std::span<const Case> OutsideCases() { return kCases; }

}  // namespace weft::bench
