// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// RuntimeOptions: what a runtime is made of. Internal; set by RuntimeBuilder,
// which documents each field.
#ifndef WEFT_RUNTIME_RUNTIME_OPTIONS_H_
#define WEFT_RUNTIME_RUNTIME_OPTIONS_H_

#include <cstddef>
#include <exception>
#include <functional>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "weft/executor/executor_hooks.h"
#include "weft/executor/stuck_task_monitor.h"
#include "weft/executor/task_lints.h"

namespace weft::runtime_internal {

struct RuntimeOptions {
  bool current_thread = false;
  bool thread_per_core = false;
  bool pin_threads = false;
  bool enable_io = false;
  bool enable_time = false;
  bool histograms = false;
  std::optional<StuckTaskMonitorOptions> stuck_tasks;
  std::optional<TaskLintsOptions> lints;
  int worker_threads = 0;  // 0: see RuntimeBuilder::WorkerThreads
  int max_blocking_threads = 512;
  size_t blocking_queue_capacity = 65536;
  size_t thread_stack_size = size_t{3} << 20;
  absl::Duration thread_keep_alive = absl::Seconds(10);
  std::string thread_name = "weft-worker";
  std::function<void()> on_thread_start;
  std::function<void()> on_thread_stop;
  std::function<void()> on_thread_park;
  std::function<void()> on_thread_unpark;
  std::function<void(std::exception_ptr)> on_unhandled_exception;
  ExecutorHooks task_hooks;  // those of threads are above
};

}  // namespace weft::runtime_internal

#endif  // WEFT_RUNTIME_RUNTIME_OPTIONS_H_
