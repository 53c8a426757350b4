// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Algorithm. One mutex guards a queue per lane and the counts. An idle thread
// waits on a condition variable of its own, in a stack of idle ones: the one
// that became idle last is woken first, so that the others' keep-alive runs
// out. Of the threads that are not idle some run a job and the rest look for
// one. Whoever submits a job compares: if more jobs may run than threads look,
// it takes an idle thread off the stack, or starts one if the limit allows, or
// leaves the job to the first thread that finishes another. So one thread at
// most is woken per job, none is started while one is free, and a start that
// failed is tried again with the next job.
//
// Lanes take turns: a free thread looks at them in order, beginning behind the
// one it served last; a lane at its limit is passed over.
//
// A job is in a queue while `waiting` in its metadata is set, guarded by the
// mutex. So the pool's threads and a handle that gives the job up agree on who
// has it.
#include "weft/executor/blocking_pool.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "weft/executor/adaptive_spin.h"
#include "weft/executor/steady_deadline.h"
#include "weft/executor/thread.h"
#include "weft/task/check.h"
#include "weft/task/environment.h"
#include "weft/task/instant.h"
#include "weft/task/offload.h"
#include "weft/task/runnable.h"

namespace weft {

using executor_internal::Thread;
using Job = Runnable<OffloadJob>;

namespace {

using executor_internal::AdaptiveSpin;
using executor_internal::RelaxProcessor;
using executor_internal::SteadyDeadline;

// What the calling thread is to a pool.
struct PoolThread {
  const void* pool = nullptr;  // the core of the pool it belongs to
  bool in_shutdown = false;    // the job it runs has called Shutdown()
};

[[gnu::noinline]] PoolThread& ThisThread() {
  constinit static thread_local PoolThread thread;
  return thread;
}

// Jobs that wait, the oldest first.
class JobList {
 public:
  size_t size() const { return size_; }

  void PushBack(Job job) {
    OffloadJob& links = job.metadata();
    links.waiting = std::move(job).IntoRaw();
    links.previous = last_;
    links.next = nullptr;
    (last_ != nullptr ? last_->next : first_) = &links;
    last_ = &links;
    ++size_;
  }
  // Requires: it is in the list.
  Job Remove(OffloadJob& links) {
    (links.previous != nullptr ? links.previous->next : first_) = links.next;
    (links.next != nullptr ? links.next->previous : last_) = links.previous;
    --size_;
    return Job::FromRaw(std::exchange(links.waiting, nullptr));
  }
  // Requires: size() != 0.
  Job PopFront() { return Remove(*first_); }

 private:
  OffloadJob* first_ = nullptr;
  OffloadJob* last_ = nullptr;
  size_t size_ = 0;
};

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

// The largest of the last 64 values, or of up to twice as many.
class RecentMax {
 public:
  void Add(absl::Duration value) {
    if (count_++ % 64 == 0) {
      previous_ = std::exchange(current_, absl::ZeroDuration());
    }
    current_ = std::max(current_, value);
  }
  absl::Duration Get() const { return std::max(previous_, current_); }

 private:
  absl::Duration previous_;
  absl::Duration current_;
  uint64_t count_ = 0;
};

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
  Leftover Shutdown(Instant deadline);
  // What the pool's destructor does.
  void Leave();

 private:
  using Lock = std::unique_lock<std::mutex>;

  struct Lane {
    // How many of its jobs may be run now.
    size_t Ready() const {
      return std::min(jobs.size(), static_cast<size_t>(limit - running));
    }

    JobList jobs;
    int running = 0;
    int limit = 0;
  };
  struct IdleThread {
    std::condition_variable woken;
    bool taken = false;  // off the stack; guarded by mutex_
  };
  class ThreadStart;

  Lane& LaneOf(const OffloadJob& job) {
    return lanes_[static_cast<size_t>(job.lane)];
  }
  bool IsFull(const Lane& lane) const;
  void EnsureThread(Lock& lock);
  void EnsureThreadIfPossible(Lock& lock);
  void WakeOne(Lock& lock);
  void StartThread(Lock& lock);
  void RunThread(std::shared_ptr<IdleThread> self);
  void RunJobs(const std::shared_ptr<IdleThread>& self);
  void RunJob(Lock& lock, Lane& lane, Instant& now);
  bool AwaitJob(Lock& lock, const std::shared_ptr<IdleThread>& self);
  bool SpinForJob(Lock& lock);
  Lane* FindLane(size_t& turn);
  size_t CountReady() const;
  size_t CountWaiting() const;
  size_t DropWaiting(Lock& lock);
  void RefuseWaiting(Lock& lock);

  const BlockingPoolOptions options_;

  std::mutex mutex_;
  // All guarded by mutex_.
  std::shared_ptr<const Environment> environment_;  // null once closed
  std::array<Lane, kOffloadLanes> lanes_;
  std::vector<std::shared_ptr<IdleThread>> idle_;
  std::condition_variable thread_left_;  // or has called Shutdown()
  bool closed_ = false;
  bool gave_up_ = false;   // on a job that did not return in time
  bool reported_ = false;  // that the system gives no thread
  int threads_ = 0;        // all that have not ended
  int able_ = 0;           // of these, those that will still look for a job
  int running_ = 0;
  int in_shutdown_ = 0;    // of these, those whose job has called Shutdown()
  bool spinning_ = false;  // a thread that looks for a job
  AdaptiveSpin spin_;
  uint64_t next_name_ = 0;
  uint64_t started_ = 0;
  uint64_t rejected_ = 0;
  uint64_t failed_starts_ = 0;
  uint64_t wakeups_ = 0;
  RecentMax queue_wait_;
  RecentMax run_time_;

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
    if (core_.CountReady() != 0 && !core_.idle_.empty()) core_.WakeOne(lock);
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
    : options_(std::move(options)), environment_(std::move(environment)) {
  const int threads = options_.max_threads_;
  WEFT_CHECK(threads >= 1,
             "BlockingPoolOptions::MaxThreads() needs at least one thread");
  for (size_t i = 0; i < lanes_.size(); ++i) {
    const int own = options_.lane_threads_[i];
    const int usual = UsualLimit(static_cast<OffloadLane>(i), threads);
    lanes_[i].limit = own != 0 ? std::min(own, threads) : usual;
    WEFT_CHECK(lanes_[i].limit >= 1,
               "BlockingPoolOptions::MaxThreads() of a lane needs at least one "
               "thread");
  }
}

// ---- Jobs come and go ----

void BlockingPool::Core::Submit(Job job) {
  OffloadJob& metadata = job.metadata();
  metadata.queue = shared_from_this();
  metadata.since = Instant::Now();
  Lock lock(mutex_);
  Lane& lane = LaneOf(metadata);
  if (closed_ || IsFull(lane)) {
    ++rejected_;
    const bool full = !closed_;
    lock.unlock();
    // Destroys the job, with no lock held.
    if (full) return std::move(job).Refuse();
    return;
  }
  lane.jobs.PushBack(std::move(job));
  // Relaxed: guarded by the mutex, but for a hint.
  submitted_.fetch_add(1, std::memory_order_relaxed);
  EnsureThread(lock);
}

// A job that a thread can be had for at once is let in also beyond the capacity.
bool BlockingPool::Core::IsFull(const Lane& lane) const {
  if (lane.jobs.size() < options_.queue_capacity_) return false;
  const auto left = static_cast<size_t>(lane.limit - lane.running);
  const auto left_in_all =
      static_cast<size_t>(options_.max_threads_ - running_);
  return lane.jobs.size() >= left || CountReady() >= left_in_all;
}

void BlockingPool::Core::GiveUp(OffloadJob& job) {
  Lock lock(mutex_);
  if (job.waiting == nullptr) return;
  const Job dropped = LaneOf(job).jobs.Remove(job);
  lock.unlock();
}

// How many of the waiting jobs may be run now.
size_t BlockingPool::Core::CountReady() const {
  size_t count = 0;
  for (const Lane& lane : lanes_) count += lane.Ready();
  return count;
}

size_t BlockingPool::Core::CountWaiting() const {
  size_t count = 0;
  for (const Lane& lane : lanes_) count += lane.jobs.size();
  return count;
}

// Destroys the jobs that wait, with no lock held; returns how many.
size_t BlockingPool::Core::DropWaiting(Lock& lock) {
  size_t count = 0;
  for (Lane& lane : lanes_) {
    for (; lane.jobs.size() != 0; ++count) {
      {
        const Job dropped = lane.jobs.PopFront();
        lock.unlock();
      }
      lock.lock();
    }
  }
  return count;
}

// The same as long as no thread is there that might run them.
void BlockingPool::Core::RefuseWaiting(Lock& lock) {
  for (Lane& lane : lanes_) {
    while (able_ == 0 && lane.jobs.size() != 0) {
      Job job = lane.jobs.PopFront();
      ++rejected_;
      lock.unlock();
      std::move(job).Refuse();
      lock.lock();
    }
  }
}

// ---- Threads ----

// Has a thread look for a job, if one may be run and none is looking. Who finds
// one calls this again before it runs it: so threads come one after the other,
// as many as there are jobs that last. May release the lock.
void BlockingPool::Core::EnsureThread(Lock& lock) {
  const size_t looking = static_cast<size_t>(able_ - running_) - idle_.size();
  if (looking != 0 || CountReady() == 0) return;
  if (!idle_.empty()) {
    WakeOne(lock);
  } else if (able_ < options_.max_threads_) {
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
      });
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
  // What the hooks refer to may be gone with the pool.
  if (!closed) {
    constexpr Environment kNone;
    const EnvironmentScope scope(environment != nullptr ? *environment : kNone);
    ThisThread().pool = this;
    if (options_.on_start_) options_.on_start_();
    RunJobs(self);
    if (options_.on_stop_) options_.on_stop_();
  }
  std::lock_guard lock(mutex_);
  if (closed) --able_;
  --threads_;
  // What this thread still destroys is not a job of the pool any more.
  if (std::exchange(ThisThread(), PoolThread()).in_shutdown) --in_shutdown_;
  thread_left_.notify_all();
}

void BlockingPool::Core::RunJobs(const std::shared_ptr<IdleThread>& self) {
  size_t turn = 0;
  Lock lock(mutex_);
  Instant now = Instant::Now();
  for (;;) {
    if (Lane* lane = FindLane(turn)) {
      RunJob(lock, *lane, now);
    } else if (AwaitJob(lock, self)) {
      now = Instant::Now();
    } else {
      break;
    }
  }
  --able_;
}

void BlockingPool::Core::RunJob(Lock& lock, Lane& lane, Instant& now) {
  Job job = lane.jobs.PopFront();
  ++lane.running;
  ++running_;
  ++started_;
  queue_wait_.Add(now - job.metadata().since);
  EnsureThreadIfPossible(lock);
  if (lock.owns_lock()) lock.unlock();
  std::move(job).Run();
  const Instant end = Instant::Now();
  lock.lock();
  run_time_.Add(end - std::exchange(now, end));
  --lane.running;
  --running_;
  if (std::exchange(ThisThread().in_shutdown, false)) --in_shutdown_;
}

// A lane that has a job which may run now, or null.
BlockingPool::Core::Lane* BlockingPool::Core::FindLane(size_t& turn) {
  for (size_t i = 0; i < lanes_.size(); ++i) {
    turn = (turn + 1) % lanes_.size();
    if (lanes_[turn].Ready() != 0) return &lanes_[turn];
  }
  return nullptr;
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
  return CountReady() != 0;
}

// Looks for a while before the thread sleeps; one thread at a time. True if there
// is a job.
bool BlockingPool::Core::SpinForJob(Lock& lock) {
  if (spinning_ || CountReady() != 0) return CountReady() != 0;
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
  const bool found = CountReady() != 0;
  spin_.Ended(found);
  return found;
}

// ---- Reports, the end ----

bool BlockingPool::Core::IsIdle() {
  std::lock_guard lock(mutex_);
  const int self = ThisThread().pool == this ? 1 : 0;
  return running_ == self && CountWaiting() == 0;
}

BlockingPool::Stats BlockingPool::Core::GetStats() {
  std::lock_guard lock(mutex_);
  Stats stats;
  stats.threads = threads_;
  stats.idle_threads = static_cast<int>(idle_.size());
  stats.queued = CountWaiting();
  stats.running = static_cast<size_t>(running_);
  stats.started = started_;
  stats.rejected = rejected_;
  stats.failed_starts = failed_starts_;
  stats.wakeups = wakeups_;
  stats.max_queue_wait = queue_wait_.Get();
  stats.max_run_time = run_time_.Get();
  return stats;
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
}

BlockingPool::BlockingPool(BlockingPoolOptions options,
                           std::shared_ptr<const Environment> environment)
    : core_(
          std::make_shared<Core>(std::move(options), std::move(environment))) {}

BlockingPool::~BlockingPool() { core_->Leave(); }

void BlockingPool::Submit(Job job) { core_->Submit(std::move(job)); }
bool BlockingPool::IsIdle() const { return core_->IsIdle(); }
BlockingPool::Stats BlockingPool::GetStats() const { return core_->GetStats(); }
BlockingPool::Leftover BlockingPool::Shutdown(Instant deadline) {
  return core_->Shutdown(deadline);
}

}  // namespace weft
