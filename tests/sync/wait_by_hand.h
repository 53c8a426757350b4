// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// WaitByHand: a future, whoever polls it, and what it gave.
//
//   WaitByHand wait(mutex.Lock());
//   EXPECT_FALSE(wait.Poll());
//   guard.reset();
//   EXPECT_EQ(wait.TakeWakes(), 1);
//   EXPECT_TRUE(wait.Poll());
//   wait.Take();  // the guard
//
// Thread safety: one thread at a time.
// Dropping: the output goes before the future.
#ifndef WEFT_TESTS_SYNC_WAIT_BY_HAND_H_
#define WEFT_TESTS_SYNC_WAIT_BY_HAND_H_

#include <cstdint>
#include <optional>
#include <utility>

#include "weft/task/budget.h"
#include "weft/task/context.h"
#include "weft/task/counting_waker.h"

namespace weft {

template <class F>
class WaitByHand {
 public:
  explicit WaitByHand(F future) : future_(std::move(future)) {}

  // True if ready; then it is not called again. As an executor polls.
  bool Poll(Budget* budget = nullptr) {
    return PollIn(Context(waker_.waker(), budget).WithPromptness(true));
  }
  // As one polls who may leave the future alone afterwards.
  bool PollUnsurely() { return PollIn(Context(waker_.waker())); }

  // The number of wakes since the last call.
  int64_t TakeWakes() { return waker_.TakeWakes(); }

  // Requires: Poll() was ready.
  typename F::Output& output() { return *output_; }
  typename F::Output Take() { return *std::exchange(output_, std::nullopt); }

  // Destroys the future, and the output.
  void Drop() {
    output_.reset();
    future_.reset();
  }

 private:
  bool PollIn(Context cx) {
    auto polled = future_->Poll(cx);
    if (polled.IsPending()) return false;
    output_.emplace(*std::move(polled));
    return true;
  }

  CountingWaker waker_;
  std::optional<F> future_;
  std::optional<typename F::Output> output_;
};

}  // namespace weft

#endif  // WEFT_TESTS_SYNC_WAIT_BY_HAND_H_
