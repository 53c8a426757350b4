// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Explore: runs a scenario with one seed after the other until it fails.
//
//   absl::Status Transfers(DeterministicExecutor& executor) {
//     Bank bank;
//     absl::Status status = executor.Run(MoveMoney(bank));
//     if (!status.ok()) return status;
//     return bank.Total() == 100 ? absl::OkStatus()
//                                : absl::InternalError("money is lost");
//   }
//   EXPECT_EQ(Explore(10'000, Transfers), std::nullopt);
//
// What is reported is the seed, which is enough to see the failure again, and a
// small run that fails alike, with the same code and, numbers left out, the same first
// line of its status: as many choices as possible are the plainest, to run
// who has waited longest, and its trace shows the few that matter. A program run
// with WEFT_SEED=<seed> in its environment tries that seed only, in each Explore()
// (bazel test --test_env=WEFT_SEED=7 --test_filter=…). The small run once more:
//
//   DeterministicExecutor executor({.seed = f.seed, .choices = f.choices});
//   EnvironmentScope scope(executor.environment());
//   absl::Status status = Transfers(executor);
//
// A run that fails destroys its tasks at once; those that a scenario leaves after one
// that was OK are destroyed when it has returned, so they share what they use.
//
// Thread safety: none.
#ifndef WEFT_EXECUTOR_EXPLORE_H_
#define WEFT_EXECUTOR_EXPLORE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "weft/executor/deterministic_executor.h"

namespace weft {

struct ScenarioFailure {
  uint64_t seed = 0;
  // What the scenario returned, or what it threw, in the small run. Where the same
  // choices did not give the same run once more, Internal: something in the scenario comes from outside.
  absl::Status status;
  // Of the small run: Options::choices beside `seed`, and its trace.
  std::vector<uint32_t> choices;
  std::string trace;

  bool operator==(const ScenarioFailure&) const = default;
};
std::ostream& operator<<(std::ostream& out, const ScenarioFailure& failure);

struct ExploreOptions {
  uint64_t first_seed = 1;
  size_t max_steps = 1'000'000;  // in each run
  size_t shrink_runs = 1'000;  // at most, to find the small one; fewer if long
};

// The scenario, which makes everything it needs anew, is called once for each of
// `seeds` seeds, with the executor's environment current, and is OK if what must hold
// held. Returns the first failure, which it also prints on standard error; nothing if
// there is none.
std::optional<ScenarioFailure> Explore(
    uint64_t seeds,
    absl::FunctionRef<absl::Status(DeterministicExecutor&)> scenario,
    const ExploreOptions& options = {});

}  // namespace weft

#endif  // WEFT_EXECUTOR_EXPLORE_H_
