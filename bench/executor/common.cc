// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/bench/executor/common.h"

#include <chrono>
#include <cstdint>
#include <thread>
#include <utility>

#include "absl/status/statusor.h"
#include "weft/runtime/runtime_builder.h"
#include "weft/task/check.h"
#include "weft/task/yield_now.h"

namespace weft::bench {
namespace {

Runtime Build(RuntimeBuilder builder, const Bench& bench) {
  if (bench.io()) builder.EnableAll();
  absl::StatusOr<Runtime> runtime = builder.Build();
  WEFT_CHECK(runtime.ok(), "the runtime cannot be made");
  return *std::move(runtime);
}

Task<> KeepBusy(std::shared_ptr<std::atomic<bool>> stop) {
  while (!stop->load()) {
    co_await YieldNow();
    Stall();
  }
}

}  // namespace

Runtime MultiThread(const Bench& bench) {
  return Build(RuntimeBuilder().WorkerThreads(bench.workers()), bench);
}

Runtime CurrentThread(const Bench& bench) {
  return Build(RuntimeBuilder().CurrentThread(), bench);
}

Task<> Nothing() { co_return; }

Task<> Yield(size_t n) {
  for (size_t i = 0; i < n; ++i) co_await YieldNow();
}

Task<> JoinAll(std::vector<JoinHandle<>> handles) {
  for (JoinHandle<>& handle : handles) co_await handle;
}

Countdown::Countdown(size_t n, sync::OneshotSender<void> done)
    : left_(n), done_(std::move(done)) {}

void Countdown::Done() {
  // Acquire-release: the last one sees what the others did.
  if (left_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  static_cast<void>(std::move(done_).Send());
}

BusyTasks::BusyTasks(Runtime& runtime, const Bench& bench)
    : runtime_(runtime), stop_(std::make_shared<std::atomic<bool>>(false)) {
  for (int i = 0; i < 2 * bench.workers(); ++i) {
    handles_.push_back(runtime.Spawn(KeepBusy(stop_)));
  }
}

BusyTasks::~BusyTasks() {
  stop_->store(true);
  runtime_.BlockOn(JoinAll(std::move(handles_)));
}

void Stall() {
  const int64_t end = NowNs() + 10'000;
  while (NowNs() < end) {
  }
}

void Rest(int64_t ns) {
  std::this_thread::sleep_for(std::chrono::nanoseconds(ns));
}

}  // namespace weft::bench
