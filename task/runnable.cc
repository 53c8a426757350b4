// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Algorithm: every step is a transition of task/task_state.h, or for a task that
// is bound to a thread of task/local_task_state.h; this file does what the
// transition says must be done next. The two have methods of the same names; the
// templates here are used with TaskState, LocalTaskState and its Remote.
#include "weft/task/runnable.h"

#include <cstdint>
#include <exception>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "weft/task/check.h"
#include "weft/task/context.h"
#include "weft/task/environment.h"
#include "weft/task/local_list.h"
#include "weft/task/local_task_state.h"
#include "weft/task/probes.h"
#include "weft/task/running.h"
#include "weft/task/task_cell.h"
#include "weft/task/task_state.h"
#include "weft/task/unhandled_exception.h"
#include "weft/task/waker.h"

namespace weft::task_internal {
namespace {

constexpr char kRunElsewhere[] =
    "a Runnable of SpawnLocalOn was run on another thread; run it on the "
    "thread that spawned it";

void Schedule(TaskHeader* task, void* runnable) {
  task->vtable->schedule(runnable, ScheduleInfo());
}

bool OnForeignThread(const TaskHeader* task) {
  return task->thread != nullptr && task->thread != ThisThread();
}

using RemoteState = LocalTaskState::Remote;

// Does what a transition of `state` says. Elsewhere than at home, a task is
// scheduled by a message.
template <class State>
void Act(TaskHeader* task, const State&, Then then) {
  constexpr bool kSends = std::is_same_v<State, RemoteState>;
  if (then == Then::kSchedule) {
    Schedule(task, kSends ? MessageTo(task) : task);
  }
  if (then == Then::kFree) task->vtable->free(task);
}

// Calls `use` with the state of the task, as the calling thread may use it.
template <class Use>
auto WithState(TaskHeader* task, Use use) {
  if (task->thread == nullptr) return use(task->shared);
  if (!OnForeignThread(task)) return use(task->local);
  RemoteState remote(task->local);
  return use(remote);
}

// If this thread is running the task, remembers the wake: the common kind of
// yield needs no transition.
bool WakeByItself(TaskHeader* task) {
  Running& running = ThisThreadRuns();
  if (running.task != task) return false;
  running.woken = true;
  return true;
}

// The wakers of a kind of task. Two tables, so that neither kind pays for the
// other.
template <bool kLocal>
struct WakerOf {
  static Waker Clone(void* data) {
    auto* task = static_cast<TaskHeader*>(data);
    RefTask(task);
    return Waker(&kTable, task);
  }
  static void Wake(void* data) {
    if (WakeByItself(static_cast<TaskHeader*>(data))) return Drop(data);
    WithStateOf(data, [](TaskHeader* task, auto& state) {
      Act(task, state, state.Wake(/*consume=*/true));
    });
  }
  static void WakeByRef(void* data) {
    if (WakeByItself(static_cast<TaskHeader*>(data))) return;
    WithStateOf(data, [](TaskHeader* task, auto& state) {
      Act(task, state, state.Wake(/*consume=*/false));
    });
  }
  static void Drop(void* data) {
    WithStateOf(data, [](TaskHeader* task, auto& state) {
      Act(task, state, state.Unref());
    });
  }

  template <class Use>
  static void WithStateOf(void* data, Use use) {
    auto* task = static_cast<TaskHeader*>(data);
    if constexpr (!kLocal) {
      use(task, task->shared);
    } else if (!OnForeignThread(task)) {
      use(task, task->local);
    } else {
      RemoteState remote(task->local);
      use(task, remote);
    }
  }

  static constexpr WakerVTable kTable = {
      .clone = &Clone, .wake = &Wake, .wake_by_ref = &WakeByRef, .drop = &Drop};
};

const WakerVTable* WakerTableOf(const TaskHeader* task) {
  return task->thread == nullptr ? &WakerOf<false>::kTable
                                 : &WakerOf<true>::kTable;
}

void ReleaseLocals(TaskHeader* task) {
  if (task->locals() == nullptr) return;
  ThisThreadRuns().locals = nullptr;
  task->extras->locals = InheritedLocals();
}

// The future has been destroyed; the output, if any, is stored. Ends the task
// and gives up the reference of the owner or of home.
template <class State>
void FinishTask(TaskHeader* task, State& state, RunningScope& running,
                uint64_t output, TaskEnd end) {
  ReleaseLocals(task);
  ProbeTaskEnd(*task, end);
  if (task->vtable->on_gone != nullptr) task->vtable->on_gone(task, end);
  running.TaskIsOver();
  const uint64_t before = state.Finish(output);
  if (!State::KeptReference(before)) return;
  if ((before & kJoinWaker) != 0) std::move(task->join_waker).Wake();
  if ((before & kHandle) == 0 && output != 0) {
    std::exception_ptr exception = std::move(task->exception);
    if (exception == nullptr) {
      task->vtable->destroy_output(task);
    } else if ((before & kCancelled) == 0) {
      ReportUnhandledException(std::move(exception));
    }
  }
  Act(task, state, state.Unref());
}

template <class State>
void DestroyTask(TaskHeader* task, State& state, RunningScope& running,
                 TaskEnd end) {
  task->vtable->destroy_future(task);
  FinishTask(task, state, running, 0, end);
}

// As the transition has said that gave kDestroy.
template <class State, class Observer>
void DestroyAsTold(TaskHeader* task, State& state, RunningScope& running,
                   Observer& observer) {
  const bool forgotten = state.IsForgotten();
  if (forgotten) observer.BeforeForgotten(*task);
  DestroyTask(task, state, running,
              forgotten ? TaskEnd::kForgotten : TaskEnd::kCancelled);
}

// Inlined, though there are several who call it: it is in the way of each poll.
[[gnu::always_inline]] inline bool PollCatching(TaskHeader* task, Context& cx) {
#if defined(__cpp_exceptions)
  try {
    return task->vtable->poll(task, cx);
  } catch (...) {
    task->exception = std::current_exception();
  }
  PollIsOver();
  task->vtable->destroy_future(task);
  return true;
#else
  return task->vtable->poll(task, cx);
#endif
}

struct NoObserver {
  void BeforePoll(TaskHeader&) {}
  void AfterPoll(TaskHeader&) {}
  void BeforeForgotten(TaskHeader&) {}
};

// Polls, or destroys, as BeginRun has said. Who has no observer pays for none.
template <class State, class Observer>
bool RunBegun(TaskHeader* task, State& state, Then begun, uint32_t units,
              Observer& observer) {
  RunningScope running({.task = task,
                        .locals = task->locals(),
                        .may_block = false,
                        .polls = begun == Then::kPoll});
  if (begun == Then::kDestroy) {
    DestroyAsTold(task, state, running, observer);
    return false;
  }
  const BorrowedWaker waker(WakerTableOf(task), task);
  Budget budget(units);
  const Environment& environment = Environment::Current();
  Context cx = Context(waker.get(), &budget, &environment).WithPromptness(true);
  ProbeTaskPollBegin(*task);
  observer.BeforePoll(*task);
  const bool ready = PollCatching(task, cx);
  observer.AfterPoll(*task);
  ProbeTaskPollEnd(*task, ready);
  WEFT_CHECK(&Environment::Current() == &environment,
             "a task was suspended inside an EnvironmentScope or EnterGuard, "
             "which other tasks would see: do not hold one across co_await");
  if (ready) {
    FinishTask(
        task, state, running, kOutput,
        task->exception == nullptr ? TaskEnd::kFinished : TaskEnd::kThrew);
    return false;
  }
  running.TaskIsOver();
  if (task->vtable->on_pending != nullptr) task->vtable->on_pending(task);
  switch (state.Suspend(running.woken())) {
    case Then::kReschedule:
      running.LeaveTask();  // another thread may have it now
      task->vtable->schedule(task, ScheduleInfo{.woken_while_running = true});
      return true;
    case Then::kDestroy:
      DestroyAsTold(task, state, running, observer);
      return false;
    default:
      return false;
  }
}

template <class Observer>
bool RunHome(TaskHeader* task, uint32_t units, Observer& observer) {
  return RunBegun(task, task->local, task->local.BeginRun(), units, observer);
}

// A message is received on any thread once its task has ended.
bool ReceiveHere(TaskHeader* task, bool cancel) {
  const Then then = task->local.Receive(cancel);
  if (then == Then::kFree) task->vtable->free(task);
  return then == Then::kSchedule;
}

template <class Observer>
bool RunAnywhere(void* runnable, uint32_t units, Observer& observer) {
  TaskHeader* task = TaskOf(runnable);
  if (task->thread == nullptr) {
    return RunBegun(task, task->shared, task->shared.BeginRun(), units,
                    observer);
  }
  if (IsMessage(runnable)) {
    if (!ReceiveMessage(runnable)) return false;
  } else {
    WEFT_CHECK(!OnForeignThread(task), kRunElsewhere);
  }
  return RunHome(task, units, observer);
}

// Instead of a run.
template <class State>
void DestroyUnrun(TaskHeader* task, State& state) {
  RunningScope running({.task = task,
                        .locals = task->locals(),
                        .may_block = ThisThreadRuns().may_block});
  state.BeginRun();
  DestroyTask(task, state, running, TaskEnd::kCancelled);
}

// The task whose Runnable this thread is posting home.
constinit thread_local TaskHeader* posting_home = nullptr;

void DropElsewhere(TaskHeader* task, void* runnable) {
  if (posting_home == task) return;  // home is gone: leak, as documented
  if (!RemoteState(task->local).CancelByRunnable()) {
    ReceiveHere(task, /*cancel=*/true);
    return;
  }
  TaskHeader* outer = std::exchange(posting_home, task);
  Schedule(task, runnable);
  posting_home = outer;
}

// Gives up the handle of a task that is not finished or awaited, with its reference:
// most of those that are detached. False if it is another.
bool TryReleaseHandle(TaskHeader* task) {
  if (task->thread != nullptr) return false;
  Then then = Then::kNothing;
  if (!task->shared.TryReleaseHandle(then)) return false;
  Act(task, task->shared, then);
  return true;
}

// Gives up the handle, but not its reference, and what the task left if it is
// finished; returns the exception among that.
std::exception_ptr ReleaseHandle(TaskHeader* task) {
  const uint64_t before =
      WithState(task, [](auto& state) { return state.DropHandle(); });
  std::exception_ptr exception;
  if ((before & kDone) == 0) {
    if ((before & kJoinWaker) != 0) task->join_waker = Waker();
  } else if ((before & kOutput) != 0) {
    exception = std::move(task->exception);
    if (exception == nullptr) task->vtable->destroy_output(task);
  }
  return exception;
}

}  // namespace

[[gnu::noinline]] const void* ThisThread() {
  alignas(2) constinit static thread_local char marker = 0;
  return &marker;
}

void RefTask(TaskHeader* task) {
  if (task->thread == nullptr) {
    task->shared.Ref();
  } else {
    task->local.Ref();
  }
}

void UnrefTask(TaskHeader* task) {
  WithState(task, [task](auto& state) { Act(task, state, state.Unref()); });
}

Waker MakeTaskWaker(TaskHeader* task) {
  RefTask(task);
  return Waker(WakerTableOf(task), task);
}

bool RunLocalTask(TaskHeader* task, uint32_t units) {
  NoObserver nobody;
  return RunHome(task, units, nobody);
}

bool RunLocalTask(TaskHeader* task, uint32_t units, PollObserver& observer) {
  return RunHome(task, units, observer);
}

bool RunTask(void* runnable, uint32_t units) {
  NoObserver nobody;
  return RunAnywhere(runnable, units, nobody);
}

bool RunTask(void* runnable, uint32_t units, PollObserver& observer) {
  return RunAnywhere(runnable, units, observer);
}

bool DropRunnable(void* runnable) {
  TaskHeader* task = TaskOf(runnable);
  if (task->thread == nullptr) {
    DestroyUnrun(task, task->shared);
    return true;
  }
  if (OnForeignThread(task)) {
    DropElsewhere(task, runnable);
    return false;
  }
  if (IsMessage(runnable) && !ReceiveHere(task, /*cancel=*/true)) return false;
  DestroyUnrun(task, task->local);
  return true;
}

void RefuseRunnable(void* runnable) {
  TaskOf(runnable)->refused = true;
  DropRunnable(runnable);
}

bool ReceiveMessage(void* message) {
  TaskHeader* task = TaskOf(message);
  WEFT_CHECK(!OnForeignThread(task) || (task->local.Load() & kDone) != 0,
             kRunElsewhere);
  return ReceiveHere(task, /*cancel=*/false);
}

void DropLateRunnable(void* runnable) {
  TaskHeader* task = TaskOf(runnable);
  if (IsMessage(runnable) && !ReceiveHere(task, /*cancel=*/true)) return;
  DestroyUnrun(task, task->local);
}

bool PollJoin(TaskHeader* task, Context& cx) {
  if (!cx.HasBudget()) return false;
  const bool finished = WithState(task, [task, &cx](auto& state) {
    if ((state.Load() & kDone) != 0 || !state.ClaimJoinWaker()) return true;
    if (!task->join_waker.WillWake(cx.waker())) task->join_waker = cx.waker();
    if (state.PublishJoinWaker()) return false;
    task->join_waker = Waker();
    return true;
  });
  if (finished) cx.Charge();
  return finished;
}

void CancelTask(TaskHeader* task) {
  WithState(task, [task](auto& state) { Act(task, state, state.Cancel()); });
  if (task->vtable->on_cancel != nullptr) task->vtable->on_cancel(task);
}

void DropHandle(TaskHeader* task) {
  if (TryReleaseHandle(task)) return;
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
  if (TryReleaseHandle(task)) return;
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
  if (task->refused) {
    return absl::ResourceExhaustedError(
        task->Describe() +
        " was refused: too many wait already, or the system gives no thread");
  }
  return absl::CancelledError(
      task->Describe() + " was cancelled: aborted, or dropped by its executor");
}

void CheckHasOutput(const TaskHeader* task) {
  WEFT_CHECK(!task->refused,
             "the awaited job was refused, because too many wait already (or "
             "the system gives no thread), and has no output; await "
             "std::move(handle).Outcome() to get a Status instead");
  WEFT_CHECK((LoadState(task) & kOutput) != 0,
             "the awaited " + task->Describe() +
                 " was dropped by its executor, or aborted, and has no output; "
                 "await std::move(handle).Outcome() to get a Status instead");
}

}  // namespace weft::task_internal
