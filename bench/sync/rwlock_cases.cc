// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/bench/sync/rwlock_cases.h"

#include <cstddef>
#include <cstdint>
#include <span>

#include "weft/bench/executor/common.h"
#include "weft/bench/harness.h"
#include "weft/bench/sync/common.h"
#include "weft/runtime/runtime.h"
#include "weft/sync/rw_lock.h"
#include "weft/task/task.h"

namespace weft::bench {
namespace {

using Lock = sync::RwLock<uint64_t>;

Task<> Read(Lock* lock, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    auto guard = co_await lock->Read();
    Keep(*guard);
  }
}

Task<> Write(Lock* lock, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    auto guard = co_await lock->Write();
    ++*guard;
  }
}

// bench.size() times in all.
template <size_t kTasks, Task<> (*kUse)(Lock* lock, size_t count)>
void Locks(Bench& bench) {
  Runtime runtime = MultiThread(bench);
  Lock lock(0);
  const size_t each = bench.size() / kTasks;
  MeasureTask(bench, runtime, kTasks * each, [&] {
    return InTasks(kTasks, [&lock, each] { return kUse(&lock, each); });
  });
}

constexpr Case kCases[] = {
    {"rwlock_read_1", Locks<1, Read>},
    {"rwlock_read_6", Locks<6, Read>},
    {"rwlock_write_1", Locks<1, Write>},
};

}  // namespace

std::span<const Case> RwlockCases() { return kCases; }

}  // namespace weft::bench
