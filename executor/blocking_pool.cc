// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Algorithm. One mutex guards the lanes of waiting jobs and the counts. An idle
// thread waits on a condition variable of its own, in a stack of idle ones: the one
// that became idle last is woken first, so that the others' keep-alive runs
// out. Of the threads that are not idle some run a job, some are ending, and the
// rest look for a job. Whoever submits a job compares: if more jobs may run than
// threads look, it takes an idle thread off the stack, or starts one if the limit
// allows, or leaves the job to the first thread that finishes another or ends. So
// one thread at most is woken per job, none is started while one is free, and a
// start that failed is tried again with the next job.
//
// A job waits while JobLanes has it, guarded by the mutex. So the pool's threads
// and a handle that gives the job up agree on who has it.
#include "weft/executor/blocking_pool.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "weft/executor/adaptive_spin.h"
#include "weft/executor/job_lanes.h"
#include "weft/executor/job_list.h"
#include "weft/executor/recent_max.h"
#include "weft/executor/steady_deadline.h"
#include "weft/executor/thread.h"
#include "weft/task/environment.h"
#include "weft/task/instant.h"
#include "weft/task/log_histogram.h"
#include "weft/task/offload.h"
#include "weft/task/runnable.h"

namespace weft {

using executor_internal::AdaptiveSpin;
using executor_internal::DestroyJob;
using executor_internal::JobLanes;
using executor_internal::RecentMax;
using executor_internal::RelaxProcessor;
using executor_internal::SteadyDeadline;
using executor_internal::Thread;
using Job = Runnable<OffloadJob>;

namespace {

// What the calling thread is to a pool.
struct PoolThread {
  const void* pool = nullptr;  // the core of the pool it belongs to
  bool in_hook = false;        // is inside OnThreadStart or OnThreadStop
  bool in_shutdown = false;    // the job it runs has called Shutdown()
};

[[gnu::noinline]] PoolThread& ThisThread() {
  constinit static thread_local PoolThread thread;
  return thread;
}

int UsualLimit(OffloadLane lane, int threads) {
  switch (lane) {
    case OffloadLane::kName:
      return std::max(1, threads / 2);
    case OffloadLane::kStandIn:
      return std::max(1, threads - 1);
    default:
      return threads;
  }
}

}  // namespace

class BlockingPool::Core final : public OffloadJob::Queue,
                                 public std::enable_shared_from_this<Core> {
 public:
  Core(BlockingPoolOptions options,
       std::shared_ptr<const Environment> environment);

  void Submit(Job job);
  void GiveUp(OffloadJob& job) override;
  bool IsIdle();
  Stats GetStats();
  Histograms GetHistograms();
  Leftover Shutdown(Instant deadline);
  // What the pool's destructor does.
  void Leave();

 private:
  using Lock = std::unique_lock<std::mutex>;

  struct IdleThread {
    std::condition_variable woken;
    bool taken = false;  // off the stack; guarded by mutex_
  };
  class ThreadStart;

  static JobLanes::Limits LimitsOf(const BlockingPoolOptions& options);
  bool IsFull(OffloadLane lane) const;
  void EnsureThread(Lock& lock);
  void EnsureThreadIfPossible(Lock& lock);
  void WakeOne(Lock& lock);
  void StartThread(Lock& lock);
  void RunThread(std::shared_ptr<IdleThread> self);
  void RunJobs(const std::shared_ptr<IdleThread>& self);
  void CallHook(const std::function<void()>& hook);
  void RunJob(Lock& lock, Job job, Instant& now);
  bool AwaitJob(Lock& lock, const std::shared_ptr<IdleThread>& self);
  bool SpinForJob(Lock& lock);
  size_t DropWaiting(Lock& lock);
  void RefuseWaiting(Lock& lock);

  const BlockingPoolOptions options_;

  std::mutex mutex_;
  // All guarded by mutex_.
  std::shared_ptr<const Environment> environment_;  // null once closed
  JobLanes lanes_;
  std::vector<std::shared_ptr<IdleThread>> idle_;
  // A thread has ended, left a hook, or called Shutdown().
  std::condition_variable thread_left_;
  bool closed_ = false;
  bool gave_up_ = false;   // on a job that did not return in time
  bool gone_ = false;      // the pool: its hooks are not called any more
  bool reported_ = false;  // that the system gives no thread
  int threads_ = 0;        // all that have not ended
  int able_ = 0;           // of these, those that will still look for a job
  int running_ = 0;
  int in_hooks_ = 0;       // threads that are in a hook
  int in_shutdown_ = 0;    // threads whose job has called Shutdown()
  bool spinning_ = false;  // a thread that looks for a job
  AdaptiveSpin spin_;
  uint64_t next_name_ = 0;
  uint64_t started_ = 0;
  uint64_t rejected_ = 0;
  uint64_t failed_starts_ = 0;
  uint64_t wakeups_ = 0;
  RecentMax queue_wait_;
  RecentMax run_time_;
  LogHistogram queue_waits_;
  LogHistogram run_times_;

  // Changed under the mutex; read by the thread that spins.
  std::atomic<uint64_t> submitted_{0};
};

// The place of a thread that is being started; given back unless it succeeds.
class BlockingPool::Core::ThreadStart {
 public:
  ThreadStart(Core& core, Lock& lock) : core_(core) {
    // So that AwaitJob() needs no memory.
    core_.idle_.reserve(static_cast<size_t>(core_.threads_) + 1);
    ++core_.threads_;
    ++core_.able_;
    number_ = core_.next_name_++;
    lock.unlock();
  }
  ThreadStart(const ThreadStart&) = delete;
  ThreadStart& operator=(const ThreadStart&) = delete;
  ~ThreadStart() {
    if (succeeded_) return;
    Lock lock(core_.mutex_);
    ++core_.failed_starts_;
    --core_.threads_;
    --core_.able_;
    core_.thread_left_.notify_all();
    core_.RefuseWaiting(lock);
    // Jobs that came meanwhile have relied on this thread.
    if (core_.lanes_.CountReady() != 0 && !core_.idle_.empty())
      core_.WakeOne(lock);
  }

  uint64_t number() const { return number_; }
  void Succeed() { succeeded_ = true; }

 private:
  Core& core_;
  uint64_t number_ = 0;
  bool succeeded_ = false;
};

BlockingPool::Core::Core(BlockingPoolOptions options,
                         std::shared_ptr<const Environment> environment)
    : options_(std::move(options)),
      environment_(std::move(environment)),
      lanes_(LimitsOf(options_)) {}

JobLanes::Limits BlockingPool::Core::LimitsOf(
    const BlockingPoolOptions& options) {
  const int threads = options.max_threads_;
  JobLanes::Limits limits = options.lane_threads_;
  for (int i = 0; i < kOffloadLanes; ++i) {
    int& limit = limits[static_cast<size_t>(i)];
    limit = limit != 0 ? std::min(limit, threads)
                       : UsualLimit(static_cast<OffloadLane>(i), threads);
  }
  return limits;
}

// ---- Jobs come and go ----

void BlockingPool::Core::Submit(Job job) {
  OffloadJob& metadata = job.metadata();
  metadata.queue = shared_from_this();
  metadata.since = Instant::Now();
  Lock lock(mutex_);
  if (closed_ || IsFull(metadata.lane)) {
    ++rejected_;
    const bool full = !closed_;
    lock.unlock();
    // Destroys the job, with no lock held.
    if (full) return std::move(job).Refuse();
    return;
  }
  lanes_.Push(std::move(job));
  // Relaxed: guarded by the mutex, but for a hint.
  submitted_.fetch_add(1, std::memory_order_relaxed);
  EnsureThread(lock);
}

// A job that a thread can be had for at once is let in also beyond the capacity.
bool BlockingPool::Core::IsFull(OffloadLane lane) const {
  const size_t waiting = lanes_.CountWaiting(lane);
  if (waiting < options_.queue_capacity_) return false;
  const auto left = static_cast<size_t>(options_.max_threads_ - running_);
  return waiting >= lanes_.CountPlaces(lane) || lanes_.CountReady() >= left;
}

void BlockingPool::Core::GiveUp(OffloadJob& job) {
  std::optional<Job> taken;
  {
    const std::lock_guard lock(mutex_);
    taken = lanes_.TakeOut(job);
  }
  if (taken.has_value()) DestroyJob(*std::move(taken));
}

// Destroys the jobs that wait, with no lock held; returns how many.
size_t BlockingPool::Core::DropWaiting(Lock& lock) {
  size_t count = 0;
  while (std::optional<Job> job = lanes_.TakeAny()) {
    lock.unlock();
    DestroyJob(*std::move(job));
    ++count;
    lock.lock();
  }
  return count;
}

// The same as long as no thread is there that might run them. One that stands in
// for a blocked thread may not: what it is blocked for may be one of these jobs.
void BlockingPool::Core::RefuseWaiting(Lock& lock) {
  while (able_ == lanes_.CountRunning(OffloadLane::kStandIn)) {
    std::optional<Job> job = lanes_.TakeAny();
    if (!job.has_value()) return;
    ++rejected_;
    lock.unlock();
    std::move(*job).Refuse();
    lock.lock();
  }
}

// ---- Threads ----

// Has a thread look for a job, if one may be run and none is looking. Who finds
// one calls this again before it runs it: so threads come one after the other,
// as many as there are jobs that last. May release the lock.
void BlockingPool::Core::EnsureThread(Lock& lock) {
  const size_t looking = static_cast<size_t>(able_ - running_) - idle_.size();
  if (closed_ || looking != 0 || lanes_.CountReady() == 0) return;
  if (!idle_.empty()) {
    WakeOne(lock);
  } else if (threads_ < options_.max_threads_) {
    StartThread(lock);
  }
}

// Requires: there is an idle thread. Releases the lock.
void BlockingPool::Core::WakeOne(Lock& lock) {
  const std::shared_ptr<IdleThread> thread = std::move(idle_.back());
  idle_.pop_back();
  thread->taken = true;
  ++wakeups_;
  lock.unlock();  // so that it does not wake to wait for this
  thread->woken.notify_one();
}

// EnsureThread() on a thread of the pool, which goes on if there is no memory.
// Where it ends and no other is left, ThreadStart refuses the jobs that wait; what
// that reserves first is there, since this thread's own start reserved it.
void BlockingPool::Core::EnsureThreadIfPossible(Lock& lock) {
#if defined(__cpp_exceptions)
  try {
    EnsureThread(lock);
  } catch (const std::bad_alloc&) {
  }
#else
  EnsureThread(lock);
#endif
}

void BlockingPool::Core::StartThread(Lock& lock) {
  // Gives the place back also where memory is short and this throws.
  ThreadStart start(*this, lock);
  auto idle = std::make_shared<IdleThread>();
  absl::StatusOr<Thread> thread = Thread::Start(
      options_.name_ + "-" + std::to_string(start.number()),
      options_.stack_size_,
      [self = shared_from_this(), idle = std::move(idle)]() mutable {
        self->RunThread(std::move(idle));
      },
      options_.cpus_);
  if (thread.ok()) {
    thread->Detach();
    return start.Succeed();
  }
  lock.lock();
  const bool report = !std::exchange(reported_, true);
  lock.unlock();
  if (!report) return;
  std::fprintf(stderr,
               "weft: a blocking pool gets no thread, its jobs wait for those "
               "it has, or are refused if it has none: %s\n",
               std::string(thread.status().message()).c_str());
}

void BlockingPool::Core::RunThread(std::shared_ptr<IdleThread> self) {
  std::shared_ptr<const Environment> environment;
  bool closed;
  {
    std::lock_guard lock(mutex_);
    closed = closed_;
    environment = environment_;
  }
  if (!closed) {
    constexpr Environment kNone;
    const EnvironmentScope scope(environment != nullptr ? *environment : kNone);
    ThisThread().pool = this;
    CallHook(options_.on_start_);
    RunJobs(self);
    CallHook(options_.on_stop_);
  }
  Lock lock(mutex_);
  if (closed) --able_;
  --threads_;
  // What this thread still destroys is not a job of the pool any more.
  if (std::exchange(ThisThread(), PoolThread()).in_shutdown) --in_shutdown_;
  thread_left_.notify_all();
  // A job may have waited for its place.
  EnsureThreadIfPossible(lock);
}

// Not where the pool is gone, and with it perhaps what the hook refers to.
void BlockingPool::Core::CallHook(const std::function<void()>& hook) {
  if (!hook) return;
  {
    const std::lock_guard lock(mutex_);
    if (gone_) return;
    ++in_hooks_;
  }
  ThisThread().in_hook = true;
  hook();
  ThisThread().in_hook = false;
  const std::lock_guard lock(mutex_);
  --in_hooks_;
  thread_left_.notify_all();
}

void BlockingPool::Core::RunJobs(const std::shared_ptr<IdleThread>& self) {
  size_t turn = 0;
  Lock lock(mutex_);
  Instant now = Instant::Now();
  for (;;) {
    if (std::optional<Job> job = lanes_.TakeReady(turn)) {
      RunJob(lock, *std::move(job), now);
    } else if (AwaitJob(lock, self)) {
      now = Instant::Now();
    } else {
      break;
    }
  }
  --able_;
}

void BlockingPool::Core::RunJob(Lock& lock, Job job, Instant& now) {
  const OffloadLane lane = job.metadata().lane;
  ++running_;
  ++started_;
  const Instant since = job.metadata().since;
  queue_wait_.Add(now - since);
  queue_waits_.Add(now.nanoseconds() - since.nanoseconds());
  EnsureThreadIfPossible(lock);
  if (lock.owns_lock()) lock.unlock();
  std::move(job).Run();
  const Instant end = Instant::Now();
  lock.lock();
  run_times_.Add(end.nanoseconds() - now.nanoseconds());
  run_time_.Add(end - std::exchange(now, end));
  lanes_.Finished(lane);
  --running_;
  if (std::exchange(ThisThread().in_shutdown, false)) --in_shutdown_;
}

// Waits for a job; false if the thread shall end.
bool BlockingPool::Core::AwaitJob(Lock& lock,
                                  const std::shared_ptr<IdleThread>& self) {
  if (SpinForJob(lock)) return true;
  if (closed_) return false;
  self->taken = false;
  idle_.push_back(self);
  self->woken.wait_until(lock,
                         SteadyDeadline(Instant::Now() + options_.keep_alive_),
                         [&] { return self->taken; });
  if (self->taken) return true;
  idle_.erase(std::find(idle_.begin(), idle_.end(), self));
  return lanes_.CountReady() != 0;
}

// Looks for a while before the thread sleeps; one thread at a time. True if there
// is a job.
bool BlockingPool::Core::SpinForJob(Lock& lock) {
  if (spinning_ || lanes_.CountReady() != 0) return lanes_.CountReady() != 0;
  spinning_ = true;
  const uint32_t looks = spin_.looks();
  // Relaxed: written under the mutex.
  const uint64_t seen = submitted_.load(std::memory_order_relaxed);
  lock.unlock();
  for (uint32_t i = 0; i < looks; ++i) {
    // Relaxed: a hint; the mutex comes before the look that counts.
    if (submitted_.load(std::memory_order_relaxed) != seen) break;
    RelaxProcessor();
  }
  lock.lock();
  spinning_ = false;
  const bool found = lanes_.CountReady() != 0;
  spin_.Ended(found);
  return found;
}

// ---- Reports, the end ----

bool BlockingPool::Core::IsIdle() {
  std::lock_guard lock(mutex_);
  const int self = ThisThread().pool == this ? 1 : 0;
  return running_ == self && lanes_.CountWaiting() == 0;
}

BlockingPool::Stats BlockingPool::Core::GetStats() {
  std::lock_guard lock(mutex_);
  Stats stats;
  stats.threads = threads_;
  stats.idle_threads = static_cast<int>(idle_.size());
  stats.queued = lanes_.CountWaiting();
  for (size_t i = 0; i < kOffloadLanes; ++i) {
    stats.queued_by_lane[i] = lanes_.CountWaiting(static_cast<OffloadLane>(i));
  }
  stats.running = static_cast<size_t>(running_);
  stats.started = started_;
  stats.rejected = rejected_;
  stats.failed_starts = failed_starts_;
  stats.wakeups = wakeups_;
  stats.max_queue_wait = queue_wait_.Get();
  stats.max_run_time = run_time_.Get();
  return stats;
}

BlockingPool::Histograms BlockingPool::Core::GetHistograms() {
  std::lock_guard lock(mutex_);
  return {.queue_wait = queue_waits_.Read(), .run_time = run_times_.Read()};
}

BlockingPool::Leftover BlockingPool::Core::Shutdown(Instant deadline) {
  Leftover leftover;
  PoolThread& thread = ThisThread();
  const bool own = thread.pool == this;
  Lock lock(mutex_);
  closed_ = true;
  if (own && !std::exchange(thread.in_shutdown, true)) {
    ++in_shutdown_;
    thread_left_.notify_all();
  }
  for (const auto& idle : std::exchange(idle_, {})) {
    idle->taken = true;
    idle->woken.notify_one();
  }
  {
    const std::shared_ptr<const Environment> environment =
        std::move(environment_);
    leftover.dropped = DropWaiting(lock);
    lock.unlock();
  }
  lock.lock();
  // Jobs that shut their pool down wait neither for themselves nor for each
  // other.
  const auto ignored = [&] { return own ? in_shutdown_ : 0; };
  gave_up_ = !thread_left_.wait_until(lock, SteadyDeadline(deadline),
                                      [&] { return threads_ == ignored(); });
  leftover.running = static_cast<size_t>(std::max(0, running_ - ignored()));
  return leftover;
}

void BlockingPool::Core::Leave() {
  bool wait;
  {
    std::lock_guard lock(mutex_);
    wait = !gave_up_;
  }
  Shutdown(wait ? Instant::Infinite() : Instant::Past());
  // Also where it gave up: what the hooks refer to may go when this returns.
  const PoolThread& thread = ThisThread();
  const int own = thread.pool == this && thread.in_hook ? 1 : 0;
  Lock lock(mutex_);
  gone_ = true;
  thread_left_.wait(lock, [&] { return in_hooks_ == own; });
}

BlockingPool::BlockingPool(BlockingPoolOptions options,
                           std::shared_ptr<const Environment> environment)
    : core_(
          std::make_shared<Core>(std::move(options), std::move(environment))) {}

BlockingPool::~BlockingPool() { core_->Leave(); }

void BlockingPool::Submit(Job job) { core_->Submit(std::move(job)); }
bool BlockingPool::IsIdle() const { return core_->IsIdle(); }
BlockingPool::Stats BlockingPool::GetStats() const { return core_->GetStats(); }
BlockingPool::Histograms BlockingPool::GetHistograms() const {
  return core_->GetHistograms();
}
BlockingPool::Leftover BlockingPool::Shutdown(Instant deadline) {
  return core_->Shutdown(deadline);
}

}  // namespace weft
