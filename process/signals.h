// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Signals: the signals that this process receives, as a stream.
//
//   absl::StatusOr<process::Signals> stop =
//       process::Signals::Create({SIGINT, SIGTERM});
//   if (!stop.ok()) return stop.status();
//   ...
//   std::optional<int> number = co_await Next(*stop);   // SIGINT or SIGTERM
//
// From Create on, none of these signals ends the process or is lost, whether
// anybody waits or not, and also if it was ignored when the program started.
// Any number of listeners may listen to the same signal; each hears it.
//
// Coalescing: a signal that comes again before the listener took it counts
// once, as with the kernel. Of several different ones the lowest number comes
// first.
//
// What happens to the process: the first listener of a signal installs a
// handler (with SA_RESTART and SA_ONSTACK), which also calls the handler that
// was there before, if any. When the last listener is gone the earlier action
// is put back, unless somebody else has installed another one on top. A signal
// that every thread blocks is not received.
//
// Thread safety: one task at a time; Create and destruction on any thread.
// Lifetime: movable, also between polls. Works with any reactor, the one of its
// first wait's environment.
// Dropping: of a wait, no signal is lost. Of the Signals: those it did not take
// are forgotten; other listeners are not concerned.
#ifndef WEFT_PROCESS_SIGNALS_H_
#define WEFT_PROCESS_SIGNALS_H_

#include <initializer_list>
#include <optional>
#include <span>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "weft/io/source.h"
#include "weft/process/signal_registry.h"
#include "weft/task/context.h"
#include "weft/task/polled.h"

namespace weft::process {

class [[nodiscard]] Signals {
 public:
  using Item = int;

  // Listens to `numbers`. kInvalidArgument for what is no signal, and for those
  // that cannot be listened to: SIGKILL, SIGSTOP, and the faults SIGSEGV,
  // SIGBUS, SIGFPE, SIGILL and SIGTRAP, to which a handler cannot return. Fails
  // as eventfd(2) does if no descriptors are left.
  static absl::StatusOr<Signals> Create(std::span<const int> numbers);
  static absl::StatusOr<Signals> Create(std::initializer_list<int> numbers) {
    return Create(std::span<const int>(numbers.begin(), numbers.size()));
  }

  Signals(Signals&&) = default;
  Signals& operator=(Signals&&) = default;

  // Ready with the next signal's number. Ready with nullopt only if it can no
  // longer wait, because its reactor was destroyed; then see status().
  Polled<std::optional<int>> PollNext(Context& cx);

  // Ok, or why the stream ended.
  const absl::Status& status() const { return status_; }

 private:
  Signals(io::Source event, process_internal::SignalListener listener)
      : event_(std::move(event)), listener_(std::move(listener)) {}

  // In this order: the handler writes to the descriptor for as long as it knows
  // the listener, which therefore goes first.
  io::Source event_;
  process_internal::SignalListener listener_;
  absl::Status status_;
};

}  // namespace weft::process

#endif  // WEFT_PROCESS_SIGNALS_H_
