// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// ExploreSchedules: expects that Explore() finds no failure, and says how many
// schedules it saw, so that a scenario which leaves no choice is noticed.
//
//   EXPECT_GT(ExploreSchedules(IsLong() ? 10'000 : 500, scenario), 400u);
#ifndef WEFT_TESTS_KIT_EXPLORE_SCHEDULES_H_
#define WEFT_TESTS_KIT_EXPLORE_SCHEDULES_H_

#include <cstddef>
#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "weft/executor/deterministic_executor.h"

namespace weft {

// Prints and returns how many of the executor's fingerprints were distinct when
// the scenario returned.
size_t ExploreSchedules(
    uint64_t seeds,
    absl::FunctionRef<absl::Status(DeterministicExecutor&)> scenario);

}  // namespace weft

#endif  // WEFT_TESTS_KIT_EXPLORE_SCHEDULES_H_
