// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// TaskLints: reports tasks that do what a task should not.
//
//   Executor executor;
//   absl::StatusOr<TaskLints> lints = TaskLints::Start(executor);
//   if (!lints.ok()) return lints.status();
//   executor.Run(Main());
//
//   weft: lost-waker: task 7 "reader", spawned at main.cc:12, waits, but nobody has
//   its waker: it will never run
//     Read at main.cc:9
//
// | lint | what it found |
// |---|---|
// | lost-waker | a suspended task that nobody can wake any more; if nobody has its handle either, it is destroyed |
// | self-wake | a task that wakes itself in each of many polls: it asks again and again, instead of waiting |
// | never-yields | a poll that lasts too long (executor/stuck_task_monitor.h) |
// | large-frame | a coroutine's frame, or a task, with too much in it |
//
// For tests and while a program is developed: a look at all tasks each interval, two
// threads, and a little work after each poll. RuntimeBuilder::ReportLints() does this
// for a runtime.
//
// Large frames are those of the whole process: of several TaskLints, the one that was
// started first reports them.
//
// Thread safety: Start() any thread; the object one thread at a time.
// Lifetime: the executors outlive it; it outlives their runs.
// Dropping: ends the threads. A report that another thread is making comes yet.
#ifndef WEFT_EXECUTOR_TASK_LINTS_H_
#define WEFT_EXECUTOR_TASK_LINTS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "weft/executor/executor.h"
#include "weft/executor/executor_hooks.h"
#include "weft/executor/local_executor.h"
#include "weft/executor/stuck_task_monitor.h"
#include "weft/executor/task_dump.h"
#include "weft/task/task_id.h"

namespace weft {

enum class TaskLint { kLostWaker, kSelfWake, kNeverYields, kLargeFrame };

// "lost-waker" and so on.
std::string_view LintName(TaskLint lint);

struct LintReport {
  TaskLint lint = TaskLint::kLostWaker;
  TaskId task;       // of none: kLargeFrame, or a future given to Run()
  std::string text;  // all about it, lines each with an end
};

struct TaskLintsOptions {
  // How often all tasks are looked at. One is reported when it was found twice.
  absl::Duration interval = absl::Seconds(1);
  // How many polls in a row may end with a wake of the task's own.
  uint32_t self_wakes = 1000;
  // How long a poll may last.
  absl::Duration poll_limit = absl::Seconds(1);
  // As StuckTaskMonitorOptions::signal.
  int signal = 0;
  // How large a frame may be. Up to 1024 bytes none is reported.
  size_t frame_bytes = 16 << 10;
  // Called on several threads, perhaps at once; for a task once for each lint, of
  // those that were spawned at one place for the first ten; for a function once for
  // its frames. It may be called by a poll, between two polls, or by a coroutine's
  // beginning: it must not end the TaskLints nor the executor. By default the report
  // goes to standard error.
  std::function<void(const LintReport&)> on_report = nullptr;
};

class TaskLints {
 public:
  // Before anybody runs or spawns anything on `executor`: it gets hooks
  // (Executor::SetHooks), of which it has one set; `own` are the program's. Fails as
  // StuckTaskMonitor does.
  static absl::StatusOr<TaskLints> Start(
      Executor& executor, TaskLintsOptions options = TaskLintsOptions(),
      ExecutorHooks own = ExecutorHooks());

  // The same in steps, for whoever composes executors of any kind: the hooks that
  // each of them needs, with the program's own; then, once they are ready, one of the
  // Start()s, once.
  explicit TaskLints(TaskLintsOptions options = TaskLintsOptions());
  ExecutorHooks Hooks(ExecutorHooks own = ExecutorHooks()) const;
  // For executors whose tasks stay on one thread each.
  absl::Status Start(const std::vector<LocalExecutor*>& executors);
  // How to get all tasks, called on a thread of the lints', and to watch polls.
  using WatchFn =
      std::function<absl::StatusOr<StuckTaskMonitor>(StuckTaskMonitorOptions)>;
  absl::Status Start(std::function<TaskDump()> dump, const WatchFn& watch);

  TaskLints(TaskLints&& other) noexcept;
  TaskLints& operator=(TaskLints&& other) noexcept;
  ~TaskLints();

 private:
  class Linter;

  std::shared_ptr<Linter> linter_;
};

}  // namespace weft

#endif  // WEFT_EXECUTOR_TASK_LINTS_H_
