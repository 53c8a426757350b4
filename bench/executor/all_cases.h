// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// All cases of the executor's benchmark.
//
// Thread safety: any thread.
#ifndef WEFT_BENCH_EXECUTOR_ALL_CASES_H_
#define WEFT_BENCH_EXECUTOR_ALL_CASES_H_

#include <vector>

#include "weft/bench/harness.h"

namespace weft::bench {

std::vector<Case> AllExecutorCases();

}  // namespace weft::bench

#endif  // WEFT_BENCH_EXECUTOR_ALL_CASES_H_
