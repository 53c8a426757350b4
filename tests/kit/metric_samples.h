// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// SamplesOf: what a source of metrics writes, for a test to look at.
//
//   EXPECT_EQ(SamplesOf(metrics)["weft_timers_pending,worker=0"], 1);
//
// Thread safety: as MetricsSource::Collect().
#ifndef WEFT_TESTS_KIT_METRIC_SAMPLES_H_
#define WEFT_TESTS_KIT_METRIC_SAMPLES_H_

#include <map>
#include <string>

#include "weft/task/metrics.h"

namespace weft {

// By name and labels, "name,label=value,…"; of a histogram how many values it has.
inline std::map<std::string, double> SamplesOf(const MetricsSource& source) {
  class Writer final : public MetricsWriter {
   public:
    void Write(const MetricSample& sample) override {
      std::string key(sample.name);
      for (const MetricLabel& label : sample.labels) {
        key += "," + label.name + "=" + label.value;
      }
      samples[key] = sample.histogram == nullptr
                         ? sample.value
                         : static_cast<double>(sample.histogram->Count());
    }
    std::map<std::string, double> samples;
  } writer;
  source.Collect(writer);
  return writer.samples;
}

}  // namespace weft

#endif  // WEFT_TESTS_KIT_METRIC_SAMPLES_H_
