// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Each probe is in one place, a function of its own: what it costs where it is hit
// is a call, and only while somebody is attached.
#include "weft/task/probes.h"

#include <cstdint>

#if __has_include(<sys/sdt.h>)
#define _SDT_HAS_SEMAPHORES 1
#include <sys/sdt.h>
#define WEFT_PROBE1(name, a) DTRACE_PROBE1(weft, name, a)
#define WEFT_PROBE2(name, a, b) DTRACE_PROBE2(weft, name, a, b)
#define WEFT_PROBE3(name, a, b, c) DTRACE_PROBE3(weft, name, a, b, c)
#else
#define WEFT_PROBE1(name, a) static_cast<void>(a)
#define WEFT_PROBE2(name, a, b) static_cast<void>(a), static_cast<void>(b)
#define WEFT_PROBE3(name, a, b, c) \
  static_cast<void>(a), static_cast<void>(b), static_cast<void>(c)
#endif

extern "C" {
// In the section where tools look for them.
#define WEFT_SEMAPHORE [[gnu::section(".probes"), gnu::used]] volatile
WEFT_SEMAPHORE unsigned short weft_task_spawn_semaphore = 0;
WEFT_SEMAPHORE unsigned short weft_task_poll_begin_semaphore = 0;
WEFT_SEMAPHORE unsigned short weft_task_poll_end_semaphore = 0;
WEFT_SEMAPHORE unsigned short weft_task_end_semaphore = 0;
WEFT_SEMAPHORE unsigned short weft_runner_park_semaphore = 0;
WEFT_SEMAPHORE unsigned short weft_runner_unpark_semaphore = 0;
#undef WEFT_SEMAPHORE
}

namespace weft::task_internal {

void FireTaskSpawn(uint64_t id) { WEFT_PROBE1(task_spawn, id); }

void FireTaskPollBegin(uint64_t id, const char* name) {
  WEFT_PROBE2(task_poll_begin, id, name);
}

void FireTaskPollEnd(uint64_t id, const char* name, bool ready) {
  WEFT_PROBE3(task_poll_end, id, name, static_cast<int>(ready));
}

void FireTaskEnd(uint64_t id, const char* name, int end) {
  WEFT_PROBE3(task_end, id, name, end);
}

void FireRunnerPark(int runner) { WEFT_PROBE1(runner_park, runner); }

void FireRunnerUnpark(int runner) { WEFT_PROBE1(runner_unpark, runner); }

}  // namespace weft::task_internal
