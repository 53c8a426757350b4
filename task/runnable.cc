// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Algorithm: every step is a transition of task/task_state.h; this file does
// what the transition says must be done next.
#include "weft/task/runnable.h"

#include <cstdint>
#include <exception>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "weft/task/check.h"
#include "weft/task/context.h"
#include "weft/task/environment.h"
#include "weft/task/local_list.h"
#include "weft/task/running.h"
#include "weft/task/status.h"
#include "weft/task/task_cell.h"
#include "weft/task/task_state.h"
#include "weft/task/unhandled_exception.h"
#include "weft/task/waker.h"

namespace weft::task_internal {
namespace {

void Act(TaskHeader* task, Then then) {
  if (then == Then::kSchedule) task->vtable->schedule(task, ScheduleInfo());
  if (then == Then::kFree) task->vtable->free(task);
}

// If this thread is running the task, remembers the wake: the common kind of
// yield needs no transition.
bool WakeByItself(TaskHeader* task) {
  Running& running = ThisThreadRuns();
  if (running.task != task) return false;
  running.woken = true;
  return true;
}

constexpr WakerVTable kTaskWaker = {
    .clone =
        [](void* data) {
          return MakeTaskWaker(static_cast<TaskHeader*>(data));
        },
    .wake =
        [](void* data) {
          auto* task = static_cast<TaskHeader*>(data);
          Act(task, WakeByItself(task) ? task->state.Unref()
                                       : task->state.Wake(/*consume=*/true));
        },
    .wake_by_ref =
        [](void* data) {
          auto* task = static_cast<TaskHeader*>(data);
          if (WakeByItself(task)) return;
          Act(task, task->state.Wake(/*consume=*/false));
        },
    .drop =
        [](void* data) {
          auto* task = static_cast<TaskHeader*>(data);
          Act(task, task->state.Unref());
        },
};

void ReleaseLocals(TaskHeader* task) {
  if (task->locals() == nullptr) return;
  ThisThreadRuns().locals = nullptr;
  task->extras->locals = InheritedLocals();
}

// The future has been destroyed; the output, if any, is stored. Ends the task
// and gives up the owner's reference.
void FinishTask(TaskHeader* task, uint64_t output) {
  ReleaseLocals(task);
  if (task->vtable->on_gone != nullptr) task->vtable->on_gone(task);
  const uint64_t before = task->state.Finish(output);
  if (!TaskState::KeptReference(before)) return;
  if ((before & kJoinWaker) != 0) std::move(task->join_waker).Wake();
  if ((before & kHandle) == 0 && output != 0) {
    std::exception_ptr exception = std::move(task->exception);
    if (exception == nullptr) {
      task->vtable->destroy_output(task);
    } else if ((before & kCancelled) == 0) {
      ReportUnhandledException(std::move(exception));
    }
  }
  Act(task, task->state.Unref());
}

void DestroyTask(TaskHeader* task) {
  task->vtable->destroy_future(task);
  FinishTask(task, 0);
}

bool PollCatching(TaskHeader* task, Context& cx) {
#if defined(__cpp_exceptions)
  try {
    return task->vtable->poll(task, cx);
  } catch (...) {
    task->exception = std::current_exception();
  }
  task->vtable->destroy_future(task);
  return true;
#else
  return task->vtable->poll(task, cx);
#endif
}

bool OnForeignThread(const TaskHeader* task) {
  return task->thread != nullptr && task->thread != ThisThread();
}

// Gives up the handle, but not its reference, and what the task left if it is
// finished; returns the exception among that.
std::exception_ptr ReleaseHandle(TaskHeader* task) {
  std::exception_ptr exception;
  const uint64_t before = task->state.DropHandle();
  if ((before & kDone) == 0) {
    if ((before & kJoinWaker) != 0) task->join_waker = Waker();
  } else if ((before & kOutput) != 0) {
    exception = std::move(task->exception);
    if (exception == nullptr) task->vtable->destroy_output(task);
  }
  return exception;
}

// The task whose Runnable this thread is posting home.
constinit thread_local TaskHeader* posting_home = nullptr;

}  // namespace

[[gnu::noinline]] const void* ThisThread() {
  constinit static thread_local char marker = 0;
  return &marker;
}

void RefTask(TaskHeader* task) { task->state.Ref(); }

void UnrefTask(TaskHeader* task) { Act(task, task->state.Unref()); }

Waker MakeTaskWaker(TaskHeader* task) {
  RefTask(task);
  return Waker(&kTaskWaker, task);
}

bool RunTask(TaskHeader* task, uint32_t units) {
  WEFT_CHECK(!OnForeignThread(task),
             "a Runnable of SpawnLocalOn was run on another thread; run it on "
             "the thread that spawned it");
  RunningScope running(
      {.task = task, .locals = task->locals(), .may_block = false});
  if (task->state.BeginRun() == Then::kDestroy) {
    DestroyTask(task);
    return false;
  }
  const BorrowedWaker waker(&kTaskWaker, task);
  Budget budget(units);
  const Environment& environment = Environment::Current();
  Context cx(waker.get(), &budget, &environment);
  const bool ready = PollCatching(task, cx);
  WEFT_CHECK(&Environment::Current() == &environment,
             "a task was suspended inside an EnvironmentScope or EnterGuard, "
             "which other tasks would see: do not hold one across co_await");
  if (ready) {
    FinishTask(task, kOutput);
    return false;
  }
  if (task->vtable->on_pending != nullptr) task->vtable->on_pending(task);
  switch (task->state.Suspend(running.woken())) {
    case Then::kReschedule:
      running.LeaveTask();  // another thread may have it now
      task->vtable->schedule(task, ScheduleInfo{.woken_while_running = true});
      return true;
    case Then::kDestroy:
      DestroyTask(task);
      return false;
    default:
      return false;
  }
}

void DropRunnable(TaskHeader* task) {
  if (OnForeignThread(task)) {
    if (posting_home == task) return;  // home is gone: leak, as documented
    task->state.Cancel();
    TaskHeader* outer = std::exchange(posting_home, task);
    task->vtable->schedule(task, ScheduleInfo());
    posting_home = outer;
    return;
  }
  const RunningScope running({.task = task,
                              .locals = task->locals(),
                              .may_block = ThisThreadRuns().may_block});
  task->state.BeginRun();
  DestroyTask(task);
}

void RefuseRunnable(TaskHeader* task) {
  task->refused = true;
  DropRunnable(task);
}

bool PollJoin(TaskHeader* task, Context& cx) {
  if (!cx.HasBudget()) return false;
  TaskState& state = task->state;
  if ((state.Load() & kDone) == 0 && state.ClaimJoinWaker()) {
    if (!task->join_waker.WillWake(cx.waker())) task->join_waker = cx.waker();
    if (state.PublishJoinWaker()) return false;
    task->join_waker = Waker();
  }
  cx.Charge();
  return true;
}

void CancelTask(TaskHeader* task) {
  Act(task, task->state.Cancel());
  if (task->vtable->on_cancel != nullptr) task->vtable->on_cancel(task);
}

void DropHandle(TaskHeader* task) {
  static_cast<void>(ReleaseHandle(task));
  UnrefTask(task);
}

void DetachHandle(TaskHeader* task) {
  CheckNotEmpty(task);
#ifndef NDEBUG
  WEFT_CHECK(
      !task->borrows,
      "a coroutine was detached that may outlive what it borrows: it "
      "takes references, pointers or views, or is a member function, or "
      "a lambda with captures that was called to make it. Pass values (a "
      "shared_ptr to the object), pass the lambda itself to Spawn(), or "
      "await the handle");
#endif
  // A task that is not finished reports its exception itself.
  std::exception_ptr exception = ReleaseHandle(task);
  if (exception != nullptr) {
    const RunningScope running(
        {.task = task, .may_block = ThisThreadRuns().may_block});
    ReportUnhandledException(std::move(exception));
  }
  UnrefTask(task);
}

std::exception_ptr TakeException(TaskHeader*& task) {
  // A copy: without its exception the task would seem to have an output.
  std::exception_ptr exception = task->exception;
  if (exception != nullptr) DropHandle(std::exchange(task, nullptr));
  return exception;
}

void RethrowIfFailed(TaskHeader*& task) {
  if (task->exception == nullptr) return;
  std::rethrow_exception(TakeException(task));
}

void CheckNotEmpty(const TaskHeader* task) {
  WEFT_CHECK(task != nullptr,
             "this handle of a task was moved from, or has given its output");
}

absl::Status NoOutputStatus(const TaskHeader* task) {
  return task->refused ? RefusedStatus() : CancelledStatus();
}

void CheckHasOutput(const TaskHeader* task) {
  WEFT_CHECK(!task->refused,
             "the awaited job was refused, because too many wait already (or "
             "the system gives no thread), and has no output; await "
             "std::move(handle).Outcome() to get a Status instead");
  WEFT_CHECK((task->state.Load() & kOutput) != 0,
             "the awaited " + task->Describe() +
                 " was dropped by its executor, or aborted, and has no output; "
                 "await std::move(handle).Outcome() to get a Status instead");
}

}  // namespace weft::task_internal
