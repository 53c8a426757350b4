// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Metrics: the vocabulary between those who count and those who show numbers.
//
// A MetricsSource writes its numbers, when asked, to a MetricsWriter, which makes
// of them what it likes: text for Prometheus (task/prometheus_text.h), a log line.
// Sources meet in a MetricsRegistry (task/metrics_registry.h); numbers of your own
// are in task/metric.h.
//
// A family is a name with a help text and a kind; its samples differ by their
// labels. Several sources may write samples of one family. Counters end in
// `_total` and never fall while their source lives; times are in seconds.
//
//   class QueueMetrics final : public MetricsSource {
//     void Collect(MetricsWriter& writer) const override {
//       writer.Gauge("app_queue_depth", "Requests that wait.", queue.Size());
//     }
//   };
//
// Thread safety: Collect() from any thread, from several at once; a writer is used
// by one thread at a time. Lifetime: what a writer is given is used in the call.
#ifndef WEFT_TASK_METRICS_H_
#define WEFT_TASK_METRICS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

struct MetricLabel {
  std::string name;
  std::string value;

  friend bool operator==(const MetricLabel&, const MetricLabel&) = default;
};
using MetricLabels = std::vector<MetricLabel>;

// How many values lay where, at one moment.
struct HistogramSnapshot {
  struct Bucket {
    double upper;    // values up to this, and above the bucket before
    uint64_t count;  // of them
  };

  std::vector<Bucket> buckets;  // ascending; the last one's `upper` is infinite
  double sum = 0;               // of all values

  uint64_t Count() const;
  // The sum by the count; 0 if there are no values.
  double Mean() const;
  // The upper bound of the bucket that holds the value which the fraction `p` of
  // them does not exceed; 0 if there are none.
  double Quantile(double p) const;
  // Adds another one of the same bounds; or becomes it, if it has none.
  HistogramSnapshot& operator+=(const HistogramSnapshot& other);
  // Leaves what has come since `earlier`, a snapshot of the same histogram, or one
  // of no bounds. The sum is as exact as a difference of doubles.
  HistogramSnapshot& operator-=(const HistogramSnapshot& earlier);
  // The same values in wider buckets: of the bounds every n-th from the first on,
  // and the last. Requires: n > 0.
  HistogramSnapshot Coarsened(size_t n) const;
};

// One number, or one histogram, of a family.
struct MetricSample {
  enum class Kind { kCounter, kGauge, kHistogram };

  Kind kind;
  std::string_view name;
  std::string_view help;
  const MetricLabels& labels;
  double value = 0;                              // of a counter or gauge
  const HistogramSnapshot* histogram = nullptr;  // of a histogram
};

class MetricsWriter {
 public:
  virtual ~MetricsWriter() = default;

  // Called for each sample, in any order. Does not keep references.
  virtual void Write(const MetricSample& sample) = 0;

  // The same, spelled out.
  void Counter(std::string_view name, std::string_view help, double value,
               const MetricLabels& labels = {});
  void Gauge(std::string_view name, std::string_view help, double value,
             const MetricLabels& labels = {});
  void Histogram(std::string_view name, std::string_view help,
                 const HistogramSnapshot& histogram,
                 const MetricLabels& labels = {});
};

class MetricsSource {
 public:
  virtual ~MetricsSource() = default;

  // Writes all numbers as they are now.
  virtual void Collect(MetricsWriter& writer) const = 0;
};

}  // namespace weft

#endif  // WEFT_TASK_METRICS_H_
