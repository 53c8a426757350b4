// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/bench/sync/lock_cases.h"

#include <cstddef>
#include <cstdint>
#include <span>

#include "weft/bench/executor/common.h"
#include "weft/bench/harness.h"
#include "weft/bench/sync/common.h"
#include "weft/runtime/runtime.h"
#include "weft/sync/mutex.h"
#include "weft/sync/semaphore.h"
#include "weft/task/check.h"
#include "weft/task/task.h"
#include "weft/task/yield_now.h"

namespace weft::bench {
namespace {

Task<> Add(sync::Mutex<uint64_t>* mutex, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    auto guard = co_await mutex->Lock();
    ++*guard;
  }
}

// Where there are permits for all there is no need to yield.
Task<> AcquireAndRelease(sync::Semaphore* semaphore, size_t count,
                         bool yields) {
  for (size_t i = 0; i < count; ++i) {
    auto permit = co_await semaphore->Acquire();
    WEFT_CHECK(permit.ok(), "nobody closes it");
    if (yields) co_await YieldNow();
  }
}

// Locks, adds, unlocks: bench.size() times in all.
template <size_t kTasks>
void Mutexes(Bench& bench) {
  Runtime runtime = MultiThread(bench);
  sync::Mutex<uint64_t> mutex(0);
  const size_t each = bench.size() / kTasks;
  MeasureTask(bench, runtime, bench.size(), [&] {
    return InTasks(kTasks, [&mutex, each] { return Add(&mutex, each); });
  });
}

// Takes a permit and gives it back. Yields in between if there are too few for all.
template <size_t kTasks, size_t kPermits>
void Semaphores(Bench& bench) {
  Runtime runtime = MultiThread(bench);
  sync::Semaphore semaphore(kPermits);
  const size_t each = bench.size() / kTasks;
  MeasureTask(bench, runtime, bench.size(), [&] {
    return InTasks(kTasks, [&semaphore, each] {
      return AcquireAndRelease(&semaphore, each, kPermits < kTasks);
    });
  });
}

constexpr Case kCases[] = {
    {"mutex_1", Mutexes<1>},
    {"mutex_2", Mutexes<2>},
    {"mutex_4", Mutexes<4>},
    {"semaphore_1", Semaphores<1, 1>},
    {"semaphore_6", Semaphores<6, 5>},
    {"semaphore_uncontended_6", Semaphores<6, 6>},
};

}  // namespace

std::span<const Case> LockCases() { return kCases; }

}  // namespace weft::bench
