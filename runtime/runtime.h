// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Runtime: an executor, its worker threads, and what they need.
//
// A runtime owns an executor, a pool for blocking jobs and, per worker, a
// driver: a reactor and timers, as far as they were enabled. RuntimeBuilder
// makes one.
//
//   JoinHandle<> server = runtime.Spawn(Serve());
//   runtime.BlockOn(UntilSignal());
//   runtime.Shutdown(absl::Seconds(10));
//
// It comes in three flavours: tasks move between worker threads as these have
// time; or each task stays on one of several (RuntimeBuilder::ThreadPerCore); or
// all run on the thread in BlockOn (CurrentThread).
//
// Thread safety: a Handle's methods may be called from any thread; a Runtime's
// by one thread at a time; a current-thread Runtime's, its destructor included, by
// the thread that built it. Nothing may be asked of one that was moved from.
// Lifetime: Handles may outlive the runtime. What is given to one that has been
// shut down is destroyed unrun, and its handle's Outcome() says Cancelled; so is
// what is submitted while it shuts down. That is the only outcome.
// Dropping: a Runtime that is destroyed cancels its tasks and waits until the
// polls and blocking jobs that are running have returned. Destroyed by one of its
// own tasks, or by a hook on one of its threads, it does the same in the
// background.
#ifndef WEFT_RUNTIME_RUNTIME_H_
#define WEFT_RUNTIME_RUNTIME_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include "absl/time/time.h"
#include "weft/executor/local_executor.h"
#include "weft/executor/task_dump.h"
#include "weft/runtime/runtime_core.h"
#include "weft/task/block_on.h"
#include "weft/task/environment.h"
#include "weft/task/future.h"
#include "weft/task/metrics_registry.h"
#include "weft/task/offload.h"
#include "weft/task/source_location.h"
#include "weft/task/spawner.h"

namespace weft {

// While it lives, free functions on this thread (Spawn, SpawnBlocking, sleeps)
// use the runtime that it is from. Ends on the same thread, in reverse order.
class [[nodiscard]] EnterGuard {
 public:
  explicit EnterGuard(std::shared_ptr<runtime_internal::RuntimeCore> core);
  EnterGuard(const EnterGuard&) = delete;
  EnterGuard& operator=(const EnterGuard&) = delete;

 private:
  const std::shared_ptr<runtime_internal::RuntimeCore> core_;
  const runtime_internal::CoreScope scope_;
};

// A reference to a runtime, copyable, for any thread.
class Handle {
 public:
  // The runtime that the calling thread works for or has entered. CHECK-fails,
  // or gives nullopt, where there is none.
  static Handle Current();
  static std::optional<Handle> TryCurrent();

  // As Spawner::Spawn.
  template <class F>
  auto Spawn(F future_or_fn,
             SourceLocation at = SourceLocation::current()) const {
    return runtime_internal::Checked(core_).spawner().Spawn(
        std::move(future_or_fn), at);
  }
  // See Runtime.
  Spawner& spawner() const {
    return runtime_internal::Checked(core_).spawner();
  }
  // As Spawner::SpawnMany.
  template <class Range>
  auto SpawnMany(Range&& futures_or_fns,
                 SourceLocation at = SourceLocation::current()) const {
    return spawner().SpawnMany(std::forward<Range>(futures_or_fns), at);
  }
  // As weft::SpawnBlocking.
  template <class Fn>
  auto SpawnBlocking(Fn fn) const {
    return runtime_internal::Checked(core_).offload().Run(OffloadLane::kGeneral,
                                                          std::move(fn));
  }
  // See Runtime.
  template <class Fn>
  auto SpawnAt(int worker, Fn fn,
               SourceLocation at = SourceLocation::current()) const {
    return runtime_internal::Checked(core_).SpawnerAt(worker).Spawn(
        std::move(fn), at);
  }
  template <class Fn>
  auto SpawnByKey(uint64_t key, Fn fn,
                  SourceLocation at = SourceLocation::current()) const {
    return runtime_internal::Checked(core_).SpawnerOf(key).Spawn(std::move(fn),
                                                                 at);
  }
  template <class Fn>
  auto SpawnByKey(std::string_view key, Fn fn,
                  SourceLocation at = SourceLocation::current()) const {
    return runtime_internal::Checked(core_).SpawnerOf(key).Spawn(std::move(fn),
                                                                 at);
  }
  int worker_threads() const {
    return runtime_internal::Checked(core_).worker_threads();
  }
  TaskDump DumpTasks(absl::Duration patience = absl::Milliseconds(100)) const {
    return runtime_internal::Checked(core_).DumpTasks(patience);
  }
  MetricsRegistry& metrics() const {
    return runtime_internal::Checked(core_).metrics();
  }
  void EnableHistograms() const {
    runtime_internal::Checked(core_).EnableHistograms();
  }

  // Runs `future` on the calling thread, which waits for it. Not for threads
  // that are polling a task. On a current-thread runtime nobody but
  // Runtime::BlockOn drives tasks, so this waits for that, on another thread.
  template <class F>
  OutputOf<F> BlockOn(F&& future) const {
    runtime_internal::Checked(core_).CheckMayWaitHere();
    const EnterGuard guard(core_);
    return weft::BlockOn(std::forward<F>(future));
  }
  EnterGuard Enter() const { return EnterGuard(core_); }

 private:
  friend class Runtime;
  explicit Handle(std::shared_ptr<runtime_internal::RuntimeCore> core)
      : core_(std::move(core)) {}

  std::shared_ptr<runtime_internal::RuntimeCore> core_;
};

class Runtime {
 public:
  Runtime(Runtime&& other) noexcept;
  Runtime& operator=(Runtime&& other) noexcept;
  ~Runtime();

  // As Spawner::Spawn. On a thread-per-core runtime the workers take turns;
  // weft::Spawn() inside a task keeps to its worker there.
  template <class F>
  auto Spawn(F future_or_fn, SourceLocation at = SourceLocation::current()) {
    return runtime_internal::Checked(core_).spawner().Spawn(
        std::move(future_or_fn), at);
  }
  // What Spawn() spawns on: strands, limits and portable libraries stand on it.
  // Its tasks move between the workers; on a thread-per-core runtime each stays
  // on the next worker in turn, and on a current-thread runtime they run while
  // somebody is in BlockOn(). Lives as long as the runtime or a Handle; spawning
  // after the end destroys the task unrun.
  Spawner& spawner() const {
    return runtime_internal::Checked(core_).spawner();
  }
  // As Spawner::SpawnMany.
  template <class Range>
  auto SpawnMany(Range&& futures_or_fns,
                 SourceLocation at = SourceLocation::current()) {
    return spawner().SpawnMany(std::forward<Range>(futures_or_fns), at);
  }
  template <class Fn>
  auto SpawnBlocking(Fn fn) {
    return runtime_internal::Checked(core_).offload().Run(OffloadLane::kGeneral,
                                                          std::move(fn));
  }

  // Moves `fn` to a worker, from 0 on, and runs there the future that fn()
  // returns: it is made, polled and destroyed on that thread, and may use what is
  // not safe to share. (A future in the place of `fn` is moved there, too.)
  // CHECK-fails on a multi-thread runtime, whose tasks move:
  // to ignore the place would be a race. A current-thread runtime has one worker.
  template <class Fn>
  auto SpawnAt(int worker, Fn fn,
               SourceLocation at = SourceLocation::current()) {
    return runtime_internal::Checked(core_).SpawnerAt(worker).Spawn(
        std::move(fn), at);
  }
  // The same on the worker of a key: always the same among as many workers, in
  // every process.
  template <class Fn>
  auto SpawnByKey(uint64_t key, Fn fn,
                  SourceLocation at = SourceLocation::current()) {
    return runtime_internal::Checked(core_).SpawnerOf(key).Spawn(std::move(fn),
                                                                 at);
  }
  template <class Fn>
  auto SpawnByKey(std::string_view key, Fn fn,
                  SourceLocation at = SourceLocation::current()) {
    return runtime_internal::Checked(core_).SpawnerOf(key).Spawn(std::move(fn),
                                                                 at);
  }
  // At least 1; on a current-thread runtime 1.
  int worker_threads() const {
    return runtime_internal::Checked(core_).worker_threads();
  }

  // The live tasks, what each waits for: for people, see executor/task_dump.h. Asks
  // the workers, for an answer in time; one that is in a long poll does not answer,
  // nor one of a current-thread runtime while nobody is in BlockOn(). Any thread; a
  // task may call it.
  TaskDump DumpTasks(absl::Duration patience = absl::Milliseconds(100)) const {
    return runtime_internal::Checked(core_).DumpTasks(patience);
  }
  // The metrics of all that the runtime owns: its executors, reactors, timers and
  // the pool for blocking jobs. Where each worker has one of its own, the label
  // worker="0", … says which. To show those of several runtimes, add these to a
  // registry with a label: registry.Add(runtime.metrics(), {{"runtime", "a"}}). Any
  // thread; lives as long as the runtime or a Handle.
  MetricsRegistry& metrics() const {
    return runtime_internal::Checked(core_).metrics();
  }
  // From now on the metrics have histograms of poll times and schedule latencies,
  // for which some polls are timed; see Executor::EnableHistograms(). Any thread.
  void EnableHistograms() const {
    runtime_internal::Checked(core_).EnableHistograms();
  }

  // Runs `future` on the calling thread and waits for it; of a function make one
  // by Invoke(function) (task/invoke.h). A current-thread runtime runs its tasks
  // meanwhile, and only then; it may be called only on the thread that built it.
  template <class F>
    requires Future<std::remove_reference_t<F>>
  OutputOf<F> BlockOn(F&& future) {
    CheckAlive();
    if (LocalExecutor* driven = core_->driven()) {
      const runtime_internal::CoreScope scope(*core_, core_->inside());
      return driven->Run(std::forward<F>(future));
    }
    return handle().BlockOn(std::forward<F>(future));
  }

  EnterGuard Enter() { return EnterGuard(core_); }
  weft::Handle handle() const {
    runtime_internal::Checked(core_);
    return weft::Handle(core_);
  }
  // What Enter() makes current. It, and copies of it, are valid as long as the
  // runtime.
  const Environment& environment() const {
    return runtime_internal::Checked(core_).outside();
  }

  // Ends the runtime in good order. Until `deadline` (or for `grace`) tasks and
  // blocking jobs may finish; then tasks are cancelled and jobs that have not
  // started are dropped. Returns by the deadline + 100 ms even if a poll or a
  // job never returns: what is still running is left to its thread, which
  // cleans up when it does. On a current-thread runtime it drives the tasks
  // meanwhile. The report (runtime_core.h) says what was left.
  ShutdownReport Shutdown(Instant deadline);
  ShutdownReport Shutdown(absl::Duration grace);

  // Cancels everything and returns at once; threads end by themselves.
  void ShutdownBackground();

 private:
  friend class RuntimeBuilder;
  explicit Runtime(std::shared_ptr<runtime_internal::RuntimeCore> core)
      : core_(std::move(core)) {}

  void CheckAlive() const;

  std::shared_ptr<runtime_internal::RuntimeCore> core_;  // null: moved from
  bool ended_ = false;                                   // by a shutdown
};

// Runs `future` on the calling thread, which works for a current-thread or
// thread-per-core runtime; it and everything it touches stay here. CHECK-fails
// elsewhere.
template <class F>
auto SpawnLocal(F future_or_fn) {
  return runtime_internal::CurrentLocal().Spawn(std::move(future_or_fn));
}

}  // namespace weft

#endif  // WEFT_RUNTIME_RUNTIME_H_
