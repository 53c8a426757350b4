// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Task<T>: a coroutine that is a future.
//
//   Task<int> Sum(Numbers numbers) {  // a stream of int
//     int sum = 0;
//     while (std::optional<int> n = co_await Next(numbers)) sum += *n;
//     co_return sum;
//   }
//
// A Task starts when it is first polled. In it, co_await takes any future and
// gives its output, or throws what its Poll threw. T may be void, a reference
// or move-only.
//
// State. The task that is polled, not awaited, is a root: it holds the context
// of the current poll and the innermost pending wait, the leaf. Awaiting an
// rvalue Task makes it part of its awaiter's root: the awaiter owns its frame,
// and control goes to it and back without any scheduler. So a wake polls one
// leaf, however deep it is. An awaited lvalue Task stays a root of its own and
// is polled like any other future: it may lose a Select, stay pending, and be
// awaited later. See docs/design/task.md.
//
// Thread safety: one thread at a time; it may be polled by another thread each
// time.
// Lifetime: movable always, also between polls. What the coroutine borrows from
// its parameters must outlive it (task/borrow.h).
// Dropping: destroys the frames innermost first, one by one, whatever the
// depth.
#ifndef WEFT_TASK_TASK_H_
#define WEFT_TASK_TASK_H_

#include <coroutine>
#include <cstddef>
#include <exception>
#include <memory>
#include <type_traits>
#include <utility>

#include "weft/task/await_trace.h"
#include "weft/task/borrow.h"
#include "weft/task/check.h"
#include "weft/task/context.h"
#include "weft/task/future.h"
#include "weft/task/polled.h"
#include "weft/task/source_location.h"
#include "weft/task/task_promise.h"

namespace weft {

template <class T = void>
class [[nodiscard("a Task does nothing until it is awaited or spawned")]] Task {
 public:
  using Output = T;
  static constexpr bool kMovableAfterPoll = true;

  Task(Task&& other) noexcept
      : coroutine_(std::exchange(other.coroutine_, {})) {}
  Task& operator=(Task&& other) noexcept {
    std::swap(coroutine_, other.coroutine_);
    return *this;
  }
  ~Task() {
    if (coroutine_) task_internal::DestroyCoroutine(coroutine_);
  }

  // Runs the coroutine until it is finished or waits for something pending.
  // Throws what the coroutine threw.
  Polled<T> Poll(Context& cx) {
    WEFT_CHECK(coroutine_, "this Task was moved from");
    if (!task_internal::DriveRoot(coroutine_, cx)) return kPending;
    return coroutine_.promise().TakeResult();
  }

  // The coroutines that are part of it, and what the innermost awaits. See
  // task/await_trace.h.
  void Trace(AwaitTrace& trace) const {
    if (coroutine_) task_internal::TraceRoot(coroutine_, trace);
  }

  // For a cell that holds this and will soon be run.
  void Prefetch(task_internal::PrefetchTag) const {
    __builtin_prefetch(coroutine_.address());
  }

  // True if the coroutine was given parameters that refer to memory it does not
  // own. See task/borrow.h.
  bool Borrows() const { return coroutine_ && coroutine_.promise().borrows; }

 private:
  friend task_internal::Promise<T>;
  friend task_internal::TaskAwaiter<T>;

  using Coroutine = std::coroutine_handle<task_internal::Promise<T>>;
  explicit Task(Coroutine coroutine) : coroutine_(coroutine) {}

  Coroutine coroutine_;
};

namespace task_internal {

// Awaits an rvalue Task: the child becomes part of the awaiting root.
template <class T>
class TaskAwaiter : private Link {
 public:
  explicit TaskAwaiter(Task<T>&& task) {
    WEFT_CHECK(task.coroutine_, "the awaited Task was moved from");
    child = std::exchange(task.coroutine_, {});
  }
  TaskAwaiter(const TaskAwaiter&) = delete;  // the child holds its address
  TaskAwaiter& operator=(const TaskAwaiter&) = delete;
  ~TaskAwaiter() {
    if (child) DestroyCoroutine(child);
  }

  bool await_ready() const noexcept { return false; }
  template <class P>
  Transfer await_suspend(std::coroutine_handle<P> awaiter) {
    return EnterChild(*this, awaiter, awaiter.promise());
  }
  T await_resume() {
    return *std::coroutine_handle<Promise<T>>::from_address(child.address())
                .promise()
                .TakeResult();
  }
};

// Awaits any other future, an lvalue Task included, where it stands.
// kIsLvalue: it may outlive the coroutine, pending, so nothing is promised for it.
template <class F, bool kIsLvalue>
class FutureAwaiter : private Leaf {
 public:
  FutureAwaiter(F& future, PromiseBase& promise)
      : Leaf(&PollOrTrace, promise), future_(future) {}
  FutureAwaiter(const FutureAwaiter&) = delete;  // the root holds its address
  FutureAwaiter& operator=(const FutureAwaiter&) = delete;

  bool await_ready() { return PollInPlace(*promise->root->context); }
  void await_suspend(std::coroutine_handle<> awaiter) noexcept {
    PromiseBase* root = promise->root;
    coroutine = awaiter;
    root->position.Set(this);
  }
  typename F::Output await_resume() {
    if (result_.IsPending()) RethrowFromPoll();
    return *std::move(result_);
  }

 private:
  static bool PollOrTrace(Leaf* leaf, Context* cx, AwaitTrace* trace) {
    auto* self = static_cast<FutureAwaiter*>(leaf);
    if (trace != nullptr) [[unlikely]]
      return TraceSelf(self, *trace);
    return self->PollInPlace(*cx);
  }

  // One function for both, whose only lambda compilers inline: a future that is
  // ready at once then costs the coroutine no call (7 ns instead of 13 to lock and
  // unlock a Mutex).
  bool PollInPlace(Context& cx) {
    if constexpr (kIsLvalue) {
      Context inner = cx.WithPromptness(false);
      PollInto(result_, [&] { return future_.Poll(inner); });
    } else {
      PollInto(result_, [&] { return future_.Poll(cx); });
    }
    return result_.IsReady();
  }

  // Apart, so that polls save no registers for it.
  [[gnu::noinline]] static bool TraceSelf(const FutureAwaiter* self,
                                          AwaitTrace& trace) {
    TraceFuture(self->future_, trace);
    return false;
  }

  F& future_;
  Polled<typename F::Output> result_ = kPending;
};

template <class T>
inline constexpr bool kIsTask = false;
template <class T>
inline constexpr bool kIsTask<Task<T>> = true;

template <class T>
class Promise : public PromiseWithResult<T> {
 public:
  Task<T> get_return_object() {
    return Task<T>(std::coroutine_handle<Promise>::from_promise(*this));
  }

  template <class F>
    requires Future<std::remove_reference_t<F>>
  auto await_transform(F&& future,
                       const SourceLocation& at = SourceLocation::current()) {
    this->awaits = at;
    using Bare = std::remove_reference_t<F>;
    if constexpr (kIsTask<Bare> && !std::is_lvalue_reference_v<F>) {
      return MakeTaskAwaiter(std::move(future));
    } else {
      return FutureAwaiter<Bare, std::is_lvalue_reference_v<F>>(future, *this);
    }
  }

 private:
  template <class U>
  static TaskAwaiter<U> MakeTaskAwaiter(Task<U>&& task) {
    return TaskAwaiter<U>(std::move(task));
  }
};

// The promise that a coroutine really has; adds a constant to its base. That is
// computed in a function body because a lambda is incomplete in its own: bodies
// of templates are instantiated at the end of the translation unit.
template <class T, class... Parameters>
class RecordingPromise final : public Promise<T> {
 public:
  RecordingPromise() { this->borrows = (kParameterBorrows<Parameters> || ...); }
};

}  // namespace task_internal
}  // namespace weft

template <class T, class... Parameters>
struct std::coroutine_traits<weft::Task<T>, Parameters...> {
  using promise_type = weft::task_internal::RecordingPromise<T, Parameters...>;
};

#endif  // WEFT_TASK_TASK_H_
