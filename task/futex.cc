// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/task/futex.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

#include "weft/task/instant.h"

namespace weft::task_internal {

// An infinite deadline is passed on as a moment that is far away: a wait without one
// would be restarted after a handler with SA_RESTART (signal(7)), and
// ThreadSanitizer runs handlers only once the thread is back.
void FutexWait(std::atomic<uint32_t>& word, uint32_t expected,
               Instant deadline) {
  timespec until;
  until.tv_sec = static_cast<time_t>(deadline.nanoseconds() / 1'000'000'000);
  until.tv_nsec = static_cast<long>(deadline.nanoseconds() % 1'000'000'000);
  // FUTEX_WAIT_BITSET takes an absolute time on CLOCK_MONOTONIC (futex(2)).
  syscall(SYS_futex, &word, FUTEX_WAIT_BITSET_PRIVATE, expected, &until,
          nullptr, FUTEX_BITSET_MATCH_ANY);
}

void FutexWake(std::atomic<uint32_t>& word) {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

}  // namespace weft::task_internal
