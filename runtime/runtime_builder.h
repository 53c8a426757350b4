// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// RuntimeBuilder: the pieces of weft composed the usual way.
//
//   absl::StatusOr<Runtime> runtime = RuntimeBuilder().EnableAll().Build();
//   if (!runtime.ok()) return runtime.status();
//   int n = runtime->BlockOn(Count());
//
// Thread safety: one thread at a time.
#ifndef WEFT_RUNTIME_RUNTIME_BUILDER_H_
#define WEFT_RUNTIME_RUNTIME_BUILDER_H_

#include <cstddef>
#include <exception>
#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "weft/executor/executor_hooks.h"
#include "weft/executor/stuck_task_monitor.h"
#include "weft/executor/task_lints.h"
#include "weft/runtime/runtime.h"
#include "weft/runtime/runtime_options.h"
#include "weft/task/task_cell.h"

namespace weft {

class RuntimeBuilder {
 public:
  // A multi-thread runtime without a reactor and without timers of its own.
  RuntimeBuilder() = default;

  // Tasks run on the thread that builds the runtime, while it is in BlockOn; no
  // worker threads are started. Everything on that runtime happens on that
  // thread, except SpawnBlocking. Excludes WorkerThreads(), ThreadPerCore() and
  // PinThreads().
  RuntimeBuilder& CurrentThread();

  // Each worker thread has tasks of its own, which stay there to their end, so
  // what only they touch needs no lock. Nobody evens the load out. What is
  // spawned from outside goes to the workers in turn, or where it is placed: see
  // Runtime::SpawnAt and SpawnByKey. Excludes CurrentThread().
  RuntimeBuilder& ThreadPerCore();

  // How many threads run tasks, from 1, where less CHECK-fails, to
  // Executor::kMaxRunners, where Build() fails for more. By default the number of
  // CPUs that the process may use: the smaller of its affinity mask and its control
  // group's quota. The environment variable WEFT_WORKER_THREADS, if it is a positive
  // number, overrides the default and `n`.
  RuntimeBuilder& WorkerThreads(int n);

  // Worker i runs only on the i-th of the CPUs that the thread which builds the
  // runtime may use, beginning again behind the last. Threads for blocking jobs
  // may use all of these; other threads and processes that a task starts inherit
  // its worker's CPU. Excludes CurrentThread().
  RuntimeBuilder& PinThreads();

  // At most how many threads run blocking jobs, beside the workers; at least 1, and
  // 2 where a task waits for a job inside BlockInPlace(). They start on demand and
  // end when idle for ThreadKeepAlive.
  RuntimeBuilder& MaxBlockingThreads(int n);
  RuntimeBuilder& ThreadKeepAlive(absl::Duration idle);
  // How many blocking jobs of a lane may wait for a thread, 65536 by default.
  // More are refused: Outcome() of their handles says ResourceExhausted.
  RuntimeBuilder& BlockingQueueCapacity(size_t jobs);

  // The stack of each thread started, in bytes; 0 for the system's default.
  RuntimeBuilder& ThreadStackSize(size_t bytes);
  // Threads are called NAME-0, NAME-1, …; the system keeps 15 characters.
  RuntimeBuilder& ThreadName(std::string name);

  // Called on each worker thread: when it starts, before it ends, before and
  // after it waits for work. Park hooks are called for each wait: keep them
  // short.
  RuntimeBuilder& OnThreadStart(std::function<void()> hook);
  RuntimeBuilder& OnThreadStop(std::function<void()> hook);
  RuntimeBuilder& OnThreadPark(std::function<void()> hook);
  RuntimeBuilder& OnThreadUnpark(std::function<void()> hook);

  // Called for each task of the runtime, on whatever thread spawns, polls or destroys
  // it, several at once: before it is first scheduled, around each poll, and when
  // its future has been destroyed, with how it ended. Not for blocking jobs, nor for
  // tasks that are spawned when the runtime has ended, which are destroyed at once.
  // Hooks must not throw or block; executor/executor_hooks.h says more. Each Build()
  // copies them.
  RuntimeBuilder& OnTaskSpawn(std::function<void(const HookedTask&)> hook);
  RuntimeBuilder& OnTaskBeforePoll(std::function<void(const HookedTask&)> hook);
  RuntimeBuilder& OnTaskAfterPoll(std::function<void(const HookedTask&)> hook);
  RuntimeBuilder& OnTaskEnd(
      std::function<void(const HookedTask&, TaskEnd)> hook);

  // Receives the exceptions of detached tasks, on the thread that polled them.
  // By default they are reported on standard error, and the process goes on. A
  // handler must not throw.
  RuntimeBuilder& OnUnhandledException(
      std::function<void(std::exception_ptr)> handler);

  // Gives each worker a reactor, or timers, of its own. Without them, tasks
  // that use descriptors or time are served by one thread for the whole
  // process.
  RuntimeBuilder& EnableIo();
  RuntimeBuilder& EnableTime();
  RuntimeBuilder& EnableAll() { return EnableIo().EnableTime(); }

  // Has histograms of poll times and schedule latencies among the metrics from the
  // start; see Runtime::EnableHistograms().
  RuntimeBuilder& EnableHistograms();

  // Watches for polls that last too long, on a thread of its own, and reports them;
  // see executor/stuck_task_monitor.h. Not called while the runtime shuts down. The
  // handler must not end the runtime.
  RuntimeBuilder& ReportStuckTasks(
      StuckTaskMonitorOptions options = StuckTaskMonitorOptions());

  // Looks, while a program is developed and in its tests, for tasks that do what a
  // task should not, and reports them; see executor/task_lints.h. Beside hooks for
  // tasks, if there are any. Not while the runtime shuts down.
  RuntimeBuilder& ReportLints(TaskLintsOptions options = TaskLintsOptions());

  // Starts the runtime. Fails with InvalidArgument if what was asked for does not
  // go together, and with the system's reason if a thread or a reactor cannot be
  // made; then nothing is left running.
  absl::StatusOr<Runtime> Build();

 private:
  runtime_internal::RuntimeOptions options_;
};

}  // namespace weft

#endif  // WEFT_RUNTIME_RUNTIME_BUILDER_H_
