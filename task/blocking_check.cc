// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/task/blocking_check.h"

#include <utility>

namespace weft::task_internal {
namespace {

[[gnu::noinline]] bool& MayBlockSlot() {
  constinit static thread_local bool may_block = true;
  return may_block;
}

}  // namespace

bool MayBlock() { return MayBlockSlot(); }

BlockingScope::BlockingScope(bool may_block)
    : slot_(MayBlockSlot()), previous_(std::exchange(slot_, may_block)) {}

BlockingScope::~BlockingScope() { slot_ = previous_; }

}  // namespace weft::task_internal
