// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/task/running.h"

#include <atomic>

namespace weft::task_internal {

// Not inlined: a coroutine may resume on another thread between two uses, and a
// compiler may keep the address of a thread-local across that.
[[gnu::noinline]] Running& ThisThreadRuns() {
  constinit static thread_local Running running;
  return running;
}

void PollIsOver() {
  ThisThreadRuns().polls = false;
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

}  // namespace weft::task_internal
