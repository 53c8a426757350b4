// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Algorithm. The handler notes the signal in the listener's set and then writes
// to its eventfd. PollNext looks at the set first; only when it is empty does
// it read the eventfd, and looks again if there was something to read. So a
// signal that is noted after the look finds the eventfd drained or not yet
// written, and in both cases its write comes later and wakes.
#include "weft/process/signals.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "weft/io/fd.h"
#include "weft/io/io_result.h"
#include "weft/io/readiness.h"
#include "weft/io/source.h"
#include "weft/process/signal_registry.h"
#include "weft/task/context.h"
#include "weft/task/polled.h"
#include "weft/task/status.h"

namespace weft::process {

absl::StatusOr<Signals> Signals::Create(std::span<const int> numbers) {
  io::Fd event(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!event.IsValid()) return ErrnoStatus(errno, "eventfd");
  absl::StatusOr<process_internal::SignalListener> listener =
      process_internal::SignalListener::Create(numbers, event.get());
  if (!listener.ok()) return listener.status();
  return Signals(io::Source::Adopt(std::move(event)), *std::move(listener));
}

Polled<std::optional<int>> Signals::PollNext(Context& cx) {
  if (!status_.ok()) return std::optional<int>();
  if (!cx.HasBudget()) return kPending;
  for (;;) {
    if (const std::optional<int> number = listener_.Take()) {
      cx.Charge();
      return number;
    }
    uint64_t count;
    const auto drain = [&count](int fd) {
      return read(fd, &count, sizeof(count));
    };
    // A read that found something is not what the caller waits for.
    Context unlimited = cx.WithBudget(nullptr);
    const Polled<io::IoResult> result =
        event_.PollIo(unlimited, io::Direction::kRead, drain);
    if (result.IsPending()) return kPending;
    if (!result->ok()) {
      status_ = result->status("read from an eventfd");
      return std::optional<int>();
    }
  }
}

}  // namespace weft::process
