// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Executor: runs tasks on the threads that are lent to it.
//
// It has no threads. Run(future) lends the calling thread until the future is
// done; Tick() and TryTick() lend it for one task. Any number of threads may do
// any of this at once, come and go, and balance the work by stealing it from
// each other.
//
//   Executor executor;
//   std::thread helper([&] { executor.Run(stop.Wait()); });
//   JoinHandle<int> handle = executor.Spawn(Work());
//   int n = executor.Run(std::move(handle));
//
// A task that a runner wakes runs there next, at most three such in a row, then
// what that runner spawned, oldest first; tasks from elsewhere are looked at
// after at most 61 polls. A thread without work parks in its driver, which is
// also polled after at most 61 polls and before a task runs that has just
// yielded.
//
// Thread safety: all methods from any thread, except construction and
// destruction. Lifetime: no thread may be in Run or TryTick, no Tick may exist
// when it is destroyed. Handles and wakers of its tasks may outlive it; its
// spawner() may not be used any more.
// Dropping: the destructor destroys the futures of all its tasks, on the
// calling thread, as Close() does.
#ifndef WEFT_EXECUTOR_EXECUTOR_H_
#define WEFT_EXECUTOR_EXECUTOR_H_

#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/functional/function_ref.h"
#include "weft/executor/executor_core.h"
#include "weft/task/check.h"
#include "weft/task/context.h"
#include "weft/task/future.h"
#include "weft/task/join_handle.h"
#include "weft/task/polled.h"
#include "weft/task/spawner.h"

namespace weft {

// What Executor::Tick() returns: runs one task, waiting for it if there is
// none. Ready when the task has been polled.
//
// Thread safety: one thread at a time. Lifetime: movable until first polled.
// Dropping: if it had been woken for a task, another sleeper is woken instead.
class [[nodiscard]] TickFuture {
 public:
  using Output = void;

  explicit TickFuture(executor_internal::ExecutorCore* core) : core_(core) {}
  TickFuture(TickFuture&& other) noexcept : core_(other.core_) {
    WEFT_CHECK(!other.polled_, "a Tick was moved after its first poll");
  }
  ~TickFuture() {
    if (polled_) core_->DropTick(waiter_);
  }

  Polled<void> Poll(Context& cx) {
    polled_ = true;
    if (!core_->PollTick(waiter_, cx)) return kPending;
    return Unit();
  }

 private:
  executor_internal::ExecutorCore* const core_;
  bool polled_ = false;
  executor_internal::TickWaiter waiter_;
};

class Executor {
 public:
  // How many threads may be in Run() at once.
  static constexpr int kMaxRunners =
      executor_internal::ExecutorCore::kMaxRunners;

  Executor() : core_(executor_internal::ExecutorCore::Acquire()) {}
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;
  ~Executor() {
    core_->Close();
    executor_internal::ExecutorCore::Release(core_);
  }

  // Starts running a future, or what a function returns; see Spawner.
  template <class F>
  auto Spawn(F future_or_fn) {
    return spawner().Spawn(std::move(future_or_fn));
  }
  template <Future F>
  JoinHandle<OutputOf<F>> SpawnBorrowing(F future) {
    return spawner().SpawnBorrowing(std::move(future));
  }
  Spawner& spawner() { return *core_; }

  // Polls `future` and runs tasks on the calling thread until the future is
  // ready; returns its output, throws what its Poll throws. The future is
  // polled only when it has been woken; an lvalue is polled where it stands.
  // Inside, the current environment is the caller's with this executor as its
  // spawner. What the thread still had to run when the future is ready goes to
  // other runners. CHECK-fails inside a task and inside another Run(), since
  // the thread may be needed there, and for more than kMaxRunners threads.
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

  // Runs one task, waiting for it if there is none.
  TickFuture Tick() { return TickFuture(core_); }

  // Runs one task if there is one; false if not.
  bool TryTick() { return core_->TryTick(); }

  // True if there is no unfinished task. Exact if no other thread is using the
  // executor.
  bool IsEmpty() const { return core_->IsEmpty(); }

  // Destroys all tasks and returns how many; each handle's Outcome() is
  // Cancelled. Destructors may spawn here meanwhile, and later too: such a task
  // is destroyed unrun. Runs and ticks must be over; CHECK-fails otherwise. The
  // destructor calls it.
  size_t Close() { return core_->Close(); }

  // For people: how many tasks are suspended, how many wait where, who sleeps.
  std::string DebugString() const { return core_->DebugString(); }
  ExecutorStats Stats() const { return core_->Stats(); }

 private:
  executor_internal::ExecutorCore* const core_;
};

}  // namespace weft

#endif  // WEFT_EXECUTOR_EXECUTOR_H_
