// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/bench/executor/latency_cases.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "weft/bench/executor/common.h"
#include "weft/runtime/runtime.h"
#include "weft/sync/oneshot.h"
#include "weft/task/join_handle.h"
#include "weft/task/ready.h"
#include "weft/task/spawner.h"
#include "weft/task/task.h"
#include "weft/task/yield_now.h"

namespace weft::bench {
namespace {

// How long after it was sent a point in time arrives.
Task<int64_t> Receive(sync::OneshotReceiver<int64_t> receiver) {
  const absl::StatusOr<int64_t> sent = co_await receiver;
  co_return NowNs() - sent.value();
}

void MeasureWakes(Bench& bench, Runtime& runtime) {
  constexpr int64_t kGapNs = 200'000;  // long enough for everybody to sleep
  std::vector<int64_t> latencies;
  for (size_t i = 0; i < bench.size(); ++i) {
    auto [sender, receiver] = sync::Oneshot<int64_t>();
    auto handle = runtime.Spawn(Receive(std::move(receiver)));
    Rest(kGapNs);
    static_cast<void>(std::move(sender).Send(NowNs()));
    latencies.push_back(runtime.BlockOn(std::move(handle)));
  }
  bench.RecordLatency(std::move(latencies));
}

void WakeLatency(Bench& bench) {
  Runtime runtime = MultiThread(bench);
  MeasureWakes(bench, runtime);
}

void WakeLatencyBusy(Bench& bench) {
  Runtime runtime = MultiThread(bench);
  const BusyTasks busy(runtime, bench);
  MeasureWakes(bench, runtime);
}

// How far each of a set of equal tasks has come.
struct Race {
  explicit Race(size_t n) : progress(n) {}

  std::vector<std::atomic<size_t>> progress;
  std::atomic<bool> finished{false};
  size_t slowest = 0;  // when the first one finished; written by that one
};

Task<> RunRace(std::shared_ptr<Race> race, size_t self, size_t steps) {
  for (size_t i = 0; i < steps; ++i) {
    co_await YieldNow();
    // Relaxed: only counted.
    race->progress[self].fetch_add(1, std::memory_order_relaxed);
  }
  if (race->finished.exchange(true)) co_return;
  race->slowest =
      *std::min_element(race->progress.begin(), race->progress.end());
}

Task<> StartRace(std::shared_ptr<Race> race, size_t steps) {
  std::vector<JoinHandle<>> handles;
  for (size_t i = 0; i < race->progress.size(); ++i) {
    handles.push_back(Spawn(RunRace(race, i, steps)));
  }
  for (JoinHandle<>& handle : handles) co_await handle;
}

void Fairness(Bench& bench) {
  constexpr size_t kSteps = 10'000;
  Runtime runtime = MultiThread(bench);
  auto race = std::make_shared<Race>(bench.size());
  runtime.BlockOn(runtime.Spawn(StartRace(race, kSteps)));
  bench.Record("spread", static_cast<double>(kSteps) /
                             static_cast<double>(race->slowest + 1));
}

int64_t ContextSwitches() {
  int64_t sum = 0;
  for (const auto& thread :
       std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream status(thread.path() / "status");
    for (std::string line; std::getline(status, line);) {
      const size_t colon = line.find("ctxt_switches:");
      if (colon != std::string::npos)
        sum += std::stoll(line.substr(colon + 14));
    }
  }
  return sum;
}

void IdleCpu(Bench& bench) {
  Runtime runtime = MultiThread(bench);
  const JoinHandle<> task = runtime.Spawn(Pending());
  Rest(200'000'000);
  // To count switches costs time, which is not to be counted.
  const int64_t switches_before = ContextSwitches();
  const int64_t cpu_before = CpuNs();
  Rest(static_cast<int64_t>(bench.size()) * 1'000'000'000);
  const double cpu = static_cast<double>(CpuNs() - cpu_before);
  bench.Record("cpu_us", cpu / 1000);
  bench.Record("context_switches",
               static_cast<double>(ContextSwitches() - switches_before));
}

constexpr Case kCases[] = {
    {"wake_latency", WakeLatency},
    {"wake_latency_busy", WakeLatencyBusy},
    {"fairness", Fairness},
    {"idle_cpu", IdleCpu},
};

}  // namespace

std::span<const Case> LatencyCases() { return kCases; }

}  // namespace weft::bench
