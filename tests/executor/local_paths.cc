// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// What local_paths_test looks at the machine code of.

#include <optional>

#include "weft/executor/local_executor.h"
#include "weft/task/join_handle.h"
#include "weft/task/ready.h"
#include "weft/task/task.h"
#include "weft/task/yield_now.h"

namespace {

weft::Task<> Work() {
  co_await weft::YieldNow();
  co_await weft::Pending();
}

}  // namespace

extern "C" [[gnu::noinline]] void SpawnAtHome(
    weft::LocalExecutor& executor, std::optional<weft::JoinHandle<>>& handle) {
  handle.emplace(executor.Spawn(Work()));
}

int main() {
  weft::LocalExecutor executor;
  std::optional<weft::JoinHandle<>> handle;
  SpawnAtHome(executor, handle);
  while (executor.TryTick()) {
  }
}
