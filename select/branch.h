// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Branch and BranchSet: the children of a combinator.
//
// A combinator is given futures by value (rvalues) or by reference (lvalues).
// It drops the former when it is done with them; the latter stay pending, with
// its waker, and belong to whoever named them. Internal.
//
// Thread safety: one thread at a time.
#ifndef WEFT_SELECT_BRANCH_H_
#define WEFT_SELECT_BRANCH_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

#include "weft/task/await_trace.h"
#include "weft/task/check.h"
#include "weft/task/context.h"
#include "weft/task/future.h"
#include "weft/task/polled.h"

namespace weft {

// As the first argument of Select and Race: polls the branches in the order in
// which they are given, so that of several ready ones the first wins. Without
// it, each poll starts at a random one.
struct Biased {};

namespace select_internal {

inline constexpr size_t kMaxBranches = 8;

// What keeps an output of type T: void as Unit, T& as a reference_wrapper.
template <class T>
struct StoredOutput {
  using Type = UnitIfVoid<T>;
};
template <class T>
struct StoredOutput<T&> {
  using Type = std::reference_wrapper<T>;
};
template <class F>
using StoredOutputOf = typename StoredOutput<OutputOf<F>>::Type;

template <class F>
concept FutureArgument = Future<std::remove_reference_t<F>>;

// A future held by value.
template <class F>
class Branch {
 public:
  static constexpr bool kMovable = kMovableAfterPoll<F>;

  explicit Branch(F&& future) : future_(std::move(future)) {}

  Polled<typename F::Output> Poll(Context& cx) {
    WEFT_CHECK(future_.has_value(), "a future was polled after it was ready");
    return future_->Poll(cx);
  }
  void Drop() { future_.reset(); }
  // Null once it was dropped.
  const F* find() const { return future_.has_value() ? &*future_ : nullptr; }

 private:
  std::optional<F> future_;
};

// A future of somebody else's.
template <class F>
class Branch<F&> {
 public:
  static constexpr bool kMovable = true;

  explicit Branch(F& future) : future_(&future) {}

  Polled<typename F::Output> Poll(Context& cx) {
    WEFT_CHECK(future_ != nullptr, "a future was polled after it was ready");
    // It may be left pending, for as long as its owner likes.
    Context inner = cx.WithPromptness(false);
    return future_->Poll(inner);
  }
  // A handler may destroy the future: nobody looks at it any more.
  void Drop() { future_ = nullptr; }
  const F* find() const { return future_; }

 private:
  F* future_;
};

// Calls visit.template operator()<i>() for i = start, start + 1, ... cyclically
// through all kCount numbers below kCount, until one returns true.
template <size_t kCount, class Visit>
bool VisitFrom(size_t start, Visit&& visit) {
  for (size_t n = start; n < start + kCount; ++n) {
    const size_t wanted = n % (kCount != 0 ? kCount : 1);
    const bool found = [&]<size_t... I>(std::index_sequence<I...>) {
      return ((I == wanted && visit.template operator()<I>()) || ...);
    }(std::make_index_sequence<kCount>());
    if (found) return true;
  }
  return false;
}

// What a branch waits for, if it does.
template <class B>
void TraceBranch(const B& branch, AwaitTrace& trace) {
  if (const auto* future = branch.find()) TraceFuture(*future, trace);
}

// Where a poll starts among `count` branches.
inline uint32_t StartOf(bool biased, uint32_t count, Context& cx) {
  return biased || count == 1 ? 0 : cx.random().Below(count);
}

}  // namespace select_internal
}  // namespace weft

#endif  // WEFT_SELECT_BRANCH_H_
