// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// MetricsRegistry: the metrics of a program, or of a part of it, in one place.
//
// Sources are added with labels that all their samples get, and leave when their
// registration goes. It is a source itself, so one registry may be added to
// another with a label that says which it is.
//
//   MetricsRegistry registry;
//   MetricsRegistration r = registry.Add(pool_metrics, {{"pool", "images"}});
//   std::string text = PrometheusText(registry);
//
// Thread safety: all methods from any thread.
// Lifetime: a source outlives its registration, which may outlive the registry.
// Dropping: a registration that goes takes the source out, and waits for those who
// are collecting it at that moment. So it must not go inside its source's own
// Collect() (CHECK-failed), nor inside that of a source which the other one's
// Collect() takes out.
#ifndef WEFT_TASK_METRICS_REGISTRY_H_
#define WEFT_TASK_METRICS_REGISTRY_H_

#include <memory>
#include <utility>

#include "weft/task/metrics.h"

namespace weft {

namespace task_internal {
class MetricsEntry;
struct MetricsEntries;
}  // namespace task_internal

// A source's place in a registry. Movable.
class [[nodiscard]] MetricsRegistration {
 public:
  MetricsRegistration() = default;  // of nothing
  MetricsRegistration(MetricsRegistration&&) = default;
  MetricsRegistration& operator=(MetricsRegistration&& other) noexcept {
    std::swap(entry_, other.entry_);
    return *this;
  }
  ~MetricsRegistration();

 private:
  friend class MetricsRegistry;
  explicit MetricsRegistration(
      std::shared_ptr<task_internal::MetricsEntry> entry)
      : entry_(std::move(entry)) {}

  std::shared_ptr<task_internal::MetricsEntry> entry_;
};

class MetricsRegistry final : public MetricsSource {
 public:
  MetricsRegistry();
  MetricsRegistry(const MetricsRegistry&) = delete;
  MetricsRegistry& operator=(const MetricsRegistry&) = delete;
  ~MetricsRegistry() override;

  // From now on Collect() visits `source` too, after those that are there. A label
  // that a sample has already keeps the sample's value.
  MetricsRegistration Add(const MetricsSource& source,
                          MetricLabels labels = {});

  // Calls each source's Collect(), with no lock held. Requires: no registry is,
  // directly or not, in itself.
  void Collect(MetricsWriter& writer) const override;

 private:
  const std::shared_ptr<task_internal::MetricsEntries> entries_;
};

}  // namespace weft

#endif  // WEFT_TASK_METRICS_REGISTRY_H_
