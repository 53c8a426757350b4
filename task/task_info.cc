// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/task/task_info.h"

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "weft/task/await_trace.h"
#include "weft/task/running.h"
#include "weft/task/task_cell.h"
#include "weft/task/task_identity.h"
#include "weft/task/task_state.h"

namespace weft {
namespace task_internal {
namespace {

using State = TaskInfo::State;

TaskInfo Introduce(const TaskHeader& task) {
  TaskInfo info;
  info.id = task.id;
  info.name = std::string(task.name());
  info.spawned_at = task.spawned_at;
  return info;
}

// Returns how many wakers of the task only the task itself has.
uint64_t TraceInto(const TaskHeader* task, TaskInfo& info) {
  AwaitTrace trace;
  task->vtable->trace(task, trace);
  info.awaits = trace.Copy();
  return static_cast<uint64_t>(trace.own_wakers());
}

// A task that no thread has: this one has it meanwhile, as if it polled it.
State InspectShared(TaskHeader* task, TaskInfo& info) {
  if (!task->shared.TryOwn()) {
    return (task->shared.Load() & kDone) != 0 ? State::kFinished
                                              : State::kScheduled;
  }
  const uint64_t own = TraceInto(task, info);
  const uint64_t word = task->shared.Load();
  // The caller's, this owner's, the handle's, and the task's own.
  const uint64_t known = 2 + ((word & kHandle) != 0 ? 1 : 0) + own;
  const bool forgotten = word / kReference <= known;
  if (task->shared.Suspend(/*woken_by_itself=*/false) != Then::kNothing) {
    task->vtable->schedule(task, ScheduleInfo());
    return State::kScheduled;
  }
  return forgotten ? State::kForgotten : State::kWaiting;
}

// At home nobody else has it.
State InspectLocal(TaskHeader* task, TaskInfo& info) {
  const LocalTaskState::Glance glance = task->local.Look();
  if (glance.done) return State::kFinished;
  if (glance.scheduled) return State::kScheduled;
  const uint64_t own = TraceInto(task, info);
  // The caller's, home's, the handle's, and the task's own.
  const uint64_t known = 2 + (glance.has_handle ? 1 : 0) + own;
  return glance.references <= known ? State::kForgotten : State::kWaiting;
}

}  // namespace

TaskInfo DescribeForgotten(const TaskHeader& task) {
  TaskInfo info = Introduce(task);
  info.state = State::kForgotten;
  TraceInto(&task, info);
  return info;
}

TaskInfo Inspect(TaskHeader* task) {
  TaskInfo info = Introduce(*task);
  const Running& running = ThisThreadRuns();
  if (running.task == task) {
    info.state = State::kRunning;
    if (running.polls) TraceInto(task, info);
  } else if (task->thread == nullptr) {
    info.state = InspectShared(task, info);
  } else if (task->thread != ThisThread()) {
    info.state = State::kElsewhere;
  } else {
    info.state = InspectLocal(task, info);
  }
  return info;
}

}  // namespace task_internal

std::string_view ToString(TaskInfo::State state) {
  switch (state) {
    case TaskInfo::State::kWaiting:
      return "waits";
    case TaskInfo::State::kForgotten:
      return "waits, but nobody has its waker: it will never run";
    case TaskInfo::State::kScheduled:
      return "is scheduled, or runs";
    case TaskInfo::State::kRunning:
      return "runs";
    case TaskInfo::State::kElsewhere:
      return "is another thread's";
    case TaskInfo::State::kFinished:
      return "has finished";
  }
  return "";
}

std::string DescribeTask(TaskId id, std::string_view name,
                         const SourceLocation& spawned_at) {
  std::string text = absl::StrCat("task ", id.value());
  if (!name.empty()) absl::StrAppend(&text, " \"", std::string(name), "\"");
  if (spawned_at.line() != 0) {
    absl::StrAppend(&text, ", spawned at ", FileAndLine(spawned_at), ",");
  }
  return text;
}

std::string TaskInfo::ToString() const {
  std::string text = absl::StrCat(DescribeTask(id, name, spawned_at), " ",
                                  std::string(weft::ToString(state)), "\n");
  absl::StrAppend(&text, AwaitTrace::ToString(awaits));
  return text;
}

}  // namespace weft
