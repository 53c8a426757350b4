// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Counts what operator new gives out, in the whole program, for tests that
// promise a number. Linking this target replaces the operators, except under a
// sanitizer, which has its own and looks for leaks itself.
//
//   const int64_t before = LiveAllocations();
//
// Thread safety: all functions from any thread.
#ifndef WEFT_TESTS_SELECT_ALLOCATION_COUNTER_H_
#define WEFT_TESTS_SELECT_ALLOCATION_COUNTER_H_

#include <cstdint>

namespace weft {

// How often memory was allocated so far, and how many of these blocks exist.
int64_t TotalAllocations();
int64_t LiveAllocations();

// False under a sanitizer; then both stay 0.
bool CountsAllocations();

// Allocation `n` of this thread from now on, counted from 0, throws
// std::bad_alloc; no other one does. Negative: none. Without exceptions none
// does.
void FailAllocationAfter(int64_t n);
// True once that one has failed.
bool HasFailedAllocation();

}  // namespace weft

#endif  // WEFT_TESTS_SELECT_ALLOCATION_COUNTER_H_
