// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Cases about when a task runs: latency of a wake, fairness, idleness.
//
// Thread safety: a case runs alone, on the main thread.
#ifndef WEFT_BENCH_EXECUTOR_LATENCY_CASES_H_
#define WEFT_BENCH_EXECUTOR_LATENCY_CASES_H_

#include <span>

#include "weft/bench/harness.h"

namespace weft::bench {

std::span<const Case> LatencyCases();

}  // namespace weft::bench

#endif  // WEFT_BENCH_EXECUTOR_LATENCY_CASES_H_
