// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// A poll of 200 ms, where 50 ms are allowed: a coroutine sums up a table without
// letting anybody else have the thread.

#include <chrono>
#include <cstdio>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "weft/executor/executor.h"
#include "weft/executor/stuck_task_monitor.h"
#include "weft/task/join_handle.h"
#include "weft/task/spawn_builder.h"
#include "weft/task/task.h"
#include "weft/task/yield_now.h"

namespace {

// Stands for work: it should go to weft::SpawnBlocking().
void SumUpTheTable() {
  const auto end =
      std::chrono::steady_clock::now() + std::chrono::milliseconds(200);
  while (std::chrono::steady_clock::now() < end) {
  }
}

weft::Task<> Totals() {
  co_await weft::YieldNow();
  SumUpTheTable();
}

weft::Task<> Report() { co_await Totals(); }

weft::Task<> Nightly() { co_await Report(); }

weft::Task<> Main() {
  weft::JoinHandle<> nightly =
      weft::SpawnBuilder().Name("nightly").Spawn(Nightly());
  co_await nightly;
}

}  // namespace

int main() {
  weft::Executor executor;
  weft::StuckTaskMonitorOptions options;
  options.limit = absl::Milliseconds(50);
  options.on_stuck = [](const weft::StuckTask& stuck) {
    std::printf("%s", stuck.ToString().c_str());
  };
  absl::StatusOr<weft::StuckTaskMonitor> monitor =
      weft::StuckTaskMonitor::Start(executor, options);
  if (!monitor.ok()) return 1;
  executor.Run(Main());
}
