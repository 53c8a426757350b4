// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// SignalListener: one listener to a set of signals, as the signal handler knows
// it. Internal; see process/signals.h.
//
// Thread safety: Create and destruction on any thread, Take by one at a time.
// Lifetime: the descriptor stays open until the listener is destroyed.
#ifndef WEFT_PROCESS_SIGNAL_REGISTRY_H_
#define WEFT_PROCESS_SIGNAL_REGISTRY_H_

#include <optional>
#include <span>
#include <utility>

#include "absl/status/statusor.h"

namespace weft::process::process_internal {

struct ListenerRecord;

class SignalListener {
 public:
  // Notes each of `numbers` that comes, and then writes a count to `event_fd`,
  // a non-blocking eventfd. See Signals::Create.
  static absl::StatusOr<SignalListener> Create(std::span<const int> numbers,
                                               int event_fd);

  SignalListener(SignalListener&& other) noexcept
      : record_(std::exchange(other.record_, nullptr)) {}
  SignalListener& operator=(SignalListener&& other) noexcept {
    std::swap(record_, other.record_);
    return *this;
  }
  // When it returns, no handler uses the descriptor any more.
  ~SignalListener();

  // The lowest of the signals that were noted, which is then forgotten.
  std::optional<int> Take();

 private:
  explicit SignalListener(ListenerRecord* record) : record_(record) {}

  ListenerRecord* record_;
};

}  // namespace weft::process::process_internal

#endif  // WEFT_PROCESS_SIGNAL_REGISTRY_H_
