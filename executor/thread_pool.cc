// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Algorithm. Each thread lends itself to the executor until its stop event is
// set; a runner that leaves gives its tasks to the others (executor_core.cc), so
// ending a thread needs no more than that. Resizes exclude each other.
#include "weft/executor/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "weft/executor/executor.h"
#include "weft/executor/runner_options.h"
#include "weft/executor/thread.h"
#include "weft/sync/event.h"
#include "weft/task/blocking_check.h"
#include "weft/task/check.h"
#include "weft/task/environment.h"

namespace weft {

using executor_internal::Thread;

class ThreadPool::Core {
 public:
  explicit Core(ThreadPoolOptions options) : options_(std::move(options)) {}
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;
  ~Core() {
    WEFT_CHECK(task_internal::MayBlock(),
               "a ThreadPool was destroyed by a task, whose thread it would "
               "wait for: keep the pool outside of its tasks");
    const std::lock_guard lock(resizing_);
    EndWorkers(0);
  }

  Executor& executor() { return executor_; }
  int threads() const { return threads_.load(); }
  absl::Status Resize(size_t n);

 private:
  struct Worker {
    sync::Event stop;
    Thread thread;
  };

  // These require resizing_, and the first one a place in workers_.
  absl::Status StartWorker();
  void EndWorkers(size_t left);

  void RunWorker(int index, Worker& worker);

  const ThreadPoolOptions options_;
  Executor executor_;
  std::atomic<int> threads_{0};
  std::mutex resizing_;
  std::vector<std::unique_ptr<Worker>> workers_;  // guarded by resizing_
};

absl::Status ThreadPool::Core::Resize(size_t n) {
  const std::lock_guard lock(resizing_);
  workers_.reserve(n);  // so that a thread that was started has a place
  size_t left = workers_.size();
  // However this ends, also by an exception.
  const absl::Cleanup end = [this, &left] { EndWorkers(left); };
  while (workers_.size() < n) {
    absl::Status status = StartWorker();
    if (!status.ok()) return status;
  }
  left = n;
  return absl::OkStatus();
}

absl::Status ThreadPool::Core::StartWorker() {
  const size_t index = workers_.size();
  auto worker = std::make_unique<Worker>();
  std::vector<int> cpus;
  if (!options_.cpus_.empty()) {
    cpus = options_.cpus_[index % options_.cpus_.size()];
  }
  absl::StatusOr<Thread> thread = Thread::Start(
      options_.name_ + "-" + std::to_string(index), options_.stack_size_,
      [this, index, worker = worker.get()] {
        RunWorker(static_cast<int>(index), *worker);
      },
      cpus);
  if (!thread.ok()) return thread.status();
  worker->thread = *std::move(thread);
  workers_.push_back(std::move(worker));
  return absl::OkStatus();
}

void ThreadPool::Core::RunWorker(int index, Worker& worker) {
  Environment environment;
  if (options_.environment_ != nullptr) environment = *options_.environment_;
  environment.driver = nullptr;  // the thread's own
  environment.random = nullptr;
  const EnvironmentScope scope(environment);
  if (options_.on_start_) options_.on_start_(index);
  RunnerOptions options;
  if (options_.runner_options_) options = options_.runner_options_(index);
  executor_.Run(options, worker.stop.Wait());
  if (options_.on_stop_) options_.on_stop_(index);
}

void ThreadPool::Core::EndWorkers(size_t left) {
  for (size_t i = left; i < workers_.size(); ++i) workers_[i]->stop.Set();
  while (workers_.size() > left) {
    workers_.back()->thread.Join();
    workers_.pop_back();
  }
  threads_.store(static_cast<int>(left));
}

absl::StatusOr<ThreadPool> ThreadPool::Start(ThreadPoolOptions options) {
  int threads = options.threads_;
  if (threads == 0) {
    threads = static_cast<int>(std::thread::hardware_concurrency());
    threads = std::clamp(threads, 1, Executor::kMaxRunners);
  }
  ThreadPool pool(std::make_unique<Core>(std::move(options)));
  const absl::Status status = pool.Resize(threads);
  if (!status.ok()) return status;
  return pool;
}

ThreadPool::ThreadPool(std::unique_ptr<Core> core) : core_(std::move(core)) {}
ThreadPool::ThreadPool(ThreadPool&& other) noexcept = default;
ThreadPool& ThreadPool::operator=(ThreadPool&& other) noexcept = default;
ThreadPool::~ThreadPool() = default;

ThreadPool::Core& ThreadPool::core() const {
  WEFT_CHECK(
      core_ != nullptr,
      "this ThreadPool was moved from; use the one that it was moved to");
  return *core_;
}

Executor& ThreadPool::executor() { return core().executor(); }

int ThreadPool::threads() const { return core().threads(); }

absl::Status ThreadPool::Resize(int n) {
  WEFT_CHECK(n >= 1 && n <= Executor::kMaxRunners,
             "a ThreadPool has from 1 to Executor::kMaxRunners threads");
  WEFT_CHECK(
      task_internal::MayBlock(),
      "a ThreadPool was resized by a task, whose thread it may wait for: "
      "do it on a thread that may block");
  return core().Resize(static_cast<size_t>(n));
}

}  // namespace weft
