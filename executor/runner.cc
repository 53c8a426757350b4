// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/executor/runner.h"

#include <cstdint>
#include <utility>

#include "weft/executor/count.h"
#include "weft/task/instant.h"

namespace weft::executor_internal {
namespace {

// As long as a poll that deserves a report: a hundred times what is advised at most
// between two awaits.
constexpr int64_t kSlowNanoseconds = 10'000'000;

}  // namespace

// Not inline: a coroutine may go on on another thread, where a cached address
// would be wrong.
[[gnu::noinline]] Runner*& CurrentRunner() {
  constinit static thread_local Runner* runner = nullptr;
  return runner;
}

void Runner::BeginWork(Instant now) {
  busy_time.Begin(now);
  last_look = now;
}

void Runner::EndWork(Instant now) {
  NoteTime(now);
  busy_time.End(now);
  last_look = Instant::Past();
}

// See executor_measure.cc.
void Runner::NoteTime(Instant now) {
  const Instant last = std::exchange(last_look, now);
  if (last == Instant::Past()) {
    busy_time.Begin(now);
  } else if (now.nanoseconds() - last.nanoseconds() >= kSlowNanoseconds) {
    Count(slow_polls);
  }
}

}  // namespace weft::executor_internal
