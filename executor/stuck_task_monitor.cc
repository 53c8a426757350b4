// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Algorithm. Each quarter of the limit the monitor looks at every runner: whether it
// is in a poll, and at a number that changes between polls. Where both stay as
// they are for the limit, the poll is stuck, and its thread is asked for it.
#include "weft/executor/stuck_task_monitor.h"

#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "weft/executor/executor.h"
#include "weft/executor/executor_core.h"
#include "weft/executor/local_core.h"
#include "weft/executor/local_executor.h"
#include "weft/executor/poll_capture.h"
#include "weft/executor/poll_watched.h"
#include "weft/executor/steady_deadline.h"
#include "weft/executor/symbolize.h"
#include "weft/executor/thread.h"
#include "weft/task/await_trace.h"
#include "weft/task/instant.h"
#include "weft/task/task_info.h"

namespace weft {
namespace {

using executor_internal::PollCapture;
using executor_internal::PollWatched;
using executor_internal::SteadyDeadline;

// How long a thread may take to answer.
constexpr absl::Duration kPatience = absl::Milliseconds(50);

// Where a poll begins: what is further out is the same for each.
bool IsOurs(std::string_view function) {
  return function.starts_with("weft::task_internal::DriveRoot") ||
         function.starts_with("weft::executor_internal::") ||
         function.find("::PollCatching") != function.npos;
}

// The functions between the signal's handler and the executor.
std::vector<std::string> Symbolize(const PollCapture& capture) {
  std::vector<std::string> stack;
  // The handler and the system's return from it.
  constexpr size_t kHandler = 2;
  for (size_t i = kHandler; i < capture.stack_size; ++i) {
    std::string name = executor_internal::SymbolOf(capture.stack[i]);
    if (name.empty()) continue;
    if (IsOurs(name)) break;
    stack.push_back(std::move(name));
  }
  return stack;
}

void WriteReport(const StuckTask& stuck) {
  const std::string text = absl::StrCat("weft: ", stuck.ToString());
  std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace

std::string StuckTask::ToString() const {
  std::string text;
  if (!answered) {
    return absl::StrCat("a poll on runner ", runner, " has not returned for ",
                        absl::FormatDuration(for_),
                        ", and its thread does not answer the signal\n");
  }
  if (task) {
    text = DescribeTask(task, name, spawned_at);
  } else {
    text = "the future that was given to Run()";
  }
  absl::StrAppend(
      &text, " has not returned from a poll for ", absl::FormatDuration(for_),
      ":\n", AwaitTrace::ToString(awaits), "on the stack of its thread:\n");
  for (const std::string& function : stack) {
    absl::StrAppend(&text, "  ", function, "\n");
  }
  return text;
}

// The monitor's thread, and what it knows.
class StuckTaskMonitor::Watch {
 public:
  Watch(std::vector<PollWatched*> watched, StuckTaskMonitorOptions options)
      : options_(std::move(options)) {
    for (PollWatched* executor : watched) executors_.push_back({executor, {}});
    if (options_.on_stuck == nullptr) options_.on_stuck = &WriteReport;
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  ~Watch() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    stopped_.notify_all();
    thread_.Join();
  }

  absl::Status Start() {
    absl::StatusOr<executor_internal::Thread> thread =
        executor_internal::Thread::Start("weft-monitor", 0, [this] { Run(); });
    if (!thread.ok()) return thread.status();
    thread_ = *std::move(thread);
    return absl::OkStatus();
  }

 private:
  // What was seen of a runner.
  struct Seen {
    uint64_t progress = 0;
    Instant since;
    bool in_poll = false;
    bool reported = false;
  };
  struct Watched {
    PollWatched* executor;
    std::vector<Seen> runners;
  };

  void Run() {
    while (!AwaitStop(Instant::Now() + options_.limit / 4)) {
      int number = 0;  // of the runner, among all executors'
      for (Watched& watched : executors_) {
        watched.runners.resize(
            static_cast<size_t>(watched.executor->CountRunners()));
        for (size_t i = 0; i < watched.runners.size(); ++i) {
          Look(watched, static_cast<int>(i), number++);
        }
      }
    }
  }

  bool AwaitStop(Instant deadline) {
    std::unique_lock lock(mutex_);
    return stopped_.wait_until(lock, SteadyDeadline(deadline),
                               [this] { return stop_; });
  }

  void Look(Watched& watched, int runner, int number) {
    Seen& seen = watched.runners[static_cast<size_t>(runner)];
    const PollWatched::PollGlance glance = watched.executor->GlanceAt(runner);
    const Instant now = Instant::Now();
    if (!glance.in_poll || !seen.in_poll || glance.progress != seen.progress) {
      seen = {
          .progress = glance.progress, .since = now, .in_poll = glance.in_poll};
      return;
    }
    if (seen.reported || now - seen.since < options_.limit) return;
    seen.reported = true;
    StuckTask stuck;
    stuck.runner = number;
    stuck.for_ = now - seen.since;
    PollCapture capture;
    stuck.answered = watched.executor->CapturePoll(
        runner, Instant::Now() + kPatience, capture);
    // What was captured may be the next poll.
    if (watched.executor->GlanceAt(runner).progress != seen.progress) return;
    if (stuck.answered) Note(capture, stuck);
    options_.on_stuck(stuck);
  }

  static void Note(const PollCapture& capture, StuckTask& stuck) {
    stuck.task = capture.task;
    stuck.name = capture.name;
    stuck.spawned_at = capture.spawned_at;
    stuck.awaits = capture.awaits.Copy();
    stuck.stack = Symbolize(capture);
  }

  std::vector<Watched> executors_;
  StuckTaskMonitorOptions options_;

  std::mutex mutex_;  // guards the next one
  bool stop_ = false;
  std::condition_variable stopped_;

  executor_internal::Thread thread_;
};

absl::StatusOr<StuckTaskMonitor> StuckTaskMonitor::Start(
    Executor& executor, StuckTaskMonitorOptions options) {
  return StartWatching({&executor.core()}, std::move(options));
}

absl::StatusOr<StuckTaskMonitor> StuckTaskMonitor::Start(
    const std::vector<LocalExecutor*>& executors,
    StuckTaskMonitorOptions options) {
  std::vector<PollWatched*> watched;
  for (LocalExecutor* executor : executors) watched.push_back(executor->core_);
  return StartWatching(std::move(watched), std::move(options));
}

absl::StatusOr<StuckTaskMonitor> StuckTaskMonitor::StartWatching(
    std::vector<PollWatched*> watched, StuckTaskMonitorOptions options) {
  if (options.limit <= absl::ZeroDuration()) {
    return absl::InvalidArgumentError(
        "the limit of a StuckTaskMonitor is not positive");
  }
  if (absl::Status status = PollCapture::UseSignal(options.signal);
      !status.ok()) {
    return status;
  }
  auto watch = std::make_unique<Watch>(std::move(watched), std::move(options));
  if (absl::Status status = watch->Start(); !status.ok()) return status;
  return StuckTaskMonitor(std::move(watch));
}

StuckTaskMonitor::StuckTaskMonitor(std::unique_ptr<Watch> watch)
    : watch_(std::move(watch)) {}
StuckTaskMonitor::StuckTaskMonitor(StuckTaskMonitor&& other) noexcept = default;
StuckTaskMonitor& StuckTaskMonitor::operator=(
    StuckTaskMonitor&& other) noexcept = default;
StuckTaskMonitor::~StuckTaskMonitor() = default;

}  // namespace weft
