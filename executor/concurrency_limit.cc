// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Algorithm. Each started task is in a lane, a task of the spawner below that
// polls it to its end and then takes the next that waits; without one the lane
// ends. A spawn takes a free lane, if there is one, else its task waits. So a
// task waits only while all lanes are taken, and each of those looks again.
//
// A task knows its lane by `shard`. Its Runnable is in the lane (`ready`), or in
// the lane's hands, or nowhere, the task being suspended. It is finished when it
// is none of these after a poll.
//
// A lane that the spawner below destroys destroys its task first. The last lane
// then destroys the tasks that wait, and nothing is taken any more.
#include "weft/executor/concurrency_limit.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "weft/executor/task_dump.h"
#include "weft/executor/task_list.h"
#include "weft/executor/task_ring.h"
#include "weft/task/check.h"
#include "weft/task/context.h"
#include "weft/task/polled.h"
#include "weft/task/runnable.h"
#include "weft/task/spawner.h"
#include "weft/task/waker.h"

namespace weft {
namespace {

// How many tasks a lane may finish in one poll before the other tasks of the
// spawner below have their turn.
constexpr int kBatch = 16;

constexpr uint32_t kNoLane = std::numeric_limits<uint32_t>::max();

}  // namespace

class ConcurrencyLimit::Core final : public Spawner,
                                     public std::enable_shared_from_this<Core> {
 public:
  Core(Spawner& below, size_t limit) : below_(below), limit_(limit) {}

  size_t running() {
    const std::lock_guard lock(mutex_);
    return running_;
  }
  size_t waiting() {
    const std::lock_guard lock(mutex_);
    return waiting_.size();
  }
  TaskDump Dump();

 private:
  class LaneFuture;
  enum class Phase { kOpen, kClosing, kClosed };

  // Guarded by mutex_.
  struct Lane {
    void* ready = nullptr;  // Runnable<SpawnedTask>::IntoRaw()
    // The task, if it has been suspended and is unfinished. No reference: with
    // the last of the task's own wakers it comes here to be destroyed.
    SpawnedTask* suspended = nullptr;
    Waker waker;  // of the lane; empty while it is about to look
    uint32_t next_free = kNoLane;
  };

  void Schedule(Runnable<SpawnedTask> runnable, ScheduleInfo info) override;
  void Register(SpawnedTask& task) override { SetSuspended(task, &task); }
  void Unregister(SpawnedTask& task) override { SetSuspended(task, nullptr); }
  void SetSuspended(const SpawnedTask& task, SpawnedTask* suspended) {
    const std::lock_guard lock(mutex_);
    lanes_[task.shard].suspended = suspended;
  }

  // A LaneFuture's: the task to run next, else null; then `ended` says whether
  // there will be none.
  void* Next(uint32_t index, Waker& waker, bool& ended);
  // What its destructor does if it has not ended: destroys the lane's task, and
  // gives the lane up.
  void LoseLane(uint32_t index);
  void WakeTaskOf(uint32_t index);

  // These require mutex_.
  uint32_t TakeLane();
  void FreeLane(uint32_t index);

  // Destroys what waits. Requires: phase_ is kClosing.
  void Close();

  Spawner& below_;
  const size_t limit_;

  std::mutex mutex_;
  // Guarded by mutex_.
  Phase phase_ = Phase::kOpen;
  std::deque<Lane> lanes_;               // as many as there ever were at a time
  uint32_t free_ = kNoLane;              // the first of those that nobody uses
  size_t running_ = 0;                   // those that are used
  executor_internal::TaskRing waiting_;  // as Lane::ready
};

// A lane, as a task of the spawner below.
class ConcurrencyLimit::Core::LaneFuture {
 public:
  using Output = void;

  LaneFuture(std::shared_ptr<Core> core, uint32_t index)
      : core_(std::move(core)), index_(index) {}
  LaneFuture(LaneFuture&&) = default;
  ~LaneFuture() {
    if (core_ != nullptr) core_->LoseLane(index_);
  }

  Polled<void> Poll(Context& cx) {
    Waker waker = cx.waker();
    for (int i = 0; i < kBatch; ++i) {
      bool ended = false;
      void* task = core_->Next(index_, waker, ended);
      if (ended) {
        core_.reset();
        return Unit();
      }
      if (task == nullptr) return kPending;
      auto runnable = Runnable<SpawnedTask>::FromRaw(task);
      // A task that yields lets the other tasks below run.
      if (std::move(runnable).Run()) break;
    }
    std::move(waker).Wake();
    return kPending;
  }

 private:
  std::shared_ptr<Core> core_;  // null: moved from, or ended
  const uint32_t index_;
};

void ConcurrencyLimit::Core::Schedule(Runnable<SpawnedTask> runnable,
                                      ScheduleInfo) {
  // The task, and with it the last lane, may be gone before this returns.
  const std::shared_ptr<Core> self = shared_from_this();
  Waker lane_waker;
  uint32_t index = kNoLane;
  {
    const std::lock_guard lock(mutex_);
    if (runnable.metadata().registered) {
      Lane& lane = lanes_[runnable.metadata().shard];
      lane.ready = std::move(runnable).IntoRaw();
      std::swap(lane_waker, lane.waker);
    } else if (phase_ == Phase::kClosed) {
      return;  // destroys it, after the lock
    } else if (phase_ == Phase::kClosing || running_ == limit_) {
      waiting_.Push(std::move(runnable).IntoRaw());
      return;
    } else {
      index = TakeLane();
      runnable.metadata().shard = index;
      lanes_[index].ready = std::move(runnable).IntoRaw();
    }
  }
  if (index != kNoLane) {
    below_.Spawn(LaneFuture(self, index)).Detach();
  } else {
    std::move(lane_waker).Wake();
  }
}

TaskDump ConcurrencyLimit::Core::Dump() {
  TaskDump dump;
  std::vector<SpawnedTask*> tasks;
  {
    const std::lock_guard lock(mutex_);
    dump.queued = waiting_.size();
    for (const Lane& lane : lanes_) {
      dump.queued += lane.ready != nullptr;
      if (lane.suspended == nullptr) continue;
      executor_internal::RefTask(*lane.suspended);
      tasks.push_back(lane.suspended);
    }
  }
  executor_internal::InspectTasks(std::move(tasks), dump.tasks);
  dump.Sort();
  return dump;
}

void* ConcurrencyLimit::Core::Next(uint32_t index, Waker& waker, bool& ended) {
  Waker old;  // there may be one if the lane is polled without a wake
  const std::lock_guard lock(mutex_);
  Lane& lane = lanes_[index];
  std::swap(old, lane.waker);
  if (lane.ready != nullptr) return std::exchange(lane.ready, nullptr);
  if (lane.suspended) {
    std::swap(lane.waker, waker);
    return nullptr;
  }
  if (waiting_.empty()) {
    waiting_.Trim();
    FreeLane(index);
    ended = true;
    return nullptr;
  }
  auto next = Runnable<SpawnedTask>::FromRaw(waiting_.Pop());
  next.metadata().shard = index;
  return std::move(next).IntoRaw();
}

uint32_t ConcurrencyLimit::Core::TakeLane() {
  uint32_t index = free_;
  if (index == kNoLane) {
    index = static_cast<uint32_t>(lanes_.size());
    lanes_.emplace_back();
  } else {
    free_ = lanes_[index].next_free;
  }
  ++running_;
  return index;
}

void ConcurrencyLimit::Core::FreeLane(uint32_t index) {
  lanes_[index].next_free = std::exchange(free_, index);
  --running_;
}

void ConcurrencyLimit::Core::WakeTaskOf(uint32_t index) {
  Waker waker;
  {
    const std::lock_guard lock(mutex_);
    if (SpawnedTask* task = lanes_[index].suspended) {
      waker = executor_internal::WakerOf(*task);
    }
  }
  std::move(waker).Wake();
}

void ConcurrencyLimit::Core::LoseLane(uint32_t index) {
  WakeTaskOf(index);  // suspended, it comes to the lane
  Waker waker;
  for (;;) {
    void* ready = nullptr;
    {
      const std::lock_guard lock(mutex_);
      Lane& lane = lanes_[index];
      std::swap(waker, lane.waker);
      ready = std::exchange(lane.ready, nullptr);
      if (ready == nullptr && !lane.suspended) {
        FreeLane(index);
        if (running_ != 0 || phase_ != Phase::kOpen) return;
        phase_ = Phase::kClosing;
        break;
      }
    }
    if (ready != nullptr) {
      static_cast<void>(Runnable<SpawnedTask>::FromRaw(ready));
    } else {
      // Another thread has just woken the task and is about to put it there.
      std::this_thread::yield();
    }
  }
  Close();
}

void ConcurrencyLimit::Core::Close() {
  for (;;) {
    void* task = nullptr;
    {
      const std::lock_guard lock(mutex_);
      if (waiting_.empty()) {
        phase_ = Phase::kClosed;
        return;
      }
      task = waiting_.Pop();
    }
    static_cast<void>(Runnable<SpawnedTask>::FromRaw(task));
  }
}

ConcurrencyLimit::ConcurrencyLimit(Spawner& below, int limit) {
  WEFT_CHECK(limit >= 1, "a ConcurrencyLimit lets at least one task run");
  core_ = std::make_shared<Core>(below, static_cast<size_t>(limit));
}

ConcurrencyLimit::Core& ConcurrencyLimit::core() const {
  WEFT_CHECK(
      core_ != nullptr,
      "this ConcurrencyLimit was moved from; use the one that it was moved to");
  return *core_;
}

Spawner& ConcurrencyLimit::spawner() const { return core(); }

TaskDump ConcurrencyLimit::Dump() const { return core().Dump(); }
size_t ConcurrencyLimit::running() const { return core().running(); }

size_t ConcurrencyLimit::waiting() const { return core().waiting(); }

}  // namespace weft
