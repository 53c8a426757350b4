// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// CountingWaker: a waker for tests that counts what is done to it.
//
//   CountingWaker waker;
//   Context cx(waker.waker());
//   EXPECT_TRUE(future.Poll(cx).IsPending());
//   event.Set();
//   EXPECT_EQ(waker.wakes(), 1);
//   EXPECT_EQ(waker.outstanding(), 0);  // nobody keeps a clone
//
// The waker that this object lends does not count; its clones do.
//
// Thread safety: all methods from any thread.
// Lifetime: clones may outlive this object; they then count for nobody.
#ifndef WEFT_TASK_COUNTING_WAKER_H_
#define WEFT_TASK_COUNTING_WAKER_H_

#include <cstdint>

#include "weft/task/waker.h"

namespace weft {

class CountingWaker {
 public:
  CountingWaker();
  CountingWaker(const CountingWaker&) = delete;  // its waker holds its address
  CountingWaker& operator=(const CountingWaker&) = delete;
  ~CountingWaker();

  // What to poll with. Valid while this object lives.
  const Waker& waker() const { return lent_.get(); }

  // How often it was woken, by whichever clone.
  int64_t wakes() const;
  // How many clones were made and how many of them are gone again, by
  // destruction or by a wake that consumed them.
  int64_t clones() const;
  int64_t drops() const;
  // How many clones somebody still keeps.
  int64_t outstanding() const { return clones() - drops(); }

  // The number of wakes since the last call.
  int64_t TakeWakes();

 private:
  struct Core;
  static const WakerVTable kVTable;

  Core* const core_;
  const BorrowedWaker lent_;
  int64_t taken_ = 0;
};

}  // namespace weft

#endif  // WEFT_TASK_COUNTING_WAKER_H_
