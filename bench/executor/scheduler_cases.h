// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Cases of the multi-thread scheduler: spawning from tasks and from outside,
// yielding, waking each other.
//
// Thread safety: a case runs alone, on the main thread.
#ifndef WEFT_BENCH_EXECUTOR_SCHEDULER_CASES_H_
#define WEFT_BENCH_EXECUTOR_SCHEDULER_CASES_H_

#include <span>

#include "weft/bench/harness.h"

namespace weft::bench {

std::span<const Case> SchedulerCases();

}  // namespace weft::bench

#endif  // WEFT_BENCH_EXECUTOR_SCHEDULER_CASES_H_
