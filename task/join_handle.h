// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// JoinHandle<T>: a spawned task, seen from outside; a future of its output.
//
//   JoinHandle<int> handle = Spawn(Count());
//   int n = co_await handle;
//
// Awaiting rethrows what the task threw. If the task was cancelled by an
// AbortHandle or by its executor (which was destroyed, or dropped the task's
// Runnable) awaiting CHECK-fails; Outcome() gives a Status instead, and Result()
// the exception as well.
//
// Thread safety: one thread at a time; it may move between threads, also after
// it has been polled. Lifetime: independent of the executor. Dropping: cancels
// the task. Its future is destroyed where the task runs: soon, not at once. What
// the task has thrown, or throws before that, goes unreported. Detach() lets it
// run, and reports; co_await std::move(handle).Cancel() waits until the future is
// gone. Dropping a pending await of a handle that is named loses nothing; the
// handle can be awaited again.
#ifndef WEFT_TASK_JOIN_HANDLE_H_
#define WEFT_TASK_JOIN_HANDLE_H_

#include <exception>
#include <memory>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include "weft/task/abort_handle.h"
#include "weft/task/await_trace.h"
#include "weft/task/context.h"
#include "weft/task/future.h"
#include "weft/task/join_result.h"
#include "weft/task/outcome.h"
#include "weft/task/polled.h"
#include "weft/task/task_cell.h"
#include "weft/task/task_id.h"

namespace weft {

template <class T = void>
class JoinHandle;

namespace task_internal {
template <class T>
JoinHandle<T> MakeHandle(TaskHeader* task);
template <class T>
class CancelFuture;
template <class T>
class OutcomeFuture;
// False, but only once a template that asks is used.
template <class>
inline constexpr bool kIsRvalue = false;
template <class T>
class ResultFuture;
}  // namespace task_internal

template <class T>
class [[nodiscard(
    "a JoinHandle cancels its task when dropped; keep it or Detach() "
    "it")]] JoinHandle {
 public:
  using Output = T;
  static constexpr bool kMovableAfterPoll = true;

  JoinHandle(JoinHandle&& other) noexcept
      : task_(std::exchange(other.task_, nullptr)) {}
  JoinHandle& operator=(JoinHandle&& other) noexcept {
    std::swap(task_, other.task_);
    return *this;
  }
  ~JoinHandle() {
    if (task_ == nullptr) return;
    task_internal::CancelTask(task_);
    task_internal::DropHandle(task_);
  }

  // Ready with the task's output. Throws what the task threw.
  Polled<T> Poll(Context& cx) {
    if (!PollFinished(cx)) return kPending;
    task_internal::CheckHasOutput(task_);
    return TakeOutput();
  }

  // True once the task is finished or its future has been destroyed. Requires,
  // as all that follows: the handle was not moved from, and has not given its
  // output, by being awaited for example. Keep the id() if it is wanted later.
  bool IsFinished() const {
    task_internal::CheckNotEmpty(task_);
    return (task_internal::LoadState(task_) & task_internal::kDone) != 0;
  }

  // See task/await_trace.h.
  void Trace(AwaitTrace& trace) const {
    if (task_ != nullptr) trace.AddFuture("task", task_->id.value());
  }

  TaskId id() const {
    task_internal::CheckNotEmpty(task_);
    return task_->id;
  }
  // Empty if it has none. Valid as long as the handle has not given its output.
  std::string_view name() const {
    task_internal::CheckNotEmpty(task_);
    return task_->name();
  }

  // See task/abort_handle.h.
  AbortHandle MakeAbortHandle() const {
    task_internal::CheckNotEmpty(task_);
    return AbortHandle(task_);
  }

  // Lets the task run to its end without anybody waiting for it. What it throws
  // goes to the handler of unhandled exceptions: that of the environment it is
  // polled in or, if it has thrown already, of the caller's. In debug builds
  // CHECK-fails for a coroutine that borrows its arguments (task/borrow.h).
  void Detach() && {
    task_internal::DetachHandle(std::exchange(task_, nullptr));
  }
  template <class Unmoved = T>
  void Detach() & {
    static_assert(task_internal::kIsRvalue<Unmoved>,
                  "Detach() uses the handle up: std::move(handle).Detach()");
  }

  // Cancels the task and waits until its future is destroyed. Ready with the
  // output if the task had just finished, else with nullopt; throws what the
  // task threw. Cancels at its first poll; dropping it leaves the task
  // cancelled.
  task_internal::CancelFuture<T> Cancel() && {
    return task_internal::CancelFuture<T>(std::move(*this));
  }
  template <class Unmoved = T>
  task_internal::CancelFuture<T> Cancel() & {
    static_assert(task_internal::kIsRvalue<Unmoved>,
                  "Cancel() uses the handle up: std::move(handle).Cancel()");
    return std::move(*this).Cancel();
  }

  // Waits for the output, or for a status that names the task if there will be
  // none: Cancelled, or ResourceExhausted if a full executor refused it. A
  // Status or StatusOr output is not wrapped once more. Rethrows what the task
  // threw.
  task_internal::OutcomeFuture<T> Outcome() && {
    return task_internal::OutcomeFuture<T>(std::move(*this));
  }
  template <class Unmoved = T>
  task_internal::OutcomeFuture<T> Outcome() & {
    static_assert(task_internal::kIsRvalue<Unmoved>,
                  "Outcome() uses the handle up: std::move(handle).Outcome()");
    return std::move(*this).Outcome();
  }

  // Waits for the end, whatever it is: what the task threw is part of the
  // result, and not thrown.
  task_internal::ResultFuture<T> Result() && {
    return task_internal::ResultFuture<T>(std::move(*this));
  }
  template <class Unmoved = T>
  task_internal::ResultFuture<T> Result() & {
    static_assert(task_internal::kIsRvalue<Unmoved>,
                  "Result() uses the handle up: std::move(handle).Result()");
    return std::move(*this).Result();
  }

 private:
  friend JoinHandle task_internal::MakeHandle<T>(task_internal::TaskHeader*);
  friend task_internal::CancelFuture<T>;
  friend task_internal::OutcomeFuture<T>;
  friend task_internal::ResultFuture<T>;

  explicit JoinHandle(task_internal::TaskHeader* task) : task_(task) {}

  bool PollFinished(Context& cx) {
    task_internal::CheckNotEmpty(task_);
    return task_internal::PollJoin(task_, cx);
  }
  bool HasOutput() const {
    return (task_internal::LoadState(task_) & task_internal::kOutput) != 0;
  }
  // Requires: HasOutput(). The handle is empty afterwards.
  Polled<T> TakeOutput();

  task_internal::TaskHeader* task_;
};

namespace task_internal {

template <class T>
JoinHandle<T> MakeHandle(TaskHeader* task) {
  return JoinHandle<T>(task);
}

template <class T>
class [[nodiscard]] CancelFuture {
 public:
  using Output = std::optional<StoredOf<T>>;
  static constexpr bool kMovableAfterPoll = true;

  explicit CancelFuture(JoinHandle<T> handle) : handle_(std::move(handle)) {
    CheckNotEmpty(handle_.task_);
  }

  Polled<Output> Poll(Context& cx) {
    if (!std::exchange(cancelled_, true)) CancelTask(handle_.task_);
    if (!handle_.PollFinished(cx)) return kPending;
    if (!handle_.HasOutput()) return Output();
    return Output(TakeReady(handle_.TakeOutput()));
  }

  void Trace(AwaitTrace& trace) const { handle_.Trace(trace); }

 private:
  JoinHandle<T> handle_;
  bool cancelled_ = false;
};

template <class T>
class [[nodiscard]] OutcomeFuture {
 public:
  using Output = OutcomeOf<T>;
  static constexpr bool kMovableAfterPoll = true;

  explicit OutcomeFuture(JoinHandle<T> handle) : handle_(std::move(handle)) {
    CheckNotEmpty(handle_.task_);
  }

  Polled<Output> Poll(Context& cx) {
    if (!handle_.PollFinished(cx)) return kPending;
    if (!handle_.HasOutput()) return Output(NoOutputStatus(handle_.task_));
    return MakeOutcome(handle_.TakeOutput());
  }

  void Trace(AwaitTrace& trace) const { handle_.Trace(trace); }

 private:
  JoinHandle<T> handle_;
};

template <class T>
class [[nodiscard]] ResultFuture {
 public:
  using Output = JoinResult<T>;
  static constexpr bool kMovableAfterPoll = true;

  explicit ResultFuture(JoinHandle<T> handle) : handle_(std::move(handle)) {
    CheckNotEmpty(handle_.task_);
  }

  Polled<Output> Poll(Context& cx) {
    if (!handle_.PollFinished(cx)) return kPending;
    const TaskId id = handle_.id();
    if (!handle_.HasOutput()) {
      return Output(id, std::nullopt, nullptr, NoOutputStatus(handle_.task_));
    }
    std::exception_ptr exception = TakeException(handle_.task_);
    if (exception != nullptr) {
      return Output(id, std::nullopt, std::move(exception));
    }
    return Output(id, std::optional<typename Output::Value>(
                          std::in_place, TakeReady(handle_.TakeOutput())));
  }

  void Trace(AwaitTrace& trace) const { handle_.Trace(trace); }

 private:
  JoinHandle<T> handle_;
};

}  // namespace task_internal

template <class T>
Polled<T> JoinHandle<T>::TakeOutput() {
  // No cleanup by scope: the exception may pass through code that was compiled
  // without exceptions.
  task_internal::RethrowIfFailed(task_);
  void* output = task_->vtable->output(task_);
  if constexpr (std::is_void_v<T>) {
    task_internal::DropHandle(std::exchange(task_, nullptr));
    return Unit();
  } else if constexpr (std::is_reference_v<T>) {
    T value = **static_cast<std::remove_reference_t<T>**>(output);
    task_internal::DropHandle(std::exchange(task_, nullptr));
    return value;
  } else {
    Polled<T> value(std::move(*static_cast<T*>(output)));
    task_internal::DropHandle(std::exchange(task_, nullptr));
    return value;
  }
}

}  // namespace weft

#endif  // WEFT_TASK_JOIN_HANDLE_H_
