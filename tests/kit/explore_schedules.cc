// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/tests/kit/explore_schedules.h"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <set>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "weft/executor/deterministic_executor.h"
#include "weft/executor/explore.h"

namespace weft {

size_t ExploreSchedules(
    uint64_t seeds,
    absl::FunctionRef<absl::Status(DeterministicExecutor&)> scenario) {
  std::set<uint64_t> fingerprints;
  const auto failure = Explore(seeds, [&](DeterministicExecutor& executor) {
    absl::Status status = scenario(executor);
    fingerprints.insert(executor.fingerprint());
    return status;
  });
  EXPECT_EQ(failure, std::nullopt);
  std::printf("%zu schedules of %llu seeds\n", fingerprints.size(),
              static_cast<unsigned long long>(seeds));
  return fingerprints.size();
}

}  // namespace weft
