// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Algorithm. Counters that every future adds to. Orders are relaxed throughout:
// these are numbers for people, and nothing else depends on them.
#include "weft/task/task_monitor.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

#include "absl/time/time.h"
#include "weft/task/instant.h"
#include "weft/task/log_histogram.h"
#include "weft/task/metrics.h"

namespace weft {
namespace task_internal {
namespace {

// Relaxed, all: see above.
void Increment(std::atomic<uint64_t>& counter) {
  counter.fetch_add(1, std::memory_order_relaxed);
}
uint64_t Read(const std::atomic<uint64_t>& counter) {
  return counter.load(std::memory_order_relaxed);
}
void Raise(std::atomic<int64_t>& highest, int64_t value) {
  // Relaxed, both: likewise.
  int64_t seen = highest.load(std::memory_order_relaxed);
  while (seen < value && !highest.compare_exchange_weak(
                             seen, value, std::memory_order_relaxed)) {
  }
}

TimeSum operator-(const TimeSum& later, const TimeSum& earlier) {
  return {later.count - earlier.count, later.total - earlier.total};
}

// Sums are whole nanoseconds, in seconds. A difference of them is off by less than
// half of one while they are below 2^22 s; until then rounding makes it exact.
HistogramSnapshot operator-(HistogramSnapshot later,
                            const HistogramSnapshot& earlier) {
  later -= earlier;
  later.sum = std::round(later.sum * 1e9) / 1e9;
  return later;
}

// All but max_idle, which is that of `later`.
TaskMetrics Difference(const TaskMetrics& later, const TaskMetrics& earlier) {
  return {
      .created = later.created - earlier.created,
      .finished = later.finished - earlier.finished,
      .threw = later.threw - earlier.threw,
      .dropped = later.dropped - earlier.dropped,
      .first_poll_delay = later.first_poll_delay - earlier.first_poll_delay,
      .polls = later.polls - earlier.polls,
      .slow_polls = later.slow_polls - earlier.slow_polls,
      .idle = later.idle - earlier.idle,
      .max_idle = later.max_idle,
      .scheduled = later.scheduled - earlier.scheduled,
      .long_delays = later.long_delays - earlier.long_delays,
  };
}

}  // namespace

void MonitorCore::SharedSum::Add(int64_t time) {
  Increment(count_);
  total_.fetch_add(time, std::memory_order_relaxed);  // relaxed: see above
}

TimeSum MonitorCore::SharedSum::Read() const {
  // Relaxed, both: see above.
  return {count_.load(std::memory_order_relaxed),
          absl::Nanoseconds(total_.load(std::memory_order_relaxed))};
}

MonitorCore::MonitorCore(const TaskMonitorOptions& options)
    : slow_poll_(Instant::ToNanoseconds(options.slow_poll)),
      long_delay_(Instant::ToNanoseconds(options.long_delay)) {}

void MonitorCore::AddCreated() { Increment(created_); }

void MonitorCore::AddFirstPollDelay(int64_t time) {
  first_poll_delay_.AddShared(std::max<int64_t>(time, 0));
}

void MonitorCore::AddPoll(int64_t time) {
  time = std::max<int64_t>(time, 0);
  polls_.AddShared(time);
  if (time >= slow_poll_) slow_polls_.Add(time);
}

void MonitorCore::AddIdle(int64_t time) {
  time = std::max<int64_t>(time, 0);
  idle_.AddShared(time);
  Raise(max_idle_, time);
  Raise(interval_max_idle_, time);
}

void MonitorCore::AddScheduled(int64_t time) {
  time = std::max<int64_t>(time, 0);
  scheduled_.AddShared(time);
  if (time >= long_delay_) long_delays_.Add(time);
}

void MonitorCore::AddEnd(End end) {
  Increment(end == End::kDropped ? dropped_ : finished_);
  if (end == End::kThrew) Increment(threw_);
}

TaskMetrics MonitorCore::Totals() const {
  TaskMetrics metrics;
  metrics.finished = Read(finished_);
  metrics.threw = Read(threw_);
  metrics.dropped = Read(dropped_);
  metrics.created = Read(created_);
  metrics.first_poll_delay = first_poll_delay_.Read();
  metrics.polls = polls_.Read();
  metrics.slow_polls = slow_polls_.Read();
  metrics.idle = idle_.Read();
  // Relaxed: see above.
  metrics.max_idle =
      absl::Nanoseconds(max_idle_.load(std::memory_order_relaxed));
  metrics.scheduled = scheduled_.Read();
  metrics.long_delays = long_delays_.Read();
  return metrics;
}

TaskMetrics MonitorCore::TakeInterval() {
  const std::lock_guard lock(mutex_);
  TaskMetrics totals = Totals();
  TaskMetrics interval = Difference(totals, last_);
  last_ = std::move(totals);
  // Relaxed: see above.
  interval.max_idle = absl::Nanoseconds(
      interval_max_idle_.exchange(0, std::memory_order_relaxed));
  return interval;
}

}  // namespace task_internal

namespace {

double AsDouble(uint64_t n) { return static_cast<double>(n); }

HistogramSnapshot Coarse(const HistogramSnapshot& histogram) {
  return histogram.Coarsened(LogHistogram::kPerPowerOfTwo);
}

void WriteFutures(MetricsWriter& writer, const TaskMetrics& totals) {
  writer.Counter("weft_instrumented_futures_created_total",
                 "Futures given to Instrument().", AsDouble(totals.created));
  writer.Counter("weft_instrumented_futures_finished_total",
                 "Futures that became ready, or threw.",
                 AsDouble(totals.finished));
  writer.Counter("weft_instrumented_futures_threw_total",
                 "Futures that ended by an exception.", AsDouble(totals.threw));
  writer.Counter("weft_instrumented_futures_dropped_total",
                 "Futures that were destroyed before they were ready.",
                 AsDouble(totals.dropped));
}

void WriteTimes(MetricsWriter& writer, const TaskMetrics& totals) {
  writer.Histogram("weft_instrumented_first_poll_delay_seconds",
                   "From Instrument() to the first poll.",
                   Coarse(totals.first_poll_delay));
  writer.Histogram("weft_instrumented_poll_seconds", "How long polls took.",
                   Coarse(totals.polls));
  writer.Histogram("weft_instrumented_idle_seconds",
                   "How long futures waited to be woken.", Coarse(totals.idle));
  writer.Gauge("weft_instrumented_max_idle_seconds",
               "The longest that a future waited to be woken.",
               absl::ToDoubleSeconds(totals.max_idle));
  writer.Histogram("weft_instrumented_scheduled_seconds",
                   "How long woken futures waited for their poll.",
                   Coarse(totals.scheduled));
}

void WriteExcesses(MetricsWriter& writer, const TaskMetrics& totals) {
  writer.Counter("weft_instrumented_slow_polls_total",
                 "Polls that the monitor calls slow.",
                 AsDouble(totals.slow_polls.count));
  writer.Counter("weft_instrumented_slow_poll_seconds_total",
                 "Sum of the polls that the monitor calls slow.",
                 absl::ToDoubleSeconds(totals.slow_polls.total));
  writer.Counter("weft_instrumented_long_delays_total",
                 "Waits of woken futures that the monitor calls long.",
                 AsDouble(totals.long_delays.count));
  writer.Counter("weft_instrumented_long_delay_seconds_total",
                 "Sum of the waits that the monitor calls long.",
                 absl::ToDoubleSeconds(totals.long_delays.total));
}

}  // namespace

TaskMonitor::TaskMonitor(const TaskMonitorOptions& options)
    : core_(std::make_shared<task_internal::MonitorCore>(options)) {}

void TaskMonitor::Collect(MetricsWriter& writer) const {
  const TaskMetrics totals = Totals();
  WriteFutures(writer, totals);
  WriteTimes(writer, totals);
  WriteExcesses(writer, totals);
}

}  // namespace weft
