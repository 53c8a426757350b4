// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Cases whose main thread spawns and waits while workers run the tasks.
//
// Thread safety: a case runs alone, on the main thread.
#ifndef WEFT_BENCH_EXECUTOR_MAIN_THREAD_CASES_H_
#define WEFT_BENCH_EXECUTOR_MAIN_THREAD_CASES_H_

#include <span>

#include "weft/bench/harness.h"

namespace weft::bench {

std::span<const Case> MainThreadCases();

}  // namespace weft::bench

#endif  // WEFT_BENCH_EXECUTOR_MAIN_THREAD_CASES_H_
