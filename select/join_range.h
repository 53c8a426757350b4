// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Join of a range, JoinAll: the outputs of all its futures, which run at the
// same time in one task.
//
//   std::vector<Task<Row>> loads = …;
//   std::vector<Row> rows = co_await Join(std::move(loads));
//
// Gives a vector in the order of the range: void is Unit in it, T& a
// std::reference_wrapper<T>. Futures of a container that is given up are held,
// and each is destroyed as soon as it is ready; those of a named container are
// polled where they stand. Up to 8 futures are polled in each poll; of more,
// those that were woken. An empty range gives an empty vector.
//
// If one throws, the others are dropped and Join throws that. To give outputs
// one by one, as they come: select/futures_unordered.h. To stop at the first
// error: select/join_ok_range.h.
//
// Thread safety: one thread at a time.
// Lifetime: a named container and its futures outlive it. Movable between
// polls. A range is gone through once, when the Join is made.
// Dropping: drops the futures it holds, and the outputs of those that were
// ready already.
#ifndef WEFT_SELECT_JOIN_RANGE_H_
#define WEFT_SELECT_JOIN_RANGE_H_

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "weft/select/branch.h"
#include "weft/select/branch_array.h"
#include "weft/task/await_trace.h"
#include "weft/task/check.h"
#include "weft/task/context.h"
#include "weft/task/future.h"
#include "weft/task/polled.h"

namespace weft {

// F is a future, or a reference to one.
template <class F>
class [[nodiscard]] JoinRangeFuture {
 public:
  using Output = std::vector<select_internal::StoredOutputOf<F>>;
  static constexpr bool kMovableAfterPoll = true;

  explicit JoinRangeFuture(select_internal::BranchArray<F> branches)
      : branches_(std::move(branches)),
        outputs_(branches_.size()),
        remaining_(branches_.size()) {}

  Polled<Output> Poll(Context& cx) {
    WEFT_CHECK(!finished_, "a Join was polled after it was ready");
    if (remaining_ != 0) {
      const bool all = branches_.Poll(
          cx, select_internal::PollOrder::kFair,
          [&](size_t index, auto&& polled) {
            outputs_[index].emplace(TakeReady(std::move(polled)));
            return --remaining_ == 0;
          });
      if (!all) return kPending;
      branches_.DropAll();
    }
    finished_ = true;
    Output outputs;
    outputs.reserve(outputs_.size());
    for (auto& output : outputs_) outputs.push_back(*std::move(output));
    outputs_.clear();
    return outputs;
  }

  // See task/await_trace.h.
  void Trace(AwaitTrace& trace) const {
    trace.AddFuture("Join");
    branches_.Trace(trace);
  }

 private:
  select_internal::BranchArray<F> branches_;
  std::vector<std::optional<select_internal::StoredOutputOf<F>>> outputs_;
  size_t remaining_;
  bool finished_ = false;
};

template <select_internal::FutureRange R>
auto Join(R&& range) {
  using F = select_internal::BranchOf<R>;
  return JoinRangeFuture<F>(
      select_internal::BranchArray<F>(std::forward<R>(range)));
}
// The same, by the name that other libraries have for it.
template <Future F>
JoinRangeFuture<F> JoinAll(std::vector<F> futures) {
  return Join(std::move(futures));
}

}  // namespace weft

#endif  // WEFT_SELECT_JOIN_RANGE_H_
