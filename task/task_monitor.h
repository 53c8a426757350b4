// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// TaskMonitor: where the time of some futures goes.
//
// It adds up over all futures that were given to Instrument() with it
// (task/instrument.h), whoever polls them: how many there are, how long they wait
// for their first poll, are polled, wait to be woken (idle), and wait for a poll
// after that (scheduled).
//
//   TaskMonitor monitor;
//   Spawn(Instrument(monitor, Serve(connection))).Detach();
//   ...
//   TaskMetrics m = monitor.TakeInterval();  // since the last call
//   Report(m.polls.Mean(), m.scheduled.Quantile(0.99), m.slow_polls.count);
//
// Each moment of a future's life is in one of the four times. What had not ended
// when the future was dropped is in none.
//
// It is a source of metrics, weft_instrumented_..., for a registry
// (task/metrics_registry.h); where there are several, a label tells them apart.
//
// Thread safety: all methods from any thread. Copies are the same monitor.
// Lifetime: its futures keep what they report to; the copy that was added to a
// registry outlives its registration.
#ifndef WEFT_TASK_TASK_MONITOR_H_
#define WEFT_TASK_TASK_MONITOR_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "absl/time/time.h"
#include "weft/task/log_histogram.h"
#include "weft/task/metrics.h"

namespace weft {

struct TaskMonitorOptions {
  // A poll that takes at least this long is slow: it holds up others on its
  // thread. The number is that of tokio-metrics.
  absl::Duration slow_poll = absl::Microseconds(50);
  // A future that waits at least this long to be polled after it was woken: its
  // executor has too much to do. Likewise.
  absl::Duration long_delay = absl::Microseconds(50);
};

struct TimeSum {
  uint64_t count = 0;
  absl::Duration total;
};

// Histograms are of seconds, in the buckets of task/log_histogram.h: their sums and
// means are exact, their quantiles bounds, which beyond 69 s are infinite.
struct TaskMetrics {
  // Futures: given to Instrument(); ready; of those, by an exception; destroyed
  // before they were ready, polled or not.
  uint64_t created = 0;
  uint64_t finished = 0;
  uint64_t threw = 0;
  uint64_t dropped = 0;

  // From Instrument() to the first poll.
  HistogramSnapshot first_poll_delay;
  // Each poll.
  HistogramSnapshot polls;
  TimeSum slow_polls;
  // From the end of a poll that was pending to the first wake, or to a poll that
  // nothing asked for.
  HistogramSnapshot idle;
  absl::Duration max_idle;
  // From the wake to the next poll; a wake during a poll counts from its end.
  HistogramSnapshot scheduled;
  TimeSum long_delays;
};

namespace task_internal {

// What a monitor and its futures share. Times are nanoseconds; negative ones,
// which only a clock that goes backwards gives, count as 0.
class MonitorCore {
 public:
  enum class End { kReady, kThrew, kDropped };

  explicit MonitorCore(const TaskMonitorOptions& options);
  MonitorCore(const MonitorCore&) = delete;
  MonitorCore& operator=(const MonitorCore&) = delete;

  void AddCreated();
  void AddFirstPollDelay(int64_t time);
  void AddPoll(int64_t time);
  void AddIdle(int64_t time);
  void AddScheduled(int64_t time);
  void AddEnd(End end);

  TaskMetrics Totals() const;
  TaskMetrics TakeInterval();

 private:
  class SharedSum {
   public:
    void Add(int64_t time);
    TimeSum Read() const;

   private:
    std::atomic<uint64_t> count_{0};
    std::atomic<int64_t> total_{0};
  };

  const int64_t slow_poll_;
  const int64_t long_delay_;
  std::atomic<uint64_t> created_{0}, finished_{0}, threw_{0}, dropped_{0};
  LogHistogram first_poll_delay_, polls_, idle_, scheduled_;
  SharedSum slow_polls_, long_delays_;
  std::atomic<int64_t> max_idle_{0};
  std::atomic<int64_t> interval_max_idle_{0};

  std::mutex mutex_;  // guards the next one
  TaskMetrics last_;  // the totals at the last TakeInterval()
};

}  // namespace task_internal

class TaskMonitor final : public MetricsSource {
 public:
  explicit TaskMonitor(const TaskMonitorOptions& options = {});

  // Since the monitor was made. Approximate while futures are polled.
  TaskMetrics Totals() const { return core_->Totals(); }

  // What has come since the last call, or since the monitor was made; max_idle is
  // that of the periods which ended meanwhile.
  TaskMetrics TakeInterval() { return core_->TakeInterval(); }

  // Writes the totals, which TakeInterval() leaves as they are.
  void Collect(MetricsWriter& writer) const override;

  const std::shared_ptr<task_internal::MonitorCore>& core() const {
    return core_;
  }

 private:
  std::shared_ptr<task_internal::MonitorCore> core_;
};

}  // namespace weft

#endif  // WEFT_TASK_TASK_MONITOR_H_
