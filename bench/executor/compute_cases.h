// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Cases that compute by spawning: trees of tasks that await their children.
//
// Thread safety: a case runs alone, on the main thread.
#ifndef WEFT_BENCH_EXECUTOR_COMPUTE_CASES_H_
#define WEFT_BENCH_EXECUTOR_COMPUTE_CASES_H_

#include <span>

#include "weft/bench/harness.h"

namespace weft::bench {

std::span<const Case> ComputeCases();

}  // namespace weft::bench

#endif  // WEFT_BENCH_EXECUTOR_COMPUTE_CASES_H_
