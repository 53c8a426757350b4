// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// ExecutorStats: what an executor has done and is doing, for people.
#ifndef WEFT_EXECUTOR_EXECUTOR_STATS_H_
#define WEFT_EXECUTOR_EXECUTOR_STATS_H_

#include <cstdint>

namespace weft {

// What an executor did since it was made; approximate while threads run.
struct ExecutorStats {
  uint64_t runners = 0;         // threads in Run() now
  uint64_t parked = 0;          // of these, without work now
  uint64_t suspended = 0;       // live tasks that have been polled, now
  uint64_t polls = 0;           // of tasks
  uint64_t steals = 0;          // successful ones
  uint64_t stolen_tasks = 0;    // how many tasks they moved
  uint64_t overflows = 0;       // of a runner's full queue into the injector
  uint64_t parks = 0;           // of runners in their driver
  uint64_t driver_polls = 0;    // without parking
  uint64_t runners_woken = 0;   // because there was work for them
  uint64_t tick_wakes = 0;      // of Tick futures, likewise
  uint64_t tasks_injected = 0;  // spawns and wakes from outside the runners
};

}  // namespace weft

#endif  // WEFT_EXECUTOR_EXECUTOR_STATS_H_
