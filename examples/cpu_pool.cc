// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// A pool for computation beside a runtime for everything else. A task of the
// runtime awaits the handle of a task on the pool; while that one computes, the
// runtime's thread goes on serving timers and descriptors.

#include <cstdint>
#include <cstdio>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "weft/executor/thread_pool.h"
#include "weft/runtime/runtime.h"
#include "weft/runtime/runtime_builder.h"
#include "weft/task/join_handle.h"
#include "weft/task/spawner.h"
#include "weft/task/task.h"
#include "weft/task/yield_now.h"
#include "weft/timer/sleep.h"

namespace {

bool IsPrime(uint64_t n) {
  for (uint64_t d = 2; d * d <= n; ++d) {
    if (n % d == 0) return false;
  }
  return n > 1;
}

// Yields now and then, so that others on the pool have their turn.
weft::Task<int> CountPrimes(uint64_t begin, uint64_t end) {
  int count = 0;
  for (uint64_t n = begin; n < end; ++n) {
    if (n % 1000 == 0) co_await weft::YieldNow();
    count += IsPrime(n) ? 1 : 0;
  }
  co_return count;
}

// On the runtime: starts two computations, sleeps meanwhile, takes the results.
weft::Task<int> Serve(weft::Spawner* cpus) {
  weft::JoinHandle<int> low = cpus->Spawn(CountPrimes(0, 50'000));
  weft::JoinHandle<int> high = cpus->Spawn(CountPrimes(50'000, 100'000));
  co_await weft::timer::After(absl::Milliseconds(1));
  const int below = co_await low;
  const int above = co_await high;
  co_return below + above;
}

}  // namespace

int main() {
  absl::StatusOr<weft::ThreadPool> cpus =
      weft::ThreadPool::Start(weft::ThreadPoolOptions().Threads(2).Name("cpu"));
  if (!cpus.ok()) return 1;
  absl::StatusOr<weft::Runtime> runtime =
      weft::RuntimeBuilder().WorkerThreads(1).EnableAll().Build();
  if (!runtime.ok()) return 1;
  std::printf("%d primes below 100000\n",
              runtime->BlockOn(Serve(&cpus->spawner())));
}
