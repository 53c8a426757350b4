// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// JoinOk of a range: the values of all its futures, or the first error.
//
//   std::vector<Task<absl::StatusOr<Row>>> loads = …;
//   absl::StatusOr<std::vector<Row>> rows = co_await JoinOk(std::move(loads));
//
// The futures give absl::StatusOr, and it gives a StatusOr of a vector of their
// values in the order of the range; or they give absl::Status, and so does it.
// As soon as one is not OK the others are dropped and that error is given; of
// several errors it is the one that is polled first. All else, which futures
// are held and which of them are polled, is as for a Join of a range. An empty
// range is OK.
//
// Thread safety: one thread at a time.
// Lifetime: a named container and its futures outlive it. Movable between
// polls. A range is gone through once, when the JoinOk is made.
// Dropping: drops the futures it holds, and the values of those that were ready
// already.
#ifndef WEFT_SELECT_JOIN_OK_RANGE_H_
#define WEFT_SELECT_JOIN_OK_RANGE_H_

#include <cstddef>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "weft/select/branch_array.h"
#include "weft/select/fallible.h"
#include "weft/task/await_trace.h"
#include "weft/task/check.h"
#include "weft/task/context.h"
#include "weft/task/future.h"
#include "weft/task/polled.h"

namespace weft {

// F is a future of a Status or StatusOr, or a reference to one.
template <class F>
class [[nodiscard]] JoinOkRangeFuture {
 public:
  using Value = select_internal::OkValueOf<F>;
  static constexpr bool kOnlyStatus = std::is_same_v<OutputOf<F>, absl::Status>;
  using Output = std::conditional_t<kOnlyStatus, absl::Status,
                                    absl::StatusOr<std::vector<Value>>>;
  static constexpr bool kMovableAfterPoll = true;

  explicit JoinOkRangeFuture(select_internal::BranchArray<F> branches)
      : branches_(std::move(branches)),
        values_(branches_.size()),
        remaining_(branches_.size()) {}

  Polled<Output> Poll(Context& cx) {
    WEFT_CHECK(!finished_, "a JoinOk was polled after it was ready");
    if (remaining_ != 0) {
      absl::Status error;
      const bool finished = branches_.Poll(
          cx, select_internal::PollOrder::kFair,
          [&](size_t index, auto&& polled) {
            error = select_internal::TakeOk(*std::move(polled), values_[index]);
            return --remaining_ == 0 || !error.ok();
          });
      if (!finished) return kPending;
      branches_.DropAll();
      if (!error.ok()) {
        finished_ = true;
        values_.clear();
        return Output(std::move(error));
      }
    }
    finished_ = true;
    return TakeValues();
  }

  // See task/await_trace.h.
  void Trace(AwaitTrace& trace) const {
    trace.AddFuture("JoinOk");
    branches_.Trace(trace);
  }

 private:
  Output TakeValues() {
    if constexpr (kOnlyStatus) {
      return absl::OkStatus();
    } else {
      std::vector<Value> values;
      values.reserve(values_.size());
      for (auto& value : values_) values.push_back(*std::move(value));
      values_.clear();
      return values;
    }
  }

  select_internal::BranchArray<F> branches_;
  std::vector<std::optional<Value>> values_;
  size_t remaining_;
  bool finished_ = false;
};

template <select_internal::FutureRange R>
  requires select_internal::FallibleArgument<select_internal::BranchOf<R>>
auto JoinOk(R&& range) {
  using F = select_internal::BranchOf<R>;
  return JoinOkRangeFuture<F>(
      select_internal::BranchArray<F>(std::forward<R>(range)));
}

}  // namespace weft

#endif  // WEFT_SELECT_JOIN_OK_RANGE_H_
