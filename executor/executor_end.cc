// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// What an ExecutorCore knows of its live tasks, and how it ends.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "weft/executor/executor_core.h"
#include "weft/executor/idle_set.h"
#include "weft/executor/poll_capture.h"
#include "weft/executor/poll_watched.h"
#include "weft/executor/runner.h"
#include "weft/executor/task_census.h"
#include "weft/executor/task_dump.h"
#include "weft/executor/task_list.h"
#include "weft/executor/task_registry.h"
#include "weft/executor/task_stamp.h"
#include "weft/task/check.h"
#include "weft/task/environment.h"
#include "weft/task/instant.h"
#include "weft/task/runnable.h"
#include "weft/task/spawner.h"
#include "weft/task/task_info.h"
#include "weft/task/waker.h"

namespace weft::executor_internal {
namespace {

// How many tasks of a runner may end elsewhere before it is woken to let go of
// their memory.
constexpr size_t kMaxLeft = 256;

// The core whose queue this thread is emptying.
[[gnu::noinline]] ExecutorCore*& DrainedCore() {
  constinit static thread_local ExecutorCore* core = nullptr;
  return core;
}

constinit std::mutex pool_mutex;  // guards the next one, and ExecutorCore::all_
constinit ExecutorCore* pool = nullptr;

void DestroyTask(void* task) {
  static_cast<void>(Runnable<SpawnedTask>::FromRaw(task));
}

}  // namespace

// ---- Live tasks ----

void ExecutorCore::Register(SpawnedTask& task) {
  Runner* runner = OwnRunner();
  if (runner != nullptr) {
    SetPlace(task, static_cast<uint32_t>(runner->index) + 1);
    runner->tasks.AddOwned(task);
  } else {
    SetPlace(task, 0);
    tasks_.AddShared(task);
  }
}

void ExecutorCore::Unregister(SpawnedTask& task) {
  if (PlaceOf(task) == 0) {
    tasks_.Remove(task);
    return;
  }
  const int index = static_cast<int>(PlaceOf(task)) - 1;
  Runner* own = OwnRunner();
  if (own != nullptr && own->index == index)
    return own->tasks.RemoveOwned(task);
  Runner& runner = RunnerAt(static_cast<uint32_t>(index));
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

// Everybody is asked; a sleeping runner is woken to answer.
TaskDump ExecutorCore::Dump(absl::Duration patience) {
  const auto census = std::make_shared<TaskCensus>();
  TaskDump dump;
  dump.queued = injector_.Size();
  int asked = 0;
  tasks_.Ask(census, kWakeNobody);
  VisitRunners(0, [&](Runner& runner) {
    // Relaxed: a report.
    dump.queued += runner.queue.Size() +
                   (runner.slot.load(std::memory_order_relaxed) != nullptr);
    runner.tasks.Ask(census, runner.index);
    if (idle_.IsParked(runner.index)) UnparkRunner(runner.index);
    ++asked;
    return false;
  });
  AwaitCensus(*census, asked + 1, Instant::Now() + patience);
  std::vector<int> answered = census->Answered();
  for (int index = 0; index < asked; ++index) {
    if (std::find(answered.begin(), answered.end(), index) != answered.end()) {
      continue;
    }
    if (!DumpBusy(RunnerAt(static_cast<uint32_t>(index)), dump)) {
      dump.silent_runners.push_back(index);
    }
  }
  InspectTasks(census->Take(), dump.tasks);
  dump.Sort();
  return dump;
}

// The thread of a runner that is in a long poll is interrupted, to tell what it polls
// and which tasks it has; false if it is not or they cannot be had.
bool ExecutorCore::DumpBusy(Runner& runner, TaskDump& dump) {
  constexpr absl::Duration kPatience = absl::Milliseconds(10);
  struct Copied {
    const TaskRegistry& registry;
    std::vector<SpawnedTask*> tasks;
    size_t count = 0;
  };
  PollCapture capture;
  // With space for those that are suspended meanwhile: inside a poll are few.
  Copied copied{.registry = runner.tasks, .tasks = {}};
  copied.tasks.resize(runner.tasks.Size() + 256);
  const VisitScope visit(runner);  // the thread does not go
  const pid_t thread = runner.thread.load();
  const bool captured =
      thread != 0 && PollCapture::Take(
                         thread, Instant::Now() + kPatience, capture,
                         [](void* argument) {
                           auto& into = *static_cast<Copied*>(argument);
                           into.count = into.registry.TryCopy(into.tasks);
                         },
                         &copied);
  if (!captured) return false;
  if (capture.task) dump.tasks.push_back(capture.Info());
  const size_t count = copied.count;
  const bool is_full = count == copied.tasks.size();
  copied.tasks.resize(count);
  InspectTasks(std::move(copied.tasks), dump.tasks);
  return !is_full && (count != 0 || runner.tasks.Size() == 0);
}

// A runner that asks is asked, too; perhaps by several at a time.
void ExecutorCore::AwaitCensus(TaskCensus& census, int asked,
                               Instant deadline) {
  constexpr absl::Duration kOwnLook = absl::Milliseconds(1);
  Runner* own = OwnRunner();
  while (Instant::Now() < deadline) {
    if (own != nullptr) own->tasks.Collect();
    const Instant look = own != nullptr ? Instant::Now() + kOwnLook : deadline;
    if (census.Wait(asked, std::min(look, deadline))) return;
  }
}

// ---- Birth and death ----

constinit ExecutorCore* ExecutorCore::all_ = nullptr;

ExecutorCore::ExecutorCore() {
  const std::lock_guard lock(pool_mutex);
  next_of_all_ = std::exchange(all_, this);
}

ExecutorCore* ExecutorCore::Acquire() {
  ExecutorCore* core = nullptr;
  {
    const std::lock_guard lock(pool_mutex);
    core = pool;
    if (core != nullptr) pool = std::exchange(core->next_free_, nullptr);
  }
  if (core == nullptr) core = new ExecutorCore;
  core->CountEvents(core->earlier_);
  core->histograms_on_.store(false);  // nobody else knows the core
  const std::lock_guard lock(core->tick_consumer_mutex_);  // see Drain()
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
      // A thread that found the executor closed may be late: it is another one's
      // by now.
      if (phase_.load() == Phase::kOpen) break;
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
  std::vector<std::string> names;
  tasks_.AppendNames(names);
  VisitRunners(0, [&](Runner& runner) {
    runner.tasks.AppendNames(names);
    // Relaxed: a report.
    const bool slot = runner.slot.load(std::memory_order_relaxed) != nullptr;
    absl::StrAppend(&queues, queues.empty() ? "" : " ",
                    runner.queue.Size() + slot);
    return false;
  });
  return absl::StrCat(
      "Executor{suspended tasks: ", CountTasks(),
      ", injector: ", injector_.Size(), ", queues: [", queues,
      "], runners: ", running_.load(), ", parked: ", idle_.parked(),
      ", searching: ", idle_.searching(), ", ticks waiting: ", idle_.waiting(),
      ", names: [", absl::StrJoin(names, " "), "]}");
}

PollWatched::PollGlance ExecutorCore::GlanceAt(int runner) {
  Runner& r = RunnerAt(static_cast<uint32_t>(runner));
  return {.in_poll = r.thread.load() != 0 && !r.in_place.load() &&
                     !idle_.IsParked(runner),
          .progress = r.polls.Get() + r.driver_visits.Get()};
}

bool ExecutorCore::CapturePoll(int runner, Instant deadline,
                               PollCapture& capture) {
  Runner& r = RunnerAt(static_cast<uint32_t>(runner));
  const VisitScope visit(r);  // the thread does not go
  const pid_t thread = r.thread.load();
  return thread != 0 && PollCapture::Take(thread, deadline, capture);
}

}  // namespace weft::executor_internal
