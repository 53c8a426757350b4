// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// What the cases of the benchmark of sync have in common: tasks that are measured,
// many of a kind, and a little work.
//
// Thread safety: as said at each.
#ifndef WEFT_BENCH_SYNC_COMMON_H_
#define WEFT_BENCH_SYNC_COMMON_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "weft/bench/harness.h"
#include "weft/runtime/runtime.h"
#include "weft/task/join_handle.h"
#include "weft/task/spawner.h"
#include "weft/task/task.h"

namespace weft::bench {

// Measures the task that make() gives, from its spawning to its end. What it refers
// to outlives the call.
template <class Make>
void MeasureTask(Bench& bench, Runtime& runtime, size_t ops, Make make) {
  bench.Measure(
      ops, [&] { runtime.BlockOn(runtime.spawner().SpawnBorrowing(make())); });
}

// Spawns `tasks` of what make() gives and awaits them.
template <class Make>
Task<> InTasks(size_t tasks, Make make) {
  std::vector<JoinHandle<>> handles;
  for (size_t i = 0; i < tasks; ++i) handles.push_back(SpawnBorrowing(make()));
  for (JoinHandle<>& handle : handles) co_await handle;
}

// Keeps the compiler from leaving out what `value` is made by.
inline void Keep(uint64_t value) { asm volatile("" : : "r"(value) : "memory"); }

// What somebody does with a message: 100 steps of a xorshift, in every program.
inline void Work(uint64_t message) {
  uint64_t state = message + 1;
  for (int i = 0; i < 100; ++i) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
  }
  Keep(state);
}

}  // namespace weft::bench

#endif  // WEFT_BENCH_SYNC_COMMON_H_
