// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/executor/task_lints.h"

#include <execinfo.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "weft/executor/executor.h"
#include "weft/executor/executor_hooks.h"
#include "weft/executor/local_dumps.h"
#include "weft/executor/local_executor.h"
#include "weft/executor/steady_deadline.h"
#include "weft/executor/stuck_task_monitor.h"
#include "weft/executor/symbolize.h"
#include "weft/executor/task_dump.h"
#include "weft/executor/thread.h"
#include "weft/task/await_trace.h"
#include "weft/task/frame_cache.h"
#include "weft/task/instant.h"
#include "weft/task/running.h"
#include "weft/task/source_location.h"
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
  // The count, this poll's included, that the linter with this number keeps.
  uint32_t Note(uint64_t linter, TaskId task, bool woken) {
    // Those that follow each other use different places.
    Streak& streak = streaks_[(task.value() + linter) % kTasks];
    if (streak.task != task || streak.linter != linter || !woken) {
      streak = {.task = task, .linter = linter, .polls = 0};
    }
    return woken ? ++streak.polls : 0;
  }

 private:
  static constexpr size_t kTasks = 64;
  struct Streak {
    TaskId task;
    uint64_t linter = 0;
    uint32_t polls = 0;
  };
  std::array<Streak, kTasks> streaks_{};
};

// Who makes the frame: the function that called the coroutine's beginning, which
// the compiler may have put into it.
std::string MakerOf(void* const* stack, size_t size) {
  for (size_t i = 0; i < size; ++i) {
    std::string function = executor_internal::SymbolOf(stack[i]);
    if (function.empty() || function.starts_with("weft::") ||
        function.starts_with("operator new")) {
      continue;
    }
    return function;
  }
  return "a function that the program's symbols do not name";
}

// A hook that calls both; the second may be empty.
template <class Hook, class Arg>
std::function<void(Arg)> Both(Hook first, std::function<void(Arg)> second) {
  if (!second) return first;
  return [first, second = std::move(second)](Arg arg) {
    first(arg);
    second(arg);
  };
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

// What is shared with the executors' hooks, which may outlive the TaskLints.
class TaskLints::Linter {
 public:
  explicit Linter(TaskLintsOptions options) : options_(std::move(options)) {
    if (options_.on_report == nullptr) options_.on_report = &WriteReport;
  }
  Linter(const Linter&) = delete;
  Linter& operator=(const Linter&) = delete;

  absl::Status Start(const std::shared_ptr<Linter>& self,
                     std::function<TaskDump()> dump, const WatchFn& watch) {
    if (options_.self_wakes == 0) {
      return absl::InvalidArgumentError(
          "self_wakes of a TaskLints is 0: every poll would be reported");
    }
    StuckTaskMonitorOptions monitor_options;
    monitor_options.limit = options_.poll_limit;
    monitor_options.signal = options_.signal;
    monitor_options.on_stuck = [this](const StuckTask& stuck) {
      Report(TaskLint::kNeverYields, stuck.task, stuck.spawned_at,
             [&stuck] { return stuck.ToString(); });
    };
    auto monitor = watch(monitor_options);
    if (!monitor.ok()) return monitor.status();
    monitor_.emplace(*std::move(monitor));
    dump_ = std::move(dump);
    auto thread =
        executor_internal::Thread::Start("weft-lints", 0, [this] { Sweep(); });
    if (!thread.ok()) return thread.status();
    thread_ = *std::move(thread);
    TakeFrames(self);
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

  // On the thread that polls.
  void AfterPoll(TaskId task) {
    static thread_local Streaks streaks;
    const task_internal::Running& running = task_internal::ThisThreadRuns();
    if (streaks.Note(number_, task, running.woken) != options_.self_wakes)
      return;
    Report(TaskLint::kSelfWake, task, running.task->spawned_at, [&] {
      return absl::StrCat(
          DescribeTask(task, running.task->name(), running.task->spawned_at),
          " woke itself in each of its last ", options_.self_wakes,
          " polls: if it waits for something, let that wake it\n");
    });
  }

  // On the thread that destroys it.
  void Forgotten(const TaskInfo& task) {
    Report(TaskLint::kLostWaker, task.id, task.spawned_at, [&task] {
      return absl::StrCat(
          DescribeTask(task.id, task.name, task.spawned_at),
          " is destroyed while it waits: nobody has its waker, nor "
          "its handle\n",
          AwaitTrace::ToString(task.awaits));
    });
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
      for (const TaskInfo& task : dump_().tasks) {
        if (task.state != TaskInfo::State::kForgotten) continue;
        found.insert(task.id);
        if (!seen.contains(task.id)) continue;
        Report(TaskLint::kLostWaker, task.id, task.spawned_at,
               [&task] { return task.ToString(); });
      }
      seen = std::move(found);
    }
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
  void TakeFrames(const std::shared_ptr<Linter>& self) {
    Frames& frames = ForFrames();
    const std::lock_guard lock(frames.mutex);
    if (frames.linter != nullptr) return;
    frames.linter = self;
    SetLargeFrameHandler(options_.frame_bytes, &OnLargeFrame);
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
    Stack stack{};
    const auto depth = static_cast<size_t>(
        backtrace(stack.data(), static_cast<int>(stack.size())));
    {
      // To find a symbol takes microseconds.
      const std::lock_guard lock(mutex_);
      if (stacks_.size() == kMaxStacks || !stacks_.insert(stack).second) return;
    }
    const std::string maker = MakerOf(stack.data(), depth);
    {
      const std::lock_guard lock(mutex_);
      if (!makers_.insert(maker).second) return;
    }
    Report(TaskLint::kLargeFrame, TaskId(), SourceLocation(), [&] {
      return absl::StrCat("a frame, or a task, of ", size, " bytes is made in ",
                          maker, ": keep what is large on the heap\n");
    });
  }

  // Where many tasks are spawned, some are enough.
  static constexpr int kTasksPerPlace = 10;
  bool IsWanted(TaskLint lint, TaskId task, const SourceLocation& spawned_at) {
    const std::lock_guard lock(mutex_);
    if (stop_) return false;
    if (!task) return true;
    if (reported_.contains({lint, task})) return false;
    if (++places_[{lint, FileAndLine(spawned_at)}] > kTasksPerPlace) {
      return false;
    }
    reported_.emplace(lint, task);
    return true;
  }
  // Calls text() for what is reported only: there may be very many others.
  template <class TextFn>
  void Report(TaskLint lint, TaskId task, const SourceLocation& spawned_at,
              TextFn text) {
    if (!IsWanted(lint, task, spawned_at)) return;
    options_.on_report({.lint = lint, .task = task, .text = text()});
  }

  using Stack = std::array<void*, 16>;
  static constexpr size_t kMaxStacks = 1000;

  static uint64_t NextNumber() {
    constinit static std::atomic<uint64_t> last{0};
    return last.fetch_add(1, std::memory_order_relaxed);  // relaxed: a number
  }

  const uint64_t number_ = NextNumber();
  TaskLintsOptions options_;
  std::function<TaskDump()> dump_;
  std::optional<StuckTaskMonitor> monitor_;
  executor_internal::Thread thread_;

  std::mutex mutex_;  // guards the next five
  bool stop_ = false;
  std::set<std::pair<TaskLint, TaskId>> reported_;
  std::map<std::pair<TaskLint, std::string>, int> places_;
  std::set<Stack> stacks_;  // on which large frames were made
  std::set<std::string> makers_;
  std::condition_variable stopped_;
};

absl::StatusOr<TaskLints> TaskLints::Start(Executor& executor,
                                           TaskLintsOptions options,
                                           ExecutorHooks own) {
  TaskLints lints(std::move(options));
  const absl::Status status =
      lints.Start([&executor] { return executor.Dump(); },
                  [&executor](StuckTaskMonitorOptions monitor_options) {
                    return StuckTaskMonitor::Start(executor, monitor_options);
                  });
  if (!status.ok()) return status;
  executor.SetHooks(lints.Hooks(std::move(own)));
  return lints;
}

TaskLints::TaskLints(TaskLintsOptions options)
    : linter_(std::make_shared<Linter>(std::move(options))) {}

ExecutorHooks TaskLints::Hooks(ExecutorHooks own) const {
  own.after_poll =
      Both([linter = linter_](
               const HookedTask& task) { linter->AfterPoll(task.id); },
           std::move(own.after_poll));
  own.on_forgotten = Both(
      [linter = linter_](const TaskInfo& task) { linter->Forgotten(task); },
      std::move(own.on_forgotten));
  return own;
}

absl::Status TaskLints::Start(const std::vector<LocalExecutor*>& executors) {
  constexpr absl::Duration kPatience = absl::Milliseconds(100);
  const auto dump = [executors, kPatience] {
    executor_internal::LocalDumps dumps;
    for (size_t i = 0; i < executors.size(); ++i) {
      dumps.Ask(static_cast<int>(i), *executors[i]);
    }
    return dumps.Await(Instant::Now() + kPatience);
  };
  return Start(dump, [&executors](StuckTaskMonitorOptions options) {
    return StuckTaskMonitor::Start(executors, std::move(options));
  });
}

absl::Status TaskLints::Start(std::function<TaskDump()> dump,
                              const WatchFn& watch) {
  return linter_->Start(linter_, std::move(dump), watch);
}

TaskLints::TaskLints(TaskLints&& other) noexcept = default;
TaskLints& TaskLints::operator=(TaskLints&& other) noexcept {
  std::swap(linter_, other.linter_);
  return *this;
}
TaskLints::~TaskLints() {
  if (linter_ != nullptr) linter_->Stop();
}

}  // namespace weft
