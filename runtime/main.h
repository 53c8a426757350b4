// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Main: a whole program in one future.
//
//   int main() { return weft::Main(Serve()); }
//
// Builds a multi-thread runtime with everything enabled, runs the future on the
// calling thread, shuts the runtime down and returns what main() should: an int
// output as it is, 0 for any other, and 1 where the output is an error status
// or the runtime cannot be built; the status is printed to standard error then,
// one without a message with what weft means by it.
//
// Tasks that are still running are cancelled; blocking jobs that are still
// running after 10 seconds are left behind. An exception of the future is
// thrown on.
//
// Thread safety: call it on a thread outside any runtime.
#ifndef WEFT_RUNTIME_MAIN_H_
#define WEFT_RUNTIME_MAIN_H_

#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "weft/runtime/runtime.h"
#include "weft/runtime/runtime_builder.h"
#include "weft/task/future.h"
#include "weft/task/outcome.h"
#include "weft/task/polled.h"

namespace weft {
namespace runtime_internal {

// Prints an error; 0 if there is none, else 1.
int ExitCode(const absl::Status& status);

template <class T>
int ExitCodeOf(const T& output) {
  if constexpr (std::is_same_v<T, int>) {
    return output;
  } else if constexpr (std::is_same_v<T, absl::Status>) {
    return ExitCode(output);
  } else if constexpr (std::is_same_v<T, OutcomeOf<T>>) {
    return ExitCode(output.status());
  } else {
    return 0;
  }
}

}  // namespace runtime_internal

template <Future F>
int Main(F future) {
  absl::StatusOr<Runtime> runtime = RuntimeBuilder().EnableAll().Build();
  if (!runtime.ok()) return runtime_internal::ExitCode(runtime.status());
  int code = 0;
  if constexpr (std::is_void_v<OutputOf<F>>) {
    runtime->BlockOn(std::move(future));
  } else {
    code = runtime_internal::ExitCodeOf(runtime->BlockOn(std::move(future)));
  }
  static_cast<void>(runtime->Shutdown(absl::Seconds(0)));
  return code;
}

}  // namespace weft

#endif  // WEFT_RUNTIME_MAIN_H_
