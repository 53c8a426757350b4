// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/sync/latch.h"

#include <atomic>
#include <cstddef>

#include "weft/sync/event.h"
#include "weft/task/block_on.h"
#include "weft/task/check.h"

namespace weft::sync {

void Latch::CountDown(size_t count) {
  // Acquire-release: the last one opens the latch on behalf of all before it.
  const size_t left = count_.fetch_sub(count, std::memory_order_acq_rel);
  WEFT_CHECK(count <= left, "a Latch was counted down below 0");
  if (count == left && count != 0) open_.Set();
}

bool Latch::TryWait() const { return open_.IsSet(); }

size_t Latch::count() const {
  // Relaxed: a number, and nothing follows from it.
  return count_.load(std::memory_order_relaxed);
}

Event::WaitFuture Latch::Wait() { return open_.Wait(); }

void Latch::BlockingWait() {
  task_internal::BlockFor("Latch::BlockingWait()", Wait());
}

void Latch::BlockingArriveAndWait(size_t count) {
  task_internal::BlockFor("Latch::BlockingArriveAndWait()",
                          ArriveAndWait(count));
}

}  // namespace weft::sync
