// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/task/metric.h"

#include "weft/task/log_histogram.h"
#include "weft/task/metrics.h"

namespace weft {

void CounterMetric::Collect(MetricsWriter& writer) const {
  writer.Counter(name_, help_, static_cast<double>(value()));
}

void GaugeMetric::Collect(MetricsWriter& writer) const {
  writer.Gauge(name_, help_, static_cast<double>(value()));
}

void HistogramMetric::Collect(MetricsWriter& writer) const {
  writer.Histogram(name_, help_,
                   Read().Coarsened(LogHistogram::kPerPowerOfTwo));
}

}  // namespace weft
