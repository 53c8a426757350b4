// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Catch: a future that gives a value where another one throws.
//
//   auto page = Catch(Fetch(url), [](std::exception_ptr) { return Page(); });
//   auto pages = co_await Join(std::move(page), FromCache(url));
//
// Where a value is needed that is a future; in a coroutine, use try and catch.
// The handler is called once, with what the future has thrown, and returns
// something that its output can be made of; it may throw, too. A future that
// was given as an rvalue has been destroyed by then. Where the library is
// compiled without exceptions nothing is caught, and this is the future itself.
//
// Thread safety: one thread at a time. Lifetime: an lvalue outlives it.
// Dropping: drops the future if it holds it, and the handler.
#ifndef WEFT_SELECT_CATCH_H_
#define WEFT_SELECT_CATCH_H_

#include <exception>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

#include "weft/select/branch.h"
#include "weft/select/caught_poll.h"
#include "weft/task/await_trace.h"
#include "weft/task/context.h"
#include "weft/task/future.h"
#include "weft/task/polled.h"

namespace weft {

// F is a future, or a reference to one.
template <class F, class H>
class [[nodiscard]] CatchFuture {
 public:
  using Output = OutputOf<F>;
  static constexpr bool kMovableAfterPoll =
      select_internal::Branch<F>::kMovable;

  explicit CatchFuture(F&& future, H handler)
      : future_(std::forward<F>(future)), handler_(std::move(handler)) {}

  Polled<Output> Poll(Context& cx) {
    std::optional<Polled<Output>> polled;
    std::exception_ptr error =
        select_internal::CaughtPoll([&] { polled.emplace(future_.Poll(cx)); });
    if (error == nullptr) {
      if (polled->IsReady()) future_.Drop();
      return *std::move(polled);
    }
    future_.Drop();
    if constexpr (std::is_void_v<Output>) {
      std::invoke(std::move(handler_), std::move(error));
      return Unit();
    } else {
      return Polled<Output>(std::invoke(std::move(handler_), std::move(error)));
    }
  }

  // See task/await_trace.h.
  void Trace(AwaitTrace& trace) const {
    select_internal::TraceBranch(future_, trace);
  }

 private:
  select_internal::Branch<F> future_;
  H handler_;
};

template <select_internal::FutureArgument F, class H>
CatchFuture<F, H> Catch(F&& future, H handler) {
  return CatchFuture<F, H>(std::forward<F>(future), std::move(handler));
}

}  // namespace weft

#endif  // WEFT_SELECT_CATCH_H_
