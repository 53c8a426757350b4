// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/io/reactor_metrics.h"

#include <cstdint>
#include <string_view>

#include "weft/io/reactor.h"
#include "weft/task/metrics.h"

namespace weft::io {

void ReactorMetrics::Collect(MetricsWriter& writer) const {
  const ReactorStats stats = reactor_.stats();
  writer.Gauge("weft_reactor_watched_descriptors", "Descriptors it watches.",
               static_cast<double>(stats.watched));
  const auto count = [&](std::string_view name, std::string_view help,
                         uint64_t n) {
    writer.Counter(name, help, static_cast<double>(n));
  };
  count("weft_reactor_registrations_total",
        "Descriptors that it began to watch.", stats.registered);
  count("weft_reactor_deregistrations_total",
        "Descriptors that it ceased to watch.", stats.deregistered);
  count("weft_reactor_waits_total", "Calls into the kernel to wait, or look.",
        stats.waits);
  count("weft_reactor_events_total", "Events that these returned.",
        stats.events);
  count("weft_reactor_delivered_events_total",
        "Events that came to their descriptors.", stats.delivered);
  count("weft_reactor_stale_events_total",
        "Events for descriptors that were closed meanwhile.",
        stats.stale_events);
  count("weft_reactor_wake_calls_total",
        "Calls into the kernel to end a wait on another thread.",
        stats.wake_calls);
}

}  // namespace weft::io
