// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The benchmark of sync and select on weft. See docs/benchmarks.md.

#include <span>
#include <vector>

#include "weft/bench/harness.h"
#include "weft/bench/sync/all_cases.h"

int main(int argc, char** argv) {
  const std::vector<weft::bench::Case> cases = weft::bench::AllSyncCases();
  return weft::bench::RunCase(std::span(argv, argc).subspan(1), cases);
}
