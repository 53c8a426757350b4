// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Fuse: a future that may be polled after it was ready: it is pending then.
//
//   auto ticks = Fuse(Count(3));
//   while (!ticks.IsTerminated()) {
//     auto round = Select(On(ticks, [] { … }), On(inbox.Receive(), handle));
//     co_await round;
//   }
//
// For a branch that stays in a loop of Selects after its end. A future given as
// an rvalue is held, and destroyed as soon as it is ready or throws; an lvalue
// is polled where it stands.
//
// Thread safety: one thread at a time. Lifetime: an lvalue outlives it.
// Dropping: drops the future if it holds it.
#ifndef WEFT_SELECT_FUSE_H_
#define WEFT_SELECT_FUSE_H_

#include <optional>
#include <utility>

#include "weft/select/branch.h"
#include "weft/select/guarded_poll.h"
#include "weft/task/await_trace.h"
#include "weft/task/context.h"
#include "weft/task/future.h"
#include "weft/task/polled.h"

namespace weft {

// F is a future, or a reference to one.
template <class F>
class [[nodiscard]] FuseFuture {
 public:
  using Output = OutputOf<F>;
  static constexpr bool kMovableAfterPoll =
      select_internal::Branch<F>::kMovable;

  explicit FuseFuture(F&& future) : future_(std::forward<F>(future)) {}

  Polled<Output> Poll(Context& cx) {
    if (IsTerminated()) return kPending;
    std::optional<Polled<Output>> polled;
    const bool ready = select_internal::GuardedPoll(
        [&] {
          polled.emplace(future_.Poll(cx));
          return polled->IsReady();
        },
        [&] { future_.Drop(); });
    if (ready) future_.Drop();
    return *std::move(polled);
  }

  // True once it was ready or has thrown.
  bool IsTerminated() const { return future_.find() == nullptr; }

  // See task/await_trace.h.
  void Trace(AwaitTrace& trace) const {
    select_internal::TraceBranch(future_, trace);
  }

 private:
  select_internal::Branch<F> future_;
};

template <select_internal::FutureArgument F>
FuseFuture<F> Fuse(F&& future) {
  return FuseFuture<F>(std::forward<F>(future));
}

}  // namespace weft

#endif  // WEFT_SELECT_FUSE_H_
