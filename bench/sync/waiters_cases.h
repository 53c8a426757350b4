// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The rows of the benchmark of sync that concern many tasks that wait until they are
// let through. Their names say how many, and for what.
#ifndef WEFT_BENCH_SYNC_WAITERS_CASES_H_
#define WEFT_BENCH_SYNC_WAITERS_CASES_H_

#include <span>

#include "weft/bench/harness.h"

namespace weft::bench {

std::span<const Case> WaitersCases();

}  // namespace weft::bench

#endif  // WEFT_BENCH_SYNC_WAITERS_CASES_H_
