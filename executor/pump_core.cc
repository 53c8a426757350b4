// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Algorithm. A ready task is in `ready_`; a pump is idle, or active: about to
// be polled, or polled. Under the mutex: a pump becomes idle, or ends, only
// while no task is ready, and whoever makes one ready takes an idle pump, if
// there is any, and wakes it. So while a task is ready, all pumps are active or
// as many have been woken as tasks became ready, and each looks again.
//
// A pump ends while no task is alive: none ready, none suspended, and no other
// pump active, which might have one in hand. It wakes an idle one, which then
// finds the same. So there are as many pumps as tasks, up to the limit, whatever
// the tasks do, and all may be polled at the same time. New pumps are made only by
// those who spawn, since only they know that the inner spawner is still there.
#include "weft/executor/pump_core.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "weft/executor/level_queue.h"
#include "weft/executor/task_list.h"
#include "weft/task/context.h"
#include "weft/task/environment.h"
#include "weft/task/polled.h"
#include "weft/task/runnable.h"
#include "weft/task/spawner.h"
#include "weft/task/waker.h"

namespace weft::executor_internal {
namespace {

// How many tasks a pump polls before the inner spawner's other tasks have their
// turn: enough to make the way through the inner spawner cheap, and few beside
// the 61 polls after which our executors look at their driver.
constexpr int kBatch = 16;

}  // namespace

class PumpCore::Pump {
 public:
  using Output = void;

  explicit Pump(std::shared_ptr<PumpCore> core) : core_(std::move(core)) {}
  Pump(Pump&&) = default;
  ~Pump() {
    if (core_ != nullptr) core_->LosePump(*this);
  }

  Polled<void> Poll(Context& cx) {
    Waker waker = cx.waker();
    for (int i = 0; i < kBatch; ++i) {
      LevelQueue::Item item;
      const Step step = core_->NextStep(*this, waker, item);
      if (step == Step::kRest) return kPending;
      if (step == Step::kEnd) {
        core_.reset();
        return Unit();
      }
      core_->RunOne(item);
    }
    std::move(waker).Wake();
    return kPending;
  }

 private:
  friend PumpCore;

  std::shared_ptr<PumpCore> core_;  // null: moved from, or ended
  // Guarded by the core's mutex.
  bool idle_ = false;  // it is in the core's list
  Pump* next_idle_ = nullptr;
  Waker waker_;  // what wakes it then
};

// Makes a level's spawner the current one.
class PumpCore::LevelScope {
 public:
  explicit LevelScope(Spawner& spawner)
      : environment_(MakeEnvironment(spawner)), scope_(environment_) {}

 private:
  static Environment MakeEnvironment(Spawner& spawner) {
    Environment environment = Environment::Current();
    environment.spawner = &spawner;
    return environment;
  }

  const Environment environment_;
  const EnvironmentScope scope_;
};

PumpCore::PumpCore(Spawner& inner, LevelQueue ready, size_t max_pumps)
    : inner_(inner), max_pumps_(max_pumps), ready_(std::move(ready)) {
  levels_.reserve(ready_.levels());
  for (size_t i = 0; i < ready_.levels(); ++i) levels_.emplace_back(*this, i);
}

void PumpCore::Schedule(size_t level, Runnable<SpawnedTask> runnable) {
  // The task, and with it the last pump, may be gone before this returns.
  const std::shared_ptr<PumpCore> self = shared_from_this();
  const bool is_new = !runnable.metadata().registered;
  Waker idle;
  bool start = false;
  {
    const std::lock_guard lock(mutex_);
    if (phase_ == Phase::kClosed) return;  // destroys it, after the lock
    ready_.Push(level, std::move(runnable).IntoRaw());
    idle = TakeIdle();
    start = is_new && phase_ == Phase::kOpen &&
            pumps_ < std::min(max_pumps_, CountAlive());
    if (start) ++pumps_;
  }
  std::move(idle).Wake();
  if (start) inner_.Spawn(Pump(self)).Detach();
}

TaskDump PumpCore::Dump() {
  TaskDump dump;
  std::vector<SpawnedTask*> tasks;
  {
    const std::lock_guard lock(mutex_);
    suspended_.AppendReferences(tasks);
    dump.queued = ready_.size();
  }
  InspectTasks(std::move(tasks), dump.tasks);
  dump.Sort();
  return dump;
}

void PumpCore::Register(SpawnedTask& task) {
  const std::lock_guard lock(mutex_);
  suspended_.Add(task);
}

void PumpCore::Unregister(SpawnedTask& task) {
  const std::lock_guard lock(mutex_);
  suspended_.Remove(task);
}

PumpCore::Step PumpCore::NextStep(Pump& pump, Waker& waker,
                                  LevelQueue::Item& item) {
  Waker idle;
  {
    const std::lock_guard lock(mutex_);
    LeaveIdle(pump);  // it may be polled without having been woken
    if (ready_.Pop(item)) return Step::kRun;
    const size_t active = pumps_ - idle_count_;
    if (suspended_.size() != 0 || active > 1) {
      std::swap(pump.waker_, waker);
      BeIdle(pump);
      return Step::kRest;
    }
    --pumps_;
    idle = TakeIdle();
  }
  std::move(idle).Wake();
  return Step::kEnd;
}

void PumpCore::RunOne(const LevelQueue::Item& item) {
  const LevelScope scope(levels_[item.level]);
  Runnable<SpawnedTask>::FromRaw(item.task).Run();
}

// How many tasks are unfinished, or more: some are counted twice.
size_t PumpCore::CountAlive() const {
  const size_t active = pumps_ - idle_count_;
  return ready_.size() + suspended_.size() + active;
}

void PumpCore::BeIdle(Pump& pump) {
  pump.idle_ = true;
  pump.next_idle_ = std::exchange(idle_, &pump);
  ++idle_count_;
}

void PumpCore::LeaveIdle(Pump& pump) {
  if (!pump.idle_) return;  // as nearly always
  Pump** link = &idle_;
  while (*link != &pump) link = &(*link)->next_idle_;
  *link = pump.next_idle_;
  pump.idle_ = false;
  --idle_count_;
}

Waker PumpCore::TakeIdle() {
  if (idle_ == nullptr) return Waker();
  Pump& pump = *idle_;
  LeaveIdle(pump);
  return std::exchange(pump.waker_, Waker());
}

void PumpCore::LosePump(Pump& pump) {
  Waker idle;
  bool close = false;
  {
    const std::lock_guard lock(mutex_);
    LeaveIdle(pump);
    --pumps_;
    idle = TakeIdle();  // what this one was woken for is left to others
    close = pumps_ == 0 && phase_ == Phase::kOpen;
    if (close) phase_ = Phase::kClosing;
  }
  std::move(idle).Wake();
  if (close) Close();
}

void PumpCore::Close() {
  std::vector<Waker> wakers;
  {
    const std::lock_guard lock(mutex_);
    suspended_.AppendWakers(wakers);
  }
  CancelTasks(std::move(wakers));
  for (;;) {
    DropReady();
    {
      const std::lock_guard lock(mutex_);
      if (ready_.size() == 0 && suspended_.size() == 0) {
        phase_ = Phase::kClosed;
        return;
      }
    }
    // Another thread has just woken a task and is about to push it.
    std::this_thread::yield();
  }
}

// Destroys the ready tasks, and those that this makes ready.
void PumpCore::DropReady() {
  for (;;) {
    LevelQueue::Item item;
    {
      const std::lock_guard lock(mutex_);
      if (!ready_.Pop(item)) return;
    }
    const LevelScope scope(levels_[item.level]);
    static_cast<void>(Runnable<SpawnedTask>::FromRaw(item.task));
  }
}

}  // namespace weft::executor_internal
