// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// StuckTaskMonitor: reports tasks that keep a thread of an executor for too long.
//
//   auto monitor = StuckTaskMonitor::Start(executor);
//   if (!monitor.ok()) return monitor.status();
//
//   weft: task 7 "reader", spawned at server.cc:30, has not returned from a poll
//   for 52 ms:
//     Serve at server.cc:41
//       ReadRequest runs, last at server.cc:20
//   on the stack of its thread:
//     ReadAll(int)
//     ...
//
// A task that computes or blocks for long keeps everything else of its thread
// waiting: it should yield, or go to SpawnBlocking() or BlockInPlace(), which are
// not reported. Each such poll is reported once. A report by a monitor costs the
// task a signal: a system call that it is blocked in may end early, with EINTR,
// where signal(7) says that SA_RESTART does not help. The monitor is a thread of
// its own, which wakes four times in each limit.
//
// Thread safety: Start() any thread; a monitor one thread at a time.
// Lifetime: the executor outlives it.
// Dropping: ends the thread.
#ifndef WEFT_EXECUTOR_STUCK_TASK_MONITOR_H_
#define WEFT_EXECUTOR_STUCK_TASK_MONITOR_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "weft/executor/executor.h"
#include "weft/executor/local_executor.h"
#include "weft/executor/poll_watched.h"
#include "weft/task/await_trace.h"
#include "weft/task/source_location.h"
#include "weft/task/task_id.h"

namespace weft {

// A poll that lasts too long.
struct StuckTask {
  int runner = 0;         // see ExecutorStats
  absl::Duration for_;    // how long so far, at least
  bool answered = false;  // else nothing is known but the two above
  // Of no task: the future that was given to Run().
  TaskId task;
  std::string name;
  SourceLocation spawned_at;
  std::vector<AwaitTrace::Line> awaits;
  // The functions on the stack of the thread, innermost first, as far as the
  // program's symbols tell.
  std::vector<std::string> stack;

  // For people: as above.
  std::string ToString() const;
};

struct StuckTaskMonitorOptions {
  // How long a poll may last.
  absl::Duration limit = absl::Milliseconds(100);
  // The signal that asks a thread what it does; 0: the one that does in this process
  // already, else SIGURG, which programs hardly use, and which is ignored where
  // nobody handles it. The first monitor of a process chooses for all.
  int signal = 0;
  // Called by the monitor's thread. By default the report goes to standard error.
  std::function<void(const StuckTask&)> on_stuck = nullptr;
};

class StuckTaskMonitor {
 public:
  // Fails if the signal cannot be had, or the system gives no thread.
  static absl::StatusOr<StuckTaskMonitor> Start(
      Executor& executor,
      StuckTaskMonitorOptions options = StuckTaskMonitorOptions());
  // The same for executors whose tasks stay on one thread each: `runner` is which.
  // Of these, what runs in Run() is looked at. Any thread.
  static absl::StatusOr<StuckTaskMonitor> Start(
      const std::vector<LocalExecutor*>& executors,
      StuckTaskMonitorOptions options = StuckTaskMonitorOptions());

  StuckTaskMonitor(StuckTaskMonitor&& other) noexcept;
  StuckTaskMonitor& operator=(StuckTaskMonitor&& other) noexcept;
  ~StuckTaskMonitor();

 private:
  class Watch;

  explicit StuckTaskMonitor(std::unique_ptr<Watch> watch);
  static absl::StatusOr<StuckTaskMonitor> StartWatching(
      std::vector<executor_internal::PollWatched*> watched,
      StuckTaskMonitorOptions options);

  std::unique_ptr<Watch> watch_;
};

}  // namespace weft

#endif  // WEFT_EXECUTOR_STUCK_TASK_MONITOR_H_
