// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// ThreadPool: an Executor with threads of its own, more or fewer at any time.
//
// For computation: its threads wait in nothing but the executor. Tasks may
// sleep and use descriptors, which a service thread of the process then waits
// for; a Runtime does that better.
//
//   absl::StatusOr<ThreadPool> pool =
//       ThreadPool::Start(ThreadPoolOptions().Threads(4).Name("render"));
//   if (!pool.ok()) return pool.status();
//   JoinHandle<Image> image = pool->Spawn(Render(scene));
//   absl::Status status = pool->Resize(8);
//
// Thread safety: all methods from any thread, except moving and destruction.
// Lifetime: handles and wakers of its tasks may outlive it. The child of a fork()
// has none of its threads and must not destroy it: where one is static, the child
// ends by exec or _exit, not by exit.
// Dropping: the destructor waits until the polls that run have returned, ends
// the threads, and destroys the tasks on the calling thread. Not in a task or
// in a hook: CHECK-fails where the thread may not block.
#ifndef WEFT_EXECUTOR_THREAD_POOL_H_
#define WEFT_EXECUTOR_THREAD_POOL_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "weft/executor/executor.h"
#include "weft/executor/runner_options.h"
#include "weft/task/check.h"
#include "weft/task/environment.h"
#include "weft/task/future.h"
#include "weft/task/join_handle.h"
#include "weft/task/source_location.h"
#include "weft/task/spawner.h"

namespace weft {

class ThreadPoolOptions {
 public:
  // From 1 to Executor::kMaxRunners. By default the number of the machine's
  // processors.
  ThreadPoolOptions& Threads(int n) {
    WEFT_CHECK(n >= 1, "a ThreadPool needs at least one thread");
    threads_ = n;
    return *this;
  }
  // Threads are called NAME-0, NAME-1, …; the system keeps 15 characters.
  ThreadPoolOptions& Name(std::string name) {
    name_ = std::move(name);
    return *this;
  }
  // Bytes, 0 for the system's default.
  ThreadPoolOptions& StackSize(size_t bytes) {
    stack_size_ = bytes;
    return *this;
  }
  // Thread i runs on the processors cpus[i % cpus.size()] alone. By default,
  // and where that is empty, it runs where the thread that starts it may.
  ThreadPoolOptions& Affinity(std::vector<std::vector<int>> cpus) {
    cpus_ = std::move(cpus);
    return *this;
  }
  // How thread i takes part in stealing; asked by that thread when it starts.
  ThreadPoolOptions& Runner(std::function<RunnerOptions(int)> options_of) {
    runner_options_ = std::move(options_of);
    return *this;
  }
  // What tasks find beside their spawner: an Offload for SpawnBlocking() and
  // BlockInPlace(), a clock, timers and a reactor that others drive; mostly that of
  // a Runtime, copied: its environment(). What it refers to, such as that runtime,
  // must live longer than the pool. Each thread has a driver of its own. By default
  // nothing.
  ThreadPoolOptions& InEnvironment(
      std::shared_ptr<const Environment> environment) {
    environment_ = std::move(environment);
    return *this;
  }
  // Called by each thread, with its number, when it starts and before it ends.
  // They must not resize the pool.
  ThreadPoolOptions& OnThreadStart(std::function<void(int)> hook) {
    on_start_ = std::move(hook);
    return *this;
  }
  ThreadPoolOptions& OnThreadStop(std::function<void(int)> hook) {
    on_stop_ = std::move(hook);
    return *this;
  }

 private:
  friend class ThreadPool;

  int threads_ = 0;  // the default
  std::string name_ = "weft-pool";
  size_t stack_size_ = 0;
  std::vector<std::vector<int>> cpus_;
  std::function<RunnerOptions(int)> runner_options_;
  std::shared_ptr<const Environment> environment_;
  std::function<void(int)> on_start_;
  std::function<void(int)> on_stop_;
};

class ThreadPool {
 public:
  // Fails, with the system's reason, if a thread cannot be started; then none
  // is left.
  static absl::StatusOr<ThreadPool> Start(
      ThreadPoolOptions options = ThreadPoolOptions());

  ThreadPool(ThreadPool&& other) noexcept;
  ThreadPool& operator=(ThreadPool&& other) noexcept;
  ~ThreadPool();

  // Starts running a future, or what a function returns; see Spawner.
  template <class F>
  auto Spawn(F future_or_fn, SourceLocation at = SourceLocation::current()) {
    return spawner().Spawn(std::move(future_or_fn), at);
  }
  template <class F>
  auto SpawnBorrowing(F future_or_fn,
                      SourceLocation at = SourceLocation::current()) {
    return spawner().SpawnBorrowing(std::move(future_or_fn), at);
  }
  template <class Range>
  auto SpawnMany(Range&& futures_or_fns,
                 SourceLocation at = SourceLocation::current()) {
    return spawner().SpawnMany(std::forward<Range>(futures_or_fns), at);
  }
  Spawner& spawner() { return executor().spawner(); }

  // What the threads run. Other threads may run it, too.
  Executor& executor();

  // How many threads there are.
  int threads() const;

  // Starts threads, or ends those with the highest numbers and waits until
  // their polls have returned; their tasks go to the others. Fails, with the
  // system's reason, if a thread cannot be started; then the pool is as it was.
  // Requires: 1 <= n <= Executor::kMaxRunners; not in a task or in a hook.
  absl::Status Resize(int n);

 private:
  class Core;

  explicit ThreadPool(std::unique_ptr<Core> core);

  Core& core() const;

  std::unique_ptr<Core> core_;  // null: moved from
};

}  // namespace weft

#endif  // WEFT_EXECUTOR_THREAD_POOL_H_
