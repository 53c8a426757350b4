// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/executor/executor_metrics.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/time/time.h"
#include "weft/executor/executor_stats.h"
#include "weft/task/log_histogram.h"
#include "weft/task/metrics.h"

namespace weft {
namespace {

// A count that each runner has.
struct RunnerCount {
  uint64_t RunnerStats::* field;
  std::string_view name;
  std::string_view help;
};

constexpr std::string_view kPolls = "weft_executor_polls_total";
constexpr std::string_view kPollsHelp = "Polls of tasks.";
constexpr std::string_view kLocal = "weft_executor_local_schedules_total";
constexpr std::string_view kLocalHelp =
    "Tasks that were spawned or woken on the thread that then ran them first.";
constexpr std::string_view kParks = "weft_executor_parks_total";
constexpr std::string_view kParksHelp =
    "Times that a thread went to sleep for want of work.";
constexpr std::string_view kDriverPolls = "weft_executor_driver_polls_total";
constexpr std::string_view kDriverPollsHelp =
    "Looks at I/O and timers without sleeping.";
constexpr std::string_view kBusy = "weft_executor_busy_seconds_total";
constexpr std::string_view kBusyHelp =
    "Time in which a thread had work, or looked for some.";
constexpr std::string_view kQueue = "weft_executor_queue_depth";
constexpr std::string_view kQueueHelp = "Ready tasks that wait for a thread.";
constexpr std::string_view kParked = "weft_executor_runner_parked";
constexpr std::string_view kParkedHelp = "1 while a thread sleeps.";
constexpr std::string_view kRemote = "weft_executor_remote_schedules_total";
constexpr std::string_view kRemoteHelp =
    "Tasks that were spawned or woken on other threads.";
constexpr std::string_view kSuspended = "weft_executor_suspended_tasks";
constexpr std::string_view kSuspendedHelp =
    "Tasks that have been polled and are not finished.";

constexpr RunnerCount kRunnerCounts[] = {
    {&RunnerStats::polls, kPolls, kPollsHelp},
    {&RunnerStats::local_schedules, kLocal, kLocalHelp},
    {&RunnerStats::steals, "weft_executor_steals_total",
     "Times that a runner took tasks from another one."},
    {&RunnerStats::stolen_tasks, "weft_executor_stolen_tasks_total",
     "Tasks that a runner took from another one."},
    {&RunnerStats::overflows, "weft_executor_overflows_total",
     "Times that a runner's queue was full and tasks went to the injector."},
    {&RunnerStats::parks, kParks, kParksHelp},
    {&RunnerStats::wakes, "weft_executor_wakes_total",
     "Times that a runner was woken from its sleep, since there was work."},
    {&RunnerStats::driver_polls, kDriverPolls, kDriverPollsHelp},
    {&RunnerStats::slow_polls, "weft_executor_slow_polls_total",
     "Polls, or series of at most 127, that took 10 ms or more."},
};

double AsDouble(uint64_t n) { return static_cast<double>(n); }

void WriteRunner(MetricsWriter& writer, const RunnerStats& stats,
                 const MetricLabels& labels) {
  for (const RunnerCount& count : kRunnerCounts) {
    writer.Counter(count.name, count.help, AsDouble(stats.*count.field),
                   labels);
  }
  writer.Counter(kBusy, kBusyHelp, absl::ToDoubleSeconds(stats.busy_time),
                 labels);
  writer.Gauge(kQueue, kQueueHelp, AsDouble(stats.queue_depth), labels);
  writer.Gauge(kParked, kParkedHelp, stats.parked ? 1 : 0, labels);
}

void WriteHistograms(MetricsWriter& writer,
                     const ExecutorHistograms& histograms) {
  if (histograms.poll_time.buckets.empty()) return;
  writer.Histogram(
      "weft_executor_poll_seconds",
      "How long polls of tasks took; from samples.",
      histograms.poll_time.Coarsened(LogHistogram::kPerPowerOfTwo));
  writer.Histogram(
      "weft_executor_schedule_latency_seconds",
      "How long ready tasks waited for their poll; from samples.",
      histograms.schedule_latency.Coarsened(LogHistogram::kPerPowerOfTwo));
}

}  // namespace

void ExecutorMetrics::Collect(MetricsWriter& writer) const {
  const ExecutorStats stats = executor_.Stats();
  for (size_t i = 0; i < stats.per_runner.size(); ++i) {
    WriteRunner(writer, stats.per_runner[i], {{"runner", std::to_string(i)}});
  }
  writer.Gauge("weft_executor_runners", "Threads that run tasks.",
               AsDouble(stats.runners));
  writer.Gauge(kSuspended, kSuspendedHelp, AsDouble(stats.suspended));
  writer.Gauge("weft_executor_injector_depth",
               "Ready tasks that wait for any runner.",
               AsDouble(stats.injector_depth));
  writer.Counter(kRemote, kRemoteHelp, AsDouble(stats.tasks_injected));
  writer.Counter("weft_executor_tick_polls_total",
                 "Polls of tasks by Tick() and TryTick().",
                 AsDouble(stats.tick_polls));
  writer.Counter("weft_executor_runner_wakes_total",
                 "Times that somebody woke a runner, since there was work.",
                 AsDouble(stats.runners_woken));
  writer.Counter("weft_executor_tick_wakes_total",
                 "Times that somebody woke a Tick(), since there was work.",
                 AsDouble(stats.tick_wakes));
  WriteHistograms(writer, executor_.Histograms());
}

void LocalExecutorMetrics::Collect(MetricsWriter& writer) const {
  const LocalExecutorStats stats = executor_.Stats();
  writer.Counter(kPolls, kPollsHelp, AsDouble(stats.polls));
  writer.Counter(kLocal, kLocalHelp, AsDouble(stats.local_schedules));
  writer.Counter(kRemote, kRemoteHelp, AsDouble(stats.arrivals));
  writer.Counter(kParks, kParksHelp, AsDouble(stats.parks));
  writer.Counter(kDriverPolls, kDriverPollsHelp, AsDouble(stats.driver_polls));
  writer.Counter(kBusy, kBusyHelp, absl::ToDoubleSeconds(stats.busy_time));
  writer.Gauge(kQueue, kQueueHelp, AsDouble(stats.queue_depth));
  writer.Gauge(kParked, kParkedHelp, stats.parked ? 1 : 0);
  writer.Gauge(kSuspended, kSuspendedHelp, AsDouble(stats.suspended));
  WriteHistograms(writer, executor_.Histograms());
}

}  // namespace weft
