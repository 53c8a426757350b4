// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// ReactorMetrics: the numbers of a Reactor as metrics.
//
// As weft_reactor_…:
//   watched_descriptors, registrations_total, deregistrations_total, waits_total,
//   events_total, delivered_events_total, stale_events_total, wake_calls_total
// ReactorStats says what each is.
//
//   io::ReactorMetrics source(*reactor);
//   MetricsRegistration r = registry.Add(source, {{"worker", "0"}});
//
// Thread safety: as MetricsSource. Lifetime: the reactor outlives it.
#ifndef WEFT_IO_REACTOR_METRICS_H_
#define WEFT_IO_REACTOR_METRICS_H_

#include "weft/io/reactor.h"
#include "weft/task/metrics.h"

namespace weft::io {

class ReactorMetrics final : public MetricsSource {
 public:
  explicit ReactorMetrics(const Reactor& reactor) : reactor_(reactor) {}

  void Collect(MetricsWriter& writer) const override;

 private:
  const Reactor& reactor_;
};

}  // namespace weft::io

#endif  // WEFT_IO_REACTOR_METRICS_H_
