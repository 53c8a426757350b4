// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// DriverStack: what one worker waits in: timers around a reactor or a parker,
// with the user's park hooks around all of it; and the environment that names
// them. Internal.
//
// Thread safety: Init by the thread that builds the runtime; then the drivers
// belong to the worker.
#ifndef WEFT_RUNTIME_DRIVER_STACK_H_
#define WEFT_RUNTIME_DRIVER_STACK_H_

#include <functional>
#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "weft/io/reactor.h"
#include "weft/io/reactor_metrics.h"
#include "weft/runtime/runtime_options.h"
#include "weft/task/driver.h"
#include "weft/task/environment.h"
#include "weft/task/instant.h"
#include "weft/task/metrics_registry.h"
#include "weft/task/parker.h"
#include "weft/task/waker.h"
#include "weft/timer/timers.h"
#include "weft/timer/timers_metrics.h"

namespace weft::runtime_internal {

// Calls hooks around each wait of the driver inside.
class HookedDriver final : public Driver {
 public:
  HookedDriver(Driver& inner, std::function<void()> on_park,
               std::function<void()> on_unpark);

  void Park(Instant deadline) override;
  bool TryPoll() override { return inner_.TryPoll(); }
  Waker Unparker() override { return inner_.Unparker(); }

 private:
  Driver& inner_;
  const std::function<void()> on_park_;
  const std::function<void()> on_unpark_;
};

class DriverStack {
 public:
  // Makes what `options` enable. The environment is `base` with this worker's
  // driver, timers and reactor.
  absl::Status Init(const RuntimeOptions& options, const Environment& base);

  // Adds the metrics of the drivers with the label worker="`worker`". Called once.
  void AddMetricsTo(MetricsRegistry& registry, int worker);

  // Wakes whoever still waits in the drivers. Requires: nobody parks any more.
  void Close();

  const Environment& environment() const { return environment_; }

 private:
  std::unique_ptr<io::Reactor> reactor_;
  std::unique_ptr<Parker> parker_;
  std::unique_ptr<timer::Timers> timers_;
  std::unique_ptr<HookedDriver> hooked_;
  std::optional<io::ReactorMetrics> reactor_metrics_;
  std::optional<timer::TimersMetrics> timers_metrics_;
  MetricsRegistration reactor_registration_;
  MetricsRegistration timers_registration_;
  Environment environment_;
};

}  // namespace weft::runtime_internal

#endif  // WEFT_RUNTIME_DRIVER_STACK_H_
