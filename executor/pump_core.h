// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// PumpCore: runs the tasks of some spawners of its own inside a few tasks of
// another spawner. What Strand and PriorityExecutor are made of. Internal.
//
// The tasks of the other spawner are its pumps. There are none while there is
// nothing to run: the first task brings the first pump, up to `max_pumps` come
// with further tasks, and all end with the last task. A pump that is polled
// takes ready tasks, best first, polls some, and if there are more has itself
// polled again behind the other tasks of its spawner. Without a ready task it
// waits; a task that becomes ready wakes one that does.
//
// Thread safety: all methods from any thread.
// Lifetime: owned by whoever spawns on it, and by each pump. While a task is
// unfinished there is a pump, so there is a core for its wakers. The other
// spawner must outlive each spawn here; nothing else uses it.
// Dropping: if the other spawner destroys the pumps, as executors do at their
// end, the last one destroys all tasks, there and then, and the core is closed:
// what is spawned later is destroyed unrun.
#ifndef WEFT_EXECUTOR_PUMP_CORE_H_
#define WEFT_EXECUTOR_PUMP_CORE_H_

#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "weft/executor/level_queue.h"
#include "weft/executor/task_dump.h"
#include "weft/executor/task_list.h"
#include "weft/task/runnable.h"
#include "weft/task/spawner.h"
#include "weft/task/waker.h"

namespace weft::executor_internal {

class PumpCore : public std::enable_shared_from_this<PumpCore> {
 public:
  // One spawner per level of `ready`, which is empty. Requires: max_pumps > 0.
  PumpCore(Spawner& inner, LevelQueue ready, size_t max_pumps);
  PumpCore(const PumpCore&) = delete;
  PumpCore& operator=(const PumpCore&) = delete;

  size_t levels() const { return levels_.size(); }
  // Current while a task of that level is polled or destroyed.
  Spawner& spawner(size_t level) { return levels_[level]; }

  TaskDump Dump();

 private:
  class Pump;
  class LevelScope;
  enum class Phase { kOpen, kClosing, kClosed };
  enum class Step { kRun, kRest, kEnd };

  class Level final : public Spawner {
   public:
    Level(PumpCore& core, size_t level) : core_(core), level_(level) {}

   private:
    void Schedule(Runnable<SpawnedTask> runnable, ScheduleInfo) override {
      core_.Schedule(level_, std::move(runnable));
    }
    void Register(SpawnedTask& task) override { core_.Register(task); }
    void Unregister(SpawnedTask& task) override { core_.Unregister(task); }

    PumpCore& core_;
    const size_t level_;
  };

  void Schedule(size_t level, Runnable<SpawnedTask> runnable);
  void Register(SpawnedTask& task);
  void Unregister(SpawnedTask& task);

  // A pump's: the next task, or rest, or end; and what its destructor does if
  // it has not ended.
  Step NextStep(Pump& pump, Waker& waker, LevelQueue::Item& item);
  void LosePump(Pump& pump);
  void RunOne(const LevelQueue::Item& item);
  // These require mutex_.
  size_t CountAlive() const;
  void BeIdle(Pump& pump);
  void LeaveIdle(Pump& pump);
  Waker TakeIdle();

  // Destroys all tasks. Requires: phase_ is kClosing, there is no pump.
  void Close();
  void DropReady();

  Spawner& inner_;
  const size_t max_pumps_;
  std::vector<Level> levels_;

  std::mutex mutex_;
  // Guarded by mutex_.
  Phase phase_ = Phase::kOpen;
  LevelQueue ready_;
  TaskList suspended_;    // and those that were suspended before
  size_t pumps_ = 0;      // that exist
  Pump* idle_ = nullptr;  // the first of those that wait
  size_t idle_count_ = 0;
};

}  // namespace weft::executor_internal

#endif  // WEFT_EXECUTOR_PUMP_CORE_H_
