// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/bench/observe/observe_cases.h"

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "weft/bench/executor/common.h"
#include "weft/bench/harness.h"
#include "weft/runtime/runtime.h"
#include "weft/task/join_handle.h"
#include "weft/task/spawner.h"
#include "weft/task/task.h"

namespace weft::bench {
namespace {

constexpr size_t kYields = 1000;

Task<> SpawnYields(size_t tasks) {
  std::vector<JoinHandle<>> handles;
  handles.reserve(tasks);
  for (size_t i = 0; i < tasks; ++i) handles.push_back(Spawn(Yield(kYields)));
  for (JoinHandle<>& handle : handles) co_await handle;
}

Task<> SpawnAll(size_t tasks) {
  std::vector<JoinHandle<>> handles;
  handles.reserve(tasks);
  for (size_t i = 0; i < tasks; ++i) handles.push_back(Spawn(Nothing()));
  for (JoinHandle<>& handle : handles) co_await handle;
}

void MeasureYields(Bench& bench, Runtime runtime, bool histograms) {
  if (histograms) runtime.EnableHistograms();
  bench.Measure(bench.size() * kYields, [&] {
    runtime.BlockOn(runtime.Spawn(SpawnYields(bench.size())));
  });
}

template <bool kHistograms>
void MultiThreadYield(Bench& bench) {
  MeasureYields(bench, MultiThread(bench), kHistograms);
}

template <bool kHistograms>
void CurrentThreadYield(Bench& bench) {
  MeasureYields(bench, CurrentThread(bench), kHistograms);
}

template <bool kHistograms>
void LocalSpawn(Bench& bench) {
  Runtime runtime = MultiThread(bench);
  if (kHistograms) runtime.EnableHistograms();
  bench.Measure(bench.size(), [&] {
    runtime.BlockOn(runtime.Spawn(SpawnAll(bench.size())));
  });
}

template <bool kHistograms>
void RemoteSpawn(Bench& bench) {
  Runtime runtime = MultiThread(bench);
  if (kHistograms) runtime.EnableHistograms();
  bench.Measure(bench.size(), [&] {
    std::vector<JoinHandle<>> handles;
    handles.reserve(bench.size());
    for (size_t i = 0; i < bench.size(); ++i) {
      handles.push_back(runtime.Spawn(Nothing()));
    }
    runtime.BlockOn(JoinAll(std::move(handles)));
  });
}

template <bool kHistograms>
constexpr Case kCases[] = {
    {"yield", MultiThreadYield<kHistograms>},
    {"ct_yield", CurrentThreadYield<kHistograms>},
    {"spawn", LocalSpawn<kHistograms>},
    {"remote_spawn", RemoteSpawn<kHistograms>},
};

}  // namespace

std::span<const Case> ObserveCases(bool histograms) {
  return histograms ? std::span<const Case>(kCases<true>)
                    : std::span<const Case>(kCases<false>);
}

}  // namespace weft::bench
