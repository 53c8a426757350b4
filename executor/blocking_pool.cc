// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Algorithm. One mutex guards a queue per lane and the counts. An idle thread
// waits on a condition variable of its own, in a stack of idle ones: the one
// that became idle last is woken first, so that the others' keep-alive runs
// out. Whoever submits a job either takes an idle thread off that stack, which
// thereby belongs to the job, or starts a thread if the limit allows, or leaves
// the job to the first thread that finishes another. So no thread is started
// while one is free, and no job waits while one is.
//
// Lanes take turns: a free thread looks at them in order, beginning behind the
// one it served last; a lane at its limit is passed over.
#include "weft/executor/blocking_pool.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdio>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "weft/executor/thread.h"
#include "weft/task/check.h"
#include "weft/task/environment.h"
#include "weft/task/instant.h"
#include "weft/task/offload.h"
#include "weft/task/runnable.h"

namespace weft {

using executor_internal::Thread;
using Job = Runnable<OffloadLane>;

namespace {

// The core of the pool that the calling thread belongs to.
[[gnu::noinline]] const void*& PoolOfThread() {
  constinit static thread_local const void* pool = nullptr;
  return pool;
}

}  // namespace

class BlockingPool::Core : public std::enable_shared_from_this<Core> {
 public:
  Core(BlockingPoolOptions options,
       std::shared_ptr<const Environment> environment)
      : options_(std::move(options)), environment_(std::move(environment)) {
    WEFT_CHECK(options_.max_threads_ >= 1,
               "BlockingPoolOptions::MaxThreads() needs at least one thread");
    for (Lane& lane : lanes_) lane.limit = options_.max_threads_;
    LaneOf(OffloadLane::kName).limit = std::max(1, options_.max_threads_ / 2);
  }

  void Submit(Job job);
  bool IsIdle();
  Stats GetStats();
  Leftover Shutdown(Instant deadline);
  // What the pool's destructor does.
  void Leave();

 private:
  struct Lane {
    std::deque<Job> jobs;
    int running = 0;
    int limit = 0;
  };
  struct IdleThread {
    std::condition_variable woken;
    bool taken = false;  // off the stack; guarded by mutex_
  };

  Lane& LaneOf(OffloadLane lane) { return lanes_[static_cast<size_t>(lane)]; }

  void WakeOrStart(std::unique_lock<std::mutex>& lock);
  void StartThread(std::unique_lock<std::mutex>& lock);
  void RefuseAll(std::unique_lock<std::mutex>& lock, const absl::Status& why);
  void RunThread(const Environment* environment);
  bool AwaitJob(std::unique_lock<std::mutex>& lock);
  Lane* FindLane(size_t& turn);
  std::vector<Job> TakeAll();

  const BlockingPoolOptions options_;

  std::mutex mutex_;
  // All guarded by mutex_.
  std::shared_ptr<const Environment> environment_;  // null once closed
  std::array<Lane, kOffloadLanes> lanes_;
  std::vector<IdleThread*> idle_;
  std::condition_variable thread_left_;
  bool closed_ = false;
  bool gave_up_ = false;   // on a job that did not return in time
  bool reported_ = false;  // that the system gives no thread
  int threads_ = 0;        // all that have not ended
  int able_ = 0;           // of these, those that will still look for a job
  int running_ = 0;
  uint64_t next_name_ = 0;
  uint64_t started_ = 0;
  uint64_t rejected_ = 0;
  uint64_t failed_starts_ = 0;
};

void BlockingPool::Core::Submit(Job job) {
  std::unique_lock lock(mutex_);
  Lane& lane = LaneOf(job.metadata());
  if (closed_ || lane.jobs.size() >= options_.queue_capacity_) {
    ++rejected_;
    lock.unlock();
    return;  // destroys the job, with no lock held
  }
  lane.jobs.push_back(std::move(job));
  // Where there are enough threads for what the lane may run, these take the
  // job, one after the other.
  if (lane.running + static_cast<int>(lane.jobs.size()) <= lane.limit) {
    WakeOrStart(lock);
  }
}

void BlockingPool::Core::WakeOrStart(std::unique_lock<std::mutex>& lock) {
  if (!idle_.empty()) {
    IdleThread* thread = idle_.back();
    idle_.pop_back();
    thread->taken = true;
    thread->woken.notify_one();
  } else if (able_ < options_.max_threads_) {
    StartThread(lock);
  }
}

void BlockingPool::Core::StartThread(std::unique_lock<std::mutex>& lock) {
  ++threads_;
  ++able_;
  const std::string name = options_.name_ + "-" + std::to_string(next_name_++);
  auto body = [self = shared_from_this(), environment = environment_] {
    self->RunThread(environment.get());
  };
  lock.unlock();
  absl::StatusOr<Thread> thread =
      Thread::Start(name, options_.stack_size_, std::move(body));
  if (thread.ok()) return thread->Detach();
  lock.lock();
  ++failed_starts_;
  --threads_;
  thread_left_.notify_all();
  // Threads that exist will do the job; if there are none, nobody will.
  if (--able_ == 0) RefuseAll(lock, thread.status());
}

void BlockingPool::Core::RefuseAll(std::unique_lock<std::mutex>& lock,
                                   const absl::Status& why) {
  const std::vector<Job> jobs = TakeAll();
  rejected_ += jobs.size();
  const bool report = !std::exchange(reported_, true);
  lock.unlock();
  if (!report) return;
  std::fprintf(stderr, "weft: blocking jobs are cancelled: %s\n",
               std::string(why.message()).c_str());
}

std::vector<Job> BlockingPool::Core::TakeAll() {
  std::vector<Job> jobs;
  for (Lane& lane : lanes_) {
    for (Job& job : lane.jobs) jobs.push_back(std::move(job));
    lane.jobs.clear();
  }
  return jobs;
}

void BlockingPool::Core::RunThread(const Environment* environment) {
  constexpr Environment kNone;
  const EnvironmentScope scope(environment != nullptr ? *environment : kNone);
  PoolOfThread() = this;
  if (options_.on_start_) options_.on_start_();
  size_t turn = 0;
  std::unique_lock lock(mutex_);
  for (;;) {
    Lane* lane = FindLane(turn);
    if (lane == nullptr) {
      if (!AwaitJob(lock)) break;
      continue;
    }
    Job job = std::move(lane->jobs.front());
    lane->jobs.pop_front();
    ++lane->running;
    ++running_;
    ++started_;
    lock.unlock();
    std::move(job).Run();
    lock.lock();
    --lane->running;
    --running_;
  }
  --able_;
  if (options_.on_stop_) {
    lock.unlock();
    options_.on_stop_();
    lock.lock();
  }
  --threads_;
  // What this thread still destroys is not a job of the pool any more.
  PoolOfThread() = nullptr;
  thread_left_.notify_all();
}

// A lane that has a job which may run now, or null.
BlockingPool::Core::Lane* BlockingPool::Core::FindLane(size_t& turn) {
  for (size_t i = 0; i < lanes_.size(); ++i) {
    turn = (turn + 1) % lanes_.size();
    Lane& lane = lanes_[turn];
    if (!lane.jobs.empty() && lane.running < lane.limit) return &lane;
  }
  return nullptr;
}

// Waits for a job; false if the thread shall end.
bool BlockingPool::Core::AwaitJob(std::unique_lock<std::mutex>& lock) {
  if (closed_) return false;
  IdleThread self;
  idle_.push_back(&self);
  const auto keep_alive = absl::ToChronoNanoseconds(
      std::min(options_.keep_alive_, absl::Hours(24 * 365)));
  const auto until = std::chrono::steady_clock::now() + keep_alive;
  self.woken.wait_until(lock, until, [&] { return self.taken; });
  if (self.taken) return true;
  idle_.erase(std::find(idle_.begin(), idle_.end(), &self));
  return false;
}

bool BlockingPool::Core::IsIdle() {
  std::lock_guard lock(mutex_);
  const int self = PoolOfThread() == this ? 1 : 0;
  return running_ == self &&
         std::all_of(lanes_.begin(), lanes_.end(),
                     [](const Lane& lane) { return lane.jobs.empty(); });
}

BlockingPool::Stats BlockingPool::Core::GetStats() {
  std::lock_guard lock(mutex_);
  Stats stats;
  stats.threads = threads_;
  stats.idle_threads = static_cast<int>(idle_.size());
  for (const Lane& lane : lanes_) stats.queued += lane.jobs.size();
  stats.started = started_;
  stats.rejected = rejected_;
  stats.failed_starts = failed_starts_;
  return stats;
}

BlockingPool::Leftover BlockingPool::Core::Shutdown(Instant deadline) {
  Leftover leftover;
  std::unique_lock lock(mutex_);
  closed_ = true;
  for (IdleThread* thread : std::exchange(idle_, {})) {
    thread->taken = true;
    thread->woken.notify_one();
  }
  {
    std::vector<Job> jobs = TakeAll();
    leftover.dropped = jobs.size();
    std::shared_ptr<const Environment> environment = std::move(environment_);
    lock.unlock();
    jobs.clear();
    environment.reset();
    lock.lock();
  }
  // steady_clock is the same clock in libstdc++; a year stands for ever.
  const Instant limit = Instant::Now() + absl::Hours(24 * 365);
  const std::chrono::steady_clock::time_point until{std::chrono::nanoseconds(
      std::min(std::max(deadline, Instant::FromNanoseconds(0)), limit)
          .nanoseconds())};
  // A job that shuts its pool down does not wait for itself.
  const int self = PoolOfThread() == this ? 1 : 0;
  thread_left_.wait_until(lock, until, [&] { return threads_ == self; });
  leftover.running = static_cast<size_t>(running_ - self);
  gave_up_ = threads_ != self;
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
