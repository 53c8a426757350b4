// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/task/borrow.h"

#include "weft/task/check.h"

namespace weft::task_internal {

void CheckNotBorrowing(bool borrows) {
#ifndef NDEBUG
  WEFT_CHECK(
      !borrows,
      "a coroutine was spawned that may outlive what it borrows: it takes "
      "references, pointers or views, or is a member function, or a lambda "
      "with "
      "captures that was called here. Pass values (a shared_ptr to the "
      "object), "
      "pass the lambda itself to Spawn(), or use SpawnBorrowing() and wait for "
      "its end");
#else
  static_cast<void>(borrows);
#endif
}

}  // namespace weft::task_internal
