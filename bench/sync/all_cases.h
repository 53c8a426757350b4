// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// All rows of the benchmark of sync and select.
#ifndef WEFT_BENCH_SYNC_ALL_CASES_H_
#define WEFT_BENCH_SYNC_ALL_CASES_H_

#include <vector>

#include "weft/bench/harness.h"

namespace weft::bench {

std::vector<Case> AllSyncCases();

}  // namespace weft::bench

#endif  // WEFT_BENCH_SYNC_ALL_CASES_H_
