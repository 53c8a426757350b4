// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// TaskLocal<T>: a variable that each piece of work has its own value of.
//
//   constinit TaskLocal<RequestId> request_id;
//
//   co_await request_id.Scope(id, Handle(request));
//   // anywhere in it, at any depth, whichever thread polls:
//   Log(request_id.Get());
//
// Scope(value, future) is a future that sets the variable while `future` is
// polled and while it is destroyed. Scopes nest; the innermost value counts. A
// task that is spawned inside sees none of it, unless it was spawned with
// SpawnBuilder().InheritLocals(), which gives it copies of the values whose
// types can be copied; and no task sees the values of whoever polls it.
//
// Thread safety: the variable is used from any thread; a value belongs to the
// work it was set for, and is used by one thread at a time.
// Lifetime: the variable is static, or outlives all its scopes. References to a
// value are good until its scope ends or, for inherited ones, its task's future
// is destroyed.
// Dropping: a Scope destroys its future, with the value set, then the value.
#ifndef WEFT_TASK_TASK_LOCAL_H_
#define WEFT_TASK_TASK_LOCAL_H_

#include <optional>
#include <type_traits>
#include <utility>

#include "weft/task/await_trace.h"
#include "weft/task/check.h"
#include "weft/task/context.h"
#include "weft/task/future.h"
#include "weft/task/local_list.h"
#include "weft/task/polled.h"

namespace weft {

// What TaskLocal::Scope() returns.
template <class T, Future F>
class [[nodiscard]] TaskLocalScope {
 public:
  using Output = typename F::Output;

  TaskLocalScope(const void* key, T value, F future)
      : key_(key), value_(std::move(value)), future_(std::move(future)) {}
  TaskLocalScope(TaskLocalScope&& other) noexcept
      : key_(other.key_),
        value_(std::move(other.value_)),
        future_(std::move(other.future_)) {
    WEFT_CHECK(!other.polled_, "a Scope was moved after its first poll");
  }
  ~TaskLocalScope() {
    Within([this] { future_.reset(); });
  }

  Polled<Output> Poll(Context& cx) {
    polled_ = true;
    Polled<Output> polled = kPending;
    Within([&] { polled = future_->Poll(cx); });
    return polled;
  }

  // See task/await_trace.h.
  void Trace(AwaitTrace& trace) const {
    if (future_.has_value()) TraceFuture(*future_, trace);
  }

  // See task/borrow.h.
  bool Borrows() const
    requires requires(const F& future) { future.Borrows(); }
  {
    return future_->Borrows();
  }

 private:
  template <class Fn>
  void Within(Fn fn) {
    task_internal::CallWithLocal(key_, &value_, &task_internal::kLocalType<T>,
                                 fn);
  }

  const void* const key_;
  T value_;
  bool polled_ = false;
  std::optional<F> future_;
};

template <class T>
class TaskLocal {
 public:
  constexpr TaskLocal() = default;
  TaskLocal(const TaskLocal&) = delete;  // its address is its identity
  TaskLocal& operator=(const TaskLocal&) = delete;

  // A future that is `future`, with this variable set to `value` in it.
  template <Future F>
  TaskLocalScope<T, F> Scope(T value, F future) const {
    return TaskLocalScope<T, F>(this, std::move(value), std::move(future));
  }

  // Returns fn(), called with this variable set to `value`. In a fiber or a
  // coroutine fn() does not suspend.
  template <class Fn>
  std::invoke_result_t<Fn&> Call(T value, Fn fn) const {
    Polled<std::invoke_result_t<Fn&>> result = kPending;
    auto call = [&] {
      if constexpr (std::is_void_v<std::invoke_result_t<Fn&>>) {
        fn();
        result = Unit();
      } else {
        result = Polled<std::invoke_result_t<Fn&>>(fn());
      }
    };
    task_internal::CallWithLocal(this, &value, &task_internal::kLocalType<T>,
                                 call);
    return *std::move(result);
  }

  // The value. CHECK-fails where none is set.
  T& Get() const {
    T* value = TryGet();
    WEFT_CHECK(value != nullptr,
               "this TaskLocal has no value here: set it with Scope(), and "
               "spawn with SpawnBuilder().InheritLocals() to hand it on");
    return *value;
  }
  // Null where none is set.
  T* TryGet() const { return static_cast<T*>(task_internal::FindLocal(this)); }
};

}  // namespace weft

#endif  // WEFT_TASK_TASK_LOCAL_H_
