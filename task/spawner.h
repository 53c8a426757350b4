// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Spawner: what tasks are spawned on, whoever runs them.
//
// The interface between code that wants tasks to run and the executors that run
// them; portable libraries take a Spawner& or use the current environment's.
//
//   JoinHandle<int> handle = Spawn(Work());            // the current spawner's
//   JoinHandle<int> other = executor.spawner().Spawn(Work());
//
// Thread safety: all methods from any thread.
// Lifetime: a spawner outlives the wakers of its tasks, or keeps what Schedule
// needs alive for them.
#ifndef WEFT_TASK_SPAWNER_H_
#define WEFT_TASK_SPAWNER_H_

#include <concepts>
#include <cstdint>
#include <iterator>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "weft/task/borrow.h"
#include "weft/task/environment.h"
#include "weft/task/future.h"
#include "weft/task/invoke.h"
#include "weft/task/join_handle.h"
#include "weft/task/runnable.h"
#include "weft/task/source_location.h"
#include "weft/task/task_cell.h"
#include "weft/task/task_identity.h"

namespace weft {

class Spawner;

// What a spawner keeps in each of its tasks: the place for a registry of live
// tasks. The fields after `spawner` belong to it alone.
struct SpawnedTask {
  explicit SpawnedTask(Spawner* spawner) : spawner(spawner) {}

  // Called by the task (see runnable.h).
  inline void OnPending();
  inline void OnGone(TaskEnd end);

  Spawner* const spawner;
  SpawnedTask* next = nullptr;
  SpawnedTask* previous = nullptr;
  uint32_t shard = 0;
  bool registered : 1 = false;
  bool named : 1 = false;     // constant once it is scheduled
  bool observed : 1 = false;  // NoteEnd() is called for it; likewise
  uint16_t spare = 0;         // for what `shard` has no room for
};

class Spawner {
 public:
  virtual ~Spawner() = default;

  // Starts running `future`. In debug builds CHECK-fails for a coroutine that
  // borrows its arguments (task/borrow.h), since it may outlive them.
  template <Future F>
  JoinHandle<OutputOf<F>> Spawn(F future,
                                SourceLocation at = SourceLocation::current()) {
    task_internal::CheckNotBorrowing(task_internal::FutureBorrows(future));
    return SpawnBorrowing(std::move(future), at);
  }

  // Starts running fn(), a callable that returns a future; keeps `fn` beside
  // it, so a coroutine lambda may use its captures. No check sees what `fn`
  // captures by reference, nor `this`, nor what it lends to the future that it
  // returns; tools/weft_lint.py finds the captures.
  template <class Fn>
    requires(!Future<Fn> && Future<std::invoke_result_t<Fn&>>)
  auto Spawn(Fn fn, SourceLocation at = SourceLocation::current()) {
    return SpawnBorrowing(InvokeFuture<Fn>(std::move(fn)), at);
  }

  // Spawn without the check: the caller makes sure that the handle, and with it
  // the task, goes before what the future refers to. Await std::move(handle)
  // .Cancel(), since dropping the handle does not wait.
  template <Future F>
  JoinHandle<OutputOf<F>> SpawnBorrowing(
      F future, SourceLocation at = SourceLocation::current()) {
    Spawner& target = Target();
    auto spawned = target.MakeTask(std::move(future), at);
    if (target.observes_) target.NoteSpawn(spawned.runnable);
    target.Schedule(std::move(spawned.runnable), ScheduleInfo());
    return std::move(spawned.handle);
  }
  template <class Fn>
    requires(!Future<Fn> && Future<std::invoke_result_t<Fn&>>)
  auto SpawnBorrowing(Fn fn, SourceLocation at = SourceLocation::current()) {
    return SpawnBorrowing(InvokeFuture<Fn>(std::move(fn)), at);
  }
  // With a name or inherited values; see task/spawn_builder.h.
  template <Future F>
  JoinHandle<OutputOf<F>> SpawnBorrowing(
      F future, TaskExtrasPtr extras,
      SourceLocation at = SourceLocation::current()) {
    Spawner& target = Target();
    auto spawned = target.MakeTask(std::move(future), at);
    spawned.runnable.metadata().named =
        extras != nullptr && !extras->name.empty();
    spawned.runnable.SetExtras(std::move(extras));
    if (target.observes_) target.NoteSpawn(spawned.runnable);
    target.Schedule(std::move(spawned.runnable), ScheduleInfo());
    return std::move(spawned.handle);
  }

  // True if what is spawned here runs on the calling thread, and on no other.
  virtual bool IsLocal() const { return false; }

  // Starts running every future of a range, or what every function of it
  // returns; returns their handles in its order. The elements are moved from,
  // unless they are const; a range that makes them as it is walked will do. As
  // many sleeping threads are woken as there is work for. CHECK-fails in debug
  // builds as Spawn.
  template <class Range>
  auto SpawnMany(Range&& futures_or_fns,
                 SourceLocation at = SourceLocation::current()) {
    using Item = std::remove_cvref_t<decltype(*std::begin(futures_or_fns))>;
    using F = decltype(AsFuture(std::declval<Item>()));
    std::vector<JoinHandle<OutputOf<F>>> handles;
    if (routes_) {
      for (auto&& item : futures_or_fns) {
        handles.push_back(Spawn(std::move(item), at));
      }
      return handles;
    }
    std::vector<Runnable<SpawnedTask>> runnables;
    for (auto&& item : futures_or_fns) {
      F future = AsFuture(Item(std::move(item)));
      task_internal::CheckNotBorrowing(task_internal::FutureBorrows(future));
      auto spawned = MakeTask(std::move(future), at);
      if (observes_) NoteSpawn(spawned.runnable);
      handles.push_back(std::move(spawned.handle));
      runnables.push_back(std::move(spawned.runnable));
    }
    ScheduleMany(runnables);
    return handles;
  }

 protected:
  friend SpawnedTask;

  Spawner() = default;
  // One that only chooses: each task belongs to what Route() has returned for it.
  struct Routes {};
  explicit Spawner(Routes) : routes_(true) {}

  // The spawner of the next task, which is spawned there as if by the caller.
  // Itself, if it is to get the task. Called by the thread that spawns, and only
  // if constructed with Routes.
  virtual Spawner& Route() { return *this; }

  // Schedules new tasks, in their order; leaves the Runnables empty.
  virtual void ScheduleMany(std::span<Runnable<SpawnedTask>> runnables) {
    for (Runnable<SpawnedTask>& runnable : runnables) {
      Schedule(std::move(runnable), ScheduleInfo());
    }
  }

  // From now on tasks are bound to `thread` (see SpawnLocalOn), the result of
  // task_internal::ThisThread() there. Requires: nobody is spawning.
  void BindTo(const void* thread) { thread_ = thread; }

  // From now on, or not any more, NoteSpawn() is called for each new task.
  // Requires: nobody is spawning.
  void ObserveSpawns(bool on) { observes_ = on; }
  // A task was made, which is scheduled next. Called by the thread that spawns it.
  // NoteEnd() is called for it if this sets `observed` in its metadata.
  virtual void NoteSpawn(Runnable<SpawnedTask>& task) {
    static_cast<void>(task);
  }
  // The task is over, its future destroyed; it is the one that runs on the calling
  // thread (task/current_task.h), which did that.
  virtual void NoteEnd(SpawnedTask& task, TaskEnd end) {
    static_cast<void>(task);
    static_cast<void>(end);
  }

  // Runs `runnable` soon; destroys it (and so its future) if it never will.
  // Called on whatever thread wakes the task.
  virtual void Schedule(Runnable<SpawnedTask> runnable, ScheduleInfo info) = 0;

  // The task's first poll was pending: from now on it may be suspended, known
  // to nobody but its wakers. Called by the thread that polls it.
  virtual void Register(SpawnedTask& task) { static_cast<void>(task); }
  // The future of a registered task has been destroyed. Called by the thread
  // that destroyed it.
  virtual void Unregister(SpawnedTask& task) { static_cast<void>(task); }

 private:
  Spawner& Target() { return routes_ ? Route() : *this; }

  template <class F>
  static auto AsFuture(F future_or_fn) {
    if constexpr (Future<F>) {
      return future_or_fn;
    } else {
      return InvokeFuture<F>(std::move(future_or_fn));
    }
  }

  template <Future F>
  Spawned<OutputOf<F>, SpawnedTask> MakeTask(F future, SourceLocation at) {
    auto spawned = task_internal::SpawnOnThread(
        std::move(future),
        [](Runnable<SpawnedTask> runnable, ScheduleInfo info) {
          Spawner* spawner = runnable.metadata().spawner;
          spawner->Schedule(std::move(runnable), info);
        },
        SpawnedTask(this), thread_);
    spawned.runnable.SetSpawnedAt(at);
    return spawned;
  }

  const void* thread_ = nullptr;  // null: any
  const bool routes_ = false;
  bool observes_ = false;
};

void SpawnedTask::OnPending() {
  if (registered) return;
  registered = true;
  spawner->Register(*this);
}
void SpawnedTask::OnGone(TaskEnd end) {
  if (observed) spawner->NoteEnd(*this, end);
  if (registered) spawner->Unregister(*this);
}

// Spawns on the current environment's spawner, else on the default runtime's;
// CHECK-fails where there is neither.
template <class F>
auto Spawn(F future_or_fn, SourceLocation at = SourceLocation::current()) {
  return Environment::CurrentSpawner().Spawn(std::move(future_or_fn), at);
}
template <class F>
auto SpawnBorrowing(F future_or_fn,
                    SourceLocation at = SourceLocation::current()) {
  return Environment::CurrentSpawner().SpawnBorrowing(std::move(future_or_fn),
                                                      at);
}

}  // namespace weft

#endif  // WEFT_TASK_SPAWNER_H_
