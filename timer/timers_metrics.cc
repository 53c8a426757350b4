// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/timer/timers_metrics.h"

#include "weft/task/metrics.h"
#include "weft/timer/timers.h"

namespace weft::timer {

void TimersMetrics::Collect(MetricsWriter& writer) const {
  const TimersStats stats = timers_.stats();
  writer.Gauge("weft_timers_pending", "Sleeps that wait for their deadline.",
               static_cast<double>(stats.pending));
  writer.Counter("weft_timers_started_total", "Sleeps that had to wait.",
                 static_cast<double>(stats.started));
  writer.Counter("weft_timers_fired_total", "Sleeps whose deadline came.",
                 static_cast<double>(stats.fired));
  writer.Counter("weft_timers_cancelled_total",
                 "Sleeps that were dropped before their deadline.",
                 static_cast<double>(stats.cancelled));
}

}  // namespace weft::timer
