// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/runtime/multi_thread_flavour.h"

#include <cstddef>
#include <memory>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "weft/executor/executor_hooks.h"
#include "weft/task/instant.h"
#include "weft/task/ready.h"

namespace weft::runtime_internal {

MultiThreadFlavour::MultiThreadFlavour(
    std::shared_ptr<const ExecutorHooks> hooks) {
  if (hooks != nullptr) executor_.SetHooks(std::move(hooks));
}

void MultiThreadFlavour::Run(int, StopPoll stop) {
  executor_.Run(PollFn(stop));
}

// A shutdown is rare and short: looking again each millisecond is cheaper than a
// count of live tasks that every spawn would have to keep.
void MultiThreadFlavour::Drain(Instant deadline,
                               absl::FunctionRef<bool()> jobs_done) {
  // A job may have spawned a task before it ended.
  while (!(jobs_done() && executor_.IsEmpty() && jobs_done())) {
    if (Instant::Now() >= deadline) return;
    absl::SleepFor(absl::Milliseconds(1));
  }
}

size_t MultiThreadFlavour::Close(Instant) { return executor_.Close(); }

}  // namespace weft::runtime_internal
