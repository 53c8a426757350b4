// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/bench/harness.h"

#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace weft::bench {
namespace {

int64_t ReadClock(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

template <class T>
bool ParseNumber(absl::string_view argument, absl::string_view flag, T& out) {
  return absl::ConsumePrefix(&argument, flag) &&
         absl::SimpleAtoi(argument, &out);
}

int Refuse(std::span<const Case> cases) {
  std::fputs("usage: CASE --workers=N --size=N --iterations=N [--io]\n",
             stderr);
  for (const Case& c : cases) {
    std::fprintf(stderr, "  %s\n", std::string(c.name).c_str());
  }
  return 2;
}

}  // namespace

std::optional<CaseOptions> ParseOptions(
    std::span<const char* const> arguments) {
  CaseOptions options;
  if (arguments.empty()) return std::nullopt;
  options.name = arguments[0];
  for (const char* argument : arguments.subspan(1)) {
    if (argument == std::string_view("--io")) {
      options.io = true;
    } else if (!ParseNumber(argument, "--workers=", options.workers) &&
               !ParseNumber(argument, "--size=", options.size) &&
               !ParseNumber(argument, "--iterations=", options.iterations)) {
      return std::nullopt;
    }
  }
  if (options.workers < 1 || options.iterations < 1) return std::nullopt;
  return options;
}

int64_t NowNs() { return ReadClock(CLOCK_MONOTONIC); }
int64_t CpuNs() { return ReadClock(CLOCK_PROCESS_CPUTIME_ID); }

int64_t ReadStatus(std::string_view field) {
  std::ifstream status("/proc/self/status");
  const std::string prefix = std::string(field) + ":";
  for (std::string line; std::getline(status, line);) {
    if (absl::StartsWith(line, prefix)) {
      return std::strtoll(line.c_str() + prefix.size(), nullptr, 10);
    }
  }
  return 0;
}

int64_t Percentile(std::span<const int64_t> sorted, double p) {
  const double rank = std::ceil(p * static_cast<double>(sorted.size()));
  return sorted[static_cast<size_t>(std::max(rank, 1.0)) - 1];
}

void Bench::Measure(size_t ops, absl::FunctionRef<void()> iteration) {
  iteration();
  std::vector<int64_t> walls;
  const int64_t cpu_before = CpuNs();
  for (int i = 0; i < options_.iterations; ++i) {
    const int64_t before = NowNs();
    iteration();
    walls.push_back(NowNs() - before);
  }
  const double cpu = static_cast<double>(CpuNs() - cpu_before);
  const double n = static_cast<double>(ops);
  std::sort(walls.begin(), walls.end());
  Record("ns_per_op", static_cast<double>(Percentile(walls, 0.5)) / n);
  Record("min", static_cast<double>(walls.front()) / n);
  Record("ops", n);
  Record("cpu_ns_per_op", cpu / n / options_.iterations);
}

void Bench::RecordLatency(std::vector<int64_t> ns) {
  std::sort(ns.begin(), ns.end());
  Record("p50", static_cast<double>(Percentile(ns, 0.5)));
  Record("p99", static_cast<double>(Percentile(ns, 0.99)));
  Record("p999", static_cast<double>(Percentile(ns, 0.999)));
}

std::string Bench::Json() const {
  std::string json = absl::StrCat("{\"case\":\"", options_.name, "\"");
  for (const auto& [key, value] : records_) {
    absl::StrAppend(&json, ",\"", key, "\":", value);
  }
  absl::StrAppend(&json, ",\"max_rss_kb\":", ReadStatus("VmHWM"), "}");
  return json;
}

int RunCase(std::span<const char* const> arguments, std::span<const Case> cases,
            std::span<const Unsupported> unsupported) {
  const std::optional<CaseOptions> options = ParseOptions(arguments);
  if (!options.has_value()) return Refuse(cases);
  for (const Case& c : cases) {
    if (c.name != options->name) continue;
    Bench bench(*options);
    c.run(bench);
    std::puts(bench.Json().c_str());
    return 0;
  }
  for (const auto& [prefix, reason] : unsupported) {
    if (!options->name.starts_with(prefix)) continue;
    std::printf("{\"case\":\"%s\",\"unsupported\":\"%s\"}\n",
                options->name.c_str(), std::string(reason).c_str());
    return 0;
  }
  return Refuse(cases);
}

}  // namespace weft::bench
