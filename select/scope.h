// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// InScope: any number of futures inside one task, which may borrow from it.
//
//   Task<size_t> TotalSize(const std::vector<Url>& urls, Client& client) {
//     size_t total = 0;
//     co_await InScope([&](Scope& scope) -> Task<> {
//       for (const Url& url : urls) scope.Start(AddSize(client, url, total));
//       co_return;
//     });
//     co_return total;
//   }
//
// The function is called once, with a Scope; the future that it returns is the
// body. InScope() is ready, with the body's output, when the body and all that
// was started in the scope have ended. Body and children are polled by the task
// that awaits InScope(), one at a time, and only those that were woken, up to 256 in
// a poll. So they need no locks among each other, and may borrow whatever outlives
// the await, the function's captures among it. (Not the body's own variables: the
// body may end before the children. Keep the closure out of a co_await expression if
// it captures by value.)
//
// If one throws, all others are dropped, and InScope() throws that.
//
// For children that run at the same time on several threads there is TaskGroup.
//
// Thread safety: one thread at a time; Scope::Start() is called by the body and by
// the children. Movable until first polled.
// Lifetime: a Scope as long as InScope() is awaited.
// Dropping: drops the children, the newest one first, then the body: at once, and
// before whatever they borrow from.
#ifndef WEFT_SELECT_SCOPE_H_
#define WEFT_SELECT_SCOPE_H_

#include <exception>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

#include "weft/select/caught_poll.h"
#include "weft/select/guarded_poll.h"
#include "weft/select/scope_core.h"
#include "weft/task/await_trace.h"
#include "weft/task/check.h"
#include "weft/task/context.h"
#include "weft/task/counted_ref.h"
#include "weft/task/future.h"
#include "weft/task/invoke.h"
#include "weft/task/polled.h"
#include "weft/task/waker.h"

namespace weft {
namespace select_internal {

template <class T>
class ScopeChildOf : public ScopeChild {
 public:
  // What it gave; nothing before that, or if it was dropped.
  std::optional<StoredOf<T>> output;

 protected:
  using ScopeChild::ScopeChild;
};

template <Future F>
class ScopeChildWith final : public ScopeChildOf<OutputOf<F>> {
 public:
  // `make` converts to an F, which may not be movable.
  template <class Make>
  ScopeChildWith(task_internal::CountedRef<ScopeCore> core, Make&& make)
      : ScopeChildOf<OutputOf<F>>(std::move(core)) {
    future_.emplace(std::forward<Make>(make));
  }

  void Trace(AwaitTrace& trace) const override {
    if (future_.has_value()) TraceFuture(*future_, trace);
  }

 private:
  bool PollFuture(Context& cx) override {
    auto polled = future_->Poll(cx);
    if (polled.IsPending()) return false;
    this->output.emplace(TakeReady(std::move(polled)));
    return true;
  }
  void DropFuture() override { future_.reset(); }

  std::optional<F> future_;
};

}  // namespace select_internal

// A child of a Scope, seen from the body or from another child; a future of its
// output. CHECK-fails if there will be none: its scope was dropped.
// Dropping: nothing; the child goes on, and its scope waits for it.
template <class T>
class ScopedHandle {
 public:
  using Output = T;
  static constexpr bool kMovableAfterPoll = true;

  explicit ScopedHandle(
      task_internal::CountedRef<select_internal::ScopeChildOf<T>> child)
      : child_(std::move(child)) {}
  ScopedHandle(ScopedHandle&&) noexcept = default;
  ScopedHandle& operator=(ScopedHandle&&) = delete;
  ~ScopedHandle() {
    if (child_) static_cast<void>(child_->PollDone(Waker()));
  }

  Polled<T> Poll(Context& cx) {
    WEFT_CHECK(child_, "a ScopedHandle was awaited twice");
    if (!child_->PollDone(cx.waker())) return kPending;
    WEFT_CHECK(child_->output.has_value(),
               "a child of a Scope was awaited whose scope is gone");
    const auto child = std::exchange(child_, {});
    if constexpr (std::is_void_v<T>) {
      return Unit();
    } else if constexpr (std::is_reference_v<T>) {
      return child->output->get();
    } else {
      return *std::move(child->output);
    }
  }

  // See task/await_trace.h.
  void Trace(AwaitTrace& trace) const { trace.AddFuture("a child of a Scope"); }

 private:
  task_internal::CountedRef<select_internal::ScopeChildOf<T>> child_;
};

class Scope {
 public:
  Scope() : core_(new select_internal::ScopeCore) {}
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

  // Begins with `future`, or what a function returns, which is kept with it.
  template <Future F>
  ScopedHandle<OutputOf<F>> Start(F future) {
    return Add<F>(std::move(future), /*is_body=*/false);
  }
  template <class Fn>
    requires(!Future<Fn> && Future<std::invoke_result_t<Fn&>>)
  auto Start(Fn fn) {
    return Start(InvokeFuture<Fn>(std::move(fn)));
  }

 private:
  template <class Fn>
  friend class ScopeFuture;

  template <Future F, class Make>
  ScopedHandle<OutputOf<F>> Add(Make&& make, bool is_body) {
    using Child = select_internal::ScopeChildOf<OutputOf<F>>;
    task_internal::CountedRef<Child> child(
        new select_internal::ScopeChildWith<F>(core_,
                                               std::forward<Make>(make)));
    child->Ref();
    core_->Add(
        task_internal::CountedRef<select_internal::ScopeChild>(child.get()),
        is_body);
    return ScopedHandle<OutputOf<F>>(std::move(child));
  }

  task_internal::CountedRef<select_internal::ScopeCore> core_;
};

// What InScope() returns.
template <class Fn>
class [[nodiscard]] ScopeFuture {
 public:
  using Body = std::invoke_result_t<Fn&, Scope&>;
  static_assert(Future<Body>, "the function must return a future");
  using Output = OutputOf<Body>;

  explicit ScopeFuture(Fn fn) : fn_(std::move(fn)) {}
  ScopeFuture(ScopeFuture&& other) noexcept : fn_(std::move(other.fn_)) {
    WEFT_CHECK(!other.scope_.has_value(), "moved after its first poll");
  }
  ScopeFuture& operator=(ScopeFuture&&) = delete;
  ~ScopeFuture() {
    if (scope_.has_value()) scope_->core_->DropAll();
  }

  Polled<Output> Poll(Context& cx) {
    WEFT_CHECK(!scope_.has_value() || body_.has_value(),
               "a future was polled after it was ready");
    if (!scope_.has_value()) {
      scope_.emplace();
      // The function may have started children before it throws.
      select_internal::GuardedPoll(
          [&] {
            body_.emplace(
                scope_->template Add<Body>(Caller{*this}, /*is_body=*/true));
            return true;
          },
          [&] { scope_->core_->DropAll(); });
    }
    std::exception_ptr exception;
    if (!scope_->core_->PollAll(cx, exception)) return kPending;
    std::optional<ScopedHandle<Output>> body = std::move(body_);
    body_.reset();
    if (exception != nullptr) select_internal::Rethrow(exception);
    scope_->core_->DropAll();  // forgets the waker
    return body->Poll(cx);
  }

  // See task/await_trace.h.
  void Trace(AwaitTrace& trace) const {
    trace.AddFuture("InScope");
    const AwaitTrace::Scope scope(trace);
    if (scope_.has_value()) scope_->core_->Trace(trace);
  }

 private:
  // Makes the body in place: it may not be movable.
  struct Caller {
    operator Body() {  // NOLINT: implicit, for emplace
      return std::invoke(self.fn_, *self.scope_);
    }
    ScopeFuture& self;
  };

  // What comes later is destroyed first.
  Fn fn_;
  std::optional<Scope> scope_;
  std::optional<ScopedHandle<Output>> body_;  // until the end
};

// A future that calls fn(scope); see above.
template <class Fn>
ScopeFuture<Fn> InScope(Fn fn) {
  return ScopeFuture<Fn>(std::move(fn));
}

}  // namespace weft

#endif  // WEFT_SELECT_SCOPE_H_
