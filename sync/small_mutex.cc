// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/sync/small_mutex.h"

#include <atomic>

#include "weft/sync/backoff.h"
#include "weft/task/futex.h"
#include "weft/task/instant.h"

namespace weft::sync_internal {

void SmallMutex::LockSlowly() {
  Backoff<> backoff;
  while (backoff.IsSpinning()) {
    backoff.Wait();
    // Relaxed: only whether to try.
    if (word_.load(std::memory_order_relaxed) == kFree && try_lock()) return;
  }
  // From here on the word says that somebody may sleep, though perhaps nobody does:
  // who got it so cannot know.
  // Acquire: as in try_lock.
  while (word_.exchange(kContended, std::memory_order_acquire) != kFree) {
    task_internal::FutexWait(word_, kContended, Instant::Infinite());
  }
}

void SmallMutex::WakeOne() { task_internal::FutexWake(word_); }

}  // namespace weft::sync_internal
