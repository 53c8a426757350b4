// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Select of a range: whichever of its futures is ready first, and which it was.
//
//   std::vector<sync::OneshotReceiver<int>> receivers = …;
//   auto first = co_await Select(receivers);
//   receivers.erase(receivers.begin() + first.index);
//
// Futures of a container that is named are polled where they stand; the losers
// stay pending and can be selected or awaited later. Those of one that is given
// up, Select(std::move(receivers)), are held, and dropped as soon as one of them
// wins.
//
// Which of several ready ones wins is random; with Biased() it is the first. Up
// to 8 futures are polled in each poll; of more, those that were woken. If one
// throws, the others are dropped and Select throws that.
//
// Thread safety: one thread at a time.
// Lifetime: a named container and its futures outlive it. Movable between
// polls. A range is gone through once, when the Select is made.
// Dropping: drops the futures it holds; nothing else is lost.
#ifndef WEFT_SELECT_SELECT_RANGE_H_
#define WEFT_SELECT_SELECT_RANGE_H_

#include <cstddef>
#include <utility>

#include "weft/select/branch.h"
#include "weft/select/branch_array.h"
#include "weft/task/await_trace.h"
#include "weft/task/check.h"
#include "weft/task/context.h"
#include "weft/task/polled.h"

namespace weft {

// What a Select of a range gives. T is Unit for void, and a reference_wrapper
// for a reference.
template <class T>
struct SelectedAt {
  size_t index;  // in the range
  T value;
};

// F is a future, or a reference to one.
template <class F>
class [[nodiscard]] SelectRangeFuture {
 public:
  using Output = SelectedAt<select_internal::StoredOutputOf<F>>;
  static constexpr bool kMovableAfterPoll = true;

  explicit SelectRangeFuture(bool biased,
                             select_internal::BranchArray<F> branches)
      : branches_(std::move(branches)), biased_(biased) {
    WEFT_CHECK(branches_.size() != 0,
               "a Select of nothing is never ready: look whether the range is "
               "empty");
  }

  Polled<Output> Poll(Context& cx) {
    auto first = branches_.PollFirst(cx, biased_);
    if (!first.has_value()) return kPending;
    return Output{first->index, TakeReady(std::move(first->polled))};
  }

  // See task/await_trace.h.
  void Trace(AwaitTrace& trace) const {
    trace.AddFuture("Select");
    branches_.Trace(trace);
  }

 private:
  select_internal::BranchArray<F> branches_;
  bool biased_;
};

// Requires: `range` is not empty.
template <select_internal::FutureRange R>
auto Select(R&& range) {
  using F = select_internal::BranchOf<R>;
  return SelectRangeFuture<F>(
      /*biased=*/false,
      select_internal::BranchArray<F>(std::forward<R>(range)));
}
template <select_internal::FutureRange R>
auto Select(Biased, R&& range) {
  using F = select_internal::BranchOf<R>;
  return SelectRangeFuture<F>(
      /*biased=*/true, select_internal::BranchArray<F>(std::forward<R>(range)));
}

}  // namespace weft

#endif  // WEFT_SELECT_SELECT_RANGE_H_
