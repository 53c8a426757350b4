// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Not under sanitizers, whose allocators end a program that has no memory.
#include <sys/resource.h>
#include <unistd.h>

#include "gtest/gtest.h"
#include "weft/task/frame_slabs.h"

namespace weft::task_internal {
namespace {

// In a process of its own: there is no address space left.
TEST(FrameSlabsDeathTest, WithoutMemoryTheSupplyIsEmpty) {
  auto use = [] {
    const rlimit none = {0, 0};
    if (setrlimit(RLIMIT_AS, &none) != 0) _exit(2);
    FrameSlabs slabs(2 * FrameSlabs::kGranule);
    const FrameSlabs::Supply supply = slabs.Take();
    _exit(supply.used.size() == 0 && supply.row.IsEmpty() ? 0 : 1);
  };
  EXPECT_EXIT(use(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace weft::task_internal
