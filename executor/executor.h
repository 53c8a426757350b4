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
//   sync::Event stop;
//   std::thread helper([&] { executor.Run(stop.Wait()); });
//   JoinHandle<int> handle = executor.Spawn(Work());
//   int n = executor.Run(std::move(handle));
//   stop.Set();
//   helper.join();
//
// A task that a runner wakes runs there next, at most three such in a row, then
// what that runner spawned, oldest first; tasks from elsewhere are looked at
// after some 200 microseconds (2 to 127 polls). A thread without work looks for
// some for a few microseconds, then parks in its driver, which is also polled
// after at most 61 polls and before a task runs that has just yielded.
//
// An executor can be a constinit variable; it takes what it needs when it is
// first used.
//
// Thread safety: all methods from any thread, except construction and
// destruction. Lifetime: no thread may be in Run or TryTick, no Tick may exist
// when it is destroyed. Handles and wakers of its tasks may outlive it; its
// spawner() may not be used any more.
// Dropping: the destructor destroys the futures of all its tasks, on the
// calling thread, as Close() does.
#ifndef WEFT_EXECUTOR_EXECUTOR_H_
#define WEFT_EXECUTOR_EXECUTOR_H_

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/time/time.h"
#include "weft/executor/executor_core.h"
#include "weft/executor/executor_hooks.h"
#include "weft/executor/executor_stats.h"
#include "weft/executor/runner_options.h"
#include "weft/executor/task_dump.h"
#include "weft/task/await_trace.h"
#include "weft/task/check.h"
#include "weft/task/context.h"
#include "weft/task/environment.h"
#include "weft/task/future.h"
#include "weft/task/join_handle.h"
#include "weft/task/polled.h"
#include "weft/task/source_location.h"
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

// What Executor::Drive() returns: see there.
template <Future F>
class [[nodiscard]] DriveFuture {
 public:
  using Output = typename F::Output;

  DriveFuture(executor_internal::ExecutorCore* core, F future)
      : core_(core), future_(std::move(future)), tick_(core) {}

  Polled<Output> Poll(Context& cx) {
    Polled<Output> result = PollFuture(cx);
    if (result.IsReady()) return result;
    for (int i = 0; i < kTicksPerPoll; ++i) {
      if (tick_.Poll(cx).IsPending()) return kPending;
    }
    cx.waker().WakeByRef();
    return kPending;
  }

  // See task/await_trace.h.
  void Trace(AwaitTrace& trace) const { TraceFuture(future_, trace); }

 private:
  // Async-executor's number: what else the outer executor has to do waits for
  // this many polls.
  static constexpr int kTicksPerPoll = 200;

  Polled<Output> PollFuture(const Context& cx) {
    Environment environment = cx.environment();
    environment.spawner = core_;
    const EnvironmentScope scope(environment);
    Context inner = cx.WithEnvironment(&environment);
    return future_.Poll(inner);
  }

  executor_internal::ExecutorCore* const core_;
  F future_;
  TickFuture tick_;
};

class StuckTaskMonitor;  // executor/stuck_task_monitor.h

class Executor {
 public:
  // How many threads may be in Run() at once.
  static constexpr int kMaxRunners =
      executor_internal::ExecutorCore::kMaxRunners;

  constexpr Executor() = default;
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;
  ~Executor() {
    // Relaxed: nobody else uses it any more.
    executor_internal::ExecutorCore* core =
        core_.load(std::memory_order_relaxed);
    if (core == nullptr) return;
    core->Close();
    core->DropHooks();
    executor_internal::ExecutorCore::Release(core);
  }

  // Calls `hooks` for the tasks that are spawned from now on; see
  // executor/executor_hooks.h. At most once, and while nobody else uses the
  // executor: CHECK-fails where a thread is in Run() or TryTick().
  void SetHooks(ExecutorHooks hooks) {
    SetHooks(std::make_shared<const ExecutorHooks>(std::move(hooks)));
  }
  // The same, for hooks that several executors share.
  void SetHooks(std::shared_ptr<const ExecutorHooks> hooks) {
    core().SetHooks(std::move(hooks));
  }

  // Starts running a future, or what a function returns; see Spawner.
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
  Spawner& spawner() { return core(); }

  // Polls `future` and runs tasks on the calling thread until the future is
  // ready; returns its output, throws what its Poll throws. The future is
  // polled only when it has been woken; an lvalue is polled where it stands. A
  // function, which Spawn() takes, is made a future by Invoke(function).
  // Inside, the current environment is the caller's with this executor as its
  // spawner. What the thread still had to run when the future is ready goes to
  // other runners. CHECK-fails inside a task and inside another Run(), since
  // the thread may be needed there, for more than kMaxRunners threads, and after
  // Close().
  // After a BlockInPlace() on this thread it may return late: as long as who stood
  // in for the thread is in a poll, it goes on running tasks.
  template <class F>
    requires Future<std::remove_reference_t<F>>
  OutputOf<F> Run(F&& future) {
    return Run(RunnerOptions(), std::forward<F>(future));
  }
  // The same; says where the thread is and from whom it steals first.
  template <class F>
    requires Future<std::remove_reference_t<F>>
  OutputOf<F> Run(const RunnerOptions& options, F&& future) {
    Polled<OutputOf<F>> result = kPending;
    core().Run(options, [&](Context& cx) {
      result = future.Poll(cx);
      return result.IsReady();
    });
    return *std::move(result);
  }

  // Nests this executor in another one: a future of `future`'s output which,
  // whenever it is polled, polls `future` and runs up to 200 tasks of this
  // executor, both with this executor as the current spawner. It owns `future`:
  // give a handle by std::move(handle), a function as to Run(). Any number of
  // them, and Runs, may exist at once. Movable until first polled. Dropping it
  // drops `future`; if it had been woken for a task, another sleeper is woken
  // instead.
  template <Future F>
  DriveFuture<F> Drive(F future) {
    return DriveFuture<F>(&core(), std::move(future));
  }

  // Runs one task, waiting for it if there is none.
  TickFuture Tick() { return TickFuture(&core()); }

  // Runs one task if there is one; false if not. For loops that step by hand.
  // Waits for nothing and polls no driver, so a task may call it, too, even one
  // of this executor, where Run() fails: the other task is polled inside the
  // caller's poll, and its own such calls inside of that.
  bool TryTick() { return core().TryTick(); }

  // True if there is no unfinished task. Exact if no other thread is using the
  // executor.
  bool IsEmpty() const { return core().IsEmpty(); }

  // Destroys all tasks and returns how many; each handle's Outcome() is
  // Cancelled. Destructors may spawn here meanwhile, and later too: such a task
  // is destroyed unrun. Runs and ticks must be over; CHECK-fails otherwise. The
  // destructor calls it.
  size_t Close() { return core().Close(); }

  // The live tasks, what each waits for: for people, see executor/task_dump.h. Asks
  // the threads in Run(), for an answer in time; a task may call it.
  TaskDump Dump(absl::Duration patience = absl::Milliseconds(100)) const {
    return core().Dump(patience);
  }
  // For people: how many tasks are suspended, up to 16 of their names (those of
  // SpawnBuilder, as reader#7), how many tasks wait where, who sleeps.
  std::string DebugString() const { return core().DebugString(); }
  // Counts; see executor/executor_stats.h, and executor_metrics.h to export them.
  ExecutorStats Stats() const { return core().Stats(); }

  // From now on some polls of tasks are timed, and how long the tasks had waited
  // for them; also while threads are in Run(), which notice within 127 polls. One of
  // so many polls at random that it costs 2 % at most of what they take: one of 256
  // where they are shortest, each one from some 4 us on; of tasks that come from
  // outside one in 16. It counts for as many in the histograms; what is in them is
  // right on average, but a rare long poll may be missed (see RunnerStats::slow_polls).
  void EnableHistograms() { core().EnableHistograms(); }
  ExecutorHistograms Histograms() const { return core().Histograms(); }

 private:
  friend class StuckTaskMonitor;

  executor_internal::ExecutorCore& core() const {
    // Acquire: the core that another thread has taken.
    executor_internal::ExecutorCore* core =
        core_.load(std::memory_order_acquire);
    return core != nullptr ? *core : MakeCore();
  }
  executor_internal::ExecutorCore& MakeCore() const {
    executor_internal::ExecutorCore* made =
        executor_internal::ExecutorCore::Acquire();
    executor_internal::ExecutorCore* expected = nullptr;
    // Acquire-release: as in core().
    if (core_.compare_exchange_strong(expected, made,
                                      std::memory_order_acq_rel)) {
      return *made;
    }
    made->Close();
    executor_internal::ExecutorCore::Release(made);
    return *expected;
  }

  // Null until first used.
  mutable std::atomic<executor_internal::ExecutorCore*> core_{nullptr};
};

}  // namespace weft

#endif  // WEFT_EXECUTOR_EXECUTOR_H_
