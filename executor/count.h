// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Count: advances a Counter that is there only to be shown. Internal; included by
// sources alone, since what it does depends on how they are compiled.
//
// With WEFT_UNCOUNTED defined, which the benchmark of the counters does, these
// counters stay zero. What runners themselves look at (how often another one has
// polled, or came to its driver) is counted all the same, by Counter::Add().
//
// Thread safety: as Counter.
#ifndef WEFT_EXECUTOR_COUNT_H_
#define WEFT_EXECUTOR_COUNT_H_

#include <cstdint>

#include "weft/executor/counter.h"

namespace weft::executor_internal {

#if defined(WEFT_UNCOUNTED)
inline void Count(Counter&, uint64_t = 1) {}
inline uint64_t CountShared(Counter&, uint64_t = 1) { return 0; }
#else
inline void Count(Counter& counter, uint64_t n = 1) { counter.Add(n); }
inline uint64_t CountShared(Counter& counter, uint64_t n = 1) {
  return counter.AddShared(n);
}
#endif

}  // namespace weft::executor_internal

#endif  // WEFT_EXECUTOR_COUNT_H_
