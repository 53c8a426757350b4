// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// LocalExecutor: tasks that stay on one thread.
//
// Everything that is spawned here is polled and destroyed on the thread that
// made the executor, so it may use what is not safe to share. It has no thread
// of its own: Run(future) lends the home thread until the future is done, and
// Drive(future) is a future that lends the polls it gets.
//
//   LocalExecutor executor;
//   auto handle = executor.Spawn(Work());
//   int n = executor.Run(handle);
//
// At home, to spawn, wake or poll a task takes no lock and, beyond the counts of
// references, no atomic operation. A wake from elsewhere costs a system call
// only if the home thread sleeps.
//
// Thread safety: all methods on the home thread (CHECK-failed otherwise), except
// IsHome(), suspended(), spawner() and what measures; any thread may spawn on the
// spawner: the future then moves home.
// Lifetime: handles and wakers may outlive it; spawner() may not be used then.
// Dropping: destroys the futures of all tasks, as Close() does.
#ifndef WEFT_EXECUTOR_LOCAL_EXECUTOR_H_
#define WEFT_EXECUTOR_LOCAL_EXECUTOR_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "weft/executor/executor_hooks.h"
#include "weft/executor/executor_stats.h"
#include "weft/executor/local_core.h"
#include "weft/executor/task_dump.h"
#include "weft/task/await_trace.h"
#include "weft/task/context.h"
#include "weft/task/future.h"
#include "weft/task/join_handle.h"
#include "weft/task/polled.h"
#include "weft/task/source_location.h"
#include "weft/task/spawner.h"
#include "weft/task/task_info.h"

namespace weft {

namespace executor_internal {
template <class F>
class LocalDriveFuture;
class LocalDumps;
}  // namespace executor_internal

class StuckTaskMonitor;  // executor/stuck_task_monitor.h

class LocalExecutor {
 public:
  LocalExecutor() : core_(executor_internal::LocalCore::Acquire()) {}
  LocalExecutor(const LocalExecutor&) = delete;
  LocalExecutor& operator=(const LocalExecutor&) = delete;
  ~LocalExecutor() {
    core_->Close();
    core_->DropHooks();
    executor_internal::LocalCore::Release(core_);
  }

  // As Executor::SetHooks(). Not inside Run() or TryTick().
  void SetHooks(ExecutorHooks hooks) {
    SetHooks(std::make_shared<const ExecutorHooks>(std::move(hooks)));
  }
  void SetHooks(std::shared_ptr<const ExecutorHooks> hooks) {
    core_->SetHooks(std::move(hooks));
  }

  // Starts running a future, or what a function returns; see Spawner.
  template <class F>
  auto Spawn(F future_or_fn, SourceLocation at = SourceLocation::current()) {
    core_->CheckHome();
    return spawner().Spawn(std::move(future_or_fn), at);
  }
  template <class F>
  auto SpawnBorrowing(F future_or_fn,
                      SourceLocation at = SourceLocation::current()) {
    core_->CheckHome();
    return spawner().SpawnBorrowing(std::move(future_or_fn), at);
  }
  template <class Range>
  auto SpawnMany(Range&& futures_or_fns,
                 SourceLocation at = SourceLocation::current()) {
    core_->CheckHome();
    return spawner().SpawnMany(std::forward<Range>(futures_or_fns), at);
  }
  Spawner& spawner() { return *core_; }

  // Polls `future` and runs tasks until the future is ready; returns its
  // output, throws what its Poll throws. Parks in the environment's driver. The
  // future is polled only when it has been woken; an lvalue is polled where it
  // stands; of a function make a future by Invoke(function). Not inside a task
  // or another Run().
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

  // `future` as one that also runs tasks: each poll polls `future` and then a
  // limited number of ready tasks; woken when there are more. So this executor
  // lives inside whatever polls it, with that one's clock, driver and timers:
  // another executor, BlockOn, a branch of Select. Polled and destroyed at home
  // (CHECK-failed otherwise), before this executor is destroyed. Several may be
  // polled in turn; each runs the tasks of all. It owns `future`: give a handle
  // by std::move(handle).
  // Dropping: drops `future`; tasks wait until they are run otherwise.
  template <Future F>
  executor_internal::LocalDriveFuture<F> Drive(F future) {
    return executor_internal::LocalDriveFuture<F>(core_, std::move(future));
  }

  // Runs one task if one is ready; false if not. As Executor::TryTick, a task may
  // call it, too.
  bool TryTick() { return core_->TryTick(); }

  // True on the home thread; any thread may ask.
  bool IsHome() const { return core_->IsHome(); }

  // True if there is no unfinished task.
  bool IsEmpty() { return core_->IsEmpty(); }

  // How many tasks, and wakes of tasks, other threads have sent here, as far as
  // this thread has looked; IsEmpty() looks. If it is empty twice with the same
  // number, there was no task in between, unless spawned by this thread.
  uint64_t arrivals() const { return core_->arrivals(); }

  // The live tasks, what each waits for: for people, see executor/task_dump.h. At
  // home (CHECK-failed otherwise).
  TaskDump Dump() { return core_->Dump(); }
  // Any thread: the task that the home thread is polling in Run() and that keeps it
  // from answering. Interrupts that thread by the signal of a StuckTaskMonitor;
  // without one there is no answer, nor from a thread that polls no task.
  std::optional<TaskInfo> RunningTask() const { return core_->RunningTask(); }

  // How many tasks have been polled and are unfinished; any thread may ask.
  size_t suspended() const { return core_->Suspended(); }

  // Counts, of which others read what the home thread writes; any thread.
  LocalExecutorStats Stats() const { return core_->Stats(); }
  // As those of Executor, any thread; a task that another thread has spawned or
  // woken waits from when this one has seen it.
  void EnableHistograms() { core_->EnableHistograms(); }
  ExecutorHistograms Histograms() const { return core_->Histograms(); }

  // Destroys all tasks and returns how many; each handle's Outcome() is
  // Cancelled. What is spawned meanwhile or later is destroyed unrun. Not
  // inside Run().
  size_t Close() { return core_->Close(); }

 private:
  friend class StuckTaskMonitor;
  friend class executor_internal::LocalDumps;

  executor_internal::LocalCore* const core_;
};

namespace executor_internal {

template <class F>
class [[nodiscard]] LocalDriveFuture {
 public:
  using Output = OutputOf<F>;

  LocalDriveFuture(LocalCore* core, F future)
      : core_(core), future_(std::move(future)) {}
  // Requires: not polled yet.
  LocalDriveFuture(LocalDriveFuture&& other) noexcept
      : core_(other.core_), future_(std::move(other.future_)) {}
  ~LocalDriveFuture() { core_->Forget(slot_); }

  Polled<Output> Poll(Context& cx) {
    Polled<Output> result = kPending;
    core_->Drive(cx, slot_, [&](Context& inner) {
      result = future_.Poll(inner);
      return result.IsReady();
    });
    return result;
  }

  // See task/await_trace.h.
  void Trace(AwaitTrace& trace) const { TraceFuture(future_, trace); }

 private:
  LocalCore* core_;
  DriveSlot slot_;
  F future_;
};

}  // namespace executor_internal

}  // namespace weft

#endif  // WEFT_EXECUTOR_LOCAL_EXECUTOR_H_
