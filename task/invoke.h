// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// InvokeFuture: calls a function that returns a future, and owns both.
//
// A coroutine lambda reads its captures through the lambda object, which must
// therefore outlive the coroutine. Invoke(lambda, args...) keeps the lambda
// where the coroutine runs:
//
//   auto fetch = [client, url]() -> Task<Page> { co_return co_await
//   client->Get(url); }; Page page = co_await Invoke(std::move(fetch));
//
// Thread safety: one thread at a time.
// Dropping: destroys the future, then the function.
#ifndef WEFT_TASK_INVOKE_H_
#define WEFT_TASK_INVOKE_H_

#include <functional>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "weft/task/await_trace.h"
#include "weft/task/check.h"
#include "weft/task/context.h"
#include "weft/task/future.h"

namespace weft {

// Calls fn(args...) at its first poll and is then that future.
template <class Fn, class... Args>
class [[nodiscard]] InvokeFuture {
 public:
  using Inner = std::invoke_result_t<Fn&, Args...>;
  static_assert(Future<Inner>, "the function must return a future");
  using Output = typename Inner::Output;

  explicit InvokeFuture(Fn fn, Args... args)
      : fn_(std::move(fn)), args_(std::move(args)...) {}
  InvokeFuture(InvokeFuture&& other) noexcept
      : fn_(std::move(other.fn_)), args_(std::move(other.args_)) {
    WEFT_CHECK(!other.inner_.has_value(), "moved after its first poll");
  }

  // See task/await_trace.h.
  void Trace(AwaitTrace& trace) const {
    if (inner_.has_value()) {
      TraceFuture(*inner_, trace);
    } else {
      trace.AddFuture("a function that was not called yet");
    }
  }

  Polled<Output> Poll(Context& cx) {
    if (!inner_.has_value()) Call();
    return inner_->Poll(cx);
  }

 private:
  // Constructs the future in place: it may not be movable.
  struct Caller {
    operator Inner() {  // NOLINT: implicit, for emplace
      return std::apply(
          [this](Args&... args) {
            return std::invoke(self.fn_, std::move(args)...);
          },
          self.args_);
    }
    InvokeFuture& self;
  };
  void Call() { inner_.emplace(Caller{*this}); }

  Fn fn_;
  std::tuple<Args...> args_;
  std::optional<Inner> inner_;
};

// A future that calls fn(args...) and owns fn and args until it ends.
template <class Fn, class... Args>
InvokeFuture<Fn, Args...> Invoke(Fn fn, Args... args) {
  return InvokeFuture<Fn, Args...>(std::move(fn), std::move(args)...);
}

}  // namespace weft

#endif  // WEFT_TASK_INVOKE_H_
