// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/task/running.h"

namespace weft::task_internal {

// Not inlined: a coroutine may resume on another thread between two uses, and a
// compiler may keep the address of a thread-local across that.
[[gnu::noinline]] Running& ThisThreadRuns() {
  constinit static thread_local Running running;
  return running;
}

}  // namespace weft::task_internal
