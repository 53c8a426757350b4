// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The rows of the benchmark of sync that concern tasks in a row, with a channel from
// each to the next.
#ifndef WEFT_BENCH_SYNC_CHAIN_CASES_H_
#define WEFT_BENCH_SYNC_CHAIN_CASES_H_

#include <span>

#include "weft/bench/harness.h"

namespace weft::bench {

std::span<const Case> ChainCases();

}  // namespace weft::bench

#endif  // WEFT_BENCH_SYNC_CHAIN_CASES_H_
