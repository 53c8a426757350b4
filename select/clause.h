// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The clauses of a Select with handlers: On, OnIf, Default, Else.
//
//   On(future, handler)         calls handler(output), or handler() for void
//   OnIf(condition, future, h)  the same; while `condition` is false the future
//                               is not polled
//   Default(handler)            called if no enabled future is ready now
//   Else(handler)               called if every OnIf is disabled
//
// Default and Else come last. If all are disabled and there is no Else, Default
// is called, and without that one Select CHECK-fails.
//
// Thread safety: one thread at a time.
// Lifetime: a future that is an lvalue outlives the clause; an rvalue, and the
// handler, are moved into it.
#ifndef WEFT_SELECT_CLAUSE_H_
#define WEFT_SELECT_CLAUSE_H_

#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>

#include "weft/select/branch.h"
#include "weft/task/await_trace.h"
#include "weft/task/future.h"
#include "weft/task/polled.h"

namespace weft {
namespace select_internal {

enum class ClauseKind : uint8_t { kOn, kDefault, kElse };

// What handler H returns for an output of type T.
template <class H, class T>
struct HandlerResult {
  static_assert(std::is_invocable_v<H, T>,
                "the handler of an On takes the output of its future; that of "
                "a channel's Receive() is a StatusOr<T>, not a T");
  using Type = std::invoke_result_t<H, T>;
};
template <class H>
struct HandlerResult<H, void> {
  static_assert(std::is_invocable_v<H>,
                "the handler of an On whose future has no output takes no "
                "argument");
  using Type = std::invoke_result_t<H>;
};

template <class C>
concept Clause = requires { std::remove_cvref_t<C>::kKind; };

}  // namespace select_internal

// F is a future, or a reference to one.
template <class F, class H>
class [[nodiscard]] OnClause {
 public:
  static constexpr auto kKind = select_internal::ClauseKind::kOn;
  static constexpr bool kMovable = select_internal::Branch<F>::kMovable;
  using Stored = select_internal::StoredOutputOf<F>;
  using Result = typename select_internal::HandlerResult<H, OutputOf<F>>::Type;

  explicit OnClause(bool enabled, F&& future, H handler)
      : branch_(std::forward<F>(future)),
        handler_(std::move(handler)),
        enabled_(enabled) {}

  bool IsEnabled() const { return enabled_; }
  Polled<OutputOf<F>> Poll(Context& cx) { return branch_.Poll(cx); }
  void Drop() { branch_.Drop(); }
  void Trace(AwaitTrace& trace) const {
    if (enabled_) select_internal::TraceBranch(branch_, trace);
  }
  Result Call(Stored output) {
    if constexpr (std::is_void_v<OutputOf<F>>) {
      static_cast<void>(output);
      return std::invoke(std::move(handler_));
    } else if constexpr (std::is_reference_v<OutputOf<F>>) {
      return std::invoke(std::move(handler_), output.get());
    } else {
      return std::invoke(std::move(handler_), std::move(output));
    }
  }

 private:
  select_internal::Branch<F> branch_;
  H handler_;
  bool enabled_;
};

// A clause without a future.
template <select_internal::ClauseKind kClauseKind, class H>
class [[nodiscard]] OtherwiseClause {
 public:
  static constexpr auto kKind = kClauseKind;
  static constexpr bool kMovable = true;
  using Stored = Unit;
  using Result = std::invoke_result_t<H>;

  explicit OtherwiseClause(H handler) : handler_(std::move(handler)) {}

  bool IsEnabled() const { return false; }
  void Drop() {}
  void Trace(AwaitTrace&) const {}
  Result Call(Unit) { return std::invoke(std::move(handler_)); }

 private:
  H handler_;
};

template <class H>
using DefaultClause = OtherwiseClause<select_internal::ClauseKind::kDefault, H>;
template <class H>
using ElseClause = OtherwiseClause<select_internal::ClauseKind::kElse, H>;

template <select_internal::FutureArgument F, class H>
OnClause<F, H> On(F&& future, H handler) {
  return OnClause<F, H>(/*enabled=*/true, std::forward<F>(future),
                        std::move(handler));
}
template <select_internal::FutureArgument F, class H>
OnClause<F, H> OnIf(bool condition, F&& future, H handler) {
  return OnClause<F, H>(condition, std::forward<F>(future), std::move(handler));
}
template <class H>
DefaultClause<H> Default(H handler) {
  return DefaultClause<H>(std::move(handler));
}
template <class H>
ElseClause<H> Else(H handler) {
  return ElseClause<H>(std::move(handler));
}

}  // namespace weft

#endif  // WEFT_SELECT_CLAUSE_H_
