// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Runner: a place in an executor for a thread that is in Run(). Internal;
// docs/design/executor.md explains the parts.
//
// Thread safety: as said at each member.
// Lifetime: made when first needed and kept as long as its core, so a pointer to
// one stays good.
#ifndef WEFT_EXECUTOR_RUNNER_H_
#define WEFT_EXECUTOR_RUNNER_H_

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>

#include "weft/executor/adaptive_spin.h"
#include "weft/executor/busy_time.h"
#include "weft/executor/counter.h"
#include "weft/executor/injector.h"
#include "weft/executor/poll_interval.h"
#include "weft/executor/poll_sampler.h"
#include "weft/executor/poll_times.h"
#include "weft/executor/run_queue.h"
#include "weft/executor/run_signal.h"
#include "weft/executor/stand_in.h"
#include "weft/executor/task_registry.h"
#include "weft/task/driver.h"
#include "weft/task/environment.h"
#include "weft/task/instant.h"
#include "weft/task/random.h"
#include "weft/task/task_cell.h"
#include "weft/task/waker.h"

namespace weft::executor_internal {

class ExecutorCore;

// A place for a thread in Run(): made once, used by one thread after another.
struct alignas(64) Runner {
  Runner(ExecutorCore& core, Injector& injector, int index)
      : core(core), index(index), consumer(injector) {}

  // Anybody. A task in transit is Runnable<SpawnedTask>::IntoRaw().
  RunQueue<void*> queue;
  // The task woken last, to run next. Filled by the owner; emptied by it or by
  // a Tick caller.
  std::atomic<void*> slot{nullptr};
  // Takes what is in the slot; null if there is nothing.
  void* EmptySlot() {
    // Relaxed: spares a locked instruction; the exchange shows the truth. Acquire:
    // what the owner knew of the task.
    if (slot.load(std::memory_order_relaxed) == nullptr) return nullptr;
    return slot.exchange(nullptr, std::memory_order_acquire);
  }
  std::atomic<bool> busy{false};  // may hold a task that is in no queue
  // What the owner has done; see RunnerStats.
  Counter polls, local_schedules, steals, stolen_tasks, overflows, parks, wakes,
      driver_polls, slow_polls;
  BusyTime busy_time;
  // Null until histograms are first wanted; then good as long as this.
  std::atomic<PollTimes*> times{nullptr};
  // For those who watch: whether the thread has polled something since it parked, and
  // no stand-in has its driver; that driver; how many are about to call it; how often
  // the thread itself came there; and what they saw last.
  std::atomic<bool> awake{false};
  std::atomic<Driver*> watched_driver{nullptr};
  std::atomic<int> visitors{0};
  Counter driver_visits;
  std::atomic<uint64_t> seen_visits{0};
  std::atomic<uint64_t> seen_polls{0};
  // For a StuckTaskMonitor: the thread that is here, or 0, and whether its poll is
  // in BlockInPlace().
  std::atomic<pid_t> thread{0};
  std::atomic<bool> in_place{false};
  // Whoever has claimed it: see WakeReason.
  std::atomic<bool> may_doze{false};
  // Where the thread is, for those who steal: RunnerOptions::At().
  std::atomic<int> location{0};

  // The owner: how many polls ago `polls` was `then`; may be less than zero.
  int32_t PollsSince(uint64_t then) const {
    return static_cast<int32_t>(polls.Get() - then);
  }

  // The owner, about its time: work begins; it ends; it goes on, or has begun a
  // moment ago, unnoticed.
  void BeginWork(Instant now);
  void EndWork(Instant now);
  void NoteTime(Instant now);

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
  // Is told of each poll. Null mostly: the one thing to look at before a poll.
  task_internal::PollObserver* observer = nullptr;
  PollInterval interval;   // of looks at the injector
  Instant interval_start;  // when the batch of polls began; Past: unknown
  // What `polls` was when the interval was tuned; when it looked at the injector; when
  // it polled its driver. One count for all, since each costs as much as it measures.
  uint64_t polls_at_tuning = 0;
  uint64_t polls_at_injector = 0;
  uint64_t polls_at_driver = 0;
  uint32_t slot_streak = 0;      // polls in a row that came from the slot
  uint32_t misses = 0;           // looks in a row that found nothing
  AdaptiveSpin spin;             // before it parks
  uint64_t lone_tasks = 0;       // which it has seen last; see SpinForWork()
  uint32_t lone_looks = 0;       // how often in a row
  bool takes_lone_ones = false;  // they have had their time
  bool searching = false;        // has a token of the IdleSet
  bool woken_in_vain = false;    // for a spawned task, and nothing run since
  uint32_t dozes_left_out = 0;   // of the next ones
  bool in_driver = false;        // is inside driver->Park(), or another's
  bool timing = false;           // polls are sampled, for `times`
  // What a task that is made ready here has to ask for: in_driver or timing.
  bool schedule_is_special = false;
  bool on_real_clock = false;  // so may sleep with a deadline
  PollSampler sampler{0};      // which polls
  // At the clock, while at work; Past if that has not begun, or unnoticed.
  Instant last_look;
  uint32_t quiet_watches = 0;        // in a row, in which nobody did anything
  uint32_t visits_to_evening = 0;    // until EvenOut()
  uint32_t evening_looks = 0;        // of it: two at each runner
  uint64_t evening_head = 0;         // where the queue was, the last time
  std::span<const int> steal_order;  // RunnerOptions::StealFrom()
  // Where in `queue` the first task lies that yielded since the driver was
  // polled.
  std::optional<uint64_t> first_yield;

  std::mutex signal_mutex;  // guards the next one
  Waker signal;             // RunSignal of the thread that is here, or empty

  TaskRegistry tasks;  // first suspended here
};

// Keeps the thread, and so the driver, of a runner: it does not leave meanwhile.
class VisitScope {
 public:
  // Sequentially consistent, with the look at `watched_driver` or `thread` that
  // follows.
  explicit VisitScope(Runner& runner) : visitors_(runner.visitors) {
    visitors_.fetch_add(1);
  }
  VisitScope(const VisitScope&) = delete;
  VisitScope& operator=(const VisitScope&) = delete;
  ~VisitScope() { visitors_.fetch_sub(1); }

 private:
  std::atomic<int>& visitors_;
};

// The innermost runner on this thread, or null.
Runner*& CurrentRunner();

}  // namespace weft::executor_internal

#endif  // WEFT_EXECUTOR_RUNNER_H_
