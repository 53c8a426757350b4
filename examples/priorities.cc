// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Requests before housekeeping, on one thread: first in strict order, then by
// weight.

#include <cstdio>
#include <string>
#include <vector>

#include "weft/executor/local_executor.h"
#include "weft/executor/priority_executor.h"
#include "weft/task/join_handle.h"
#include "weft/task/task.h"
#include "weft/task/yield_now.h"

namespace {

// Three steps of work.
weft::Task<> Work(std::string* log, char name) {
  for (int step = 0; step < 3; ++step) {
    *log += name;
    co_await weft::YieldNow();
  }
}

std::string OrderOf(const weft::PriorityExecutorOptions& options) {
  weft::LocalExecutor executor;
  const weft::PriorityExecutor tasks(executor.spawner(), options);
  std::string log;
  std::vector<weft::JoinHandle<>> handles;
  // `log` outlives the tasks.
  handles.push_back(tasks.SpawnBorrowing(1, Work(&log, 'h')));
  handles.push_back(tasks.SpawnBorrowing(0, Work(&log, 'R')));
  handles.push_back(tasks.SpawnBorrowing(0, Work(&log, 'S')));
  for (weft::JoinHandle<>& handle : handles) executor.Run(handle);
  return log;
}

}  // namespace

int main() {
  std::printf("strict:   %s\n",
              OrderOf(weft::PriorityExecutorOptions().Strict(2)).c_str());
  std::printf(
      "weighted: %s\n",
      OrderOf(weft::PriorityExecutorOptions().Weighted({2, 1})).c_str());
}
