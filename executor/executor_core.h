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
#include <optional>
#include <span>
#include <string>

#include "absl/functional/function_ref.h"
#include "weft/executor/adaptive_spin.h"
#include "weft/executor/idle_set.h"
#include "weft/executor/injector.h"
#include "weft/executor/poll_interval.h"
#include "weft/executor/run_queue.h"
#include "weft/executor/run_signal.h"
#include "weft/executor/runner_options.h"
#include "weft/executor/stand_in.h"
#include "weft/executor/task_registry.h"
#include "weft/task/context.h"
#include "weft/task/driver.h"
#include "weft/task/environment.h"
#include "weft/task/instant.h"
#include "weft/task/random.h"
#include "weft/task/runnable.h"
#include "weft/task/spawner.h"
#include "weft/task/waker.h"

namespace weft {

// What an executor did since it was made; approximate while threads run.
struct ExecutorStats {
  uint64_t runners = 0;         // threads in Run() now
  uint64_t parked = 0;          // of these, without work now
  uint64_t suspended = 0;       // live tasks that have been polled, now
  uint64_t polls = 0;           // of tasks
  uint64_t steals = 0;          // successful ones
  uint64_t stolen_tasks = 0;    // how many tasks they moved
  uint64_t overflows = 0;       // of a runner's full queue into the injector
  uint64_t parks = 0;           // of runners in their driver
  uint64_t driver_polls = 0;    // without parking
  uint64_t runners_woken = 0;   // because there was work for them
  uint64_t tick_wakes = 0;      // of Tick futures, likewise
  uint64_t tasks_injected = 0;  // spawns and wakes from outside the runners
};

namespace executor_internal {

class ExecutorCore;

// A count that one thread at a time advances and anybody reads.
class Counter {
 public:
  void Add(uint64_t n = 1) {
    // Relaxed: a number for people, written by one thread.
    value_.store(value_.load(std::memory_order_relaxed) + n,
                 std::memory_order_relaxed);
  }
  // The same from several threads.
  void AddShared(uint64_t n = 1) {
    value_.fetch_add(n, std::memory_order_relaxed);  // relaxed: as above
  }
  uint64_t Get() const {
    return value_.load(std::memory_order_relaxed);  // relaxed: as above
  }

 private:
  std::atomic<uint64_t> value_{0};
};

// A place for a thread in Run(): made once, used by one thread after another.
struct alignas(64) Runner {
  Runner(ExecutorCore& core, int index);

  // Anybody. A task in transit is Runnable<SpawnedTask>::IntoRaw().
  RunQueue<void*> queue;
  // The task woken last, to run next. Filled by the owner; emptied by it or by
  // a Tick caller.
  std::atomic<void*> slot{nullptr};
  std::atomic<bool> busy{false};  // may hold a task that is in no queue
  Counter polls, steals, stolen_tasks, overflows, parks, driver_polls;
  // For those who watch: whether the thread has polled something since it parked,
  // its driver, how many are about to call that, how often the thread itself came
  // there, and what they saw last.
  std::atomic<bool> awake{false};
  std::atomic<Driver*> watched_driver{nullptr};
  std::atomic<int> visitors{0};
  Counter driver_visits;
  std::atomic<uint64_t> seen_visits{0};
  std::atomic<uint64_t> seen_polls{0};
  // Where the thread is, for those who steal: RunnerOptions::At().
  std::atomic<int> location{0};

  // The owner.
  ExecutorCore& core;
  const int index;
  Injector::Consumer consumer;
  Random random{0};
  Driver* driver = nullptr;
  const RunSignal* run_signal = nullptr;
  const Environment* environment = nullptr;
  // Who has been called to the driver while this thread blocked, and must go
  // before it is used again. Null mostly.
  std::shared_ptr<StandIn> stand_in;
  PollInterval interval;        // of looks at the injector
  Instant interval_start;       // when the batch of polls began; Past: unknown
  uint32_t since_injector = 0;  // polls since it looked there
  uint32_t since_driver = 0;    // polls since it polled there
  uint32_t slot_streak = 0;     // polls in a row that came from the slot
  uint32_t misses = 0;          // looks in a row that found nothing
  AdaptiveSpin spin;            // before it parks
  uint64_t lone_tasks = 0;      // which it has seen last; see SpinForWork()
  uint32_t lone_looks = 0;      // how often in a row
  bool searching = false;       // has a token of the IdleSet
  bool woken_in_vain = false;   // claimed, and nothing run since
  bool in_driver = false;       // is inside driver->Park(), or another's
  bool may_watch = false;       // its driver's clock is the real one
  uint32_t quiet_watches = 0;   // in a row, in which nobody did anything
  uint32_t visits_to_evening = 0;    // until it looks at others' queues
  std::span<const int> steal_order;  // RunnerOptions::StealFrom()
  // Where in `queue` the first task lies that yielded since the driver was
  // polled.
  std::optional<uint64_t> first_yield;

  std::mutex signal_mutex;  // guards the next one
  Waker signal;             // RunSignal of the thread that is here, or empty

  TaskRegistry tasks;  // first suspended here
};

// A Tick future's place among those that wait.
struct TickWaiter {
  enum class State { kIdle, kWaiting, kNotified };

  State state = State::kIdle;  // all guarded by ExecutorCore::tick_mutex_
  Waker waker;
  TickWaiter* previous = nullptr;
  TickWaiter* next = nullptr;
};

// While it exists, the calling thread is no runner: what it had to run is the
// others', and somebody stands in for it. CHECK-fails if it is none now.
class [[nodiscard]] PlaceLoan {
 public:
  PlaceLoan();
  PlaceLoan(const PlaceLoan&) = delete;
  PlaceLoan& operator=(const PlaceLoan&) = delete;
  ~PlaceLoan();

 private:
  Runner& runner_;
  const Environment environment_;  // without the lent driver
  const EnvironmentScope scope_;
};

class ExecutorCore final : public Spawner {
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

  // Destroys all tasks and lets no new one live; returns how many were
  // destroyed. No thread may be in Run or TryTick.
  size_t Close();

  bool IsEmpty();
  std::string DebugString();
  ExecutorStats Stats();

 private:
  friend Runner;
  friend PlaceLoan;
  class RunnerScope;
  enum class Phase { kOpen, kClosing, kClosed };

  // Spawner.
  void Schedule(Runnable<SpawnedTask> runnable, ScheduleInfo info) override;
  void ScheduleMany(std::span<Runnable<SpawnedTask>> runnables) override;
  void Register(SpawnedTask& task) override;
  void Unregister(SpawnedTask& task) override;

  // The calling thread's runner here, or null.
  Runner* OwnRunner();
  // A free place, or null.
  Runner* TakePlace();
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
  void* TakeInjected(Runner& runner);
  void* StealFor(Runner& runner, bool lone_ones);
  void EvenOut(Runner& runner);
  void* Search(Runner& runner);
  bool SpinForWork(Runner& runner, bool& lone_ones);
  void TuneInterval(Runner& runner);
  void* TakeAnywhere();
  bool HasWork();

  // Sleeping and waking.
  void Notify();
  void NotifyMany(size_t tasks);
  void UnparkRunner(int index);
  void WakeOneTick();
  void StopSearching(Runner& runner);
  void ParkRunner(Runner& runner, const RunSignal& signal);
  bool Doze(Runner& runner, const RunSignal& signal);
  void WakeDozer();
  void PollDriver(Runner& runner);
  void EnterDriver(Runner& runner, Instant deadline);
  void SleepInDriver(Runner& runner);
  bool StartWatching(Runner& runner);
  bool OthersAreAwake(const Runner& runner);
  void LookAfterOthers(Runner& runner);
  void PollDriverOf(Runner& other, Runner& runner);
  void WakeUp(Runner& runner);
  void NotifyOfSpare(Runner& runner);
  void ReclaimDriver(Runner& runner, Instant deadline);

  void RunTask(Runner& runner, void* task);
  void RunTicked(void* task);
  void UnlinkTick(TickWaiter& waiter);

  size_t Drain();
  size_t CountTasks();
  ExecutorStats CountEvents();

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
  std::array<std::atomic<Runner*>, kMaxRunners> runners_{};
  std::mutex runners_mutex_;  // guards the next one
  std::array<bool, kMaxRunners> taken_{};

  // 1 + the index of a runner that dozes, or 0.
  std::atomic<int> dozer_{0};
  // How many sleepers look after the drivers of those who are awake.
  std::atomic<int> watchers_{0};
  // How many runners' drivers can be looked after.
  std::atomic<int> watched_{0};

  std::mutex tick_mutex_;  // guards the waiters and the list
  TickWaiter* first_tick_ = nullptr;
  TickWaiter* last_tick_ = nullptr;
  std::mutex tick_consumer_mutex_;  // guards the next one
  Injector::Consumer tick_consumer_{injector_};

  TaskRegistry tasks_;  // first suspended on a thread that is no runner

  Counter tick_polls_, runners_woken_, tick_wakes_, injected_;
  ExecutorStats earlier_;  // of the executors that had this core before
  ExecutorCore* next_free_ = nullptr;
};

}  // namespace executor_internal
}  // namespace weft

#endif  // WEFT_EXECUTOR_EXECUTOR_CORE_H_
