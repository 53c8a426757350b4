// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Runs the executor's stress tests again and again, for as long as is asked:
//
//   ./bazelw run --config=opt //tests/executor:stress -- --seconds=600
//
// Ends at the first round with a failure.

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  constexpr std::string_view kFlag = "--seconds=";
  const std::string_view argument = argc == 2 ? argv[1] : "";
  const int seconds = argument.starts_with(kFlag)
                          ? std::atoi(argument.substr(kFlag.size()).data())
                          : 0;
  if (seconds <= 0) {
    std::fprintf(stderr, "usage: %s --seconds=N\n", argv[0]);
    return 2;
  }
  const absl::Time end = absl::Now() + absl::Seconds(seconds);
  int rounds = 0;
  while (absl::Now() < end) {
    if (RUN_ALL_TESTS() != 0) {
      std::printf("round %d failed; run with --gtest_filter for one test\n",
                  rounds);
      return 1;
    }
    ++rounds;
  }
  std::printf("%d rounds without a failure\n", rounds);
  return 0;
}
