// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// What observing costs: weft with histograms enabled. See bench/README.md.

#include <span>

#include "weft/bench/harness.h"
#include "weft/bench/observe/observe_cases.h"

int main(int argc, char** argv) {
  return weft::bench::RunCase(std::span(argv, argc).subspan(1),
                              weft::bench::ObserveCases(/*histograms=*/true));
}
