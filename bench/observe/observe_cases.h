// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The cases that show what counters and histograms cost.
//
// Thread safety: as the harness.
#ifndef WEFT_BENCH_OBSERVE_OBSERVE_CASES_H_
#define WEFT_BENCH_OBSERVE_OBSERVE_CASES_H_

#include <span>

#include "weft/bench/harness.h"

namespace weft::bench {

// As cases.txt names them; each runtime that they make has histograms or not.
std::span<const Case> ObserveCases(bool histograms);

}  // namespace weft::bench

#endif  // WEFT_BENCH_OBSERVE_OBSERVE_CASES_H_
