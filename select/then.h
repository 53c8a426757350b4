// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Then: a future, and what follows from its output, as one future.
//
//   auto page = Then(Resolve(name), [](Address a) { return Fetch(a); });
//   auto first = co_await Race(std::move(page), FromCache(name));
//
// Where a value is needed that is a future and allocates nothing; in a
// coroutine, await the one and then the other. The function is called once, with
// the first future's output, or with nothing if that is void, and returns the
// second. A first one that was given as an rvalue has been destroyed by then,
// the second one is as soon as it is ready. If either throws, Then throws that.
//
// Thread safety: one thread at a time. Lifetime: an lvalue outlives it.
// Dropping: drops whichever future it has come to, and the function.
#ifndef WEFT_SELECT_THEN_H_
#define WEFT_SELECT_THEN_H_

#include <optional>
#include <utility>

#include "weft/select/branch.h"
#include "weft/select/map.h"
#include "weft/task/await_trace.h"
#include "weft/task/check.h"
#include "weft/task/context.h"
#include "weft/task/future.h"
#include "weft/task/polled.h"

namespace weft {

// F is a future, or a reference to one; Fn returns a future.
template <class F, class Fn>
class [[nodiscard]] ThenFuture {
 public:
  using Second = typename MapFuture<F, Fn>::Output;
  static_assert(Future<Second>, "the function of a Then returns a future");
  using Output = typename Second::Output;
  static constexpr bool kMovableAfterPoll =
      MapFuture<F, Fn>::kMovableAfterPoll && weft::kMovableAfterPoll<Second>;

  explicit ThenFuture(F&& future, Fn fn)
      : first_(std::in_place, std::forward<F>(future), std::move(fn)) {}

  Polled<Output> Poll(Context& cx) {
    if (first_.has_value()) {
      Polled<Second> polled = first_->Poll(cx);
      if (polled.IsPending()) return kPending;
      first_.reset();
      second_.emplace(*std::move(polled));
    }
    WEFT_CHECK(second_.has_value(), "a future was polled after it was ready");
    Polled<Output> polled = second_->Poll(cx);
    if (polled.IsReady()) second_.reset();
    return polled;
  }

  // See task/await_trace.h.
  void Trace(AwaitTrace& trace) const {
    if (first_.has_value()) TraceFuture(*first_, trace);
    if (second_.has_value()) TraceFuture(*second_, trace);
  }

 private:
  std::optional<MapFuture<F, Fn>> first_;
  std::optional<Second> second_;
};

template <select_internal::FutureArgument F, class Fn>
ThenFuture<F, Fn> Then(F&& future, Fn fn) {
  return ThenFuture<F, Fn>(std::forward<F>(future), std::move(fn));
}

}  // namespace weft

#endif  // WEFT_SELECT_THEN_H_
