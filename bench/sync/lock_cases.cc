// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/bench/sync/lock_cases.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "weft/bench/executor/common.h"
#include "weft/bench/harness.h"
#include "weft/runtime/runtime.h"
#include "weft/sync/mutex.h"
#include "weft/sync/semaphore.h"
#include "weft/task/check.h"
#include "weft/task/join_handle.h"
#include "weft/task/spawner.h"
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

// With one task there is no need to yield, as nobody else wants a permit.
Task<> AcquireAndRelease(sync::Semaphore* semaphore, size_t count,
                         bool yields) {
  for (size_t i = 0; i < count; ++i) {
    auto permit = co_await semaphore->Acquire();
    WEFT_CHECK(permit.ok(), "nobody closes it");
    if (yields) co_await YieldNow();
  }
}

// Spawns `tasks` of what make() gives and awaits them.
template <class Make>
Task<> InTasks(size_t tasks, Make make) {
  std::vector<JoinHandle<>> handles;
  for (size_t i = 0; i < tasks; ++i) handles.push_back(SpawnBorrowing(make()));
  for (JoinHandle<>& handle : handles) co_await handle;
}

// Locks, adds, unlocks: bench.size() times in all.
template <size_t kTasks>
void Mutexes(Bench& bench) {
  Runtime runtime = MultiThread(bench);
  sync::Mutex<uint64_t> mutex(0);
  const size_t each = bench.size() / kTasks;
  bench.Measure(bench.size(), [&] {
    runtime.BlockOn(runtime.spawner().SpawnBorrowing(
        InTasks(kTasks, [&mutex, each] { return Add(&mutex, each); })));
  });
}

// Takes a permit, of one fewer than there are tasks, and gives it back.
template <size_t kTasks>
void Semaphores(Bench& bench) {
  Runtime runtime = MultiThread(bench);
  sync::Semaphore semaphore(kTasks == 1 ? 1 : kTasks - 1);
  const size_t each = bench.size() / kTasks;
  bench.Measure(bench.size(), [&] {
    runtime.BlockOn(
        runtime.spawner().SpawnBorrowing(InTasks(kTasks, [&semaphore, each] {
          return AcquireAndRelease(&semaphore, each, kTasks > 1);
        })));
  });
}

constexpr Case kCases[] = {
    {"mutex_1", Mutexes<1>},        {"mutex_2", Mutexes<2>},
    {"mutex_4", Mutexes<4>},        {"semaphore_1", Semaphores<1>},
    {"semaphore_6", Semaphores<6>},
};

}  // namespace

std::span<const Case> LockCases() { return kCases; }

}  // namespace weft::bench
