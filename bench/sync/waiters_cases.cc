// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/bench/sync/waiters_cases.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "weft/bench/executor/common.h"
#include "weft/bench/harness.h"
#include "weft/bench/sync/common.h"
#include "weft/runtime/runtime.h"
#include "weft/sync/event.h"
#include "weft/sync/mutex.h"
#include "weft/sync/rw_lock.h"
#include "weft/sync/semaphore.h"
#include "weft/task/check.h"
#include "weft/task/join_handle.h"
#include "weft/task/spawner.h"
#include "weft/task/task.h"
#include "weft/task/yield_now.h"

namespace weft::bench {
namespace {

// Gates: shut when made. Open() lets everybody through, with a lock one after
// another; a task that comes adds itself to `arrived`.
struct MutexGate {
  void Open() { shut.reset(); }

  std::atomic<size_t> arrived{0};
  sync::Mutex<uint64_t> mutex{0};
  decltype(mutex.TryLock()) shut = mutex.TryLock();
};

struct RwLockGate {
  void Open() { shut.reset(); }

  std::atomic<size_t> arrived{0};
  sync::RwLock<uint64_t> lock{0};
  decltype(lock.TryWrite()) shut = lock.TryWrite();
};

struct SemaphoreGate {
  void Open() { semaphore.AddPermits(arrived.load()); }

  std::atomic<size_t> arrived{0};
  sync::Semaphore semaphore{0};
};

struct EventGate {
  void Open() { event.Set(); }

  std::atomic<size_t> arrived{0};
  sync::Event event;
};

Task<> Pass(MutexGate* gate) {
  gate->arrived.fetch_add(1);
  auto guard = co_await gate->mutex.Lock();
  ++*guard;
}

Task<> Pass(RwLockGate* gate) {
  gate->arrived.fetch_add(1);
  auto guard = co_await gate->lock.Read();
  Keep(*guard);
}

Task<> Pass(SemaphoreGate* gate) {
  gate->arrived.fetch_add(1);
  auto permit = co_await gate->semaphore.Acquire();
  WEFT_CHECK(permit.ok(), "nobody closes it");
}

Task<> Pass(EventGate* gate) {
  gate->arrived.fetch_add(1);
  co_await gate->event.Wait();
}

template <class Gate>
Task<> GatherAndRelease(size_t waiters, size_t rounds) {
  for (size_t round = 0; round < rounds; ++round) {
    Gate gate;
    std::vector<JoinHandle<>> handles;
    for (size_t i = 0; i < waiters; ++i) {
      handles.push_back(SpawnBorrowing(Pass(&gate)));
    }
    while (gate.arrived.load() < waiters) co_await YieldNow();
    gate.Open();
    for (JoinHandle<>& handle : handles) co_await handle;
  }
}

// bench.size() waits in all, as far as that is whole rounds.
template <class Gate, size_t kWaiters>
void Waiters(Bench& bench) {
  Runtime runtime = MultiThread(bench);
  const size_t rounds = std::max<size_t>(1, bench.size() / kWaiters);
  MeasureTask(bench, runtime, rounds * kWaiters,
              [&] { return GatherAndRelease<Gate>(kWaiters, rounds); });
}

constexpr Case kCases[] = {
    {"waiters_6_rwlock", Waiters<RwLockGate, 6>},
    {"waiters_1000_mutex", Waiters<MutexGate, 1000>},
    {"waiters_1000_rwlock", Waiters<RwLockGate, 1000>},
    {"waiters_1000_semaphore", Waiters<SemaphoreGate, 1000>},
    {"waiters_1000_event", Waiters<EventGate, 1000>},
};

}  // namespace

std::span<const Case> WaitersCases() { return kCases; }

}  // namespace weft::bench
