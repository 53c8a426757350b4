// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// What gdb_test.py looks at: tasks that wait on executors of each kind, tasks that
// run, and, asked for by an argument, one whose memory is damaged. Then abort().
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <thread>

#include "weft/executor/executor.h"
#include "weft/executor/local_executor.h"
#include "weft/executor/strand.h"
#include "weft/sync/event.h"
#include "weft/task/join_handle.h"
#include "weft/task/ready.h"
#include "weft/task/spawn_builder.h"
#include "weft/task/spawner.h"
#include "weft/task/task.h"
#include "weft/task/task_cell.h"
#include "weft/task/yield_now.h"

namespace {

using namespace weft;  // NOLINT: a program

sync::Event never;
std::atomic<bool> is_busy = false;

Task<> Inner() { co_await never.Wait(); }
Task<> Outer() {
  co_await Ready(1);
  co_await Inner();
}
Task<> Forgets() { co_await Pending(); }
Task<> Joins(JoinHandle<> other) { co_await other; }

[[gnu::noinline]] void Stop() { std::abort(); }

Task<> Computes() {
  co_await YieldNow();
  is_busy = true;
  for (;;) std::this_thread::yield();
}

Task<> Stops() {
  while (!is_busy) std::this_thread::yield();
  Stop();
  co_return;
}

// Of which the test asks gdb.
Task<> asked_for = Inner();

auto Named(const char* name, Spawner& spawner) {
  return SpawnBuilder().On(spawner).Name(name);
}

// Its name is nowhere any more.
void Damage(const JoinHandle<>& handle) {
  auto* header = *reinterpret_cast<task_internal::TaskHeader* const*>(&handle);
  *reinterpret_cast<uintptr_t*>(&header->extras) = 8;
}

}  // namespace

int main(int argc, char**) {
  Executor executor;
  LocalExecutor local;
  const Strand strand(executor.spawner());
  Spawner& shared = executor.spawner();
  const auto reader = Named("reader with a long name", shared).Spawn(Outer());
  const auto lambda = shared.Spawn([]() -> Task<> { co_await never.Wait(); });
  const auto forgotten = executor.Spawn(Forgets());
  const auto damaged = executor.Spawn(Outer());
  const auto in_strand =
      Named("in the strand", strand.spawner()).Spawn(Outer());
  JoinHandle<> bound = Named("bound", local.spawner()).Spawn(Outer());
  const auto joins =
      Named("joins", local.spawner()).Spawn(Joins(std::move(bound)));
  const auto lost = Named("lost", local.spawner()).Spawn(Forgets());
  while (executor.TryTick() || local.TryTick()) {
  }
  if (argc > 1) Damage(damaged);
  const auto computes = Named("computes", shared).Spawn(Computes());
  std::thread other([&] { executor.Run(never.Wait()); });
  const auto stops = Named("stops", local.spawner()).Spawn(Stops());
  local.TryTick();
  other.join();
}
