// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Bench: runs one case of a benchmark program and reports it as a line of JSON.
//
// Every program, ours and the peers', follows one protocol:
//
//   PROGRAM CASE --workers=2 --size=1000 --iterations=10 [--io]
//
// One case is a function that calls Measure(), or measures by itself and calls
// Record() or RecordLatency().
//
//   void SpawnOne(Bench& bench) {
//     bench.Measure(1, [&] { BlockOn(Spawn(Nothing())); });
//   }
//
// Thread safety: one thread.
#ifndef WEFT_BENCH_HARNESS_H_
#define WEFT_BENCH_HARNESS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"

namespace weft::bench {

struct CaseOptions {
  std::string name;     // of the case
  int workers = 2;      // threads that run tasks
  size_t size = 1000;   // what it counts depends on the case
  int iterations = 10;  // measured ones, after one that is not
  bool io = false;      // workers wait in a reactor, with timers
};

// nullopt if there is no case or something is not understood.
std::optional<CaseOptions> ParseOptions(std::span<const char* const> arguments);

// The monotonic clock, and the processor time of all threads so far.
int64_t NowNs();
int64_t CpuNs();

// A field of /proc/self/status, "VmRSS" for instance; 0 if there is none.
int64_t ReadStatus(std::string_view field);

// The value that the fraction `p` of them does not exceed. Requires: sorted,
// not empty.
int64_t Percentile(std::span<const int64_t> sorted, double p);

class Bench {
 public:
  explicit Bench(CaseOptions options) : options_(std::move(options)) {}

  int workers() const { return options_.workers; }
  size_t size() const { return options_.size; }
  bool io() const { return options_.io; }

  // Calls `iteration`, which does `ops` operations, once to warm up and then as
  // often as asked. Records ns_per_op (the median), min, ops, cpu_ns_per_op.
  void Measure(size_t ops, absl::FunctionRef<void()> iteration);

  // Records p50, p99, p999. Requires: not empty.
  void RecordLatency(std::vector<int64_t> ns);

  void Record(std::string_view key, double value) {
    records_.emplace_back(key, value);
  }

  // What was recorded, and max_rss_kb.
  std::string Json() const;

 private:
  const CaseOptions options_;
  std::vector<std::pair<std::string, double>> records_;
};

struct Case {
  std::string_view name;
  void (*run)(Bench& bench);
};

// Cases that a program has nothing like: those whose names begin so, and why.
struct Unsupported {
  std::string_view prefix;
  std::string_view reason;
};

// A program's main function: runs the case that the arguments name, or says why it
// has none, as the first that fits of `unsupported` does. 2 if they are wrong or
// there is no such case.
int RunCase(std::span<const char* const> arguments, std::span<const Case> cases,
            std::span<const Unsupported> unsupported = {});

}  // namespace weft::bench

#endif  // WEFT_BENCH_HARNESS_H_
