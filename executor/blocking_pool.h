// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// BlockingPool: threads for work that blocks.
//
// Threads start on demand, when a job comes and none is idle, up to a limit;
// one that has been idle for a while ends. Jobs wait in a bounded queue per
// lane, so that a flood of one kind is refused instead of piling up: the
// Outcome() of its handle says ResourceExhausted. Lanes take turns, and each has
// a limit of threads of its own. Name lookups, which may hang for minutes, occupy
// at most half of the threads unless told otherwise, so they never keep files
// waiting (see nodejs/node#8436 for what happens else). Whoever stands in for a
// thread in BlockInPlace() leaves one, since what that waits for may be a job.
//
//   BlockingPool pool(BlockingPoolOptions().MaxThreads(64));
//   JoinHandle<int> job = pool.Run(OffloadLane::kFile, [] { return Read(); });
//
// Thread safety: all methods from any thread, except destruction.
// Lifetime: job handles may outlive it. The child of a fork() has none of its
// threads, so it must not destroy the pool, which would wait for them: where one is
// static, the child ends by exec or _exit, not by exit.
// Dropping: a handle that is dropped or cancelled takes a job that waits out of
// its queue and destroys it at once; one that runs is left to finish. The pool
// itself refuses further jobs, destroys those that have not started, and waits
// for those that run, as Shutdown() does, unless that has given up on them.
#ifndef WEFT_EXECUTOR_BLOCKING_POOL_H_
#define WEFT_EXECUTOR_BLOCKING_POOL_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "weft/task/check.h"
#include "weft/task/environment.h"
#include "weft/task/instant.h"
#include "weft/task/metrics.h"
#include "weft/task/offload.h"
#include "weft/task/runnable.h"

namespace weft {

class BlockingPoolOptions {
 public:
  // At most how many threads, with those that are just ending; at least 1.
  BlockingPoolOptions& MaxThreads(int n) {
    WEFT_CHECK(n >= 1,
               "BlockingPoolOptions::MaxThreads() needs at least one thread");
    max_threads_ = n;
    return *this;
  }
  // At most how many of them run jobs of `lane` at a time; at least 1. By default
  // half of them for OffloadLane::kName, all but one for kStandIn (of one, that
  // one), and all for the others.
  BlockingPoolOptions& MaxThreads(OffloadLane lane, int n) {
    WEFT_CHECK(n >= 1,
               "BlockingPoolOptions::MaxThreads() of a lane needs at least one "
               "thread");
    lane_threads_[static_cast<size_t>(lane)] = n;
    return *this;
  }
  // How long an idle thread waits for a job before it ends.
  BlockingPoolOptions& KeepAlive(absl::Duration d) {
    keep_alive_ = d;
    return *this;
  }
  // How many jobs of one lane may wait for a thread; more are refused.
  BlockingPoolOptions& QueueCapacity(size_t n) {
    queue_capacity_ = n;
    return *this;
  }
  // Bytes, 0 for the system's default.
  BlockingPoolOptions& StackSize(size_t bytes) {
    stack_size_ = bytes;
    return *this;
  }
  // The processors that its threads may use. By default, and where that is empty,
  // each runs where the thread that submitted a job may.
  BlockingPoolOptions& Affinity(std::vector<int> cpus) {
    cpus_ = std::move(cpus);
    return *this;
  }
  // Threads are called NAME-0, NAME-1, …; the system keeps 15 characters.
  BlockingPoolOptions& Name(std::string name) {
    name_ = std::move(name);
    return *this;
  }
  // Called by each thread when it starts and before it ends. A thread that is
  // left behind when the pool is destroyed ends without; those inside a hook then
  // are waited for. A hook does not wait for a job of the pool.
  BlockingPoolOptions& OnThreadStart(std::function<void()> hook) {
    on_start_ = std::move(hook);
    return *this;
  }
  BlockingPoolOptions& OnThreadStop(std::function<void()> hook) {
    on_stop_ = std::move(hook);
    return *this;
  }

 private:
  friend class BlockingPool;

  int max_threads_ = 512;
  std::array<int, kOffloadLanes> lane_threads_{};  // 0: the default
  absl::Duration keep_alive_ = absl::Seconds(10);
  size_t queue_capacity_ = 65536;
  size_t stack_size_ = 0;
  std::vector<int> cpus_;
  std::string name_ = "weft-blocking";
  std::function<void()> on_start_;
  std::function<void()> on_stop_;
};

class BlockingPool final : public Offload {
 public:
  struct Stats {
    int threads = 0;
    int idle_threads = 0;
    size_t queued = 0;                                   // jobs that wait
    std::array<size_t, kOffloadLanes> queued_by_lane{};  // of these
    size_t running = 0;                                  // jobs
    uint64_t started = 0;                                // jobs, ever
    uint64_t rejected = 0;                               // jobs refused, ever
    uint64_t failed_starts = 0;  // threads the system refused, ever
    uint64_t wakeups = 0;        // of idle threads for a job, ever
    // The largest of the last 64 to 128 jobs'.
    absl::Duration max_queue_wait;
    absl::Duration max_run_time;
  };
  // What a shutdown left: jobs that never started, and jobs that did not
  // return.
  struct Leftover {
    size_t dropped = 0;
    size_t running = 0;
  };

  // Jobs run in `environment`, which is shared with the threads until they end;
  // the pool itself lets go of it when it is shut down. Null: an empty one.
  explicit BlockingPool(
      BlockingPoolOptions options = BlockingPoolOptions(),
      std::shared_ptr<const Environment> environment = nullptr);
  BlockingPool(const BlockingPool&) = delete;
  BlockingPool& operator=(const BlockingPool&) = delete;
  ~BlockingPool() override;

  // See Offload. Destroys the job, and its handle's Outcome() says
  // ResourceExhausted, if its lane's queue is full, or if no thread exists and
  // the system gives none, which is reported once on standard error. After
  // Shutdown() the outcome is Cancelled.
  void Submit(Runnable<OffloadJob> job) override;

  // True if no job waits or runs, except the caller.
  bool IsIdle() const;
  Stats GetStats() const;
  // Of all jobs that were started, ever: how long each has waited for a thread, and
  // of those that have returned how long each has run.
  struct Histograms {
    HistogramSnapshot queue_wait;
    HistogramSnapshot run_time;
  };
  Histograms GetHistograms() const;

  // Refuses further jobs, drops those that wait, and waits for those that run
  // until `deadline`; what still runs then is left to its thread, which ends
  // after it. May be called again, to wait longer. Called by jobs of the pool, it
  // waits neither for the caller nor for others that are calling it.
  Leftover Shutdown(Instant deadline);

 private:
  class Core;

  const std::shared_ptr<Core> core_;
};

}  // namespace weft

#endif  // WEFT_EXECUTOR_BLOCKING_POOL_H_
