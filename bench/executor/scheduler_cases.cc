// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/bench/executor/scheduler_cases.h"

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "weft/bench/executor/common.h"
#include "weft/runtime/runtime.h"
#include "weft/sync/oneshot.h"
#include "weft/task/join_handle.h"
#include "weft/task/spawner.h"
#include "weft/task/task.h"

namespace weft::bench {
namespace {

Task<> CountDown(std::shared_ptr<Countdown> countdown) {
  countdown->Done();
  co_return;
}

Task<> SpawnAndWait(size_t n) {
  auto [sender, done] = sync::Oneshot<void>();
  auto countdown = std::make_shared<Countdown>(n, std::move(sender));
  for (size_t i = 0; i < n; ++i) Spawn(CountDown(countdown)).Detach();
  static_cast<void>(co_await done);
}

void SpawnManyLocal(Bench& bench) {
  Runtime runtime = MultiThread(bench);
  bench.Measure(bench.size(), [&] {
    runtime.BlockOn(runtime.Spawn(SpawnAndWait(bench.size())));
  });
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
  Runtime runtime = MultiThread(bench);
  MeasureRemoteSpawns(bench, runtime);
}

void SpawnManyRemoteBusy1(Bench& bench) {
  Runtime runtime = MultiThread(bench);
  const BusyTasks busy(runtime, bench);
  MeasureRemoteSpawns(bench, runtime);
}

Task<> Respawn(std::shared_ptr<std::atomic<bool>> stop) {
  if (stop->load()) co_return;
  Stall();
  Spawn(Respawn(std::move(stop))).Detach();
}

void SpawnManyRemoteBusy2(Bench& bench) {
  Runtime runtime = MultiThread(bench);
  auto stop = std::make_shared<std::atomic<bool>>(false);
  for (int i = 0; i < bench.workers(); ++i) {
    runtime.Spawn(Respawn(stop)).Detach();
  }
  MeasureRemoteSpawns(bench, runtime);
  stop->store(true);
}

void YieldMany(Bench& bench) {
  constexpr size_t kYields = 1000;
  Runtime runtime = MultiThread(bench);
  bench.Measure(bench.size() * kYields, [&] {
    std::vector<JoinHandle<>> handles;
    for (size_t i = 0; i < bench.size(); ++i) {
      handles.push_back(runtime.Spawn(Yield(kYields)));
    }
    runtime.BlockOn(JoinAll(std::move(handles)));
  });
}

Task<> Pong(sync::OneshotReceiver<void> ping, sync::OneshotSender<void> pong) {
  static_cast<void>(co_await ping);
  static_cast<void>(std::move(pong).Send());
}

Task<> Ping(std::shared_ptr<Countdown> countdown) {
  auto [ping_sender, ping] = sync::Oneshot<void>();
  auto [pong_sender, pong] = sync::Oneshot<void>();
  Spawn(Pong(std::move(ping), std::move(pong_sender))).Detach();
  static_cast<void>(std::move(ping_sender).Send());
  static_cast<void>(co_await pong);
  countdown->Done();
}

Task<> PingAll(size_t n) {
  auto [sender, done] = sync::Oneshot<void>();
  auto countdown = std::make_shared<Countdown>(n, std::move(sender));
  for (size_t i = 0; i < n; ++i) Spawn(Ping(countdown)).Detach();
  static_cast<void>(co_await done);
}

void PingPong(Bench& bench) {
  Runtime runtime = MultiThread(bench);
  bench.Measure(bench.size(),
                [&] { runtime.BlockOn(runtime.Spawn(PingAll(bench.size()))); });
}

Task<> Chain(size_t left, sync::OneshotSender<void> done) {
  if (left == 0) {
    static_cast<void>(std::move(done).Send());
    co_return;
  }
  Spawn(Chain(left - 1, std::move(done))).Detach();
}

void ChainedSpawn(Bench& bench) {
  Runtime runtime = MultiThread(bench);
  bench.Measure(bench.size(), [&] {
    auto [sender, done] = sync::Oneshot<void>();
    runtime.Spawn(Chain(bench.size(), std::move(sender))).Detach();
    static_cast<void>(runtime.BlockOn(std::move(done)));
  });
}

// What `mt_spawn` and `ct_spawn` do in 1000 rounds.
Task<> SpawnRounds(size_t width) {
  for (size_t round = 0; round < 1000; ++round) {
    std::vector<JoinHandle<>> handles;
    handles.reserve(width);
    for (size_t i = 0; i < width; ++i) handles.push_back(Spawn(Yield(1)));
    for (JoinHandle<>& handle : handles) co_await handle;
  }
}

void MultiThreadSpawn(Bench& bench) {
  Runtime runtime = MultiThread(bench);
  const EnterGuard guard = runtime.Enter();
  bench.Measure(1000 * bench.size(),
                [&] { runtime.BlockOn(SpawnRounds(bench.size())); });
}

void CurrentThreadSpawn(Bench& bench) {
  Runtime runtime = CurrentThread(bench);
  bench.Measure(1000 * bench.size(),
                [&] { runtime.BlockOn(SpawnRounds(bench.size())); });
}

constexpr Case kCases[] = {
    {"spawn_many_local", SpawnManyLocal},
    {"spawn_many_remote_idle", SpawnManyRemoteIdle},
    {"spawn_many_remote_busy1", SpawnManyRemoteBusy1},
    {"spawn_many_remote_busy2", SpawnManyRemoteBusy2},
    {"yield_many", YieldMany},
    {"ping_pong", PingPong},
    {"chained_spawn", ChainedSpawn},
    {"mt_spawn", MultiThreadSpawn},
    {"ct_spawn", CurrentThreadSpawn},
};

}  // namespace

std::span<const Case> SchedulerCases() { return kCases; }

}  // namespace weft::bench
