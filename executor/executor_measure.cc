// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// How an ExecutorCore takes the time, and what it tells of its counts.
//
// A runner looks at the clock when it goes to sleep and when it wakes up, for its
// time at work, and once in a batch of polls, for poll_interval.h. So a poll that
// lasts is seen without a look of its own: between two of these looks lie 127 polls at
// most, which mostly take 5 us together, and only one that is slow makes it 10 ms.
// A Run() that ends before the first look costs none, and its time is not counted.
//
// Histograms. A task that is made ready is given a stamp if the sampler of the
// runner's says so, or, from outside, if a hash of its number does; the poll that
// follows is timed, and counts for as many as the stamp says. One stamp serves both
// histograms. Where they are off, a runner tests `timing` once for each poll.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "weft/executor/count.h"
#include "weft/executor/executor_core.h"
#include "weft/executor/executor_hooks.h"
#include "weft/executor/executor_stats.h"
#include "weft/executor/poll_sampler.h"
#include "weft/executor/poll_times.h"
#include "weft/executor/runner.h"
#include "weft/executor/task_stamp.h"
#include "weft/task/instant.h"
#include "weft/task/random.h"
#include "weft/task/runnable.h"
#include "weft/task/spawner.h"

namespace weft::executor_internal {
namespace {

// One in 2^kInjectedShift of the tasks from outside is timed. To push one costs some
// 200 ns, to time it 60.
constexpr int kInjectedShift = 4;

void Subtract(ExecutorStats& stats, const ExecutorStats& earlier) {
  stats.polls -= earlier.polls;
  stats.tick_polls -= earlier.tick_polls;
  stats.steals -= earlier.steals;
  stats.stolen_tasks -= earlier.stolen_tasks;
  stats.overflows -= earlier.overflows;
  stats.parks -= earlier.parks;
  stats.driver_polls -= earlier.driver_polls;
  stats.runners_woken -= earlier.runners_woken;
  stats.tick_wakes -= earlier.tick_wakes;
  stats.tasks_injected -= earlier.tasks_injected;
}

void Subtract(RunnerStats& stats, const RunnerStats& earlier) {
  stats.polls -= earlier.polls;
  stats.local_schedules -= earlier.local_schedules;
  stats.steals -= earlier.steals;
  stats.stolen_tasks -= earlier.stolen_tasks;
  stats.overflows -= earlier.overflows;
  stats.parks -= earlier.parks;
  stats.wakes -= earlier.wakes;
  stats.driver_polls -= earlier.driver_polls;
  stats.slow_polls -= earlier.slow_polls;
  stats.busy_time -= earlier.busy_time;
}

RunnerStats EventsOf(const Runner& runner) {
  RunnerStats stats;
  stats.polls = runner.polls.Get();
  stats.local_schedules = runner.local_schedules.Get();
  stats.steals = runner.steals.Get();
  stats.stolen_tasks = runner.stolen_tasks.Get();
  stats.overflows = runner.overflows.Get();
  stats.parks = runner.parks.Get();
  stats.wakes = runner.wakes.Get();
  stats.driver_polls = runner.driver_polls.Get();
  stats.slow_polls = runner.slow_polls.Get();
  stats.busy_time = absl::Nanoseconds(runner.busy_time.Read());
  return stats;
}

}  // namespace

// ---- Histograms ----

void ExecutorCore::EnableHistograms() {
  const std::lock_guard lock(runners_mutex_);
  if (histograms_on_.load()) return;
  MakeTimes(tick_times_);
  VisitRunners(0, [this](Runner& runner) {
    MakeTimes(runner.times);
    return false;
  });
  histograms_on_.store(true);
}

// Requires: histograms are off, or nobody uses `times` yet.
void ExecutorCore::MakeTimes(std::atomic<PollTimes*>& times) {
  // Relaxed: written by a thread that held the same lock.
  if (PollTimes* used = times.load(std::memory_order_relaxed)) {
    used->poll.Reset();
    used->latency.Reset();
  } else {
    // Release: whoever sees them sees them made.
    times.store(new PollTimes, std::memory_order_release);
  }
}

// The owner learns of histograms within a batch of polls.
void ExecutorCore::SyncTiming(Runner& runner) {
  // Acquire: the histograms are there.
  const bool on = histograms_on_.load(std::memory_order_acquire);
  if (on == runner.timing) return;
  runner.timing = on;
  runner.schedule_is_special = on || runner.in_driver;
  if (on) runner.sampler = PollSampler(runner.random.Next());
}

void ExecutorCore::StampInjected(uint64_t number, SpawnedTask& task) {
  // Acquire: as above.
  if (!histograms_on_.load(std::memory_order_acquire)) return;
  if (Random(number).Next() >> (64 - kInjectedShift) != 0) {
    return TaskStamp::Drop(task);
  }
  PutStamp(task, kInjectedShift);
}

void ExecutorCore::RunStamped(Runner& runner, Runnable<SpawnedTask> runnable) {
  const TaskStamp stamp = TaskStamp::TakeOff(runnable.metadata());
  // Relaxed: `timing` was set after an acquire load.
  PollTimes& times = *runner.times.load(std::memory_order_relaxed);
  runner.sampler.Measured(
      times.Run(stamp, [&] { Poll(std::move(runnable), runner.observer); }));
}

void ExecutorCore::RunTickStamped(Runnable<SpawnedTask> runnable) {
  const TaskStamp stamp = TaskStamp::TakeOff(runnable.metadata());
  // Relaxed: the caller has seen `histograms_on_`.
  tick_times_.load(std::memory_order_relaxed)->RunShared(stamp, [&] {
    Poll(std::move(runnable), FindObserver());
  });
}

ExecutorHistograms ExecutorCore::Histograms() {
  ExecutorHistograms sums;
  if (!histograms_on_.load()) return sums;
  const auto add = [&sums](const std::atomic<PollTimes*>& times) {
    // Acquire: pairs with MakeTimes().
    const PollTimes* made = times.load(std::memory_order_acquire);
    if (made == nullptr) return;
    sums.poll_time += made->poll.Read();
    sums.schedule_latency += made->latency.Read();
  };
  add(tick_times_);
  VisitRunners(0, [&add](Runner& runner) {
    add(runner.times);
    return false;
  });
  return sums;
}

// ---- Counts ----

ExecutorStats ExecutorCore::Stats() {
  ExecutorStats stats;
  CountEvents(stats);
  Subtract(stats, earlier_);
  for (size_t i = 0; i < stats.per_runner.size(); ++i) {
    RunnerStats& of = stats.per_runner[i];
    if (i < earlier_.per_runner.size()) Subtract(of, earlier_.per_runner[i]);
    const Runner& runner = RunnerAt(static_cast<uint32_t>(i));
    // Relaxed: a report.
    const bool slot = runner.slot.load(std::memory_order_relaxed) != nullptr;
    of.queue_depth = runner.queue.Size() + slot;
    of.parked = idle_.IsParked(runner.index);
  }
  stats.runners = static_cast<uint64_t>(running_.load());
  stats.parked = static_cast<uint64_t>(idle_.parked());
  stats.suspended = CountTasks();
  stats.injector_depth = injector_.Size();
  return stats;
}

// Since the core itself was made. Keeps the memory of `stats`.
void ExecutorCore::CountEvents(ExecutorStats& stats) {
  std::vector<RunnerStats> per_runner = std::move(stats.per_runner);
  per_runner.clear();
  stats = ExecutorStats();
  stats.tick_polls = stats.polls = tick_polls_.Get();
  stats.runners_woken = runners_woken_.Get();
  stats.tick_wakes = tick_wakes_.Get();
  stats.tasks_injected = injected_.Get();
  VisitRunners(0, [&](Runner& runner) {
    const RunnerStats& of = per_runner.emplace_back(EventsOf(runner));
    stats.polls += of.polls;
    stats.steals += of.steals;
    stats.stolen_tasks += of.stolen_tasks;
    stats.overflows += of.overflows;
    stats.parks += of.parks;
    stats.driver_polls += of.driver_polls;
    return false;
  });
  stats.per_runner = std::move(per_runner);
}

}  // namespace weft::executor_internal
