// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/task/borrow.h"

#include "weft/task/check.h"

namespace weft::task_internal {

void CheckNotBorrowing(bool borrows) {
#ifndef NDEBUG
  WEFT_CHECK(
      !borrows,
      "a coroutine that takes references, pointers or views was spawned, "
      "and may outlive what they point to; pass values, or use "
      "SpawnBorrowing() and wait for its end");
#else
  static_cast<void>(borrows);
#endif
}

}  // namespace weft::task_internal
