// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// CounterMetric, GaugeMetric, HistogramMetric: numbers of your own.
//
// Each is one sample of one family, and a source to add to a registry, which
// gives it its labels.
//
//   CounterMetric requests("app_requests_total", "Requests served.");
//   HistogramMetric times("app_request_seconds", "From first to last byte.");
//   MetricsRegistration r = registry.Add(requests, {{"route", "/"}});
//   requests.Increment();
//   times.Record(Instant::Now() - begin);
//
// Thread safety: all methods, from any thread; a write is one or two locked
// instructions, on a cache line that all writers share.
// Lifetime: outlives its registration.
#ifndef WEFT_TASK_METRIC_H_
#define WEFT_TASK_METRIC_H_

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/time/time.h"
#include "weft/task/log_histogram.h"
#include "weft/task/metrics.h"

namespace weft {

// How often something has happened; only rises.
class CounterMetric final : public MetricsSource {
 public:
  // `name` ends in `_total`.
  CounterMetric(std::string name, std::string help)
      : name_(std::move(name)), help_(std::move(help)) {}

  void Increment(uint64_t by = 1) {
    value_.fetch_add(by, std::memory_order_relaxed);  // relaxed: orders nothing
  }
  uint64_t value() const {
    return value_.load(std::memory_order_relaxed);  // relaxed: as above
  }
  void Collect(MetricsWriter& writer) const override;

 private:
  const std::string name_;
  const std::string help_;
  std::atomic<uint64_t> value_{0};
};

// How much there is of something now.
class GaugeMetric final : public MetricsSource {
 public:
  GaugeMetric(std::string name, std::string help)
      : name_(std::move(name)), help_(std::move(help)) {}

  void Set(int64_t value) {
    value_.store(value, std::memory_order_relaxed);  // relaxed: orders nothing
  }
  void Add(int64_t by) {
    value_.fetch_add(by, std::memory_order_relaxed);  // relaxed: as above
  }
  int64_t value() const {
    return value_.load(std::memory_order_relaxed);  // relaxed: as above
  }
  void Collect(MetricsWriter& writer) const override;

 private:
  const std::string name_;
  const std::string help_;
  std::atomic<int64_t> value_{0};
};

// How long something took, in the buckets of task/log_histogram.h; shown with one
// per power of two.
class HistogramMetric final : public MetricsSource {
 public:
  // `name` ends in `_seconds`.
  HistogramMetric(std::string name, std::string help)
      : name_(std::move(name)), help_(std::move(help)) {}

  void Record(absl::Duration duration) {
    times_.AddShared(absl::ToInt64Nanoseconds(duration));
  }
  HistogramSnapshot Read() const { return times_.Read(); }
  void Collect(MetricsWriter& writer) const override;

 private:
  const std::string name_;
  const std::string help_;
  LogHistogram times_;
};

}  // namespace weft

#endif  // WEFT_TASK_METRIC_H_
