// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Race: the output of whichever future is ready first.
//
//   Page page = co_await Race(FetchFrom(mirror_a), FetchFrom(mirror_b));
//
// All have the same output type; Select is for those that differ. Rvalues are
// held and dropped as soon as one of them wins; lvalues are polled where they
// stand, and those that lose stay pending and can be awaited later.
//
// Each poll starts at a random future, or at the first with Biased():
//   co_await Race(Biased(), Preferred(), Fallback());
//
// If one throws, the others are dropped and Race throws that.
//
// Thread safety: one thread at a time. Up to 8 futures; allocates nothing.
// Lifetime: lvalues outlive it. Dropping: drops those held by value; nothing
// else is lost.
#ifndef WEFT_SELECT_RACE_H_
#define WEFT_SELECT_RACE_H_

#include <cstddef>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "weft/select/branch.h"
#include "weft/select/guarded_poll.h"
#include "weft/task/await_trace.h"
#include "weft/task/context.h"
#include "weft/task/future.h"
#include "weft/task/polled.h"

namespace weft {

// Each of First and Rest is a future, or a reference to one.
template <class First, class... Rest>
class [[nodiscard]] RaceFuture {
 public:
  static_assert(
      1 + sizeof...(Rest) <= select_internal::kMaxBranches,
      "Race takes up to 8 futures; for more, give it a range or nest it");
  static_assert((std::is_same_v<OutputOf<First>, OutputOf<Rest>> && ...),
                "the futures of a Race have one output type; use Select");
  using Output = OutputOf<First>;
  static constexpr bool kMovableAfterPoll =
      (select_internal::Branch<First>::kMovable && ... &&
       select_internal::Branch<Rest>::kMovable);

  explicit RaceFuture(bool biased, First&& first, Rest&&... rest)
      : branches_(std::forward<First>(first), std::forward<Rest>(rest)...),
        biased_(biased) {}

  Polled<Output> Poll(Context& cx) {
    if (!cx.HasBudget()) return kPending;
    std::optional<Polled<Output>> winner;
    const auto poll_one = [&]<size_t I>() {
      Polled<Output> polled = std::get<I>(branches_).Poll(cx);
      if (polled.IsPending()) return false;
      winner.emplace(std::move(polled));
      return true;
    };
    const bool won = select_internal::GuardedPoll(
        [&] {
          return select_internal::VisitFrom<kCount>(
              select_internal::StartOf(biased_, kCount, cx), poll_one);
        },
        [&] { DropAll(); });
    if (!won) return kPending;
    DropAll();
    return *std::move(winner);
  }

  // See task/await_trace.h.
  void Trace(AwaitTrace& trace) const {
    trace.AddFuture("Race");
    const AwaitTrace::Scope scope(trace);
    std::apply(
        [&](const auto&... branch) {
          (select_internal::TraceBranch(branch, trace), ...);
        },
        branches_);
  }

 private:
  static constexpr size_t kCount = 1 + sizeof...(Rest);

  void DropAll() {
    std::apply([](auto&... branch) { (branch.Drop(), ...); }, branches_);
  }

  std::tuple<select_internal::Branch<First>, select_internal::Branch<Rest>...>
      branches_;
  bool biased_;
};

template <select_internal::FutureArgument First,
          select_internal::FutureArgument... Rest>
RaceFuture<First, Rest...> Race(First&& first, Rest&&... rest) {
  return RaceFuture<First, Rest...>(/*biased=*/false,
                                    std::forward<First>(first),
                                    std::forward<Rest>(rest)...);
}
template <select_internal::FutureArgument First,
          select_internal::FutureArgument... Rest>
RaceFuture<First, Rest...> Race(Biased, First&& first, Rest&&... rest) {
  return RaceFuture<First, Rest...>(/*biased=*/true, std::forward<First>(first),
                                    std::forward<Rest>(rest)...);
}

}  // namespace weft

#endif  // WEFT_SELECT_RACE_H_
