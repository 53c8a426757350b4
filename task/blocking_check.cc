// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/task/blocking_check.h"

#include <utility>

#include "weft/task/running.h"

namespace weft::task_internal {

bool MayBlock() { return ThisThreadRuns().may_block; }

BlockingScope::BlockingScope(bool may_block)
    : slot_(ThisThreadRuns().may_block),
      previous_(std::exchange(slot_, may_block)) {}

BlockingScope::~BlockingScope() { slot_ = previous_; }

}  // namespace weft::task_internal
