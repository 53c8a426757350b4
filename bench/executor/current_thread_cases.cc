// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/bench/executor/current_thread_cases.h"

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "weft/bench/executor/common.h"
#include "weft/executor/local_executor.h"
#include "weft/runtime/runtime.h"
#include "weft/task/join_handle.h"
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

void SpawnManyLocal(Bench& bench) {
  Runtime runtime = CurrentThread(bench);
  bench.Measure(bench.size(),
                [&] { runtime.BlockOn(SpawnAndJoin(bench.size())); });
}

void MeasureRemoteSpawns(Bench& bench, Runtime& runtime) {
  bench.Measure(bench.size(), [&] {
    std::vector<JoinHandle<>> handles;
    handles.reserve(bench.size());
    for (size_t i = 0; i < bench.size(); ++i) {
      handles.push_back(runtime.Spawn(Nothing()));
    }
    runtime.BlockOn(JoinAll(std::move(handles)));
  });
}

void SpawnManyRemoteIdle(Bench& bench) {
  Runtime runtime = CurrentThread(bench);
  MeasureRemoteSpawns(bench, runtime);
}

Task<> Respawn(std::shared_ptr<std::atomic<bool>> stop) {
  if (stop->load()) co_return;
  Spawn(Respawn(std::move(stop))).Detach();
}

void SpawnManyRemoteBusy(Bench& bench) {
  Runtime runtime = CurrentThread(bench);
  auto stop = std::make_shared<std::atomic<bool>>(false);
  runtime.Spawn(Respawn(stop)).Detach();
  MeasureRemoteSpawns(bench, runtime);
  stop->store(true);
}

void LocalSpawn(Bench& bench) {
  LocalExecutor executor;
  bench.Measure(bench.size(),
                [&] { executor.Run(SpawnAndJoin(bench.size())); });
}

constexpr Case kCases[] = {
    {"ct_spawn_many_local", SpawnManyLocal},
    {"ct_spawn_many_remote_idle", SpawnManyRemoteIdle},
    {"ct_spawn_many_remote_busy", SpawnManyRemoteBusy},
    {"local_spawn", LocalSpawn},
};

}  // namespace

std::span<const Case> CurrentThreadCases() { return kCases; }

}  // namespace weft::bench
