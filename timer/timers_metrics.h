// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// TimersMetrics: the numbers of a Timers as metrics.
//
// As weft_timers_…: pending, started_total, fired_total, cancelled_total; TimersStats
// says what each is.
//
//   timer::TimersMetrics source(timers);
//   MetricsRegistration r = registry.Add(source, {{"worker", "0"}});
//
// Thread safety: as MetricsSource. Lifetime: the Timers outlives it.
#ifndef WEFT_TIMER_TIMERS_METRICS_H_
#define WEFT_TIMER_TIMERS_METRICS_H_

#include "weft/task/metrics.h"
#include "weft/timer/timers.h"

namespace weft::timer {

class TimersMetrics final : public MetricsSource {
 public:
  explicit TimersMetrics(const Timers& timers) : timers_(timers) {}

  void Collect(MetricsWriter& writer) const override;

 private:
  const Timers& timers_;
};

}  // namespace weft::timer

#endif  // WEFT_TIMER_TIMERS_METRICS_H_
