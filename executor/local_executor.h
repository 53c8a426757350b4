// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// LocalExecutor: tasks that stay on one thread.
//
// Everything that is spawned here is polled and destroyed on the thread that
// made the executor, so it may use what is not safe to share. It has no thread
// of its own: Run(future) lends the home thread until the future is done.
//
//   LocalExecutor executor;
//   auto handle = executor.Spawn(Work());
//   int n = executor.Run(handle);
//
// Thread safety: all methods on the home thread (CHECK-failed otherwise),
// except spawner(), on which any thread may spawn: the future then moves home.
// Lifetime: handles and wakers may outlive it; spawner() may not be used then.
// Dropping: destroys the futures of all tasks, as Close() does.
#ifndef WEFT_EXECUTOR_LOCAL_EXECUTOR_H_
#define WEFT_EXECUTOR_LOCAL_EXECUTOR_H_

#include <cstddef>
#include <type_traits>
#include <utility>

#include "weft/executor/local_core.h"
#include "weft/task/context.h"
#include "weft/task/future.h"
#include "weft/task/join_handle.h"
#include "weft/task/polled.h"
#include "weft/task/spawner.h"

namespace weft {

class LocalExecutor {
 public:
  LocalExecutor() : core_(executor_internal::LocalCore::Acquire()) {}
  LocalExecutor(const LocalExecutor&) = delete;
  LocalExecutor& operator=(const LocalExecutor&) = delete;
  ~LocalExecutor() {
    core_->Close();
    executor_internal::LocalCore::Release(core_);
  }

  // Starts running a future, or what a function returns; see Spawner.
  template <class F>
  auto Spawn(F future_or_fn) {
    core_->CheckHome();
    return spawner().Spawn(std::move(future_or_fn));
  }
  template <Future F>
  JoinHandle<OutputOf<F>> SpawnBorrowing(F future) {
    core_->CheckHome();
    return spawner().SpawnBorrowing(std::move(future));
  }
  Spawner& spawner() { return *core_; }

  // Polls `future` and runs tasks until the future is ready; returns its
  // output, throws what its Poll throws. Parks in the environment's driver. The
  // future is polled only when it has been woken; an lvalue is polled where it
  // stands. Not inside a task or another Run().
  template <class F>
    requires Future<std::remove_reference_t<F>>
  OutputOf<F> Run(F&& future) {
    Polled<OutputOf<F>> result = kPending;
    core_->Run([&](Context& cx) {
      result = future.Poll(cx);
      return result.IsReady();
    });
    return *std::move(result);
  }

  // Runs one task if one is ready; false if not.
  bool TryTick() { return core_->TryTick(); }

  // True on the home thread; any thread may ask.
  bool IsHome() const { return core_->IsHome(); }

  // True if there is no unfinished task.
  bool IsEmpty() { return core_->IsEmpty(); }

  // Destroys all tasks and returns how many; each handle's Outcome() is
  // Cancelled. What is spawned meanwhile or later is destroyed unrun. Not
  // inside Run().
  size_t Close() { return core_->Close(); }

 private:
  executor_internal::LocalCore* const core_;
};

}  // namespace weft

#endif  // WEFT_EXECUTOR_LOCAL_EXECUTOR_H_
