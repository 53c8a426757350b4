// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// JoinOk: the values of several futures that may fail, or the first error.
//
//   auto both = co_await JoinOk(LoadUser(id), LoadOrders(id));
//   if (!both.ok()) co_return both.status();
//   auto& [user, orders] = *both;
//
// The futures give absl::Status or absl::StatusOr and run at the same time in
// one task. If all are OK it gives a StatusOr of the tuple of their values, in
// which that of a Status is Unit; if all give a Status, a Status. As soon as one
// is not OK the others are dropped and that error is given. Of several errors it
// is the one that is polled first; each poll begins with another future.
//
// If one throws, the others are dropped and JoinOk throws that. Of a range:
// select/join_ok_range.h.
//
// Thread safety: one thread at a time. Up to 8 futures; allocates nothing.
// Lifetime: lvalues are polled where they stand and outlive it.
// Dropping: drops the futures held by value, and the values of those that were
// ready already.
#ifndef WEFT_SELECT_JOIN_OK_H_
#define WEFT_SELECT_JOIN_OK_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "weft/select/branch.h"
#include "weft/select/fallible.h"
#include "weft/select/guarded_poll.h"
#include "weft/task/await_trace.h"
#include "weft/task/check.h"
#include "weft/task/context.h"
#include "weft/task/future.h"
#include "weft/task/polled.h"

namespace weft {

// Each of Fs is a future of a Status or StatusOr, or a reference to one.
template <class... Fs>
class [[nodiscard]] JoinOkFuture {
 public:
  static_assert(sizeof...(Fs) <= select_internal::kMaxBranches,
                "JoinOk takes up to 8 futures; nest it, or give it a range");
  static constexpr bool kOnlyStatus =
      (std::is_same_v<OutputOf<Fs>, absl::Status> && ...);
  using Values = std::tuple<select_internal::OkValueOf<Fs>...>;
  using Output =
      std::conditional_t<kOnlyStatus, absl::Status, absl::StatusOr<Values>>;
  static constexpr bool kMovableAfterPoll =
      (select_internal::Branch<Fs>::kMovable && ...);

  explicit JoinOkFuture(Fs&&... futures)
      : branches_(select_internal::Branch<Fs>(std::forward<Fs>(futures))...) {}

  Polled<Output> Poll(Context& cx) {
    if (!cx.HasBudget()) return kPending;
    WEFT_CHECK(!finished_, "a JoinOk was polled after it was ready");
    absl::Status error;
    finished_ = select_internal::GuardedPoll(
        [&] { return PollAll(cx, error) || remaining_ == 0; },
        [&] { DropAll(); });
    if (!finished_) return kPending;
    if (!error.ok()) {
      DropAll();
      return Output(std::move(error));
    }
    if constexpr (kOnlyStatus) {
      return absl::OkStatus();
    } else {
      return std::apply(
          [](auto&... value) { return Output(Values(*std::move(value)...)); },
          values_);
    }
  }

  // See task/await_trace.h.
  void Trace(AwaitTrace& trace) const {
    trace.AddFuture("JoinOk");
    const AwaitTrace::Scope scope(trace);
    std::apply(
        [&](const auto&... branch) {
          (select_internal::TraceBranch(branch, trace), ...);
        },
        branches_);
  }

 private:
  static constexpr size_t kCount = sizeof...(Fs);

  // True if one is not OK; then `error` is that.
  bool PollAll(Context& cx, absl::Status& error) {
    const uint32_t start = start_++;
    return select_internal::VisitFrom<kCount>(start, [&]<size_t I>() {
      auto& value = std::get<I>(values_);
      if (value.has_value()) return false;
      auto& branch = std::get<I>(branches_);
      auto polled = branch.Poll(cx);
      if (polled.IsPending()) return false;
      error = select_internal::TakeOk(*std::move(polled), value);
      branch.Drop();
      --remaining_;
      return !error.ok();
    });
  }
  void DropAll() {
    std::apply([](auto&... branch) { (branch.Drop(), ...); }, branches_);
    std::apply([](auto&... value) { (value.reset(), ...); }, values_);
  }

  std::tuple<select_internal::Branch<Fs>...> branches_;
  std::tuple<std::optional<select_internal::OkValueOf<Fs>>...> values_;
  uint32_t remaining_ = kCount;
  uint32_t start_ = 0;
  bool finished_ = false;
};

template <select_internal::FallibleArgument... Fs>
JoinOkFuture<Fs...> JoinOk(Fs&&... futures) {
  return JoinOkFuture<Fs...>(std::forward<Fs>(futures)...);
}

}  // namespace weft

#endif  // WEFT_SELECT_JOIN_OK_H_
