// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Memory that runs out when it is told to: replaces operator new and new[] of
// the test that this is linked into.
//
//   FailAllocation(3);                // the third from now
//   try { ... } catch (const std::bad_alloc&) {}
//   bool failed = StopFailing() > 0;
//
// Thread safety: each thread has its own failures.
#ifndef WEFT_TESTS_EXECUTOR_FAILING_NEW_H_
#define WEFT_TESTS_EXECUTOR_FAILING_NEW_H_

namespace weft::executor_testing {

// The n-th allocation of this thread from now, counted from 1, fails.
void FailAllocation(int n);
// All allocations of this thread fail.
void FailAllAllocations();
// From now on none fails; returns how many did.
int StopFailing();

}  // namespace weft::executor_testing

#endif  // WEFT_TESTS_EXECUTOR_FAILING_NEW_H_
