// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// What gdb_test.py looks at: three tasks that wait, then abort().
#include <cstdlib>
#include <string>

#include "weft/executor/executor.h"
#include "weft/sync/event.h"
#include "weft/task/join_handle.h"
#include "weft/task/ready.h"
#include "weft/task/spawn_builder.h"
#include "weft/task/task.h"

namespace {

using namespace weft;  // NOLINT: a program

sync::Event never;

Task<> Inner() { co_await never.Wait(); }
Task<> Outer() {
  co_await Ready(1);
  co_await Inner();
}
Task<> Forgets() { co_await Pending(); }

[[gnu::noinline]] void Stop() { std::abort(); }

}  // namespace

int main() {
  Executor executor;
  JoinHandle<> reader = SpawnBuilder()
                            .On(executor.spawner())
                            .Name("reader with a long name")
                            .Spawn(Outer());
  JoinHandle<> lambda =
      executor.Spawn([]() -> Task<> { co_await never.Wait(); });
  JoinHandle<> forgotten = executor.Spawn(Forgets());
  while (executor.TryTick()) {
  }
  Stop();
}
