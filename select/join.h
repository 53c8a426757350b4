// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Join: the outputs of several futures that run at the same time in one task.
//
//   auto both = co_await Join(LoadUser(id), LoadOrders(id));
//   auto& [user, orders] = both;
//
// Gives a tuple: void is Unit in it, T& a std::reference_wrapper<T>. A future
// held by value is destroyed as soon as it is ready. Each poll polls all that
// are not ready yet, beginning with another one each time, so that one that
// uses up the task's budget does not keep the turn from its neighbours.
//
// If one throws, the others are dropped and Join throws that.
//
// Thread safety: one thread at a time. Up to 8 futures; allocates nothing.
// Lifetime: lvalues are polled where they stand and outlive it.
// Dropping: drops the futures held by value, and the outputs of those that were
// ready already.
#ifndef WEFT_SELECT_JOIN_H_
#define WEFT_SELECT_JOIN_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "weft/select/branch.h"
#include "weft/select/guarded_poll.h"
#include "weft/task/await_trace.h"
#include "weft/task/check.h"
#include "weft/task/context.h"
#include "weft/task/future.h"
#include "weft/task/polled.h"

namespace weft {

// Each of Fs is a future, or a reference to one.
template <class... Fs>
class [[nodiscard]] JoinFuture {
 public:
  static_assert(
      sizeof...(Fs) <= select_internal::kMaxBranches,
      "Join takes up to 8 futures; for more, give it a range or nest it");
  using Output = std::tuple<select_internal::StoredOutputOf<Fs>...>;
  static constexpr bool kMovableAfterPoll =
      (select_internal::Branch<Fs>::kMovable && ...);

  explicit JoinFuture(Fs&&... futures)
      : branches_(select_internal::Branch<Fs>(std::forward<Fs>(futures))...) {}

  Polled<Output> Poll(Context& cx) {
    if (!cx.HasBudget()) return kPending;
    WEFT_CHECK(!finished_, "a Join was polled after it was ready");
    finished_ = select_internal::GuardedPoll(
        [&] {
          PollAll(cx);
          return remaining_ == 0;
        },
        [&] { DropAll(); });
    if (!finished_) return kPending;
    return std::apply(
        [](auto&... output) { return Output(*std::move(output)...); },
        outputs_);
  }

  // See task/await_trace.h.
  void Trace(AwaitTrace& trace) const {
    trace.AddFuture("Join");
    const AwaitTrace::Scope scope(trace);
    select_internal::VisitFrom<kCount>(0, [&]<size_t I>() {
      if (!std::get<I>(outputs_).has_value()) {
        select_internal::TraceBranch(std::get<I>(branches_), trace);
      }
      return false;
    });
  }

 private:
  static constexpr size_t kCount = sizeof...(Fs);

  void PollAll(Context& cx) {
    const uint32_t start = start_++;
    select_internal::VisitFrom<kCount>(start, [&]<size_t I>() {
      auto& output = std::get<I>(outputs_);
      if (output.has_value()) return false;
      auto polled = std::get<I>(branches_).Poll(cx);
      if (polled.IsPending()) return false;
      output.emplace(TakeReady(std::move(polled)));
      std::get<I>(branches_).Drop();
      --remaining_;
      return false;
    });
  }
  void DropAll() {
    std::apply([](auto&... branch) { (branch.Drop(), ...); }, branches_);
    std::apply([](auto&... output) { (output.reset(), ...); }, outputs_);
  }

  std::tuple<select_internal::Branch<Fs>...> branches_;
  std::tuple<std::optional<select_internal::StoredOutputOf<Fs>>...> outputs_;
  uint32_t remaining_ = kCount;
  uint32_t start_ = 0;
  bool finished_ = false;
};

template <select_internal::FutureArgument... Fs>
JoinFuture<Fs...> Join(Fs&&... futures) {
  return JoinFuture<Fs...>(std::forward<Fs>(futures)...);
}

}  // namespace weft

#endif  // WEFT_SELECT_JOIN_H_
