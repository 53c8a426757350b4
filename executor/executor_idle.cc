// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// How the runners of an ExecutorCore sleep, wake each other, and come to drivers.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <thread>
#include <utility>

#include "absl/time/time.h"
#include "weft/executor/count.h"
#include "weft/executor/executor_core.h"
#include "weft/executor/executor_hooks.h"
#include "weft/executor/idle_set.h"
#include "weft/executor/run_signal.h"
#include "weft/executor/runner.h"
#include "weft/executor/stand_in.h"
#include "weft/executor/watchers.h"
#include "weft/task/driver.h"
#include "weft/task/instant.h"
#include "weft/task/probes.h"
#include "weft/task/waker.h"

namespace weft::executor_internal {
namespace {

// How long a runner that was woken for nothing keeps its token: see Doze().
constexpr absl::Duration kDoze = absl::Microseconds(100);

// A doze that is cut short has not paid for its timer: so many are left out then.
constexpr uint32_t kDozesLeftOut = 64;

// How long a driver may wait for its thread before another one looks after it,
// and for how many looks after the last poll somebody watches.
constexpr absl::Duration kWatchInterval = absl::Milliseconds(1);
constexpr uint32_t kQuietWatches = 10;

// How long a watcher sleeps at first. Mostly it is woken before; and a timer that
// comes before the kernel's next tick, 4 ms at most on a common one, has to be
// programmed and cleared, which costs a virtual processor 3 us.
constexpr absl::Duration kFirstWatch = absl::Milliseconds(4);

// Both end also where the driver, or a park hook, throws.
class ParkScope {
 public:
  ParkScope(IdleSet<>& idle, Runner& runner) : idle_(idle), runner_(runner) {
    idle_.Park(runner_.index, std::exchange(runner_.searching, false));
  }
  ParkScope(const ParkScope&) = delete;
  ParkScope& operator=(const ParkScope&) = delete;
  void Sleeps() { slept_ = true; }
  ~ParkScope() {
    if (!idle_.Unpark(runner_.index)) return;
    runner_.searching = true;
    if (slept_) Count(runner_.wakes);
    // Relaxed: see WakeSleeper().
    runner_.woken_in_vain = runner_.may_doze.load(std::memory_order_relaxed);
  }

 private:
  IdleSet<>& idle_;
  Runner& runner_;
  bool slept_ = false;
};

// The time until its end is not spent on work.
class RestScope {
 public:
  explicit RestScope(Runner& runner) : runner_(runner) {
    runner_.EndWork(Instant::Now());
  }
  RestScope(const RestScope&) = delete;
  RestScope& operator=(const RestScope&) = delete;
  ~RestScope() { runner_.BeginWork(Instant::Now()); }

 private:
  Runner& runner_;
};

// Requires: watchers.TryStart() was true.
class WatchScope {
 public:
  WatchScope(Watchers<>& watchers, std::atomic<int>& watcher, int index)
      : watchers_(watchers), watcher_(watcher) {
    // Relaxed, as below: a preference only depends on it.
    watcher_.store(index, std::memory_order_relaxed);
  }
  WatchScope(const WatchScope&) = delete;
  WatchScope& operator=(const WatchScope&) = delete;
  ~WatchScope() {
    watcher_.store(kWakeNobody, std::memory_order_relaxed);
    watchers_.Stop();
  }

 private:
  Watchers<>& watchers_;
  std::atomic<int>& watcher_;
};

class DriverScope {
 public:
  explicit DriverScope(Runner& runner) : runner_(runner) {
    runner_.in_driver = runner_.schedule_is_special = true;
  }
  DriverScope(const DriverScope&) = delete;
  DriverScope& operator=(const DriverScope&) = delete;
  ~DriverScope() {
    runner_.in_driver = false;
    runner_.schedule_is_special = runner_.timing;
  }

 private:
  Runner& runner_;
};

}  // namespace

void ExecutorCore::Notify(WakeReason reason) {
  WakeSleeper(idle_.Notify([this] { return HasWork(); }, Watcher()), reason);
}

// One that sleeps on, if possible: else another must be woken to watch.
int ExecutorCore::Watcher() const {
  return watcher_.load(std::memory_order_relaxed);  // relaxed: a preference
}

// What the idle set has answered: true if a runner was woken.
bool ExecutorCore::WakeSleeper(int who, WakeReason reason) {
  if (who == kWakeTick) WakeOneTick();
  if (who == kWakeTick || who == kWakeNobody) return false;
  // Relaxed: a preference, which a runner that gets up by itself may miss.
  RunnerAt(static_cast<uint32_t>(who))
      .may_doze.store(reason == WakeReason::kLocalTask,
                      std::memory_order_relaxed);
  UnparkRunner(who);
  return true;
}

// For a batch: wakes as many as there is work for.
void ExecutorCore::NotifyMany(size_t tasks, WakeReason reason) {
  Notify(reason);
  for (; tasks > 1; --tasks) {
    const int who =
        idle_.NotifyAnother([this] { return HasWork(); }, Watcher());
    if (!WakeSleeper(who, reason)) return;
  }
}

// Tells others of what the runner has beyond the task it will run next.
void ExecutorCore::NotifyOfSpare(Runner& runner) {
  // Relaxed: the owner's own.
  const bool slot = runner.slot.load(std::memory_order_relaxed) != nullptr;
  if (runner.queue.Size() + slot > 1) Notify();
}

void ExecutorCore::UnparkRunner(int index) {
  CountShared(runners_woken_);
  Runner& runner = RunnerAt(static_cast<uint32_t>(index));
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
  if (ticks_.WakeOne()) CountShared(tick_wakes_);
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
  bool asked = false;
  {
    ParkScope parked(idle_, runner);
    // Where somebody has a token it is for him to look.
    has_work = !idle_.HasToken() && HasWork();
    notified = signal.IsNotified();
    // By a dump, which sees that it is parked, or is seen here.
    asked = runner.tasks.HasLeft();
    if (!has_work && !notified && !asked) {
      Count(runner.parks);
      parked.Sleeps();
      const RestScope rest(runner);
      SleepInDriver(runner, signal);
    }
  }
  if (has_work) {
    // It may take a part only, and others have left the rest to a token.
    if (!std::exchange(runner.searching, true)) idle_.StartSearching();
    if (++runner.misses >= kMissesBeforeYield) std::this_thread::yield();
  } else if (notified || asked) {
    PollDriver(runner);  // a main future that yields must not starve it
  } else {
    NotifyOfSpare(runner);
  }
  // Neither has slept for long.
  if (notified || asked || runner.stand_in != nullptr) {
    LookIfDue(runner, Instant::Now());
  }
}

// A runner that was woken for a task which its spawner then ran itself would be
// woken again by the next one. It sleeps for a while with its token,
// so that nobody is woken in vain, then looks once more. Only for tasks from
// outside, which no runner may see for long, it is woken earlier. False if
// another runner dozes.
bool ExecutorCore::Doze(Runner& runner, const RunSignal& signal) {
  if (!runner.on_real_clock) return false;
  if (runner.dozes_left_out > 0) {
    --runner.dozes_left_out;
    return false;
  }
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
    const Instant until = Instant::Now() + kDoze;
    const RestScope rest(runner);
    EnterDriver(runner, until);
    if (Instant::Now() < until) runner.dozes_left_out = kDozesLeftOut;
  }
  runner.takes_lone_ones = true;
  return true;
}

void ExecutorCore::WakeDozer() {
  if (const int dozer = dozer_.load()) UnparkRunner(dozer - 1);
}

void ExecutorCore::PollDriver(Runner& runner) {
  Count(runner.driver_polls);
  runner.tasks.Collect();
  EnterDriver(runner, Instant::Past());
  if (runner.visits_to_evening-- == 0) EvenOut(runner);
  NotifyOfSpare(runner);
}

void ExecutorCore::EnterDriver(Runner& runner, Instant deadline) {
  runner.driver_visits.Add();
  runner.polls_at_driver = runner.polls.Get();
  runner.first_yield.reset();
  if (runner.stand_in != nullptr) return ReclaimDriver(runner, deadline);
  const DriverScope scope(runner);
  // A look without waiting is not a park.
  if (deadline == Instant::Past()) return runner.driver->Park(deadline);
  const ParkHookScope hooks(hooks_.get());
  const task_internal::RunnerParkProbes probes(runner.index);
  runner.driver->Park(deadline);
}

// ---- Those in long polls ----
//
// A runner in a long poll does not come to its driver, whose descriptors and timers
// would wait; nor to the task in its slot, which it was to run next. So each
// kWatchInterval somebody polls the drivers that have been left alone for that long,
// and takes such tasks: whoever comes by when a look is due. One of those who sleep
// does so with a deadline, to come by. When nothing has run for a while they sleep
// for good, and the next runner that wakes up wakes one of them.

// A watcher stays parked while it finds nothing: were it to look for tasks each
// time, it would take those that another runner sleeps closer to.
void ExecutorCore::SleepInDriver(Runner& runner, const RunSignal& signal) {
  absl::Duration interval = kFirstWatch;
  // One that waits for its driver comes back when it has it: its run may be over.
  while (runner.stand_in == nullptr && Watches(runner)) {
    const WatchScope scope(watchers_, watcher_, runner.index);
    const Instant now = Instant::Now();
    if (LookIsDue(now)) {
      const bool quiet = !LookAfterOthers(runner);
      runner.quiet_watches = quiet ? runner.quiet_watches + 1 : 0;
      runner.tasks.Collect();  // of which a wake may have told
      if (MustGetUp(runner, signal)) return;
    }
    EnterDriver(runner, now + interval);
    if (Instant::Now() < now + interval || MustGetUp(runner, signal)) return;
    interval = kWatchInterval;
  }
  // A driver that returns at its deadline may have swallowed a wake that came then.
  if (runner.tasks.HasLeft()) return;
  EnterDriver(runner, Instant::Infinite());
}

// True if a runner that is going to sleep starts to watch.
bool ExecutorCore::Watches(Runner& runner) {
  return runner.on_real_clock && running_.load() > 1 &&
         watchers_.TryStart(runner.quiet_watches >= kQuietWatches, [&] {
           return VisitRunners(0, [&](Runner& other) {
             return &other != &runner && other.awake.load();
           });
         });
}

// Whatever a wake that the driver has swallowed was about.
bool ExecutorCore::MustGetUp(Runner& runner, const RunSignal& signal) {
  // Relaxed: the owner's own.
  return !idle_.IsParked(runner.index) || signal.IsNotified() ||
         runner.slot.load(std::memory_order_relaxed) != nullptr ||
         !runner.queue.IsEmpty();
}

// True for one of those who ask in each interval.
bool ExecutorCore::LookIsDue(Instant now) {
  // Relaxed: nothing else depends on who looks.
  int64_t last = last_look_.load(std::memory_order_relaxed);
  return now.nanoseconds() - last >= absl::ToInt64Nanoseconds(kWatchInterval) &&
         last_look_.compare_exchange_strong(last, now.nanoseconds(),
                                            std::memory_order_relaxed);
}

// A runner that does not sleep comes by.
void ExecutorCore::LookIfDue(Runner& runner, Instant now) {
  // Relaxed: who comes or goes is seen the next time.
  if (!runner.on_real_clock || running_.load(std::memory_order_relaxed) < 2 ||
      !LookIsDue(now)) {
    return;
  }
  LookAfterOthers(runner);
  if (!runner.queue.IsEmpty()) Notify();
}

// False if nobody has polled anything since the last look.
bool ExecutorCore::LookAfterOthers(Runner& runner) {
  bool found = false;
  VisitRunners(0, [&](Runner& other) {
    if (&other == &runner) return false;
    // Relaxed: two who look may mix up what they have seen; that only delays.
    const auto update = [](std::atomic<uint64_t>& seen, uint64_t now) {
      return seen.exchange(now, std::memory_order_relaxed) != now;
    };
    const bool polled = update(other.seen_polls, other.polls.Get());
    const bool came = update(other.seen_visits, other.driver_visits.Get());
    const bool awake = other.awake.load();
    found |= polled || (awake && !came);
    if (awake && !polled) TakeSlotOf(other, runner);
    if (awake && !came) PollDriverOf(other, runner);
    return false;
  });
  return found;
}

void ExecutorCore::TakeSlotOf(Runner& other, Runner& runner) {
  void* task = other.EmptySlot();
  if (task == nullptr) return;
  Count(runner.steals);
  Count(runner.stolen_tasks);
  PushLocal(runner, task);
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
  runner.quiet_watches = 0;
  SyncTiming(runner);
  if (!watchers_.WakeUp(runner.awake)) return;
  // With a token, as if there were work: what it finds is somebody to watch.
  WakeSleeper(idle_.NotifyAnother([this] { return HasWork(); }),
              WakeReason::kOther);
}

}  // namespace weft::executor_internal
