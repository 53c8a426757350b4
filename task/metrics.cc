// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/task/metrics.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "weft/task/check.h"

namespace weft {

uint64_t HistogramSnapshot::Count() const {
  uint64_t count = 0;
  for (const Bucket& bucket : buckets) count += bucket.count;
  return count;
}

double HistogramSnapshot::Mean() const {
  const uint64_t count = Count();
  return count == 0 ? 0 : sum / static_cast<double>(count);
}

double HistogramSnapshot::Quantile(double p) const {
  // A little less, or the product of 0.07 and 100 is above 7.
  const double rank = std::ceil(p * static_cast<double>(Count()) * (1 - 1e-12));
  uint64_t seen = 0;
  for (const Bucket& bucket : buckets) {
    seen += bucket.count;
    if (bucket.count != 0 && static_cast<double>(seen) >= rank) {
      return bucket.upper;
    }
  }
  return 0;
}

HistogramSnapshot& HistogramSnapshot::operator+=(
    const HistogramSnapshot& other) {
  if (buckets.empty()) return *this = other;
  WEFT_CHECK(other.buckets.empty() || other.buckets.size() == buckets.size(),
             "histograms of different bounds cannot be added");
  for (size_t i = 0; i < other.buckets.size(); ++i) {
    buckets[i].count += other.buckets[i].count;
  }
  sum += other.sum;
  return *this;
}

HistogramSnapshot& HistogramSnapshot::operator-=(
    const HistogramSnapshot& earlier) {
  WEFT_CHECK(
      earlier.buckets.empty() || earlier.buckets.size() == buckets.size(),
      "histograms of different bounds cannot be subtracted");
  for (size_t i = 0; i < earlier.buckets.size(); ++i) {
    buckets[i].count -= earlier.buckets[i].count;
  }
  sum -= earlier.sum;
  return *this;
}

HistogramSnapshot HistogramSnapshot::Coarsened(size_t n) const {
  HistogramSnapshot coarse;
  coarse.sum = sum;
  uint64_t count = 0;
  for (size_t i = 0; i < buckets.size(); ++i) {
    count += buckets[i].count;
    if (i % n != 0 && i + 1 != buckets.size()) continue;
    coarse.buckets.push_back({buckets[i].upper, count});
    count = 0;
  }
  return coarse;
}

void MetricsWriter::Counter(std::string_view name, std::string_view help,
                            double value, const MetricLabels& labels) {
  Write({.kind = MetricSample::Kind::kCounter,
         .name = name,
         .help = help,
         .labels = labels,
         .value = value});
}

void MetricsWriter::Gauge(std::string_view name, std::string_view help,
                          double value, const MetricLabels& labels) {
  Write({.kind = MetricSample::Kind::kGauge,
         .name = name,
         .help = help,
         .labels = labels,
         .value = value});
}

void MetricsWriter::Histogram(std::string_view name, std::string_view help,
                              const HistogramSnapshot& histogram,
                              const MetricLabels& labels) {
  Write({.kind = MetricSample::Kind::kHistogram,
         .name = name,
         .help = help,
         .labels = labels,
         .histogram = &histogram});
}

}  // namespace weft
