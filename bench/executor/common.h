// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// What the cases of the executor's benchmark have in common: how a runtime is
// made, the smallest tasks, waiting for many.
//
// Thread safety: as said at each.
#ifndef WEFT_BENCH_EXECUTOR_COMMON_H_
#define WEFT_BENCH_EXECUTOR_COMMON_H_

#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

#include "weft/bench/harness.h"
#include "weft/runtime/runtime.h"
#include "weft/sync/oneshot.h"
#include "weft/task/join_handle.h"
#include "weft/task/task.h"

namespace weft::bench {

// Runtimes as the options say; the program ends if one cannot be made.
Runtime MultiThread(const Bench& bench);
Runtime CurrentThread(const Bench& bench);

// Tasks that do nothing, and that yield `n` times.
Task<> Nothing();
Task<> Yield(size_t n);

Task<> JoinAll(std::vector<JoinHandle<>> handles);

// Tells a receiver when it has been called `n` times. Any thread.
class Countdown {
 public:
  Countdown(size_t n, sync::OneshotSender<void> done);
  void Done();

 private:
  std::atomic<size_t> left_;
  sync::OneshotSender<void> done_;  // used by the last caller
};

// Tasks that yield and compute for 10 us, again and again, until destroyed:
// two for each worker.
class BusyTasks {
 public:
  BusyTasks(Runtime& runtime, const Bench& bench);
  ~BusyTasks();

 private:
  Runtime& runtime_;
  const std::shared_ptr<std::atomic<bool>> stop_;
  std::vector<JoinHandle<>> handles_;
};

// Computes for 10 us.
void Stall();

// Lets the calling thread, which runs no tasks, wait.
void Rest(int64_t ns);

}  // namespace weft::bench

#endif  // WEFT_BENCH_EXECUTOR_COMMON_H_
