// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/runtime/runtime_builder.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "weft/executor/executor.h"
#include "weft/executor/executor_hooks.h"
#include "weft/executor/stuck_task_monitor.h"
#include "weft/executor/task_lints.h"
#include "weft/runtime/cpu_count.h"
#include "weft/runtime/runtime.h"
#include "weft/runtime/runtime_core.h"
#include "weft/runtime/runtime_options.h"
#include "weft/task/check.h"
#include "weft/task/task_cell.h"

namespace weft {
namespace {

// The number in the environment variable `name`, or 0 if it holds none.
int PositiveFromEnvironment(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr) return 0;
  const std::string_view view(text);
  int n = 0;
  const auto [end, error] =
      std::from_chars(view.data(), view.data() + view.size(), n);
  const bool whole = error == std::errc() && end == view.data() + view.size();
  return whole && n > 0 ? n : 0;
}

// Whether what is said about threads goes together.
absl::Status CheckThreads(const runtime_internal::RuntimeOptions& options) {
  if (!options.current_thread) return absl::OkStatus();
  const char* other = nullptr;
  if (options.worker_threads != 0) other = "WorkerThreads()";
  if (options.pin_threads) other = "PinThreads()";
  if (options.thread_per_core) other = "ThreadPerCore()";
  if (other == nullptr) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("CurrentThread() and ", other,
                   " exclude each other: a current-thread runtime runs its "
                   "tasks on the thread that builds it"));
}

}  // namespace

RuntimeBuilder& RuntimeBuilder::CurrentThread() {
  options_.current_thread = true;
  return *this;
}

RuntimeBuilder& RuntimeBuilder::ThreadPerCore() {
  options_.thread_per_core = true;
  return *this;
}

RuntimeBuilder& RuntimeBuilder::PinThreads() {
  options_.pin_threads = true;
  return *this;
}

RuntimeBuilder& RuntimeBuilder::WorkerThreads(int n) {
  WEFT_CHECK(n >= 1, "WorkerThreads() needs at least one thread");
  options_.worker_threads = n;
  return *this;
}

RuntimeBuilder& RuntimeBuilder::MaxBlockingThreads(int n) {
  WEFT_CHECK(n >= 1, "MaxBlockingThreads() needs at least one thread");
  options_.max_blocking_threads = n;
  return *this;
}

RuntimeBuilder& RuntimeBuilder::ThreadKeepAlive(absl::Duration idle) {
  options_.thread_keep_alive = idle;
  return *this;
}

RuntimeBuilder& RuntimeBuilder::BlockingQueueCapacity(size_t jobs) {
  options_.blocking_queue_capacity = jobs;
  return *this;
}

RuntimeBuilder& RuntimeBuilder::ThreadStackSize(size_t bytes) {
  options_.thread_stack_size = bytes;
  return *this;
}

RuntimeBuilder& RuntimeBuilder::ThreadName(std::string name) {
  options_.thread_name = std::move(name);
  return *this;
}

RuntimeBuilder& RuntimeBuilder::OnThreadStart(std::function<void()> hook) {
  options_.on_thread_start = std::move(hook);
  return *this;
}

RuntimeBuilder& RuntimeBuilder::OnThreadStop(std::function<void()> hook) {
  options_.on_thread_stop = std::move(hook);
  return *this;
}

RuntimeBuilder& RuntimeBuilder::OnThreadPark(std::function<void()> hook) {
  options_.on_thread_park = std::move(hook);
  return *this;
}

RuntimeBuilder& RuntimeBuilder::OnThreadUnpark(std::function<void()> hook) {
  options_.on_thread_unpark = std::move(hook);
  return *this;
}

RuntimeBuilder& RuntimeBuilder::OnTaskSpawn(
    std::function<void(const HookedTask&)> hook) {
  options_.task_hooks.on_spawn = std::move(hook);
  return *this;
}

RuntimeBuilder& RuntimeBuilder::OnTaskBeforePoll(
    std::function<void(const HookedTask&)> hook) {
  options_.task_hooks.before_poll = std::move(hook);
  return *this;
}

RuntimeBuilder& RuntimeBuilder::OnTaskAfterPoll(
    std::function<void(const HookedTask&)> hook) {
  options_.task_hooks.after_poll = std::move(hook);
  return *this;
}

RuntimeBuilder& RuntimeBuilder::OnTaskEnd(
    std::function<void(const HookedTask&, TaskEnd)> hook) {
  options_.task_hooks.on_end = std::move(hook);
  return *this;
}

RuntimeBuilder& RuntimeBuilder::OnUnhandledException(
    std::function<void(std::exception_ptr)> handler) {
  options_.on_unhandled_exception = std::move(handler);
  return *this;
}

RuntimeBuilder& RuntimeBuilder::EnableIo() {
  options_.enable_io = true;
  return *this;
}

RuntimeBuilder& RuntimeBuilder::EnableTime() {
  options_.enable_time = true;
  return *this;
}

RuntimeBuilder& RuntimeBuilder::EnableHistograms() {
  options_.histograms = true;
  return *this;
}

RuntimeBuilder& RuntimeBuilder::ReportStuckTasks(
    StuckTaskMonitorOptions options) {
  options_.stuck_tasks = std::move(options);
  return *this;
}

RuntimeBuilder& RuntimeBuilder::ReportLints(TaskLintsOptions options) {
  options_.lints = std::move(options);
  return *this;
}

absl::StatusOr<Runtime> RuntimeBuilder::Build() {
  runtime_internal::RuntimeOptions options = options_;
  const absl::Status status = CheckThreads(options);
  if (!status.ok()) return status;
  if (const int n = PositiveFromEnvironment("WEFT_WORKER_THREADS"); n != 0) {
    options.worker_threads = n;
  }
  if (options.worker_threads == 0) {
    options.worker_threads =
        std::min(runtime::AvailableCpus(), Executor::kMaxRunners);
  }
  if (options.worker_threads > Executor::kMaxRunners) {
    return absl::InvalidArgumentError(absl::StrCat(
        options.worker_threads,
        " worker threads were asked for, by "
        "WorkerThreads() or by the environment variable WEFT_WORKER_THREADS; "
        "a runtime has at most ",
        Executor::kMaxRunners));
  }
  absl::StatusOr<std::shared_ptr<runtime_internal::RuntimeCore>> core =
      runtime_internal::RuntimeCore::Start(options);
  if (!core.ok()) return core.status();
  return Runtime(*std::move(core));
}

}  // namespace weft
