// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/runtime/driver_stack.h"

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "weft/io/reactor.h"
#include "weft/runtime/runtime_options.h"
#include "weft/task/clock.h"
#include "weft/task/driver.h"
#include "weft/task/environment.h"
#include "weft/task/instant.h"
#include "weft/task/metrics_registry.h"
#include "weft/task/parker.h"
#include "weft/timer/timers.h"

namespace weft::runtime_internal {

HookedDriver::HookedDriver(Driver& inner, std::function<void()> on_park,
                           std::function<void()> on_unpark)
    : inner_(inner),
      on_park_(std::move(on_park)),
      on_unpark_(std::move(on_unpark)) {}

void HookedDriver::Park(Instant deadline) {
  // A look without waiting is not a park.
  const bool waits = deadline != Instant::Past();
  if (waits && on_park_) on_park_();
  inner_.Park(deadline);
  if (waits && on_unpark_) on_unpark_();
}

absl::Status DriverStack::Init(const RuntimeOptions& options,
                               const Environment& base) {
  environment_ = base;
  if (options.enable_io) {
    absl::StatusOr<std::unique_ptr<io::Reactor>> reactor =
        io::Reactor::Create();
    if (!reactor.ok()) return reactor.status();
    reactor_ = *std::move(reactor);
    environment_.reactor = reactor_.get();
    environment_.driver = reactor_.get();
  } else {
    parker_ = std::make_unique<Parker>();
    environment_.driver = parker_.get();
  }
  if (options.enable_time) {
    timers_ =
        std::make_unique<timer::Timers>(*environment_.driver, Clock::Real());
    environment_.timers = timers_.get();
    environment_.driver = timers_.get();
  }
  if (options.on_thread_park || options.on_thread_unpark) {
    hooked_ = std::make_unique<HookedDriver>(
        *environment_.driver, options.on_thread_park, options.on_thread_unpark);
    environment_.driver = hooked_.get();
  }
  return absl::OkStatus();
}

void DriverStack::AddMetricsTo(MetricsRegistry& registry, int worker) {
  const std::string number = std::to_string(worker);
  if (reactor_ != nullptr) {
    reactor_registration_ =
        registry.Add(reactor_metrics_.emplace(*reactor_), {{"worker", number}});
  }
  if (timers_ != nullptr) {
    timers_registration_ =
        registry.Add(timers_metrics_.emplace(*timers_), {{"worker", number}});
  }
}

void DriverStack::Close() {
  if (timers_ != nullptr) timers_->Close();
  if (reactor_ != nullptr) reactor_->Close();
}

}  // namespace weft::runtime_internal
