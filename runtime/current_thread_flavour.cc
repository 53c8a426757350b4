// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/runtime/current_thread_flavour.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/time/time.h"
#include "weft/executor/executor_hooks.h"
#include "weft/task/instant.h"
#include "weft/task/ready.h"
#include "weft/timer/sleep.h"

namespace weft::runtime_internal {

CurrentThreadFlavour::CurrentThreadFlavour(
    std::shared_ptr<const ExecutorHooks> hooks) {
  if (hooks != nullptr) executor_.SetHooks(std::move(hooks));
}

void CurrentThreadFlavour::Run(int, StopPoll stop) {
  executor_.Run(PollFn(stop));
}

void CurrentThreadFlavour::Drain(Instant deadline,
                                 absl::FunctionRef<bool()> jobs_done) {
  while (!(executor_.IsEmpty() && jobs_done())) {
    const Instant now = Instant::Now();
    if (now >= deadline) return;
    executor_.Run(timer::At(std::min(deadline, now + absl::Milliseconds(1))));
  }
}

size_t CurrentThreadFlavour::Close(Instant) { return executor_.Close(); }

}  // namespace weft::runtime_internal
