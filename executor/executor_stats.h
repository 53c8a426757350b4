// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// ExecutorStats: what an executor has done and is doing, for people and metrics.
//
// Each runner writes its own counts, so reading them disturbs nobody; numbers that
// belong together may be a few events apart while threads run.
//
// Thread safety: values.
#ifndef WEFT_EXECUTOR_EXECUTOR_STATS_H_
#define WEFT_EXECUTOR_EXECUTOR_STATS_H_

#include <cstdint>
#include <vector>

#include "absl/time/time.h"
#include "weft/task/metrics.h"

namespace weft {

// Of one runner: a place for a thread in Run(), which threads use one after the
// other. Counts are those since the executor was made.
struct RunnerStats {
  bool parked = false;       // waits for work, or is about to, now
  uint64_t queue_depth = 0;  // tasks that wait in its queue and slot, now
  uint64_t polls = 0;        // of tasks
  uint64_t local_schedules =
      0;                      // spawns and wakes by what it runs or waits for
  uint64_t steals = 0;        // successful ones, by this runner
  uint64_t stolen_tasks = 0;  // how many tasks they moved
  uint64_t overflows = 0;     // of its full queue into the injector
  uint64_t parks = 0;         // in its driver
  uint64_t wakes = 0;         // from a park, since there was work for it
  uint64_t driver_polls = 0;  // without parking
  // Polls of 10 ms or more, seen without timing each: see executor_metrics.h.
  uint64_t slow_polls = 0;
  absl::Duration busy_time;  // in Run() and not parked
};

// What an executor did since it was made.
struct ExecutorStats {
  uint64_t runners = 0;         // threads in Run() now
  uint64_t parked = 0;          // of these, without work now
  uint64_t suspended = 0;       // live tasks that have been polled, now
  uint64_t injector_depth = 0;  // tasks that wait for any runner, now
  uint64_t polls = 0;           // of tasks
  uint64_t tick_polls = 0;      // of these, in Tick() and TryTick()
  uint64_t steals = 0;          // successful ones
  uint64_t stolen_tasks = 0;    // how many tasks they moved
  uint64_t overflows = 0;       // of a runner's full queue into the injector
  uint64_t parks = 0;           // of runners in their driver
  uint64_t driver_polls = 0;    // without parking
  uint64_t runners_woken = 0;   // because there was work for them
  uint64_t tick_wakes = 0;      // of Tick futures, likewise
  uint64_t tasks_injected = 0;  // spawns and wakes from outside the runners
  std::vector<RunnerStats> per_runner;
};

// What a LocalExecutor is doing, and has done since it was made.
struct LocalExecutorStats {
  bool parked = false;           // its thread waits in Run() for work, now
  uint64_t suspended = 0;        // unfinished tasks that have been polled, now
  uint64_t queue_depth = 0;      // ready tasks, now
  uint64_t polls = 0;            // of tasks
  uint64_t local_schedules = 0;  // spawns and wakes by its own thread
  uint64_t arrivals = 0;         // those by others, as far as it has looked
  uint64_t parks = 0;            // in the driver
  uint64_t driver_polls = 0;     // without parking
  absl::Duration busy_time;      // in Run() and not parked
};

// What an executor has timed since EnableHistograms(); empty before.
struct ExecutorHistograms {
  HistogramSnapshot poll_time;  // of tasks
  HistogramSnapshot
      schedule_latency;  // from a task's spawn or wake to its poll
};

}  // namespace weft

#endif  // WEFT_EXECUTOR_EXECUTOR_STATS_H_
