// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Algorithm. A runner takes the task it woke last, else the oldest of its own
// queue, else some of the injector's, else half of another runner's; else it
// parks in its driver. Whoever makes a task visible to others calls Notify()
// afterwards; the protocol of who then wakes whom is in idle_set.h, and the
// argument that no task stays behind in docs/design/executor.md.
#include "weft/executor/executor_core.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "weft/executor/adaptive_spin.h"
#include "weft/executor/idle_set.h"
#include "weft/executor/run_signal.h"
#include "weft/executor/task_list.h"
#include "weft/executor/task_registry.h"
#include "weft/task/blocking_check.h"
#include "weft/task/check.h"
#include "weft/task/clock.h"
#include "weft/task/context.h"
#include "weft/task/driver.h"
#include "weft/task/environment.h"
#include "weft/task/instant.h"
#include "weft/task/runnable.h"
#include "weft/task/spawner.h"
#include "weft/task/waker.h"

namespace weft::executor_internal {
namespace {

// How many polls may pass before the driver is looked at, so that it does not
// wait for ever behind a busy queue. The number is Tokio's.
constexpr uint32_t kDriverInterval = 61;

// How many polls in a row may come from the slot before the queue has its turn:
// two tasks that wake each other must not starve the rest. Also Tokio's.
constexpr uint32_t kMaxSlotStreak = 3;

// Looks that found nothing, though there was something, before the thread lets
// others run: one of them is in the middle of pushing or popping.
constexpr uint32_t kMissesBeforeYield = 3;

// How many tasks of a runner may end elsewhere before it is woken to let go of
// their memory.
constexpr size_t kMaxLeft = 256;

// How many looks in a row must see the same task alone in a queue before another
// runner takes it.
constexpr uint32_t kLooksAtLoneTask = 8;

// How long a runner that was woken for nothing keeps its token: see Doze().
constexpr absl::Duration kDoze = absl::Microseconds(100);

// How long a driver may wait for its thread before another one looks after it;
// how many sleepers do that at a time, so that one is left when the other finds
// work; and for how many intervals after the last poll by anybody.
constexpr absl::Duration kWatchInterval = absl::Milliseconds(1);
constexpr int kMaxWatchers = 2;
constexpr uint32_t kQuietWatches = 10;

// A runner compares its queue with another's once in so many visits to its
// driver. It costs two cache misses.
constexpr uint32_t kVisitsToEvening = 64;

bool HasSeveralProcessors() {
  static const bool several = std::thread::hardware_concurrency() > 1;
  return several;
}

// The innermost runner on this thread.
[[gnu::noinline]] Runner*& CurrentRunner() {
  constinit static thread_local Runner* runner = nullptr;
  return runner;
}

// The core whose queue this thread is emptying.
[[gnu::noinline]] ExecutorCore*& DrainedCore() {
  constinit static thread_local ExecutorCore* core = nullptr;
  return core;
}

constinit std::mutex pool_mutex;  // guards the next one
constinit ExecutorCore* pool = nullptr;

void DestroyTask(void* task) {
  static_cast<void>(Runnable<SpawnedTask>::FromRaw(task));
}

// Counts the caller while it exists.
class CountScope {
 public:
  explicit CountScope(std::atomic<int>& count) : count_(count) {
    // Sequentially consistent: Close() checks it.
    count_.fetch_add(1);
  }
  CountScope(const CountScope&) = delete;
  CountScope& operator=(const CountScope&) = delete;
  ~CountScope() { count_.fetch_sub(1); }

 private:
  std::atomic<int>& count_;
};

// Both end also where the driver, or a park hook, throws.
class ParkScope {
 public:
  ParkScope(IdleSet<>& idle, Runner& runner) : idle_(idle), runner_(runner) {
    idle_.Park(runner_.index, std::exchange(runner_.searching, false));
  }
  ParkScope(const ParkScope&) = delete;
  ParkScope& operator=(const ParkScope&) = delete;
  ~ParkScope() {
    runner_.woken_in_vain = idle_.Unpark(runner_.index);
    if (runner_.woken_in_vain) runner_.searching = true;
  }

 private:
  IdleSet<>& idle_;
  Runner& runner_;
};

// Keeps the driver of a runner alive: see LeaveRunner().
class VisitScope {
 public:
  // Sequentially consistent, with the look at `watched_driver` that follows.
  explicit VisitScope(Runner& runner) : visitors_(runner.visitors) {
    visitors_.fetch_add(1);
  }
  VisitScope(const VisitScope&) = delete;
  VisitScope& operator=(const VisitScope&) = delete;
  ~VisitScope() { visitors_.fetch_sub(1); }

 private:
  std::atomic<int>& visitors_;
};

class DriverScope {
 public:
  explicit DriverScope(Runner& runner) : runner_(runner) {
    runner_.in_driver = true;
  }
  DriverScope(const DriverScope&) = delete;
  DriverScope& operator=(const DriverScope&) = delete;
  ~DriverScope() { runner_.in_driver = false; }

 private:
  Runner& runner_;
};

}  // namespace

Runner::Runner(ExecutorCore& core, int index)
    : core(core), index(index), consumer(core.injector_) {}

// ---- A thread in Run ----

class ExecutorCore::RunnerScope {
 public:
  RunnerScope(Runner& runner, const RunnerOptions& options, Driver& driver,
              const Waker& signal)
      : count_(runner.core.running_),
        core_(runner.core),
        outer_(CurrentRunner()),
        runner_(runner),
        environment_(MakeEnvironment()),
        scope_(environment_) {
    core_.EnterRunner(runner_, options, driver, signal);
    runner_.environment = &environment_;
    // The thread will be busy here for long.
    if (outer_ != nullptr) outer_->core.Flush(*outer_);
    CurrentRunner() = &runner_;
  }
  RunnerScope(const RunnerScope&) = delete;
  RunnerScope& operator=(const RunnerScope&) = delete;
  ~RunnerScope() {
    CurrentRunner() = outer_;
    core_.LeaveRunner(runner_);
  }

  const Environment& environment() const { return environment_; }

 private:
  Environment MakeEnvironment() {
    Environment environment = Environment::Current();
    environment.spawner = &core_;
    environment.random = &runner_.random;
    return environment;
  }

  const task_internal::NoBlockingScope no_blocking_;
  const CountScope count_;
  ExecutorCore& core_;
  Runner* const outer_;
  Runner& runner_;
  const Environment environment_;
  const EnvironmentScope scope_;
};

void ExecutorCore::Run(const RunnerOptions& options,
                       absl::FunctionRef<bool(Context&)> poll) {
  WEFT_CHECK(TryRun(options, poll),
             "too many threads are inside Run() of one executor "
             "(Executor::kMaxRunners); use several executors");
}

bool ExecutorCore::TryRun(const RunnerOptions& options,
                          absl::FunctionRef<bool(Context&)> poll) {
  WEFT_CHECK(task_internal::MayBlock(),
             "Run() was called by a task or inside another Run(), whose "
             "thread others may need: co_await the future, or call Run() "
             "inside SpawnBlocking() or BlockInPlace()");
  WEFT_CHECK(phase_.load() == Phase::kOpen,
             "Run() was called on an executor that is closed");
  Runner* place = TakePlace();
  if (place == nullptr) return false;
  Runner& runner = *place;
  Driver& driver = Environment::CurrentDriver();
  const Waker waker = RunSignal::Make(driver.Unparker());
  RunSignal& signal = RunSignal::Of(waker);
  const RunnerScope scope(runner, options, driver, waker);
  for (;;) {
    if (signal.Take()) {
      // The poll may take long.
      // Relaxed: only this thread writes it.
      if (!runner.awake.load(std::memory_order_relaxed)) WakeUp(runner);
      if (runner.searching) StopSearching(runner);
      if (!runner.queue.IsEmpty()) Notify();
      ++runner.since_driver;
      Budget budget;
      Context cx(waker, &budget, &scope.environment());
      if (poll(cx)) return true;
    }
    // All that comes now has yielded: what is outside has its turn.
    const bool round_over =
        runner.first_yield && runner.queue.head() >= *runner.first_yield;
    if (round_over || runner.since_driver >= kDriverInterval) {
      PollDriver(runner);
    }
    // Before a task leaves its queue: IsEmpty() looks in this order, too.
    // Relaxed: only this thread writes it; the store is for IsEmpty().
    if (!runner.busy.load(std::memory_order_relaxed)) runner.busy.store(true);
    void* task = round_over ? TakeInjected(runner) : nullptr;
    if (task == nullptr) task = NextTask(runner);
    if (task != nullptr) {
      RunTask(runner, task);
    } else {
      runner.busy.store(false);
      ParkRunner(runner, signal);
    }
  }
}

Runner* ExecutorCore::TakePlace() {
  const std::lock_guard lock(runners_mutex_);
  const auto free = std::find(taken_.begin(), taken_.end(), false);
  if (free == taken_.end()) return nullptr;
  *free = true;
  const int index = static_cast<int>(free - taken_.begin());
  // Relaxed: written under this lock.
  Runner* runner = runners_[index].load(std::memory_order_relaxed);
  if (runner == nullptr) {
    runner = new Runner(*this, index);
    // Release, both: whoever sees the runner sees it made.
    runners_[index].store(runner, std::memory_order_release);
    runner_count_.store(index + 1, std::memory_order_release);
  }
  return runner;
}

void ExecutorCore::EnterRunner(Runner& runner, const RunnerOptions& options,
                               Driver& driver, const Waker& signal) {
  runner.random = Random(Environment::CurrentRandom().Next());
  runner.driver = &driver;
  runner.run_signal = &RunSignal::Of(signal);
  runner.since_injector = runner.since_driver = 0;
  runner.interval_start = Instant::Past();
  runner.spin = AdaptiveSpin(HasSeveralProcessors() ? AdaptiveSpin::kMax
                                                    : AdaptiveSpin::kMin);
  runner.tasks.Own();
  // Relaxed: only an order depends on it.
  runner.location.store(options.location(), std::memory_order_relaxed);
  runner.steal_order = options.steal_order();
  runner.quiet_watches = 0;
  // A fake clock would take the deadline of a watcher for one of its own.
  const Clock* clock = Environment::Current().clock;
  const bool fake = clock != nullptr && clock->AsFake() != nullptr;
  runner.may_watch = !fake;
  if (!fake && driver.TryPoll()) {
    // Sequentially consistent: see PollDriverOf().
    runner.watched_driver.store(&driver);
    watched_.fetch_add(1);
  }
  const std::lock_guard lock(runner.signal_mutex);
  runner.signal = signal;
}

void ExecutorCore::LeaveRunner(Runner& runner) {
  // The driver may soon be gone.
  if (runner.watched_driver.exchange(nullptr) != nullptr) watched_.fetch_sub(1);
  while (runner.visitors.load() != 0) std::this_thread::yield();
  runner.awake.store(false);
  runner.first_yield.reset();
  Flush(runner);
  // The driver is not this thread's any more when it has left.
  if (runner.stand_in != nullptr) {
    runner.stand_in->WaitGone(Instant::Infinite());
    runner.stand_in.reset();
  }
  runner.busy.store(false);
  if (runner.searching) StopSearching(runner);
  runner.tasks.Disown();
  runner.steal_order = {};
  Waker signal;
  {
    const std::lock_guard lock(runner.signal_mutex);
    signal = std::exchange(runner.signal, Waker());
  }
  const std::lock_guard lock(runners_mutex_);
  taken_[runner.index] = false;
}

// ---- A thread that blocks ----

PlaceLoan::PlaceLoan()
    : runner_([]() -> Runner& {
        Runner* runner = CurrentRunner();
        WEFT_CHECK(runner != nullptr,
                   "BlockInPlace() was called by a task on a thread that is "
                   "not in Executor::Run(), whose other tasks would wait: use "
                   "SpawnBlocking()");
        return *runner;
      }()),
      environment_([] {
        Environment environment = Environment::Current();
        environment.driver = nullptr;
        environment.random = nullptr;
        return environment;
      }()),
      scope_(environment_) {
  ExecutorCore& core = runner_.core;
  Environment lent = *runner_.environment;
  lent.random = nullptr;  // the blocked thread's
  if (lent.offload != nullptr) {
    runner_.stand_in = StandIn::Start(
        *lent.offload, runner_.stand_in, [&core, lent](StandIn& stand_in) {
          const EnvironmentScope scope(lent);
          // If there is no place left, the driver rests.
          static_cast<void>(core.TryRun(RunnerOptions(), [&](Context& cx) {
            return stand_in.PollStop(cx);
          }));
        });
  }
  CurrentRunner() = nullptr;
  core.Flush(runner_);
}

PlaceLoan::~PlaceLoan() {
  CurrentRunner() = &runner_;
  if (runner_.stand_in != nullptr) runner_.stand_in->Stop();
}

// Instead of parking while somebody may stand in for the thread. Whoever unparks
// it reaches the other one, so it does not wait for longer than kMaxWait, and the
// caller looks at everything again.
void ExecutorCore::ReclaimDriver(Runner& runner, Instant deadline) {
  constexpr absl::Duration kMaxWait = absl::Milliseconds(1);
  deadline = std::min(deadline, Instant::Now() + kMaxWait);
  if (runner.stand_in->WaitGone(deadline)) runner.stand_in.reset();
}

// ---- Running tasks ----

void ExecutorCore::RunTask(Runner& runner, void* task) {
  // Relaxed: only this thread writes it.
  if (!runner.awake.load(std::memory_order_relaxed)) WakeUp(runner);
  if (runner.searching) StopSearching(runner);  // wherever the task came from
  runner.woken_in_vain = false;
  ++runner.since_driver;
  ++runner.since_injector;
  runner.misses = 0;
  runner.polls.Add();
  Runnable<SpawnedTask>::FromRaw(task).Run();
}

Runner* ExecutorCore::OwnRunner() {
  Runner* runner = CurrentRunner();
  return runner != nullptr && &runner->core == this ? runner : nullptr;
}

// ---- Putting tasks somewhere ----

void ExecutorCore::Schedule(Runnable<SpawnedTask> runnable, ScheduleInfo info) {
  // A task is registered at its first suspension, so this is its first run.
  const bool is_new = !runnable.metadata().registered;
  void* task = std::move(runnable).IntoRaw();
  if (Runner* runner = OwnRunner()) {
    ScheduleLocal(*runner, task, is_new, info);
  } else {
    Inject(task);
  }
}

void ExecutorCore::ScheduleMany(std::span<Runnable<SpawnedTask>> runnables) {
  void* tasks[RunQueue<void*>::kMaxSteal];
  size_t count = 0;
  Runner* runner = OwnRunner();
  for (size_t i = 0; i < runnables.size(); ++i) {
    tasks[count++] = std::move(runnables[i]).IntoRaw();
    if (count < std::size(tasks) && i + 1 < runnables.size()) continue;
    // What does not fit goes to the injector.
    const size_t queued =
        runner == nullptr
            ? 0
            : runner->queue.PushMany(tasks, static_cast<uint32_t>(count));
    InjectMany(tasks + queued, count - queued);
    NotifyMany(count);
    WakeDozer();
    count = 0;
  }
  // As in Inject().
  if (phase_.load() == Phase::kClosed) Drain();
}

void ExecutorCore::ScheduleLocal(Runner& runner, void* task, bool is_new,
                                 ScheduleInfo info) {
  if (runner.in_driver) {
    PushLocal(runner, task);  // EnterDriver notifies when all have come
  } else if (info.woken_while_running) {
    PushYielded(runner, task);
  } else if (is_new) {
    PushLocal(runner, task);
    Notify();
  } else {
    // Relaxed: only this thread fills the slot.
    if (runner.slot.load(std::memory_order_relaxed) == nullptr) {
      // Release: the task's content, for a Tick caller.
      runner.slot.store(task, std::memory_order_release);
      return;
    }
    // Release and acquire: likewise, in both directions.
    void* displaced = runner.slot.exchange(task, std::memory_order_acq_rel);
    if (displaced != nullptr) {
      PushLocal(runner, displaced);
      Notify();
    }
  }
}

// If the queue is full, its older half goes to the injector with the task. The
// caller notifies.
void ExecutorCore::PushLocal(Runner& runner, void* task) {
  if (runner.queue.Push(task)) return;
  void* tasks[RunQueue<void*>::kMaxSteal + 1];
  uint32_t count = runner.queue.Steal(tasks, RunQueue<void*>::kMaxSteal);
  tasks[count++] = task;
  runner.overflows.Add();
  injector_.PushMany(tasks, count);
  Notify();
}

// A task that has woken itself goes behind what is there. While that is not
// empty, those who sleep have been told of it or have seen it, and will see the
// queue not empty; so one more needs no notice. Nor does one that comes up next.
void ExecutorCore::PushYielded(Runner& runner, void* task) {
  if (!runner.first_yield) runner.first_yield = runner.queue.tail();
  // Relaxed: the owner fills the slot.
  const bool comes_next =
      runner.slot.load(std::memory_order_relaxed) == nullptr;
  if (comes_next && runner.queue.PushQuietly(task)) return;
  PushLocal(runner, task);
  Notify();
}

void ExecutorCore::Inject(void* task) {
  injected_.AddShared();
  injector_.Push(task);
  Notify();
  WakeDozer();
  // Sequentially consistent, as the push: either Close() sees the task or this
  // sees that Close() is over.
  if (phase_.load() == Phase::kClosed) Drain();
}

void ExecutorCore::InjectMany(void* const* tasks, size_t count) {
  if (count == 0) return;
  injected_.AddShared(count);
  injector_.PushMany(tasks, count);
}

void ExecutorCore::Flush(Runner& runner) {
  void* tasks[RunQueue<void*>::kMaxSteal];
  // Acquire: as in TakeSlot.
  tasks[0] = runner.slot.exchange(nullptr, std::memory_order_acquire);
  uint32_t count = tasks[0] != nullptr;
  size_t moved = 0;
  do {
    if (count != 0) injector_.PushMany(tasks, count);
    moved += count;
    count = runner.queue.Steal(tasks, RunQueue<void*>::kMaxSteal);
  } while (count != 0);
  if (HasWork()) NotifyMany(std::max<size_t>(moved, 1));
  WakeDozer();
}

// ---- Finding tasks ----

void* ExecutorCore::NextTask(Runner& runner) {
  if (runner.since_injector >= runner.interval.polls()) {
    TuneInterval(runner);
    if (void* task = TakeInjected(runner)) return task;
  }
  if (void* task = TakeSlot(runner)) return task;
  void* task = nullptr;
  if (runner.queue.Pop(task)) return task;
  runner.interval_start = Instant::Past();  // a pause may come
  if ((task = TakeInjected(runner)) != nullptr) return task;
  return Search(runner);
}

void* ExecutorCore::TakeSlot(Runner& runner) {
  // Relaxed: the owner filled it; if somebody took it, the exchange shows that.
  if (runner.slot.load(std::memory_order_relaxed) == nullptr) {
    runner.slot_streak = 0;
    return nullptr;
  }
  // Acquire: what the owner knew of the task before it was here is known; the
  // order matters to Tick callers only.
  void* task = runner.slot.exchange(nullptr, std::memory_order_acquire);
  if (task == nullptr) return nullptr;
  if (runner.slot_streak < kMaxSlotStreak) {
    ++runner.slot_streak;
    return task;
  }
  runner.slot_streak = 0;
  PushLocal(runner, task);
  NotifyOfSpare(runner);
  return nullptr;
}

// Takes a fair share of the injector, runs the first and queues the rest.
void* ExecutorCore::TakeInjected(Runner& runner) {
  runner.since_injector = 0;
  const size_t size = injector_.Size();
  if (size == 0) return nullptr;
  void* tasks[RunQueue<void*>::kMaxSteal];
  // Relaxed: how many share is an estimate.
  const size_t runners = std::max(1, running_.load(std::memory_order_relaxed));
  // Leaves half of the queue to what the runner's own tasks spawn.
  const size_t queued = runner.queue.Size();
  const size_t room = std::size(tasks) - std::min(queued, std::size(tasks) - 1);
  const size_t count =
      injector_.Pop(runner.consumer, tasks, std::min(size / runners + 1, room));
  if (count == 0) return nullptr;
  if (count > 1) {
    runner.queue.PushMany(tasks + 1, static_cast<uint32_t>(count - 1));
    // For a moment nobody else saw these. With a token, that is looked after
    // when it is given up.
    if (!runner.searching) Notify();
  }
  return tasks[0];
}

// Leaves alone what is the only one of its queue, unless `lone_ones`.
void* ExecutorCore::StealFor(Runner& runner, bool lone_ones) {
  void* tasks[RunQueue<void*>::kMaxSteal];
  uint32_t count = 0;
  const auto start = static_cast<uint32_t>(runner.random.Next() >> 32);
  const auto steal = [&](Runner& victim) {
    if (&victim == &runner) return false;
    if (!lone_ones && victim.queue.Size() == 1) return false;
    count = victim.queue.Steal(tasks, std::size(tasks));
    return count != 0;
  };
  for (const int location : runner.steal_order) {
    if (VisitRunners(start, [&](Runner& victim) {
          // Relaxed: an order only.
          return victim.location.load(std::memory_order_relaxed) == location &&
                 steal(victim);
        })) {
      break;
    }
  }
  if (count == 0) VisitRunners(start, steal);
  if (count == 0) return nullptr;
  runner.steals.Add();
  runner.stolen_tasks.Add(count);
  if (count > 1) runner.queue.PushMany(tasks + 1, count - 1);
  return tasks[0];
}

// A runner that is never idle would keep its few tasks, and poll them more often
// than others theirs.
void ExecutorCore::EvenOut(Runner& runner) {
  runner.visits_to_evening = kVisitsToEvening;
  void* tasks[RunQueue<void*>::kMaxSteal];
  uint32_t count = 0;
  const uint32_t own = runner.queue.Size();
  VisitRunners(static_cast<uint32_t>(runner.random.Next() >> 32),
               [&](Runner& other) {
                 const uint32_t size = other.queue.Size();
                 if (size < own + 2) return false;
                 count = other.queue.Steal(tasks, (size - own) / 2);
                 return true;
               });
  if (count == 0) return;
  runner.steals.Add();
  runner.stolen_tasks.Add(count);
  runner.queue.PushMany(tasks, count);
  Notify();  // for a moment nobody else saw them
}

void* ExecutorCore::Search(Runner& runner) {
  if (!runner.searching) {
    // Half as many searchers as runners find what there is; more would be in
    // each other's way. Relaxed: an estimate.
    const int runners = running_.load(std::memory_order_relaxed);
    const uint32_t limit = static_cast<uint32_t>(runners + 1) / 2;
    if (!idle_.TryStartSearching(limit)) return nullptr;
    runner.searching = true;
  }
  // After a doze they have had their time.
  bool lone_ones = std::exchange(runner.lone_looks, 0) >= kLooksAtLoneTask;
  for (;;) {
    if (void* task = TakeInjected(runner)) return task;
    if (void* task = StealFor(runner, lone_ones)) return task;
    if (!SpinForWork(runner, lone_ones)) return nullptr;
    // Somebody is in the middle of pushing or popping.
    if (++runner.misses >= kMissesBeforeYield) std::this_thread::yield();
  }
}

// Looks for a while; true if there is work. The runner has a token, so that
// whoever publishes some meanwhile wakes nobody. A task that is alone in its
// queue is mostly run by its own runner, before another could have fetched what
// it needs: it counts only if it stays, which `lone_ones` then says.
bool ExecutorCore::SpinForWork(Runner& runner, bool& lone_ones) {
  lone_ones = false;
  bool lone = false;
  for (uint32_t i = 0; i < runner.spin.looks(); ++i) {
    if (runner.run_signal->IsNotified()) return false;
    lone = false;
    uint64_t lone_tasks = 0;
    const bool many =
        injector_.Size() != 0 || VisitRunners(0, [&](Runner& r) {
          const uint32_t size = r.queue.Size();
          lone_tasks = 31 * lone_tasks + (size == 1 ? r.queue.head() + 1 : 0);
          lone |= size == 1;
          return size > 1;
        });
    if (lone && lone_tasks != std::exchange(runner.lone_tasks, lone_tasks)) {
      runner.lone_looks = 0;
    }
    lone_ones = lone && ++runner.lone_looks >= kLooksAtLoneTask;
    if (many || lone_ones) {
      runner.spin.Ended(/*found=*/true);
      return true;
    }
    RelaxProcessor();
  }
  runner.spin.Ended(/*found=*/false);
  if (lone) runner.woken_in_vain = true;
  return false;
}

// Requires: `since_injector` polls have been made since the last look, without
// a pause if `interval_start` is known.
void ExecutorCore::TuneInterval(Runner& runner) {
  const Instant now = Instant::Now();
  if (runner.interval_start != Instant::Past()) {
    runner.interval.Measured(
        runner.since_injector,
        absl::ToInt64Nanoseconds(now - runner.interval_start));
  }
  runner.interval_start = now;
}

// For those who have no queue.
void* ExecutorCore::TakeAnywhere() {
  void* task = nullptr;
  {
    const std::lock_guard lock(tick_consumer_mutex_);
    if (injector_.Pop(tick_consumer_, &task, 1) == 1) return task;
  }
  if (Runner* runner = OwnRunner()) {
    if ((task = TakeSlot(*runner)) != nullptr) return task;
    if (runner->queue.Pop(task)) return task;
  }
  const uint32_t start =
      static_cast<uint32_t>(Environment::CurrentRandom().Next() >> 32);
  const bool stolen = VisitRunners(
      start, [&](Runner& victim) { return victim.queue.Steal(&task, 1) == 1; });
  if (stolen) return task;
  task = nullptr;  // a steal that failed may have left something there
  VisitRunners(start, [&](Runner& victim) {
    // Acquire: the task's content. The load spares a locked instruction.
    if (victim.slot.load(std::memory_order_relaxed) == nullptr) return false;
    task = victim.slot.exchange(nullptr, std::memory_order_acquire);
    return task != nullptr;
  });
  return task;
}

// Whether there is a task that others than the runner it belongs to may take.
bool ExecutorCore::HasWork() {
  if (injector_.Size() != 0) return true;
  return VisitRunners(0, [](Runner& r) { return !r.queue.IsEmpty(); });
}

template <class Visit>
bool ExecutorCore::VisitRunners(uint32_t start, Visit visit) {
  // Acquire, both: pairs with TakePlace.
  const auto count =
      static_cast<uint32_t>(runner_count_.load(std::memory_order_acquire));
  for (uint32_t i = 0; i < count; ++i) {
    Runner* runner =
        runners_[(start + i) % count].load(std::memory_order_acquire);
    if (visit(*runner)) return true;
  }
  return false;
}

// ---- Sleeping and waking ----

void ExecutorCore::Notify() {
  const int who = idle_.Notify([this] { return HasWork(); });
  if (who == kWakeTick) {
    WakeOneTick();
  } else if (who != kWakeNobody) {
    UnparkRunner(who);
  }
}

// For a batch: wakes as many as there is work for.
void ExecutorCore::NotifyMany(size_t tasks) {
  Notify();
  for (; tasks > 1; --tasks) {
    const int who = idle_.NotifyAnother([this] { return HasWork(); });
    if (who == kWakeNobody) return;
    if (who == kWakeTick) return WakeOneTick();
    UnparkRunner(who);
  }
}

// Tells others of what the runner has beyond the task it will run next.
void ExecutorCore::NotifyOfSpare(Runner& runner) {
  // Relaxed: the owner's own.
  const bool slot = runner.slot.load(std::memory_order_relaxed) != nullptr;
  if (runner.queue.Size() + slot > 1) Notify();
}

void ExecutorCore::UnparkRunner(int index) {
  runners_woken_.AddShared();
  // Acquire: pairs with TakePlace.
  Runner& runner = *runners_[index].load(std::memory_order_acquire);
  Waker signal;
  {
    // The runner may be leaving: take part in its signal. If another thread has
    // come meanwhile, it finds nothing to do, which is harmless.
    const std::lock_guard lock(runner.signal_mutex);
    signal = runner.signal;
  }
  if (signal) RunSignal::Of(signal).Unpark();
}

void ExecutorCore::WakeOneTick() {
  Waker waker;
  {
    const std::lock_guard lock(tick_mutex_);
    TickWaiter* waiter = first_tick_;
    if (waiter == nullptr) return;
    waker = std::exchange(waiter->waker, Waker());
    UnlinkTick(*waiter);
    waiter->state = TickWaiter::State::kNotified;
  }
  tick_wakes_.AddShared();
  std::move(waker).Wake();
}

void ExecutorCore::StopSearching(Runner& runner) {
  runner.searching = false;
  if (idle_.StopSearching() && HasWork()) Notify();
}

void ExecutorCore::ParkRunner(Runner& runner, const RunSignal& signal) {
  runner.tasks.Collect();
  runner.awake.store(false, std::memory_order_relaxed);  // relaxed: a late look
  if (std::exchange(runner.woken_in_vain, false) && Doze(runner, signal)) {
    return;
  }
  bool has_work = false;
  bool notified = false;
  {
    const ParkScope parked(idle_, runner);
    // Where somebody has a token it is for him to look.
    has_work = !idle_.HasToken() && HasWork();
    notified = signal.IsNotified();
    if (!has_work && !notified) {
      runner.parks.Add();
      SleepInDriver(runner);
    }
  }
  if (has_work) {
    if (++runner.misses >= kMissesBeforeYield) std::this_thread::yield();
  } else if (notified) {
    PollDriver(runner);  // a main future that yields must not starve it
  } else {
    NotifyOfSpare(runner);
  }
}

// A runner that was woken and found nothing would be woken again by the next
// task that its spawner then runs itself. It sleeps for a while with its token,
// so that nobody is woken in vain, then looks once more. Only for tasks from
// outside, which no runner may see for long, it is woken earlier. False if
// another runner dozes.
bool ExecutorCore::Doze(Runner& runner, const RunSignal& signal) {
  // A fake clock would take the deadline for one of its own.
  const Clock* clock = runner.environment->clock;
  if (clock != nullptr && clock->AsFake() != nullptr) return false;
  int nobody = 0;
  // Sequentially consistent, as the look that follows: Inject() sees the dozer,
  // or this the task.
  if (!runner.searching ||
      !dozer_.compare_exchange_strong(nobody, runner.index + 1)) {
    return false;
  }
  struct DozeScope {
    std::atomic<int>& dozer;
    ~DozeScope() { dozer.store(0); }
  } scope{dozer_};
  if (injector_.Size() == 0 && !signal.IsNotified()) {
    EnterDriver(runner, Instant::Now() + kDoze);
  }
  runner.lone_looks = kLooksAtLoneTask;
  return true;
}

void ExecutorCore::WakeDozer() {
  if (const int dozer = dozer_.load()) UnparkRunner(dozer - 1);
}

void ExecutorCore::PollDriver(Runner& runner) {
  runner.driver_polls.Add();
  runner.tasks.Collect();
  EnterDriver(runner, Instant::Past());
  if (runner.visits_to_evening-- == 0) EvenOut(runner);
  NotifyOfSpare(runner);
}

void ExecutorCore::EnterDriver(Runner& runner, Instant deadline) {
  runner.driver_visits.Add();
  runner.since_driver = 0;
  runner.first_yield.reset();
  if (runner.stand_in != nullptr) return ReclaimDriver(runner, deadline);
  const DriverScope scope(runner);
  runner.driver->Park(deadline);
}

// ---- Drivers of busy threads ----
//
// A runner in a long poll does not come to its driver, whose descriptors and
// timers would wait. So up to kMaxWatchers of those who sleep do so for no longer
// than kWatchInterval, and then poll the drivers that have been left alone for that
// long. When nothing has run for a while they sleep for good, and the next runner
// that wakes up wakes one of them.

void ExecutorCore::SleepInDriver(Runner& runner) {
  if (!StartWatching(runner)) {
    return EnterDriver(runner, Instant::Infinite());
  }
  struct WatchScope {
    std::atomic<int>& watchers;
    ~WatchScope() { watchers.fetch_sub(1); }
  } scope{watchers_};
  const Instant until = Instant::Now() + kWatchInterval;
  EnterDriver(runner, until);
  if (Instant::Now() >= until) LookAfterOthers(runner);
}

// Requires: `runner` is parked in the sense of idle_. Sequentially consistent:
// either OthersAreAwake() sees who is awake, or that one, in WakeUp(), that nobody
// watches.
bool ExecutorCore::StartWatching(Runner& runner) {
  if (!runner.may_watch || watched_.load() == 0) return false;
  if (runner.quiet_watches >= kQuietWatches && !OthersAreAwake(runner)) {
    return false;
  }
  for (;;) {
    if (watchers_.fetch_add(1) < kMaxWatchers) return true;
    // If they have all gone meanwhile, they may have counted on this one.
    if (watchers_.fetch_sub(1) != 1) return false;
  }
}

bool ExecutorCore::OthersAreAwake(const Runner& runner) {
  return VisitRunners(0, [&](Runner& other) {
    return &other != &runner && other.awake.load();
  });
}

void ExecutorCore::LookAfterOthers(Runner& runner) {
  ++runner.quiet_watches;
  VisitRunners(0, [&](Runner& other) {
    if (&other == &runner) return false;
    // Relaxed: two watchers may mix up what they have seen; that only delays.
    const auto update = [](std::atomic<uint64_t>& seen, uint64_t now) {
      return seen.exchange(now, std::memory_order_relaxed) != now;
    };
    if (update(other.seen_polls, other.polls.Get())) runner.quiet_watches = 0;
    const bool came = update(other.seen_visits, other.driver_visits.Get());
    if (came || !other.awake.load()) return false;
    runner.quiet_watches = 0;
    PollDriverOf(other, runner);
    return false;
  });
}

void ExecutorCore::PollDriverOf(Runner& other, Runner& runner) {
  const VisitScope visit(other);
  Driver* driver = other.watched_driver.load();
  if (driver == nullptr) return;
  const DriverScope scope(runner);
  driver->TryPoll();
}

// The runner is about to poll a task or the main future, for the first time since
// it parked.
void ExecutorCore::WakeUp(Runner& runner) {
  runner.awake.store(true);
  runner.quiet_watches = 0;
  // Relaxed: the owner's own.
  if (runner.watched_driver.load(std::memory_order_relaxed) == nullptr ||
      watchers_.load() != 0) {
    return;
  }
  // With a token, as if there were work: what it finds is a driver to watch.
  const int who = idle_.NotifyAnother([this] { return HasWork(); });
  if (who == kWakeTick) return WakeOneTick();
  if (who != kWakeNobody) UnparkRunner(who);
}

// ---- Ticks ----

bool ExecutorCore::TryTick() {
  const CountScope count(ticking_);
  void* task = TakeAnywhere();
  if (task == nullptr) return false;
  RunTicked(task);
  return true;
}

void ExecutorCore::RunTicked(void* task) {
  Environment environment = Environment::Current();
  environment.spawner = this;
  const EnvironmentScope scope(environment);
  tick_polls_.AddShared();
  Runnable<SpawnedTask>::FromRaw(task).Run();
}

bool ExecutorCore::PollTick(TickWaiter& waiter, const Context& cx) {
  if (!cx.HasBudget()) return false;
  const CountScope count(ticking_);
  void* task = TakeAnywhere();
  if (task == nullptr) {
    Waker waker = cx.waker();
    {
      const std::lock_guard lock(tick_mutex_);
      std::swap(waiter.waker, waker);
      if (waiter.state != TickWaiter::State::kWaiting) {
        waiter.state = TickWaiter::State::kWaiting;
        waiter.previous = last_tick_;
        waiter.next = nullptr;
        (last_tick_ != nullptr ? last_tick_->next : first_tick_) = &waiter;
        last_tick_ = &waiter;
        idle_.AddWaiting();
      }
    }
    for (uint32_t misses = 0; task == nullptr && HasWork(); ++misses) {
      if (misses >= kMissesBeforeYield) std::this_thread::yield();
      task = TakeAnywhere();
    }
    if (task == nullptr) return false;
  }
  DropTick(waiter);
  cx.Charge();
  RunTicked(task);
  return true;
}

// Gives up the place and, if there is more work, the notification.
void ExecutorCore::DropTick(TickWaiter& waiter) {
  Waker waker;
  bool notified = false;
  {
    const std::lock_guard lock(tick_mutex_);
    if (waiter.state == TickWaiter::State::kWaiting) UnlinkTick(waiter);
    notified = waiter.state == TickWaiter::State::kNotified;
    waiter.state = TickWaiter::State::kIdle;
    waker = std::exchange(waiter.waker, Waker());
  }
  if (notified && HasWork()) Notify();
}

// Requires: tick_mutex_ is held, the waiter is linked.
void ExecutorCore::UnlinkTick(TickWaiter& waiter) {
  (waiter.previous != nullptr ? waiter.previous->next : first_tick_) =
      waiter.next;
  (waiter.next != nullptr ? waiter.next->previous : last_tick_) =
      waiter.previous;
  idle_.RemoveWaiting();
}

// ---- Live tasks ----

void ExecutorCore::Register(SpawnedTask& task) {
  Runner* runner = OwnRunner();
  if (runner != nullptr) {
    task.shard = static_cast<uint32_t>(runner->index) + 1;
    runner->tasks.AddOwned(task);
  } else {
    task.shard = 0;
    tasks_.AddShared(task);
  }
}

void ExecutorCore::Unregister(SpawnedTask& task) {
  if (task.shard == 0) {
    tasks_.Remove(task);
    return;
  }
  const int index = static_cast<int>(task.shard) - 1;
  Runner* own = OwnRunner();
  if (own != nullptr && own->index == index)
    return own->tasks.RemoveOwned(task);
  // Acquire: pairs with TakePlace.
  Runner& runner = *runners_[index].load(std::memory_order_acquire);
  // If the owner sleeps for long, somebody must tell it.
  if (runner.tasks.Remove(task) == kMaxLeft) UnparkRunner(index);
}

size_t ExecutorCore::CountTasks() {
  size_t count = tasks_.Size();
  VisitRunners(0, [&](Runner& runner) {
    count += runner.tasks.Size();
    return false;
  });
  return count;
}

// A task is in a queue, in the hands of a runner that is busy, or suspended and
// counted. Whoever takes one from a queue is busy first, and stays so until it is
// in another of these places; a runner that leaves puts its tasks into the
// injector before. So what is missed by one of these looks is seen by a later one.
bool ExecutorCore::IsEmpty() {
  const auto has_queued = [this] {
    return injector_.Size() != 0 || VisitRunners(0, [](Runner& runner) {
             return !runner.queue.IsEmpty() || runner.slot.load() != nullptr;
           });
  };
  if (ticking_.load() != 0 || has_queued()) return false;
  if (VisitRunners(0, [](Runner& runner) { return runner.busy.load(); })) {
    return false;
  }
  return CountTasks() == 0 && !has_queued() && ticking_.load() == 0;
}

// ---- Birth and death ----

ExecutorCore::ExecutorCore() = default;

ExecutorCore* ExecutorCore::Acquire() {
  ExecutorCore* core = nullptr;
  {
    const std::lock_guard lock(pool_mutex);
    core = pool;
    if (core != nullptr) pool = std::exchange(core->next_free_, nullptr);
  }
  if (core == nullptr) core = new ExecutorCore;
  core->earlier_ = core->CountEvents();
  core->phase_.store(Phase::kOpen);
  return core;
}

void ExecutorCore::Release(ExecutorCore* core) {
  const std::lock_guard lock(pool_mutex);
  core->next_free_ = std::exchange(pool, core);
}

size_t ExecutorCore::Close() {
  WEFT_CHECK(DrainedCore() != this,
             "an Executor was closed by the destructor of one of its tasks");
  WEFT_CHECK(running_.load() == 0 && ticking_.load() == 0,
             "an Executor was closed or destroyed while a thread is inside its "
             "Run(), TryTick() or Tick(): let the future given to Run() end "
             "and join that thread first; a task cannot close its executor");
  if (phase_.load() == Phase::kClosed) return 0;
  phase_.store(Phase::kClosing);
  Environment environment = Environment::Current();
  environment.spawner = this;
  const EnvironmentScope scope(environment);
  size_t dropped = Drain();
  std::vector<Waker> wakers;
  tasks_.AppendWakers(wakers);
  VisitRunners(0, [&](Runner& runner) {
    runner.tasks.AppendWakers(wakers);
    return false;
  });
  CancelTasks(std::move(wakers));
  for (;;) {
    dropped += Drain();
    if (CountTasks() == 0 && injector_.Size() == 0) break;
    // Another thread has just woken a task and is about to push it.
    std::this_thread::yield();
  }
  phase_.store(Phase::kClosed);
  return dropped + Drain();
}

// Destroys what is in the injector; what that puts there, too.
size_t ExecutorCore::Drain() {
  if (DrainedCore() == this) return 0;  // the outer call will see it
  ExecutorCore* outer = std::exchange(DrainedCore(), this);
  size_t dropped = 0;
  for (;;) {
    void* tasks[32];
    size_t count = 0;
    {
      const std::lock_guard lock(tick_consumer_mutex_);
      count = injector_.Pop(tick_consumer_, tasks, std::size(tasks));
    }
    if (count == 0) break;
    for (size_t i = 0; i < count; ++i) DestroyTask(tasks[i]);
    dropped += count;
  }
  DrainedCore() = outer;
  return dropped;
}

// ---- Reports ----

std::string ExecutorCore::DebugString() {
  std::string queues;
  VisitRunners(0, [&](Runner& runner) {
    // Relaxed: a report.
    const bool slot = runner.slot.load(std::memory_order_relaxed) != nullptr;
    absl::StrAppend(&queues, queues.empty() ? "" : " ",
                    runner.queue.Size() + slot);
    return false;
  });
  return absl::StrCat("Executor{suspended tasks: ", CountTasks(),
                      ", injector: ", injector_.Size(), ", queues: [", queues,
                      "], runners: ", running_.load(),
                      ", parked: ", idle_.parked(),
                      ", searching: ", idle_.searching(),
                      ", ticks waiting: ", idle_.waiting(), "}");
}

ExecutorStats ExecutorCore::Stats() {
  ExecutorStats stats = CountEvents();
  stats.polls -= earlier_.polls;
  stats.steals -= earlier_.steals;
  stats.stolen_tasks -= earlier_.stolen_tasks;
  stats.overflows -= earlier_.overflows;
  stats.parks -= earlier_.parks;
  stats.driver_polls -= earlier_.driver_polls;
  stats.runners_woken -= earlier_.runners_woken;
  stats.tick_wakes -= earlier_.tick_wakes;
  stats.tasks_injected -= earlier_.tasks_injected;
  stats.runners = static_cast<uint64_t>(running_.load());
  stats.parked = static_cast<uint64_t>(idle_.parked());
  stats.suspended = CountTasks();
  return stats;
}

// Since the core itself was made.
ExecutorStats ExecutorCore::CountEvents() {
  ExecutorStats stats;
  stats.polls = tick_polls_.Get();
  stats.runners_woken = runners_woken_.Get();
  stats.tick_wakes = tick_wakes_.Get();
  stats.tasks_injected = injected_.Get();
  VisitRunners(0, [&](Runner& runner) {
    stats.polls += runner.polls.Get();
    stats.steals += runner.steals.Get();
    stats.stolen_tasks += runner.stolen_tasks.Get();
    stats.overflows += runner.overflows.Get();
    stats.parks += runner.parks.Get();
    stats.driver_polls += runner.driver_polls.Get();
    return false;
  });
  return stats;
}

}  // namespace weft::executor_internal
