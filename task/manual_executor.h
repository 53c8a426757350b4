// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// ManualExecutor: an executor for tests that runs only when told to.
//
// Tasks are polled in the order in which they were woken, by RunOne() and what
// is built on it, on the calling thread; while a task is polled this is the
// current environment's spawner, so weft::Spawn works in it.
//
//   ManualExecutor executor;
//   JoinHandle<int> handle = executor.Spawn(Sum(receiver));
//   EXPECT_EQ(executor.RunUntilIdle(), 1);  // one poll
//   EXPECT_FALSE(handle.IsFinished());
//   sender.Close();
//   EXPECT_EQ(executor.Drain(), 0);         // nothing is left
//   EXPECT_TRUE(handle.IsFinished());
//
// Thread safety: one thread at a time runs tasks; any thread may spawn and
// wake.
// Lifetime: wakers may outlive it and then do nothing. It is not destroyed by a
// task that it runs.
// Dropping: destroys every task's future, on the calling thread.
#ifndef WEFT_TASK_MANUAL_EXECUTOR_H_
#define WEFT_TASK_MANUAL_EXECUTOR_H_

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "absl/functional/function_ref.h"
#include "weft/task/context.h"
#include "weft/task/counting_waker.h"
#include "weft/task/environment.h"
#include "weft/task/future.h"
#include "weft/task/manual_core.h"
#include "weft/task/source_location.h"
#include "weft/task/spawner.h"

namespace weft {

class ManualExecutor {
 public:
  ManualExecutor();
  ManualExecutor(const ManualExecutor&) = delete;
  ManualExecutor& operator=(const ManualExecutor&) = delete;
  ~ManualExecutor();

  // As Spawner::Spawn.
  template <class F>
  auto Spawn(F future_or_fn, SourceLocation at = SourceLocation::current()) {
    return spawner().Spawn(std::move(future_or_fn), at);
  }
  template <class F>
  auto SpawnBorrowing(F future_or_fn,
                      SourceLocation at = SourceLocation::current()) {
    return spawner().SpawnBorrowing(std::move(future_or_fn), at);
  }
  template <class Range>
  auto SpawnMany(Range&& futures_or_fns,
                 SourceLocation at = SourceLocation::current()) {
    return spawner().SpawnMany(std::forward<Range>(futures_or_fns), at);
  }
  Spawner& spawner();

  // Polls (or, if it is cancelled, destroys) the task that was woken first.
  // False if none is woken.
  bool RunOne(uint32_t budget = Budget::kPerPoll);

  // Runs until no task is woken; returns how many were run. CHECK-fails after
  // `max_runs`, since some task then wakes itself for ever.
  size_t RunUntilIdle(size_t max_runs = 10'000'000);

  // Runs until no task is woken; returns how many tasks are left, pending.
  size_t Drain() {
    RunUntilIdle();
    return live();
  }

  // Runs `future` on the calling thread, and the tasks beside it, until
  // `future` is ready; throws what it throws. When it is pending and nothing is
  // woken, calls idle(), which makes something happen or returns false; then
  // the test would hang, and this CHECK-fails.
  template <class F>
    requires Future<std::remove_reference_t<F>>
  OutputOf<F> Run(F&& future, absl::FunctionRef<bool()> idle = &NothingToDo) {
    CountingWaker waker;
    Context cx = Context(waker.waker()).WithPromptness(true);
    for (;;) {
      {
        const TaskScope scope(*this);
        auto polled = future.Poll(cx);
        if (polled.IsReady()) return *std::move(polled);
      }
      RunUntilWoken(waker, idle);
    }
  }

  // True if no task is woken.
  bool IsIdle() const;
  // Tasks that exist: spawned, and neither finished nor destroyed.
  size_t live() const;
  // How often any task was run since this was made.
  size_t runs() const { return runs_; }

 private:
  // What is current while a task is polled.
  class TaskScope {
   public:
    explicit TaskScope(ManualExecutor& executor);

   private:
    const Environment environment_;
    const EnvironmentScope scope_;
  };

  static bool NothingToDo() { return false; }
  void RunUntilWoken(CountingWaker& waker, absl::FunctionRef<bool()> idle);

  task_internal::ManualCore& core_;
  size_t runs_ = 0;
  bool running_ = false;
};

}  // namespace weft

#endif  // WEFT_TASK_MANUAL_EXECUTOR_H_
