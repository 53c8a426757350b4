// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The rows of the benchmark of sync that concern channels with one receiver, as
// Tokio's sync_mpsc has them. Their names say what is limited (full: the senders
// wait) and whether the receiver takes many at a time.
#ifndef WEFT_BENCH_SYNC_MPSC_CASES_H_
#define WEFT_BENCH_SYNC_MPSC_CASES_H_

#include <span>

#include "weft/bench/harness.h"

namespace weft::bench {

std::span<const Case> MpscCases();

}  // namespace weft::bench

#endif  // WEFT_BENCH_SYNC_MPSC_CASES_H_
