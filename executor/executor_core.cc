// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Algorithm. A runner takes the task it woke last, else the oldest of its own
// queue, else some of the injector's, else half of another runner's; else it
// parks in its driver. Whoever makes a task visible to others calls Notify()
// afterwards; the protocol of who then wakes whom is in idle_set.h, and the
// argument that no task stays behind in docs/design/executor.md.
//
// Here: threads in Run(), ticks, and where tasks are put. executor_search.cc finds
// them, executor_idle.cc sleeps and wakes, executor_end.cc keeps account of tasks
// and ends, executor_measure.cc takes the time and reports.
#include "weft/executor/executor_core.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <iterator>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <utility>

#include "absl/functional/function_ref.h"
#include "weft/executor/adaptive_spin.h"
#include "weft/executor/count.h"
#include "weft/executor/executor_hooks.h"
#include "weft/executor/poll_capture.h"
#include "weft/executor/poll_times.h"
#include "weft/executor/run_queue.h"
#include "weft/executor/run_signal.h"
#include "weft/executor/runner.h"
#include "weft/executor/runner_options.h"
#include "weft/executor/stand_in.h"
#include "weft/executor/task_stamp.h"
#include "weft/executor/tick_list.h"
#include "weft/task/blocking_check.h"
#include "weft/task/budget.h"
#include "weft/task/check.h"
#include "weft/task/clock.h"
#include "weft/task/context.h"
#include "weft/task/driver.h"
#include "weft/task/environment.h"
#include "weft/task/instant.h"
#include "weft/task/random.h"
#include "weft/task/runnable.h"
#include "weft/task/spawner.h"
#include "weft/task/task_cell.h"
#include "weft/task/waker.h"

namespace weft::executor_internal {
namespace {

// How many polls may pass before the driver is looked at, so that it does not
// wait for ever behind a busy queue. The number is Tokio's.
constexpr int32_t kDriverInterval = 61;

bool HasSeveralProcessors() {
  static const bool several = std::thread::hardware_concurrency() > 1;
  return several;
}

// What the future of a Run() throws is kept in `thrown`, and true returned, while
// the thread may not leave.
bool PollMain(absl::FunctionRef<bool(Context&)> poll, Context& cx,
              const Runner& runner, std::exception_ptr& thrown) {
#if defined(__cpp_exceptions)
  try {
    return poll(cx);
  } catch (...) {
    if (runner.stand_in == nullptr) throw;
    thrown = std::current_exception();
    return true;
  }
#else
  static_cast<void>(runner);
  static_cast<void>(thrown);
  return poll(cx);
#endif
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

}  // namespace

// ---- A thread in Run ----

struct ExecutorCore::PlaceReturner {
  void operator()(Runner* runner) const { runner->core.ReturnPlace(*runner); }
};

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
             "Run() was called on an executor after Close(), which ends it for "
             "good: make another one");
  Driver& driver = Environment::CurrentDriver();
  const Waker waker = RunSignal::Make(driver.Unparker());
  RunSignal& signal = RunSignal::Of(waker);
  const std::unique_ptr<Runner, PlaceReturner> place(TakePlace());
  if (place == nullptr) return false;
  Runner& runner = *place;
  const RunnerScope scope(runner, options, driver, waker);
  bool ready = false;
  std::exception_ptr thrown;
  for (;;) {
    if (signal.Take() && !ready) {
      // The poll may take long. Relaxed: as in RunTask().
      if (!runner.awake.load(std::memory_order_relaxed)) WakeUp(runner);
      if (runner.searching) StopSearching(runner);
      ShowSlot(runner);
      if (!runner.queue.IsEmpty()) Notify();
      --runner.polls_at_driver;  // counts as a poll since then
      Budget budget;
      Context cx =
          Context(waker, &budget, &scope.environment()).WithPromptness(true);
      ready = PollMain(poll, cx, runner, thrown);
    }
    // A thread without its driver runs tasks, but first waits for a while, so that
    // it comes to leave also where they all call BlockInPlace().
    if (ready && runner.stand_in != nullptr) {
      ReclaimDriver(runner, Instant::Infinite());
    }
    if (ready && runner.stand_in == nullptr) break;
    // All that comes now has yielded: what is outside has its turn.
    const bool round_over =
        runner.first_yield && runner.queue.head() >= *runner.first_yield;
    if (round_over ||
        runner.PollsSince(runner.polls_at_driver) >= kDriverInterval) {
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
      // PollDriver() may have found that the stand-in has gone: nobody would wake
      // the thread of a run that is over.
      if (ready && runner.stand_in == nullptr) break;
      ParkRunner(runner, signal);
    }
  }
  if (thrown != nullptr) std::rethrow_exception(thrown);
  return true;
}

Runner* ExecutorCore::TakePlace() {
  const std::lock_guard lock(runners_mutex_);
  const auto free = std::find(taken_.begin(), taken_.end(), false);
  if (free == taken_.end()) return nullptr;
  const int index = static_cast<int>(free - taken_.begin());
  // Relaxed: written under this lock.
  Runner* runner = runners_[index].load(std::memory_order_relaxed);
  if (runner == nullptr) {
    auto made = std::make_unique<Runner>(*this, injector_, index);
    if (histograms_on_.load()) MakeTimes(made->times);
    runner = made.release();
    // Release, both: whoever sees the runner sees it made.
    runners_[index].store(runner, std::memory_order_release);
    runner_count_.store(index + 1, std::memory_order_release);
  }
  *free = true;
  return runner;
}

void ExecutorCore::ReturnPlace(Runner& runner) {
  const std::lock_guard lock(runners_mutex_);
  taken_[runner.index] = false;
}

void ExecutorCore::EnterRunner(Runner& runner, const RunnerOptions& options,
                               Driver& driver, const Waker& signal) {
  // A fake clock would take the deadline of a watcher, or of a doze, for one of
  // its own.
  const Clock* clock = Environment::Current().clock;
  runner.on_real_clock = clock == nullptr || clock->AsFake() == nullptr;
  runner.random = Random(Environment::CurrentRandom().Next());
  runner.driver = &driver;
  runner.run_signal = &RunSignal::Of(signal);
  runner.observer = FindObserver();
  runner.polls_at_injector = runner.polls_at_driver = runner.polls.Get();
  runner.interval_start = Instant::Past();
  runner.spin = AdaptiveSpin(HasSeveralProcessors() ? AdaptiveSpin::kMax
                                                    : AdaptiveSpin::kMin);
  runner.tasks.Own();
  runner.timing = runner.schedule_is_special = false;
  SyncTiming(runner);
  // Relaxed: only an order depends on it.
  runner.location.store(options.location(), std::memory_order_relaxed);
  runner.steal_order = options.steal_order();
  runner.quiet_watches = 0;
  runner.thread.store(ThisThreadId());
  // Sequentially consistent: see PollDriverOf().
  if (runner.on_real_clock) runner.watched_driver.store(&driver);
  const std::lock_guard lock(runner.signal_mutex);
  runner.signal = signal;
}

void ExecutorCore::LeaveRunner(Runner& runner) {
  // The driver may soon be gone.
  runner.watched_driver.store(nullptr);
  runner.thread.store(0);
  while (runner.visitors.load() != 0) std::this_thread::yield();
  runner.awake.store(false);
  runner.first_yield.reset();
  runner.busy.store(true);  // for IsEmpty(): what is flushed is in no queue
  Flush(runner);
  // Only where a look at another driver has thrown. The driver is not this thread's
  // any more when it has left.
  if (runner.stand_in != nullptr) {
    runner.stand_in->WaitGone(Instant::Infinite());
    runner.stand_in.reset();
  }
  runner.busy.store(false);
  if (runner.searching) StopSearching(runner);
  runner.tasks.Disown();
  if (runner.last_look != Instant::Past()) runner.EndWork(Instant::Now());
  runner.steal_order = {};
  Waker signal;
  {
    const std::lock_guard lock(runner.signal_mutex);
    signal = std::exchange(runner.signal, Waker());
  }
}

// Instead of parking while somebody may stand in for the thread. Whoever unparks
// it reaches the other one, so it does not wait for longer than kMaxWait, and the
// caller looks at everything again: the other one may wait for a task here.
void ExecutorCore::ReclaimDriver(Runner& runner, Instant deadline) {
  constexpr absl::Duration kMaxWait = absl::Milliseconds(1);
  deadline = std::min(deadline, Instant::Now() + kMaxWait);
  if (runner.stand_in->WaitGone(deadline)) runner.stand_in.reset();
}

// ---- Running tasks ----

void ExecutorCore::RunTask(Runner& runner, void* task) {
  // Relaxed: only this thread writes it, and its stand-in until told to leave.
  if (!runner.awake.load(std::memory_order_relaxed)) WakeUp(runner);
  if (runner.searching) StopSearching(runner);  // wherever the task came from
  runner.woken_in_vain = false;
  runner.misses = 0;
  runner.polls.Add();
  auto runnable = Runnable<SpawnedTask>::FromRaw(task);
  if (runner.timing && TaskStamp::IsOn(runnable.metadata())) {
    return RunStamped(runner, std::move(runnable));
  }
  Poll(std::move(runnable), runner.observer);
}

Runner* ExecutorCore::OwnRunner() {
  Runner* runner = CurrentRunner();
  return runner != nullptr && &runner->core == this ? runner : nullptr;
}

// ---- Putting tasks somewhere ----

void ExecutorCore::Schedule(Runnable<SpawnedTask> runnable, ScheduleInfo info) {
  // A task is registered at its first suspension, so this is its first run.
  SpawnedTask& metadata = runnable.metadata();
  const bool is_new = !metadata.registered;
  if (Runner* runner = OwnRunner()) {
    Count(runner->local_schedules);
    if (runner->schedule_is_special) {
      if (runner->timing) StampSampled(runner->sampler, metadata);
      // EnterDriver notifies when all have come.
      if (runner->in_driver) {
        return PushLocal(*runner, std::move(runnable).IntoRaw());
      }
    }
    ScheduleLocal(*runner, std::move(runnable).IntoRaw(), is_new, info);
  } else {
    StampInjected(CountShared(injected_), metadata);
    Inject(std::move(runnable).IntoRaw());
  }
}

void ExecutorCore::ScheduleMany(std::span<Runnable<SpawnedTask>> runnables) {
  void* tasks[RunQueue<void*>::kMaxSteal];
  size_t count = 0;
  Runner* runner = OwnRunner();
  uint64_t number = 0;
  if (runner != nullptr) {
    Count(runner->local_schedules, runnables.size());
  } else {
    number = CountShared(injected_, runnables.size());
  }
  for (size_t i = 0; i < runnables.size(); ++i) {
    SpawnedTask& metadata = runnables[i].metadata();
    if (runner == nullptr) {
      StampInjected(number + i, metadata);
    } else if (runner->timing) {
      StampSampled(runner->sampler, metadata);
    }
    tasks[count++] = std::move(runnables[i]).IntoRaw();
    if (count < std::size(tasks) && i + 1 < runnables.size()) continue;
    // What does not fit goes to the injector.
    const size_t queued =
        runner == nullptr
            ? 0
            : runner->queue.PushMany(tasks, static_cast<uint32_t>(count));
    if (runner != nullptr && queued < count) Count(runner->overflows);
    InjectMany(tasks + queued, count - queued);
    NotifyMany(count,
               runner == nullptr ? WakeReason::kOther : WakeReason::kLocalTask);
    WakeDozer();
    count = 0;
  }
  // As in Inject().
  if (phase_.load() == Phase::kClosed) Drain();
}

void ExecutorCore::ScheduleLocal(Runner& runner, void* task, bool is_new,
                                 ScheduleInfo info) {
  if (info.woken_while_running) {
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
  Count(runner.overflows);
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
  injector_.Push(task);
  Notify(WakeReason::kOther);
  WakeDozer();
  // Sequentially consistent, as the push: either Close() sees the task or this
  // sees that Close() is over.
  if (phase_.load() == Phase::kClosed) Drain();
}

void ExecutorCore::InjectMany(void* const* tasks, size_t count) {
  if (count != 0) injector_.PushMany(tasks, count);
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
  if (HasWork()) NotifyMany(std::max<size_t>(moved, 1), WakeReason::kOther);
  WakeDozer();
}

// ---- Hooks ----

void ExecutorCore::SetHooks(std::shared_ptr<const ExecutorHooks> hooks) {
  WEFT_CHECK(
      running_.load() == 0 && ticking_.load() == 0,
      "SetHooks() was called while a thread is inside the Run(), TryTick() "
      "or Tick() of the executor: call it before");
  CheckNoHooks(hooks_.get());
  hooks_ = std::make_unique<HookCaller>(std::move(hooks));
  ObserveSpawns(true);
}

void ExecutorCore::DropHooks() {
  ObserveSpawns(false);
  hooks_ = nullptr;
}

task_internal::PollObserver* ExecutorCore::FindObserver() {
  return hooks_ == nullptr ? nullptr : hooks_->poll_observer();
}

void ExecutorCore::NoteSpawn(Runnable<SpawnedTask>& task) {
  hooks_->NoteSpawn(task);
}

void ExecutorCore::NoteEnd(SpawnedTask&, TaskEnd end) { hooks_->NoteEnd(end); }

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
  CountShared(tick_polls_);
  auto runnable = Runnable<SpawnedTask>::FromRaw(task);
  // Acquire: the histograms are there.
  if (histograms_on_.load(std::memory_order_acquire) &&
      TaskStamp::IsOn(runnable.metadata())) {
    return RunTickStamped(std::move(runnable));
  }
  Poll(std::move(runnable), FindObserver());
}

bool ExecutorCore::PollTick(TickWaiter& waiter, const Context& cx) {
  if (!cx.HasBudget()) return false;
  const CountScope count(ticking_);
  void* task = TakeAnywhere();
  if (task == nullptr) {
    ticks_.Wait(waiter, cx.waker());
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
  if (ticks_.Leave(waiter) && HasWork()) Notify();
}

}  // namespace weft::executor_internal
