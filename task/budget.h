// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// ConsumeBudget and Unconstrained: the cooperative budget in a user's hands.
//
// A poll of a spawned task may do Budget::kPerPoll successful leaf operations;
// then every leaf is pending once, so that other tasks get their turn. A loop
// that computes takes part by ConsumeBudget(); a future that must not be
// interrupted opts out by Unconstrained().
//
//   for (Row& row : rows) {
//     Transform(row);
//     co_await ConsumeBudget();  // yields once in 128 rows
//   }
//
// Thread safety: one thread at a time.
// Dropping: of ConsumeBudget, no effect; of Unconstrained, that of its future.
#ifndef WEFT_TASK_BUDGET_H_
#define WEFT_TASK_BUDGET_H_

#include <type_traits>
#include <utility>

#include "weft/task/await_trace.h"
#include "weft/task/context.h"
#include "weft/task/future.h"
#include "weft/task/polled.h"

namespace weft {

class [[nodiscard]] ConsumeBudget {
 public:
  using Output = void;
  static constexpr bool kMovableAfterPoll = true;

  Polled<void> Poll(Context& cx) {
    if (!cx.HasBudget()) return kPending;
    cx.Charge();
    return Unit();
  }
};

// F is a future, owned, or a reference to one.
template <class F>
class [[nodiscard]] UnconstrainedFuture {
 public:
  using Output = OutputOf<F>;

  explicit UnconstrainedFuture(F&& future) : future_(std::forward<F>(future)) {}

  Polled<Output> Poll(Context& cx) {
    Context inner = cx.WithBudget(nullptr);
    return future_.Poll(inner);
  }

  // See task/await_trace.h.
  void Trace(AwaitTrace& trace) const { TraceFuture(future_, trace); }

 private:
  F future_;
};

// `future`, polled without a budget.
template <class F>
  requires Future<std::remove_reference_t<F>>
UnconstrainedFuture<F> Unconstrained(F&& future) {
  return UnconstrainedFuture<F>(std::forward<F>(future));
}

}  // namespace weft

#endif  // WEFT_TASK_BUDGET_H_
