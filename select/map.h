// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Map: a future of what a function makes of another one's output.
//
//   auto length = Map(FetchFrom("a"), [](const Page& p) { return p.size(); });
//   auto both = co_await Join(std::move(length), Count());
//
// Where a value is needed that is a future; in a coroutine, await the one and
// call the other. The function is called once, with the output, or with nothing
// if that is void, when a future that was given as an rvalue has been destroyed.
// If the future throws, the function is not called, and Map throws that.
//
// Thread safety: one thread at a time. Lifetime: an lvalue outlives it.
// Dropping: drops the future if it holds it, and the function.
#ifndef WEFT_SELECT_MAP_H_
#define WEFT_SELECT_MAP_H_

#include <functional>
#include <type_traits>
#include <utility>

#include "weft/select/branch.h"
#include "weft/select/clause.h"
#include "weft/task/await_trace.h"
#include "weft/task/context.h"
#include "weft/task/future.h"
#include "weft/task/polled.h"

namespace weft {

// F is a future, or a reference to one.
template <class F, class Fn>
class [[nodiscard]] MapFuture {
 public:
  using Output = typename select_internal::HandlerResult<Fn, OutputOf<F>>::Type;
  static constexpr bool kMovableAfterPoll =
      select_internal::Branch<F>::kMovable;

  explicit MapFuture(F&& future, Fn fn)
      : future_(std::forward<F>(future)), fn_(std::move(fn)) {}

  Polled<Output> Poll(Context& cx) {
    auto polled = future_.Poll(cx);
    if (polled.IsPending()) return kPending;
    future_.Drop();
    if constexpr (std::is_void_v<Output>) {
      Call(std::move(polled));
      return Unit();
    } else {
      return Call(std::move(polled));
    }
  }

  // See task/await_trace.h.
  void Trace(AwaitTrace& trace) const {
    select_internal::TraceBranch(future_, trace);
  }

 private:
  Output Call(Polled<OutputOf<F>>&& polled) {
    if constexpr (std::is_void_v<OutputOf<F>>) {
      return std::invoke(std::move(fn_));
    } else {
      return std::invoke(std::move(fn_), *std::move(polled));
    }
  }

  select_internal::Branch<F> future_;
  Fn fn_;
};

template <select_internal::FutureArgument F, class Fn>
MapFuture<F, Fn> Map(F&& future, Fn fn) {
  return MapFuture<F, Fn>(std::forward<F>(future), std::move(fn));
}

}  // namespace weft

#endif  // WEFT_SELECT_MAP_H_
