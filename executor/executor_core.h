// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// ExecutorCore: what an Executor's tasks and wakers point to. Internal; users
// see executor/executor.h. docs/design/executor.md explains the whole.
//
// Cores come from a pool that never gives memory back, so that a thread that is
// just scheduling a task finds a core whatever became of the Executor.
//
// Thread safety: as said at each member.
#ifndef WEFT_EXECUTOR_EXECUTOR_CORE_H_
#define WEFT_EXECUTOR_EXECUTOR_CORE_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/time/time.h"
#include "weft/executor/counter.h"
#include "weft/executor/executor_hooks.h"
#include "weft/executor/executor_stats.h"
#include "weft/executor/idle_set.h"
#include "weft/executor/injector.h"
#include "weft/executor/poll_capture.h"
#include "weft/executor/poll_times.h"
#include "weft/executor/poll_watched.h"
#include "weft/executor/run_signal.h"
#include "weft/executor/runner.h"
#include "weft/executor/runner_options.h"
#include "weft/executor/task_census.h"
#include "weft/executor/task_dump.h"
#include "weft/executor/task_registry.h"
#include "weft/executor/tick_list.h"
#include "weft/executor/watchers.h"
#include "weft/task/context.h"
#include "weft/task/driver.h"
#include "weft/task/instant.h"
#include "weft/task/runnable.h"
#include "weft/task/spawner.h"
#include "weft/task/task_cell.h"
#include "weft/task/waker.h"

namespace weft {
namespace executor_internal {

// Looks that found nothing, though there was something, before the thread lets
// others run: one of them is in the middle of pushing or popping.
inline constexpr uint32_t kMissesBeforeYield = 3;

// What a runner is woken for: a task in another one's queue, which that one may
// run before it comes; or what only runs where somebody comes.
enum class WakeReason { kLocalTask, kOther };

class ExecutorCore final : public Spawner, public PollWatched {
 public:
  static constexpr int kMaxRunners = IdleSet<>::kMaxRunners;

  // A core from the pool, open; and back, once Close() has returned.
  static ExecutorCore* Acquire();
  static void Release(ExecutorCore* core);

  ExecutorCore();
  ~ExecutorCore() override = default;

  // Runs tasks until `poll` is true. Any thread that may block.
  void Run(const RunnerOptions& options,
           absl::FunctionRef<bool(Context&)> poll);
  // The same; false at once if there is no place left.
  bool TryRun(const RunnerOptions& options,
              absl::FunctionRef<bool(Context&)> poll);

  // Runs one task, if there is one. Any thread.
  bool TryTick();
  // The poll and the destructor of a Tick future.
  bool PollTick(TickWaiter& waiter, const Context& cx);
  void DropTick(TickWaiter& waiter);

  // Sets hooks, for what is spawned from now on. Requires: there are none yet, no
  // thread is in Run or TryTick, and nobody is spawning. CHECK-fails for the first
  // two.
  void SetHooks(std::shared_ptr<const ExecutorHooks> hooks);
  // Requires: it is closed.
  void DropHooks();

  // Destroys all tasks and lets no new one live; returns how many were
  // destroyed. No thread may be in Run or TryTick.
  size_t Close();

  bool IsEmpty();
  TaskDump Dump(absl::Duration patience);
  std::string DebugString();
  ExecutorStats Stats();
  void EnableHistograms();
  ExecutorHistograms Histograms();

  // PollWatched.
  int CountRunners() override {
    return runner_count_.load(std::memory_order_acquire);  // as RunnerAt()
  }
  PollGlance GlanceAt(int runner) override;
  bool CapturePoll(int runner, Instant deadline, PollCapture& capture) override;

 private:
  friend class PlaceLoan;
  class RunnerScope;
  struct PlaceReturner;
  enum class Phase { kOpen, kClosing, kClosed };

  // Spawner.
  void Schedule(Runnable<SpawnedTask> runnable, ScheduleInfo info) override;
  void ScheduleMany(std::span<Runnable<SpawnedTask>> runnables) override;
  void Register(SpawnedTask& task) override;
  void Unregister(SpawnedTask& task) override;
  void NoteSpawn(Runnable<SpawnedTask>& task) override;
  void NoteEnd(SpawnedTask& task, TaskEnd end) override;

  // The calling thread's runner here, or null.
  Runner* OwnRunner();
  // A free place, or null.
  Runner* TakePlace();
  void ReturnPlace(Runner& runner);
  void EnterRunner(Runner& runner, const RunnerOptions& options, Driver& driver,
                   const Waker& signal);
  void LeaveRunner(Runner& runner);

  // Putting tasks somewhere.
  void ScheduleLocal(Runner& runner, void* task, bool is_new,
                     ScheduleInfo info);
  void PushLocal(Runner& runner, void* task);
  void PushYielded(Runner& runner, void* task);
  void Inject(void* task);
  void InjectMany(void* const* tasks, size_t count);
  void Flush(Runner& runner);

  // Finding tasks; null if there is none.
  void* NextTask(Runner& runner);
  void* TakeSlot(Runner& runner);
  void ShowSlot(Runner& runner);
  void* TakeInjected(Runner& runner);
  void* StealFor(Runner& runner, bool lone_ones);
  void EvenOut(Runner& runner);
  void* Search(Runner& runner);
  bool SpinForWork(Runner& runner, bool& lone_ones);
  void TuneInterval(Runner& runner, Instant now);
  void* TakeAnywhere();
  bool HasWork();

  // Sleeping and waking.
  void Notify(WakeReason reason = WakeReason::kLocalTask);
  void NotifyMany(size_t tasks, WakeReason reason);
  bool WakeSleeper(int who, WakeReason reason);
  int Watcher() const;
  void UnparkRunner(int index);
  void WakeOneTick();
  void StopSearching(Runner& runner);
  void ParkRunner(Runner& runner, const RunSignal& signal);
  bool Doze(Runner& runner, const RunSignal& signal);
  void WakeDozer();
  void PollDriver(Runner& runner);
  void EnterDriver(Runner& runner, Instant deadline);
  void SleepInDriver(Runner& runner, const RunSignal& signal);
  bool Watches(Runner& runner);
  bool MustGetUp(Runner& runner, const RunSignal& signal);
  bool LookIsDue(Instant now);
  void LookIfDue(Runner& runner, Instant now);
  bool LookAfterOthers(Runner& runner);
  void TakeSlotOf(Runner& other, Runner& runner);
  void PollDriverOf(Runner& other, Runner& runner);
  void WakeUp(Runner& runner);
  void NotifyOfSpare(Runner& runner);
  void ReclaimDriver(Runner& runner, Instant deadline);

  void RunTask(Runner& runner, void* task);
  void RunStamped(Runner& runner, Runnable<SpawnedTask> runnable);
  void RunTickStamped(Runnable<SpawnedTask> runnable);
  void RunTicked(void* task);
  // Of each poll; null if there is none.
  task_internal::PollObserver* FindObserver();

  // Measuring; see executor_measure.cc.
  void SyncTiming(Runner& runner);
  void MakeTimes(std::atomic<PollTimes*>& times);
  void StampInjected(uint64_t number, SpawnedTask& task);

  size_t Drain();
  size_t CountTasks();
  void AwaitCensus(TaskCensus& census, int asked, Instant deadline);
  bool DumpBusy(Runner& runner, TaskDump& dump);
  void CountEvents(ExecutorStats& stats);

  // The runner with an index, counted on behind the last.
  Runner& RunnerAt(uint32_t index);
  // Calls visit(runner), starting somewhere, until it returns true.
  template <class Visit>
  bool VisitRunners(uint32_t start, Visit visit);

  Injector injector_;
  IdleSet<> idle_;
  std::atomic<Phase> phase_{Phase::kClosed};
  // Threads in Run, and in TryTick or a Tick's poll.
  std::atomic<int> running_{0};
  std::atomic<int> ticking_{0};

  // Runners are made when first needed, from index 0 on, and kept.
  std::atomic<int> runner_count_{0};
  std::atomic<bool> histograms_on_{false};  // written under runners_mutex_
  std::array<std::atomic<Runner*>, kMaxRunners> runners_{};
  std::mutex runners_mutex_;  // guards the next one, and who makes PollTimes
  std::array<bool, kMaxRunners> taken_{};

  // 1 + the index of a runner that dozes, or 0.
  std::atomic<int> dozer_{0};
  // Those who look after others in long polls.
  Watchers<> watchers_;
  std::atomic<int> watcher_{kWakeNobody};  // the index of one of them
  std::atomic<int64_t> last_look_{0};      // an Instant's nanoseconds

  TickList ticks_{idle_};
  std::mutex tick_consumer_mutex_;  // guards the next one
  Injector::Consumer tick_consumer_{injector_};

  TaskRegistry tasks_;  // first suspended on a thread that is no runner

  // Set while nobody else uses the core. Null mostly.
  std::unique_ptr<HookCaller> hooks_;

  Counter tick_polls_, runners_woken_, tick_wakes_, injected_;
  std::atomic<PollTimes*> tick_times_{nullptr};  // as Runner::times
  ExecutorStats earlier_;  // of the executors that had this core before
  ExecutorCore* next_free_ = nullptr;
  // All that were ever made, for debuggers (tools/gdb/weft_gdb.py).
  static ExecutorCore* all_;
  ExecutorCore* next_of_all_ = nullptr;
};

inline Runner& ExecutorCore::RunnerAt(uint32_t index) {
  // Acquire, both: pairs with TakePlace.
  const int count = runner_count_.load(std::memory_order_acquire);
  return *runners_[index % static_cast<uint32_t>(count)].load(
      std::memory_order_acquire);
}

template <class Visit>
bool ExecutorCore::VisitRunners(uint32_t start, Visit visit) {
  // Acquire, both: as in RunnerAt(); the number is the same for all visits.
  const auto count =
      static_cast<uint32_t>(runner_count_.load(std::memory_order_acquire));
  for (uint32_t i = 0; i < count; ++i) {
    Runner* runner =
        runners_[(start + i) % count].load(std::memory_order_acquire);
    if (visit(*runner)) return true;
  }
  return false;
}

}  // namespace executor_internal
}  // namespace weft

#endif  // WEFT_EXECUTOR_EXECUTOR_CORE_H_
