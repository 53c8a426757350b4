// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/executor/task_lints.h"

#include <execinfo.h>

#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "absl/debugging/symbolize.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "weft/executor/executor.h"
#include "weft/executor/executor_hooks.h"
#include "weft/executor/steady_deadline.h"
#include "weft/executor/stuck_task_monitor.h"
#include "weft/executor/task_dump.h"
#include "weft/executor/thread.h"
#include "weft/task/frame_cache.h"
#include "weft/task/instant.h"
#include "weft/task/running.h"
#include "weft/task/task_id.h"
#include "weft/task/task_identity.h"
#include "weft/task/task_info.h"

namespace weft {
namespace {

// How many polls in a row have ended with a wake of the task's own: of the tasks
// that this thread has polled last. A task that moves between threads is counted
// on each.
class Streaks {
 public:
  // The count, this poll's included.
  uint32_t Note(TaskId task, bool woken) {
    Streak& streak = streaks_[task.value() % kTasks];
    if (streak.task != task || !woken) streak = {.task = task, .polls = 0};
    return woken ? ++streak.polls : 0;
  }

 private:
  static constexpr size_t kTasks = 64;
  struct Streak {
    TaskId task;
    uint32_t polls = 0;
  };
  std::array<Streak, kTasks> streaks_{};
};

// Who makes the frame: the function that called the coroutine's beginning, which
// the compiler may have put into it.
std::string MakerOf(void* const* stack, size_t size) {
  for (size_t i = 0; i < size; ++i) {
    char name[256];
    const char* address = static_cast<const char*>(stack[i]) - 1;
    if (!absl::Symbolize(address, name, sizeof(name))) continue;
    const std::string_view function = name;
    const bool internal =
        function.find("weft::") == 0 || function.find("operator new") == 0;
    if (!internal) return std::string(function);
  }
  return "a function that the program's symbols do not name";
}

void WriteReport(const LintReport& report) {
  const std::string text = absl::StrCat(
      "weft: ", std::string(LintName(report.lint)), ": ", report.text);
  std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace

std::string_view LintName(TaskLint lint) {
  switch (lint) {
    case TaskLint::kLostWaker:
      return "lost-waker";
    case TaskLint::kSelfWake:
      return "self-wake";
    case TaskLint::kNeverYields:
      return "never-yields";
    case TaskLint::kLargeFrame:
      return "large-frame";
  }
  return "";
}

// What is shared with the executor's hooks, which may outlive the TaskLints.
class TaskLints::Linter {
 public:
  Linter(Executor& executor, TaskLintsOptions options)
      : executor_(executor), options_(std::move(options)) {
    if (options_.on_report == nullptr) options_.on_report = &WriteReport;
  }
  Linter(const Linter&) = delete;
  Linter& operator=(const Linter&) = delete;

  absl::Status Start(const std::shared_ptr<Linter>& self) {
    if (!TakeFrames(self)) {
      return absl::FailedPreconditionError(
          "there is a TaskLints already: large frames are those of the whole "
          "process");
    }
    StuckTaskMonitorOptions monitor_options;
    monitor_options.limit = options_.poll_limit;
    monitor_options.on_stuck = [this](const StuckTask& stuck) {
      Report(TaskLint::kNeverYields, stuck.task, stuck.ToString());
    };
    auto monitor = StuckTaskMonitor::Start(executor_, monitor_options);
    if (!monitor.ok()) return monitor.status();
    monitor_.emplace(*std::move(monitor));
    auto thread =
        executor_internal::Thread::Start("weft-lints", 0, [this] { Sweep(); });
    if (!thread.ok()) return thread.status();
    thread_ = *std::move(thread);
    executor_.SetHooks({.after_poll = [self](const HookedTask& task) {
      self->AfterPoll(task.id);
    }});
    SetLargeFrameHandler(options_.frame_bytes, &OnLargeFrame);
    return absl::OkStatus();
  }

  void Stop() {
    LeaveFrames();
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    stopped_.notify_all();
    thread_.Join();
    monitor_.reset();
  }

 private:
  void Sweep() {
    std::set<TaskId> seen;  // forgotten, at the last look
    for (;;) {
      {
        std::unique_lock lock(mutex_);
        const Instant look = Instant::Now() + options_.interval;
        if (stopped_.wait_until(lock, executor_internal::SteadyDeadline(look),
                                [this] { return stop_; })) {
          return;
        }
      }
      std::set<TaskId> found;
      for (const TaskInfo& task : executor_.Dump().tasks) {
        if (task.state != TaskInfo::State::kForgotten) continue;
        found.insert(task.id);
        if (!seen.contains(task.id)) continue;
        Report(TaskLint::kLostWaker, task.id, task.ToString());
      }
      seen = std::move(found);
    }
  }

  // On the thread that polls.
  void AfterPoll(TaskId task) {
    static thread_local Streaks streaks;
    const task_internal::Running& running = task_internal::ThisThreadRuns();
    if (streaks.Note(task, running.woken) != options_.self_wakes) return;
    Report(
        TaskLint::kSelfWake, task,
        absl::StrCat(
            DescribeTask(task, running.task->name(), running.task->spawned_at),
            " woke itself in each of its last ", options_.self_wakes,
            " polls: if it waits for something, let that wake it\n"));
  }

  // Large frames are reported to one of all.
  struct Frames {
    std::mutex mutex;  // guards the next one
    std::shared_ptr<Linter> linter;
  };
  static Frames& ForFrames() {
    static Frames& frames = *new Frames;  // coroutines may be made at any time
    return frames;
  }
  static bool TakeFrames(const std::shared_ptr<Linter>& self) {
    Frames& frames = ForFrames();
    const std::lock_guard lock(frames.mutex);
    if (frames.linter != nullptr) return false;
    frames.linter = self;
    return true;
  }
  void LeaveFrames() {
    Frames& frames = ForFrames();
    const std::lock_guard lock(frames.mutex);
    if (frames.linter.get() != this) return;
    SetLargeFrameHandler(0, nullptr);
    frames.linter = nullptr;  // the caller has it, too
  }
  static void OnLargeFrame(size_t size) {
    Frames& frames = ForFrames();
    std::shared_ptr<Linter> linter;
    {
      const std::lock_guard lock(frames.mutex);
      linter = frames.linter;
    }
    if (linter != nullptr) linter->LargeFrame(size);
  }
  void LargeFrame(size_t size) {
    std::array<void*, 16> stack;
    const auto depth = static_cast<size_t>(
        backtrace(stack.data(), static_cast<int>(stack.size())));
    const std::string maker = MakerOf(stack.data(), depth);
    {
      const std::lock_guard lock(mutex_);
      if (!makers_.insert(maker).second) return;
    }
    Report(TaskLint::kLargeFrame, TaskId(),
           absl::StrCat("a frame, or a task, of ", size, " bytes is made in ",
                        maker, ": keep what is large on the heap\n"));
  }

  void Report(TaskLint lint, TaskId task, std::string text) {
    {
      const std::lock_guard lock(mutex_);
      if (stop_) return;
      if (task && !reported_.emplace(lint, task).second) return;
    }
    options_.on_report({.lint = lint, .task = task, .text = std::move(text)});
  }

  Executor& executor_;
  TaskLintsOptions options_;
  std::optional<StuckTaskMonitor> monitor_;
  executor_internal::Thread thread_;

  std::mutex mutex_;  // guards the next three
  bool stop_ = false;
  std::set<std::pair<TaskLint, TaskId>> reported_;
  std::set<std::string> makers_;
  std::condition_variable stopped_;
};

absl::StatusOr<TaskLints> TaskLints::Start(Executor& executor,
                                           TaskLintsOptions options) {
  auto linter = std::make_shared<Linter>(executor, std::move(options));
  const absl::Status status = linter->Start(linter);
  TaskLints lints(std::move(linter));  // stops what has been started
  if (!status.ok()) return status;
  return lints;
}

TaskLints::TaskLints(std::shared_ptr<Linter> linter)
    : linter_(std::move(linter)) {}
TaskLints::TaskLints(TaskLints&& other) noexcept = default;
TaskLints& TaskLints::operator=(TaskLints&& other) noexcept {
  std::swap(linter_, other.linter_);
  return *this;
}
TaskLints::~TaskLints() {
  if (linter_ != nullptr) linter_->Stop();
}

}  // namespace weft
