// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Algorithm of shrinking: delta debugging on the choices (Zeller, Hildebrandt:
// "Simplifying and Isolating Failure-Inducing Input", IEEE TSE 2002). Runs of them,
// at first all, then halves, are replaced by zeros; what still fails is kept.
#include "weft/executor/explore.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "weft/executor/deterministic_executor.h"
#include "weft/task/check.h"
#include "weft/task/describe_exception.h"
#include "weft/task/environment.h"

namespace weft {
namespace {

using Choices = std::vector<uint32_t>;

// Shrinking gives up after so many steps, a few seconds' worth.
constexpr size_t kShrinkSteps = 20'000'000;

// How much of a trace is printed.
constexpr size_t kPrintedTrace = 20'000;

// The last part of it, from the beginning of a line on.
std::string_view EndOf(std::string_view trace) {
  if (trace.size() <= kPrintedTrace) return trace;
  trace.remove_prefix(trace.size() - kPrintedTrace);
  return trace.substr(trace.find('\n') + 1);
}

// Without numbers: ids of tasks go on from run to run, times and counts differ
// between a run and a smaller one.
std::string WithoutNumbers(const std::string& text) {
  std::string rest;
  for (const char c : text) {
    if (!absl::ascii_isdigit(static_cast<unsigned char>(c))) rest += c;
  }
  return rest;
}

// What failed: the code, and what the first line says.
std::string KindOf(const absl::Status& status) {
  const std::string message(status.message());
  return absl::StrCat(static_cast<int>(status.code()), " ",
                      WithoutNumbers(message.substr(0, message.find('\n'))));
}

struct Outcome {
  absl::Status status;
  Choices choices;
  size_t steps = 0;
  uint64_t fingerprint = 0;
  std::string trace;
};

class Explorer {
 public:
  Explorer(absl::FunctionRef<absl::Status(DeterministicExecutor&)> scenario,
           const ExploreOptions& options)
      : scenario_(scenario), options_(options) {}

  std::optional<ScenarioFailure> Try(uint64_t seed) {
    Outcome found = Run(seed, std::nullopt, /*trace=*/false);
    if (found.status.ok()) return std::nullopt;
    const Outcome again = Run(seed, std::nullopt, /*trace=*/true);
    if (!IsSame(again, found)) return Unrepeatable(seed, found, again);
    // Shrinking may take a while, or meet a CHECK.
    std::cerr << "seed " << seed << " fails: " << found.status
              << "; looking for a smaller run\n"
              << std::flush;
    Shrink(seed, found);
    Outcome small = Run(seed, found.choices, /*trace=*/true);
    if (!IsSame(small, found)) return Unrepeatable(seed, found, small);
    return ScenarioFailure{seed, std::move(found.status),
                           std::move(found.choices), std::move(small.trace)};
  }

 private:
  static bool IsSame(const Outcome& a, const Outcome& b) {
    return a.fingerprint == b.fingerprint &&
           a.status.code() == b.status.code() &&
           WithoutNumbers(std::string(a.status.message())) ==
               WithoutNumbers(std::string(b.status.message()));
  }
  static ScenarioFailure Unrepeatable(uint64_t seed, const Outcome& found,
                                      const Outcome& again) {
    return ScenarioFailure{
        seed,
        absl::InternalError(absl::StrCat(
            "it failed (", found.status.ToString(),
            "), but another time the same seed gave another run (",
            again.status.ToString(),
            "): is there a thread, the real time, or an address in it?")),
        again.choices, again.trace};
  }

  Outcome Run(uint64_t seed, std::optional<Choices> choices, bool trace) {
    DeterministicExecutor executor({.seed = seed,
                                    .max_steps = options_.max_steps,
                                    .choices = std::move(choices),
                                    .trace = trace});
    Outcome outcome;
    outcome.status = Call(executor);
    outcome.choices = executor.choices();
    outcome.steps = executor.steps();
    outcome.fingerprint = executor.fingerprint();
    outcome.trace = executor.TraceText();
    return outcome;
  }

  absl::Status Call(DeterministicExecutor& executor) {
    const EnvironmentScope scope(executor.environment());
#if defined(__cpp_exceptions)
    try {
      return scenario_(executor);
    } catch (...) {
      return absl::InternalError(absl::StrCat(
          "the scenario has thrown: ",
          task_internal::DescribeException(std::current_exception())));
    }
#else
    return scenario_(executor);
#endif
  }

  // Makes `found` the smallest run found that fails alike.
  void Shrink(uint64_t seed, Outcome& found) {
    const std::string kind = KindOf(found.status);
    size_t runs = 0;
    size_t steps = 0;
    for (size_t length = found.choices.size(); length > 0; length /= 2) {
      for (size_t at = 0; at < found.choices.size(); at += length) {
        const auto begin =
            found.choices.begin() + static_cast<std::ptrdiff_t>(at);
        const size_t size = std::min(length, found.choices.size() - at);
        if (std::all_of(begin, begin + static_cast<std::ptrdiff_t>(size),
                        [](uint32_t c) { return c == 0; })) {
          continue;
        }
        if (++runs > options_.shrink_runs || steps > kShrinkSteps) return;
        Choices fewer = found.choices;
        std::fill_n(fewer.begin() + static_cast<std::ptrdiff_t>(at), size, 0);
        Outcome smaller = Run(seed, std::move(fewer), /*trace=*/false);
        steps += smaller.steps;
        if (KindOf(smaller.status) == kind) found = std::move(smaller);
      }
    }
  }

  const absl::FunctionRef<absl::Status(DeterministicExecutor&)> scenario_;
  const ExploreOptions options_;
};

std::optional<uint64_t> SeedOfEnvironment() {
  const char* text = std::getenv("WEFT_SEED");
  if (text == nullptr) return std::nullopt;
  uint64_t seed = 0;
  WEFT_CHECK(absl::SimpleAtoi(text, &seed),
             "WEFT_SEED must be a seed that Explore() has reported: a number");
  return seed;
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const ScenarioFailure& failure) {
  const std::string_view end = EndOf(failure.trace);
  return out << "seed " << failure.seed << " (WEFT_SEED=" << failure.seed
             << "): " << failure.status << "\na small run that fails so"
             << (end.size() < failure.trace.size() ? ", its end" : "") << ":\n"
             << end;
}

std::optional<ScenarioFailure> Explore(
    uint64_t seeds,
    absl::FunctionRef<absl::Status(DeterministicExecutor&)> scenario,
    const ExploreOptions& options) {
  Explorer explorer(scenario, options);
  const std::optional<uint64_t> only = SeedOfEnvironment();
  const uint64_t first = only.value_or(options.first_seed);
  const uint64_t count = only.has_value() ? 1 : seeds;
  for (uint64_t i = 0; i < count; ++i) {
    std::optional<ScenarioFailure> failure = explorer.Try(first + i);
    if (!failure.has_value()) continue;
    std::cerr << *failure << std::flush;
    return failure;
  }
  return std::nullopt;
}

}  // namespace weft
