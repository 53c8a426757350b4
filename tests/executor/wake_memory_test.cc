// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Wakes and polls where memory is short. A wake can neither throw nor lose its
// task: what cannot be queued ends the program, with a message.

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "weft/executor/concurrency_limit.h"
#include "weft/executor/executor.h"
#include "weft/executor/local_executor.h"
#include "weft/executor/priority_executor.h"
#include "weft/executor/strand.h"
#include "weft/executor/task_registry.h"
#include "weft/task/context.h"
#include "weft/task/join_handle.h"
#include "weft/task/polled.h"
#include "weft/task/ready.h"
#include "weft/task/runnable.h"
#include "weft/task/spawner.h"
#include "weft/task/waker.h"
#include "weft/tests/executor/failing_new.h"

namespace weft {
namespace {

using executor_testing::FailAllAllocations;
using executor_testing::StopFailing;

constexpr size_t kTasks = 200;

// Leaves its waker at the first poll, and is ready at the second.
class LeavesItsWaker {
 public:
  using Output = void;

  explicit LeavesItsWaker(std::vector<Waker>* wakers) : wakers_(wakers) {}

  Polled<void> Poll(Context& cx) {
    if (std::exchange(polled_, true)) return Unit();
    wakers_->push_back(cx.waker());
    return kPending;
  }

 private:
  std::vector<Waker>* wakers_;
  bool polled_ = false;
};

// Spawns tasks that suspend, and wakes all of them.
template <class Spawn, class Tick>
void WakeWithoutMemory(Spawn spawn, Tick tick) {
  std::vector<Waker> wakers;
  wakers.reserve(kTasks);
  for (size_t i = 0; i < kTasks; ++i) {
    spawn(LeavesItsWaker(&wakers)).Detach();
    while (tick()) {
    }
  }
  FailAllAllocations();
  for (const Waker& waker : wakers) waker.WakeByRef();
}

TEST(WakeMemoryDeathTest, OfALocalExecutor) {
  LocalExecutor executor;
  EXPECT_DEATH(WakeWithoutMemory(
                   [&](LeavesItsWaker task) { return executor.Spawn(task); },
                   [&] { return executor.TryTick(); }),
               "out of memory: a task cannot be queued");
}

TEST(WakeMemoryDeathTest, OfAStrand) {
  Executor executor;
  Strand strand(executor.spawner());
  EXPECT_DEATH(
      WakeWithoutMemory([&](LeavesItsWaker task) { return strand.Spawn(task); },
                        [&] { return executor.TryTick(); }),
      "out of memory: a task cannot be queued");
}

// Registers its tasks, and ends them as if their runner were another thread's.
class RegisteringSpawner final : public Spawner {
 public:
  void RunAll() {
    while (!runnables_.empty()) {
      void* runnable = runnables_.back();
      runnables_.pop_back();
      Runnable<SpawnedTask>::FromRaw(runnable).Run();
    }
  }
  executor_internal::TaskRegistry& registry() { return registry_; }

 private:
  void Schedule(Runnable<SpawnedTask> runnable, ScheduleInfo) override {
    runnables_.push_back(std::move(runnable).IntoRaw());
  }
  void Register(SpawnedTask& task) override { registry_.AddOwned(task); }
  void Unregister(SpawnedTask& task) override { registry_.Remove(task); }

  executor_internal::TaskRegistry registry_;
  std::vector<void*> runnables_;
};

TEST(WakeMemoryDeathTest, OfATaskThatEndsBesideItsRegistry) {
  RegisteringSpawner spawner;
  spawner.registry().Own();
  std::optional<JoinHandle<>> handle(spawner.Spawn(Pending<>()));
  spawner.RunAll();
  handle.reset();
  EXPECT_DEATH(
      {
        FailAllAllocations();
        spawner.RunAll();
      },
      "out of memory: a task cannot be queued");
  spawner.RunAll();
  spawner.registry().Disown();
}

// Spawned tasks are polled, suspended, woken and polled again without a byte.
template <class Spawn>
void RunWithoutMemory(Executor& executor, Spawn spawn) {
  std::vector<Waker> wakers;
  std::vector<JoinHandle<>> handles;
  wakers.reserve(50);
  for (int i = 0; i < 50; ++i)
    handles.push_back(spawn(LeavesItsWaker(&wakers)));
  FailAllAllocations();
  // Half of them may have to wait for the others' end.
  for (int round = 0; round < 3; ++round) {
    while (executor.TryTick()) {
    }
    for (const Waker& waker : wakers) waker.WakeByRef();
  }
  EXPECT_EQ(StopFailing(), 0);

  for (const JoinHandle<>& handle : handles) EXPECT_TRUE(handle.IsFinished());
}

TEST(WakeMemoryTest, PumpsRestAndEndWithoutMemory) {
  Executor executor;
  executor.TryTick();  // makes what a tick needs
  PriorityExecutor tasks(executor.spawner(),
                         PriorityExecutorOptions().Parallelism(50));
  RunWithoutMemory(executor,
                   [&](LeavesItsWaker task) { return tasks.Spawn(0, task); });
}

TEST(WakeMemoryTest, LanesEndWithoutMemory) {
  Executor executor;
  executor.TryTick();
  ConcurrencyLimit tasks(executor.spawner(), 25);
  RunWithoutMemory(executor,
                   [&](LeavesItsWaker task) { return tasks.Spawn(task); });
}

}  // namespace
}  // namespace weft
