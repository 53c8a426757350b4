// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/io/reactor.h"

#include <atomic>
#include <memory>

#include "absl/memory/memory.h"
#include "absl/status/statusor.h"
#include "weft/io/reactor_core.h"
#include "weft/task/instant.h"
#include "weft/task/waker.h"

namespace weft::io {

absl::StatusOr<std::unique_ptr<Reactor>> Reactor::Create() {
  absl::StatusOr<io_internal::ReactorCore*> core =
      io_internal::ReactorCore::Open();
  if (!core.ok()) return core.status();
  return absl::WrapUnique(new Reactor(*core));
}

Reactor::~Reactor() { core_->Release(); }

void Reactor::Close() { core_->Close(); }

void Reactor::Park(Instant deadline) { core_->Park(deadline); }

bool Reactor::TryPoll() { return core_->TryPoll(); }

Waker Reactor::Unparker() { return core_->Unparker(); }

ReactorStats Reactor::stats() const {
  const io_internal::ReactorCounters& counters = core_->counters();
  ReactorStats stats;
  // Relaxed: statistics.
  stats.waits = counters.waits.load(std::memory_order_relaxed);
  stats.events = counters.events.load(std::memory_order_relaxed);
  stats.stale_events = counters.stale_events.load(std::memory_order_relaxed);
  stats.delivered = counters.delivered.load(std::memory_order_relaxed);
  stats.registered = counters.registered.load(std::memory_order_relaxed);
  stats.deregistered = counters.deregistered.load(std::memory_order_relaxed);
  stats.watched = core_->watched();
  stats.wake_calls = core_->notifier().writes();
  return stats;
}

}  // namespace weft::io
