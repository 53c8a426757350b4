// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Race of a range: the output of whichever of its futures is ready first.
//
//   std::vector<Task<Page>> mirrors = …;
//   Page page = co_await Race(std::move(mirrors));
//
// Futures of a container that is given up are held, and dropped as soon as one
// of them wins. Those of a named one are polled where they stand; the losers
// stay pending and can be awaited later:
//
//   Page page = co_await Race(Biased(), mirrors);
//
// Which of several ready ones wins is random; with Biased() it is the first. Up
// to 8 futures are polled in each poll; of more, those that were woken. If one
// throws, the others are dropped and Race throws that.
//
// Thread safety: one thread at a time.
// Lifetime: a named container and its futures outlive it. Movable between
// polls. A range is gone through once, when the race is made.
// Dropping: drops the futures it holds; nothing else is lost.
#ifndef WEFT_SELECT_RACE_RANGE_H_
#define WEFT_SELECT_RACE_RANGE_H_

#include <utility>

#include "weft/select/branch.h"
#include "weft/select/branch_array.h"
#include "weft/task/await_trace.h"
#include "weft/task/check.h"
#include "weft/task/context.h"
#include "weft/task/polled.h"

namespace weft {

// F is a future, or a reference to one.
template <class F>
class [[nodiscard]] RaceRangeFuture {
 public:
  using Output = typename select_internal::BranchArray<F>::Output;
  static constexpr bool kMovableAfterPoll = true;

  explicit RaceRangeFuture(bool biased,
                           select_internal::BranchArray<F> branches)
      : branches_(std::move(branches)), biased_(biased) {
    WEFT_CHECK(branches_.size() != 0,
               "a Race of nothing is never ready: look whether the range is "
               "empty");
  }

  Polled<Output> Poll(Context& cx) {
    auto first = branches_.PollFirst(cx, biased_);
    if (!first.has_value()) return kPending;
    return std::move(first->polled);
  }

  // See task/await_trace.h.
  void Trace(AwaitTrace& trace) const {
    trace.AddFuture("Race");
    branches_.Trace(trace);
  }

 private:
  select_internal::BranchArray<F> branches_;
  bool biased_;
};

// Requires: `range` is not empty.
template <select_internal::FutureRange R>
auto Race(R&& range) {
  using F = select_internal::BranchOf<R>;
  return RaceRangeFuture<F>(
      /*biased=*/false,
      select_internal::BranchArray<F>(std::forward<R>(range)));
}
template <select_internal::FutureRange R>
auto Race(Biased, R&& range) {
  using F = select_internal::BranchOf<R>;
  return RaceRangeFuture<F>(
      /*biased=*/true, select_internal::BranchArray<F>(std::forward<R>(range)));
}

}  // namespace weft

#endif  // WEFT_SELECT_RACE_RANGE_H_
