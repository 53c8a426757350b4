// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// DumpOnSignal: writes a report when the process gets a signal.
//
//   auto dump = DumpOnSignal::Start(
//       SIGUSR1, [&] { return executor.Dump().ToString(); });
//   if (!dump.ok()) return dump.status();
//
//   $ kill -USR1 PID
//
// The report is made by a thread of its own, which sleeps otherwise: the function
// may do what a signal handler may not. Signals that come while it is made lead to
// one more report.
//
// Thread safety: Start() any thread; the object one thread at a time.
// Lifetime: what the function refers to outlives the object.
// Dropping: waits for a report that is being made, ends the thread, and gives the
// signal back to who had it.
#ifndef WEFT_EXECUTOR_DUMP_ON_SIGNAL_H_
#define WEFT_EXECUTOR_DUMP_ON_SIGNAL_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace weft {

class DumpOnSignal {
 public:
  // `make` returns the report; `write` takes it, by default to standard error.
  // Fails with FailedPrecondition if a DumpOnSignal has the signal already, with
  // InvalidArgument if it cannot be handled, or if the system gives no thread. A
  // handler that the program has set for it rests meanwhile.
  static absl::StatusOr<DumpOnSignal> Start(
      int signal, std::function<std::string()> make,
      std::function<void(const std::string&)> write = nullptr);

  DumpOnSignal(DumpOnSignal&& other) noexcept;
  DumpOnSignal& operator=(DumpOnSignal&& other) noexcept;
  ~DumpOnSignal();

 private:
  class Listener;

  explicit DumpOnSignal(std::unique_ptr<Listener> listener);

  std::unique_ptr<Listener> listener_;
};

}  // namespace weft

#endif  // WEFT_EXECUTOR_DUMP_ON_SIGNAL_H_
