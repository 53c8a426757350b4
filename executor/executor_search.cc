// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// How a runner of an ExecutorCore finds its next task.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <mutex>
#include <thread>
#include <utility>

#include "absl/time/time.h"
#include "weft/executor/adaptive_spin.h"
#include "weft/executor/count.h"
#include "weft/executor/executor_core.h"
#include "weft/executor/run_queue.h"
#include "weft/executor/runner.h"
#include "weft/task/environment.h"
#include "weft/task/instant.h"
#include "weft/task/task_cell.h"

namespace weft::executor_internal {
namespace {

// How many polls in a row may come from the slot before the queue has its turn:
// two tasks that wake each other must not starve the rest. Also Tokio's.
constexpr uint32_t kMaxSlotStreak = 3;

// How many looks in a row must see the same task alone in a queue before another
// runner takes it.
constexpr uint32_t kLooksAtLoneTask = 8;

// A runner looks at another's queue once in so many visits to its driver. It costs
// two cache misses.
constexpr uint32_t kVisitsToEvening = 64;

}  // namespace

void* ExecutorCore::NextTask(Runner& runner) {
  if (runner.PollsSince(runner.polls_at_tuning) >= runner.interval.polls()) {
    const Instant now = Instant::Now();
    runner.NoteTime(now);
    SyncTiming(runner);
    TuneInterval(runner, now);
    LookIfDue(runner, now);
  }
  if (runner.PollsSince(runner.polls_at_injector) >= runner.interval.polls()) {
    if (void* task = TakeInjected(runner)) {
      ++runner.polls_at_injector;  // then one of its own has its turn
      return task;
    }
  }
  if (void* task = TakeSlot(runner)) return task;
  void* task = nullptr;
  if (runner.queue.Pop(task)) {
    task_internal::PrefetchRunnable(runner.queue.PeekNext());
    return task;
  }
  if ((task = TakeInjected(runner)) != nullptr) return task;
  runner.interval_start = Instant::Past();  // a pause may come
  return Search(runner);
}

// Something else than the slot's task is run next, perhaps for long.
void ExecutorCore::ShowSlot(Runner& runner) {
  void* task = runner.EmptySlot();
  if (task == nullptr) return;
  PushLocal(runner, task);
  Notify();
}

void* ExecutorCore::TakeSlot(Runner& runner) {
  void* task = runner.EmptySlot();
  if (task == nullptr) {
    runner.slot_streak = 0;
    return nullptr;
  }
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
  runner.polls_at_injector = runner.polls.Get();
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
  ShowSlot(runner);
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
  Count(runner.steals);
  Count(runner.stolen_tasks, count);
  if (count > 1) runner.queue.PushMany(tasks + 1, count - 1);
  return tasks[0];
}

// A runner that is never idle would keep its few tasks, and poll them more often
// than others theirs; and would leave alone what lies behind another's long poll.
// So now and then it looks at another queue, at each twice, and takes from it if
// that is longer, or has not moved between the looks.
void ExecutorCore::EvenOut(Runner& runner) {
  runner.visits_to_evening = kVisitsToEvening;
  const bool second_look = runner.evening_looks % 2 == 1;
  Runner& other = RunnerAt(runner.evening_looks++ / 2);
  const uint32_t size = other.queue.Size();
  if (&other == &runner || size == 0) return;
  const uint32_t own = runner.queue.Size();
  const uint64_t head = other.queue.head();
  const bool held =
      std::exchange(runner.evening_head, head) == head && second_look;
  if (!held && size < own + 2) return;
  runner.busy.store(true);  // for IsEmpty(): what is stolen is in no queue
  void* tasks[RunQueue<void*>::kMaxSteal];
  const uint32_t count =
      other.queue.Steal(tasks, held ? (size + 1) / 2 : (size - own) / 2);
  if (count == 0) return;
  Count(runner.steals);
  Count(runner.stolen_tasks, count);
  const uint32_t queued = runner.queue.PushMany(tasks, count);
  InjectMany(tasks + queued, count - queued);
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
  bool lone_ones = std::exchange(runner.takes_lone_ones, false);
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
    // After some looks: a main future that always wakes itself must not prevent
    // them.
    if (runner.run_signal->IsNotified() && (!lone || i >= AdaptiveSpin::kMin)) {
      return false;
    }
    RelaxProcessor();
  }
  runner.spin.Ended(/*found=*/false);
  if (lone) runner.woken_in_vain = true;
  return false;
}

// Measures how long polls take, once in as many as lie between two looks at the
// injector.
void ExecutorCore::TuneInterval(Runner& runner, Instant now) {
  if (runner.interval_start != Instant::Past()) {
    runner.interval.Measured(
        runner.PollsSince(runner.polls_at_tuning),
        absl::ToInt64Nanoseconds(now - runner.interval_start));
  }
  runner.interval_start = now;
  runner.polls_at_tuning = runner.polls.Get();
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
    task = victim.EmptySlot();
    return task != nullptr;
  });
  return task;
}

// Whether there is a task that others than the runner it belongs to may take.
bool ExecutorCore::HasWork() {
  if (injector_.Size() != 0) return true;
  return VisitRunners(0, [](Runner& r) { return !r.queue.IsEmpty(); });
}

}  // namespace weft::executor_internal
