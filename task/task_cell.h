// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The memory of one spawned task: state word, future or output, schedule
// function and metadata in one block. Internal; see task/runnable.h.
//
// A task that any thread may run has the state of task/task_state.h, one that is
// bound to a thread that of task/local_task_state.h; the bits mean the same.
// Access rules:
//   future     the owner (kScheduled), until kDone.
//   output,    the owner until kDone; then whoever
//   obligation 4 exception  of task_state.h names. join_waker see kJoinWaker.
//   the rest   read-only once the first Runnable is used; metadata is the
//   executor's business, the inherited locals are that of who may touch the
//   future.
#ifndef WEFT_TASK_TASK_CELL_H_
#define WEFT_TASK_TASK_CELL_H_

#include <concepts>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "weft/task/await_trace.h"
#include "weft/task/borrow.h"
#include "weft/task/context.h"
#include "weft/task/frame_cache.h"
#include "weft/task/future.h"
#include "weft/task/local_task_state.h"
#include "weft/task/polled.h"
#include "weft/task/running.h"
#include "weft/task/task_identity.h"
#include "weft/task/task_state.h"
#include "weft/task/waker.h"

namespace weft {

// What a schedule function may know about why it is called.
struct ScheduleInfo {
  // The task was woken while it was running (a yield, most likely), and its
  // runner is the caller.
  bool woken_while_running = false;
};

// How a task ended.
enum class TaskEnd {
  kFinished,   // its future was ready
  kThrew,      // its poll threw
  kCancelled,  // its future was destroyed before: aborted, or dropped by its
               // handle or its executor
  kForgotten,  // the same, since nobody was left who could wake it or wait for it
};

namespace task_internal {

struct TaskHeader;

struct TaskVTable {
  // Polls; when ready destroys the future, stores the output and returns true.
  // If the poll throws, the future is still there.
  bool (*poll)(TaskHeader* task, Context& cx);
  void (*destroy_future)(TaskHeader* task) noexcept;
  void (*destroy_output)(TaskHeader* task) noexcept;
  void* (*output)(TaskHeader* task);
  // Hands on the Runnable `runnable`, which the caller owns; see TaskOf.
  void (*schedule)(void* runnable, ScheduleInfo info) noexcept;
  void (*on_pending)(TaskHeader* task);            // may be null
  void (*on_gone)(TaskHeader* task, TaskEnd end);  // may be null
  void (*on_cancel)(TaskHeader* task);             // may be null
  // Adds what the future waits for; by who may touch it, and signals to its poll.
  void (*trace)(const TaskHeader* task, AwaitTrace& trace);
  void (*free)(TaskHeader* task) noexcept;
};

// Identifies the calling thread while it lives.
const void* ThisThread();

struct TaskHeader : TaskIdentity {
  TaskHeader(const TaskVTable* vtable, const void* thread, bool borrows)
      : borrows(borrows), vtable(vtable), thread(thread) {
    if (thread == nullptr) {
      new (&shared) TaskState;
    } else {
      new (&local) LocalTaskState(thread == ThisThread());
    }
  }

  // First, beside those of the base.
  const bool borrows;    // see task/borrow.h
  bool refused = false;  // see RefuseRunnable; as the output
  union {
    TaskState shared;      // if `thread` is null
    LocalTaskState local;  // else
  };
  const TaskVTable* const vtable;
  const void* const thread;  // the only one that may run it, or null
  Waker join_waker;
  std::exception_ptr exception;
};

template <class M>
struct TaskHeaderWith : TaskHeader {
  template <class... Args>
  explicit TaskHeaderWith(M metadata, Args... args)
      : TaskHeader(args...), metadata(std::move(metadata)) {}

  [[no_unique_address]] M metadata;
};

// Runnable's pointer is the task's; that of a message, which brings home what
// other threads want of a thread-bound task, is one byte beyond.
inline void* MessageTo(TaskHeader* task) {
  return reinterpret_cast<char*>(task) + 1;
}
inline bool IsMessage(const void* runnable) {
  return (reinterpret_cast<uintptr_t>(runnable) & 1) != 0;
}
inline TaskHeader* TaskOf(void* runnable) {
  return static_cast<TaskHeader*>(static_cast<void*>(
      static_cast<char*>(runnable) - (IsMessage(runnable) ? 1 : 0)));
}
// The first Runnable of a new task.
inline void* FirstRunnable(TaskHeader* task) {
  const bool sent = task->thread != nullptr && task->local.IsSent();
  return sent ? MessageTo(task) : task;
}

// Brings the cell of a Runnable that will soon be run into the cache: where many
// are ready, waiting for memory is most of what a short poll costs. Any address
// will do, also null, to which no offset may be added.
inline void PrefetchRunnable(const void* runnable) {
  __builtin_prefetch(runnable);
  const uintptr_t address = reinterpret_cast<uintptr_t>(runnable);
  __builtin_prefetch(reinterpret_cast<const void*>(address + 64));
}

// Is told of a poll, on its thread, while the task is the one that runs there: just
// before, and after it has returned or thrown. A ready task's future is gone by then,
// but its end has not been told to anybody yet.
class PollObserver {
 public:
  virtual void BeforePoll(TaskHeader& task) noexcept = 0;
  virtual void AfterPoll(TaskHeader& task) noexcept = 0;
  // Instead of a poll, or after it: the future is destroyed next, as TaskEnd says.
  virtual void BeforeForgotten(TaskHeader& task) noexcept = 0;

 protected:
  ~PollObserver() = default;
};

// See Runnable. DropRunnable: true if that has destroyed the future.
bool RunTask(void* runnable, uint32_t budget);
bool RunTask(void* runnable, uint32_t budget, PollObserver& observer);
bool DropRunnable(void* runnable);
void RefuseRunnable(void* runnable);
Waker MakeTaskWaker(TaskHeader* task);

// One reference more, made from one that the caller has; one less.
void RefTask(TaskHeader* task);
void UnrefTask(TaskHeader* task);

// For the executors of thread-bound tasks. A message has come home: true if the
// task's home Runnable, `TaskOf(message)`, is the caller's now.
bool ReceiveMessage(void* message);
// RunTask of a home Runnable, at home.
bool RunLocalTask(TaskHeader* task, uint32_t budget);
bool RunLocalTask(TaskHeader* task, uint32_t budget, PollObserver& observer);
// Drops a Runnable whose executor is closed, on any thread. The task was never
// run, or it is done.
void DropLateRunnable(void* runnable);

// The bits of the task's state that say whether and how it has ended; others may
// be there or not.
inline uint64_t LoadState(const TaskHeader* task) {
  return task->thread == nullptr ? task->shared.Load() : task->local.Load();
}

// See JoinHandle.
bool PollJoin(TaskHeader* task, Context& cx);
void CancelTask(TaskHeader* task);
void DropHandle(TaskHeader* task);
void DetachHandle(TaskHeader* task);
// If the finished task has an exception, drops the handle `task`, which becomes
// null, and returns the exception; or rethrows it.
std::exception_ptr TakeException(TaskHeader*& task);
void RethrowIfFailed(TaskHeader*& task);
void CheckNotEmpty(const TaskHeader* task);
void CheckHasOutput(const TaskHeader* task);
// Why a finished task has no output.
absl::Status NoOutputStatus(const TaskHeader* task);

template <class F, class S, class M, class R>
class TaskCell final : public TaskHeaderWith<M> {
 public:
  using Output = UnitIfVoid<typename F::Output>;
  // A reference is stored as a pointer.
  using Stored = std::conditional_t<std::is_reference_v<Output>,
                                    std::remove_reference_t<Output>*, Output>;

  static TaskHeader* Make(F&& future, S&& schedule, M&& metadata,
                          const void* thread) {
    return new TaskCell(std::move(future), std::move(schedule),
                        std::move(metadata), thread);
  }

  static void* operator new(size_t size) {
    if constexpr (alignof(TaskCell) > kFrameAlignment) {
      return ::operator new(size, std::align_val_t(alignof(TaskCell)));
    } else {
      return AllocateFrame(size);
    }
  }
  static void operator delete(void* block) {
    if constexpr (alignof(TaskCell) > kFrameAlignment) {
      ::operator delete(block, std::align_val_t(alignof(TaskCell)));
    } else {
      FreeFrame(block, sizeof(TaskCell));
    }
  }

  ~TaskCell() {}  // the union's member is destroyed by hand

 private:
  TaskCell(F&& future, S&& schedule, M&& metadata, const void* thread)
      : TaskHeaderWith<M>(std::move(metadata), &kVTable, thread,
                          FutureBorrows(future)),
        schedule_(std::move(schedule)),
        future_(std::move(future)) {
    if constexpr (requires { M::kIsJob; }) this->is_job = M::kIsJob;
  }

  static TaskCell* Of(TaskHeader* task) { return static_cast<TaskCell*>(task); }

  static bool Poll(TaskHeader* task, Context& cx) {
    Polled<typename F::Output> polled = Of(task)->future_.Poll(cx);
    if (polled.IsPending()) return false;
    StoreOutput(task, std::move(polled));
    return true;
  }
  // The output takes the future's place. An output whose move throws ends the
  // program.
  static void StoreOutput(TaskHeader* task,
                          Polled<typename F::Output> polled) noexcept {
    PollIsOver();
    DestroyFuture(task);
    void* place = std::addressof(Of(task)->output_);
    if constexpr (std::is_reference_v<Output>) {
      new (place) Stored(std::addressof(*polled));
    } else {
      new (place) Stored(TakeReady(std::move(polled)));
    }
  }
  static void DestroyFuture(TaskHeader* task) noexcept {
    std::destroy_at(std::addressof(Of(task)->future_));
  }
  static void DestroyOutput(TaskHeader* task) noexcept {
    std::destroy_at(std::addressof(Of(task)->output_));
  }
  static void* OutputOf(TaskHeader* task) {
    return std::addressof(Of(task)->output_);
  }
  static void Schedule(void* runnable, ScheduleInfo info) noexcept {
    TaskHeader* task = TaskOf(runnable);
    if constexpr (requires { Of(task)->future_.Prefetch(PrefetchTag()); }) {
      // A message does not own the future, which may be running at home.
      if (!info.woken_while_running && !IsMessage(runnable)) {
        Of(task)->future_.Prefetch(PrefetchTag());
      }
    }
    // The Runnable may be run, and the cell freed, while the schedule function
    // is still busy: it works on a copy, or on a reference of its own.
    if constexpr (std::is_trivially_copyable_v<S>) {
      S schedule = Of(task)->schedule_;
      CallSchedule(schedule, runnable, info);
    } else {
      const Waker keep_alive = MakeTaskWaker(task);
      CallSchedule(Of(task)->schedule_, runnable, info);
    }
  }
  static void CallSchedule(S& schedule, void* runnable, ScheduleInfo info) {
    if constexpr (std::invocable<S&, R, ScheduleInfo>) {
      schedule(R::FromRaw(runnable), info);
    } else {
      schedule(R::FromRaw(runnable));
    }
  }
  static void OnPending(TaskHeader* task) { Of(task)->metadata.OnPending(); }
  static void OnGone(TaskHeader* task, TaskEnd end) {
    if constexpr (requires(M& m) { m.OnGone(end); }) {
      Of(task)->metadata.OnGone(end);
    } else {
      Of(task)->metadata.OnGone();
    }
  }
  static void OnCancel(TaskHeader* task) { Of(task)->metadata.OnCancel(); }
  static void Trace(const TaskHeader* task, AwaitTrace& trace) {
    // Debuggers find the type of the cell by this name (tools/gdb/weft_gdb.py).
    const auto* self = static_cast<const TaskCell*>(task);
    TraceFuture(self->future_, trace);
  }
  static void Free(TaskHeader* task) noexcept { delete Of(task); }

  static constexpr TaskVTable MakeVTable() {
    TaskVTable vtable = {&Poll,     &DestroyFuture, &DestroyOutput, &OutputOf,
                         &Schedule, nullptr,        nullptr,        nullptr,
                         &Trace,    &Free};
    if constexpr (requires(M& m) { m.OnPending(); }) {
      vtable.on_pending = &OnPending;
    }
    if constexpr (
        requires(M& m) { m.OnGone(); } ||
        requires(M& m) { m.OnGone(TaskEnd()); }) {
      vtable.on_gone = &OnGone;
    }
    if constexpr (requires(M& m) { m.OnCancel(); }) {
      vtable.on_cancel = &OnCancel;
    }
    return vtable;
  }
  static const TaskVTable kVTable;

  [[no_unique_address]] S schedule_;
  union {
    F future_;
    Stored output_;
  };
};

template <class F, class S, class M, class R>
constexpr TaskVTable TaskCell<F, S, M, R>::kVTable =
    TaskCell<F, S, M, R>::MakeVTable();

}  // namespace task_internal
}  // namespace weft

#endif  // WEFT_TASK_TASK_CELL_H_
