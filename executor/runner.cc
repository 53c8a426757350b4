// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/executor/runner.h"

#include <sys/types.h>
#include <unistd.h>

namespace weft::executor_internal {

// Not inline: a coroutine may go on on another thread, where a cached address
// would be wrong.
[[gnu::noinline]] Runner*& CurrentRunner() {
  constinit static thread_local Runner* runner = nullptr;
  return runner;
}

pid_t ThisThreadId() {
  static thread_local const pid_t id = gettid();
  return id;
}

}  // namespace weft::executor_internal
