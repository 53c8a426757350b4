// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Select: waits for several futures at once and goes on with the first.
//
//   auto winner = co_await Select(inbox.Receive(), timer::After(kPatience));
//   if (winner.index() == 0) Handle(std::get<0>(winner).value);
//
// Gives a std::variant of Selected<0, T0>, Selected<1, T1>, ...: the index says
// which future it was, also where output types are equal.
//
// The handler form calls a function instead, and gives what that returns:
//
//   auto round = Select(On(inbox.Receive(), [&](Message m) { Handle(m); }),
//                       OnIf(!queue.empty(), outbox.Ready(), send_next));
//   co_await round;
//
// Its clauses are in select/clause.h. Handlers return one and the same type,
// which may be a future to be awaited next; they run when all futures held by
// value have been destroyed. (g++ 12 destroys by-value captures twice in
// `co_await Select(On(f, [big] ...))`: name the Select first, as above.)
//
// Futures given as rvalues are held, and dropped as soon as one of them wins.
// Lvalues are polled where they stand; those that lose stay pending, may cause
// a spurious wake, and can be selected or awaited again. Each poll starts at a
// random future, so that none is starved; with Biased() as first argument, at
// the first one. If a future throws, the others are dropped and Select throws
// that.
//
// Thread safety: one thread at a time. Up to 8 futures; allocates nothing.
// Lifetime: lvalues outlive it.
// Dropping: drops the futures held by value; nothing else is lost. What a loser
// loses is what dropping it loses.
#ifndef WEFT_SELECT_SELECT_H_
#define WEFT_SELECT_SELECT_H_

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include "weft/select/branch.h"
#include "weft/select/clause.h"
#include "weft/select/guarded_poll.h"
#include "weft/task/await_trace.h"
#include "weft/task/check.h"
#include "weft/task/context.h"
#include "weft/task/future.h"
#include "weft/task/polled.h"

namespace weft {

// The output of the future with index I; T is Unit for void, and a
// reference_wrapper for a reference.
template <size_t I, class T>
struct Selected {
  static constexpr size_t kIndex = I;

  explicit Selected(T value) : value(std::move(value)) {}

  T value;
};

namespace select_internal {

template <class Indices, class... Ts>
struct WinnerOf;
template <size_t... I, class... Ts>
struct WinnerOf<std::index_sequence<I...>, Ts...> {
  using Type = std::variant<Selected<I, Ts>...>;
};
template <class... Ts>
using Winner = typename WinnerOf<std::index_sequence_for<Ts...>, Ts...>::Type;

// The index of the first of kKinds that is `kind`, else their number.
template <ClauseKind... kKinds>
constexpr size_t FindClause(ClauseKind kind) {
  size_t index = 0;
  static_cast<void>(((kKinds != kind && (++index, true)) && ...));
  return index;
}

}  // namespace select_internal

// Each of Fs is a future, or a reference to one.
template <class... Fs>
class [[nodiscard]] SelectFuture {
 public:
  static_assert(0 < sizeof...(Fs) &&
                    sizeof...(Fs) <= select_internal::kMaxBranches,
                "Select takes 1 to 8 futures; for more, give it a range or "
                "nest it");
  using Output =
      select_internal::Winner<select_internal::StoredOutputOf<Fs>...>;
  static constexpr bool kMovableAfterPoll =
      (select_internal::Branch<Fs>::kMovable && ...);

  explicit SelectFuture(bool biased, Fs&&... futures)
      : branches_(select_internal::Branch<Fs>(std::forward<Fs>(futures))...),
        biased_(biased) {}

  Polled<Output> Poll(Context& cx) {
    if (!cx.HasBudget()) return kPending;
    std::optional<Output> winner;
    const auto poll_one = [&]<size_t I>() {
      auto polled = std::get<I>(branches_).Poll(cx);
      if (polled.IsPending()) return false;
      winner.emplace(std::in_place_index<I>, TakeReady(std::move(polled)));
      return true;
    };
    const bool won = select_internal::GuardedPoll(
        [&] {
          return select_internal::VisitFrom<sizeof...(Fs)>(
              select_internal::StartOf(biased_, sizeof...(Fs), cx), poll_one);
        },
        [&] { DropAll(); });
    if (!won) return kPending;
    DropAll();
    return *std::move(winner);
  }

  // See task/await_trace.h.
  void Trace(AwaitTrace& trace) const {
    trace.AddFuture("Select");
    const AwaitTrace::Scope scope(trace);
    std::apply(
        [&](const auto&... branch) {
          (select_internal::TraceBranch(branch, trace), ...);
        },
        branches_);
  }

 private:
  void DropAll() {
    std::apply([](auto&... branch) { (branch.Drop(), ...); }, branches_);
  }

  std::tuple<select_internal::Branch<Fs>...> branches_;
  bool biased_;
};

// The handler form. Clauses are OnClauses, then those without a future.
template <class First, class... Rest>
class [[nodiscard]] HandlerSelectFuture {
 public:
  static_assert(
      (std::is_same_v<typename First::Result, typename Rest::Result> && ...),
      "the handlers of a Select return one and the same type");
  using Output = typename First::Result;
  static constexpr bool kMovableAfterPoll =
      (First::kMovable && ... && Rest::kMovable);

  explicit HandlerSelectFuture(bool biased, First&& first, Rest&&... rest)
      : clauses_(std::move(first), std::move(rest)...), biased_(biased) {}

  Polled<Output> Poll(Context& cx) {
    if (!cx.HasBudget()) return kPending;
    std::optional<Winner> winner;
    if (!PollClauses(cx, winner)) return kPending;
    std::apply([](auto&... clause) { (clause.Drop(), ...); }, clauses_);
    if constexpr (std::is_void_v<Output>) {
      Call<0>(*winner);
      return Unit();
    } else {
      return Call<0>(*winner);
    }
  }

  // See task/await_trace.h.
  void Trace(AwaitTrace& trace) const {
    trace.AddFuture("Select");
    const AwaitTrace::Scope scope(trace);
    std::apply([&](const auto&... clause) { (clause.Trace(trace), ...); },
               clauses_);
  }

 private:
  using Kind = select_internal::ClauseKind;
  using Winner =
      select_internal::Winner<typename First::Stored, typename Rest::Stored...>;
  static constexpr size_t kCount = 1 + sizeof...(Rest);
  static constexpr size_t kDefault =
      select_internal::FindClause<First::kKind, Rest::kKind...>(Kind::kDefault);
  static constexpr size_t kElse =
      select_internal::FindClause<First::kKind, Rest::kKind...>(Kind::kElse);
  static constexpr size_t kBranches = std::min(kDefault, kElse);
  static_assert(kBranches + (kDefault != kCount) + (kElse != kCount) == kCount,
                "a Select has any On and OnIf first, then at most one Default "
                "and one Else");
  static_assert(kBranches <= select_internal::kMaxBranches,
                "Select takes up to 8 futures; nest it for more");

  // True if a clause has won.
  bool PollClauses(Context& cx, std::optional<Winner>& winner) {
    const bool any_enabled = std::apply(
        [](auto&... clause) { return (clause.IsEnabled() || ...); }, clauses_);
    if (!any_enabled) {
      WEFT_CHECK(kElse != kCount || kDefault != kCount,
                 "all clauses of a Select are disabled: add an Else");
      constexpr size_t kChosen = kElse != kCount ? kElse : kDefault;
      if constexpr (kChosen != kCount) Choose<kChosen>(winner);
      return true;
    }
    if constexpr (kDefault == kCount) {
      return PollBranches(cx, winner);
    } else {
      // A spent budget must not pass for "not ready", so the futures get a
      // fresh one. If they use up that too, one of them got somewhere and was
      // perhaps interrupted: another poll tells.
      cx.Charge();
      Budget budget;
      Context inner = cx.WithBudget(cx.budget() != nullptr ? &budget : nullptr);
      if (PollBranches(inner, winner)) return true;
      if (budget.IsSpent()) {
        cx.waker().WakeByRef();
        return false;
      }
      Choose<kDefault>(winner);
      return true;
    }
  }

  bool PollBranches(Context& cx, std::optional<Winner>& winner) {
    const auto poll_one = [&]<size_t I>() {
      auto& clause = std::get<I>(clauses_);
      if (!clause.IsEnabled()) return false;
      auto polled = clause.Poll(cx);
      if (polled.IsPending()) return false;
      winner.emplace(std::in_place_index<I>, TakeReady(std::move(polled)));
      return true;
    };
    return select_internal::GuardedPoll(
        [&] {
          return select_internal::VisitFrom<kBranches>(
              select_internal::StartOf(biased_, kBranches, cx), poll_one);
        },
        [&] {
          std::apply([](auto&... clause) { (clause.Drop(), ...); }, clauses_);
        });
  }

  template <size_t I>
  static void Choose(std::optional<Winner>& winner) {
    winner.emplace(std::in_place_index<I>, Unit());
  }

  // Calls the handler of the clause that has won; it is I or a later one.
  template <size_t I>
  Output Call(Winner& winner) {
    if constexpr (I + 1 < kCount) {
      if (winner.index() != I) return Call<I + 1>(winner);
    }
    return std::get<I>(clauses_).Call(std::get<I>(std::move(winner)).value);
  }

  std::tuple<First, Rest...> clauses_;
  bool biased_;
};

template <select_internal::FutureArgument... Fs>
SelectFuture<Fs...> Select(Fs&&... futures) {
  return SelectFuture<Fs...>(/*biased=*/false, std::forward<Fs>(futures)...);
}
template <select_internal::FutureArgument... Fs>
SelectFuture<Fs...> Select(Biased, Fs&&... futures) {
  return SelectFuture<Fs...>(/*biased=*/true, std::forward<Fs>(futures)...);
}
template <select_internal::Clause... Clauses>
HandlerSelectFuture<Clauses...> Select(Clauses... clauses) {
  return HandlerSelectFuture<Clauses...>(/*biased=*/false,
                                         std::move(clauses)...);
}
template <select_internal::Clause... Clauses>
HandlerSelectFuture<Clauses...> Select(Biased, Clauses... clauses) {
  return HandlerSelectFuture<Clauses...>(/*biased=*/true,
                                         std::move(clauses)...);
}
// Says what is wrong, where otherwise all overloads would.
template <class... Args>
  requires(select_internal::Clause<Args> || ...) &&
          (select_internal::FutureArgument<Args> || ...)
void Select(Args&&...) {
  static_assert(sizeof...(Args) == 0,
                "a Select takes futures, or clauses, not both: put each future "
                "into an On(future, handler)");
}

}  // namespace weft

#endif  // WEFT_SELECT_SELECT_H_
