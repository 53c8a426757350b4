// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The executor's benchmark, our side. See bench/README.md.

#include <span>
#include <vector>

#include "weft/bench/executor/all_cases.h"
#include "weft/bench/harness.h"

int main(int argc, char** argv) {
  const std::vector<weft::bench::Case> cases = weft::bench::AllExecutorCases();
  return weft::bench::RunCase(std::span(argv, argc).subspan(1), cases);
}
