// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// SpawnBuilder: spawns with more to say than Spawn().
//
//   auto handle = SpawnBuilder().Name("reader").InheritLocals().Spawn(Read());
//
// Where a task runs, and how urgently, is its spawner's affair: an executor with
// priorities has one Spawner for each, and On(tasks.spawner(level)) chooses it.
//
// Thread safety: one thread at a time. One builder may spawn many tasks.
#ifndef WEFT_TASK_SPAWN_BUILDER_H_
#define WEFT_TASK_SPAWN_BUILDER_H_

#include <string>
#include <type_traits>
#include <utility>

#include "weft/task/borrow.h"
#include "weft/task/environment.h"
#include "weft/task/future.h"
#include "weft/task/invoke.h"
#include "weft/task/join_handle.h"
#include "weft/task/offload.h"
#include "weft/task/source_location.h"
#include "weft/task/spawner.h"
#include "weft/task/task_cell.h"
#include "weft/task/task_identity.h"

namespace weft {

class SpawnBuilder {
 public:
  // For people: see JoinHandle::name() and CurrentTaskName().
  SpawnBuilder& Name(std::string name) {
    name_ = std::move(name);
    return *this;
  }

  // The task starts with copies of the task-local values that are set where it
  // is spawned, of those whose types can be copied. See task/task_local.h.
  SpawnBuilder& InheritLocals() {
    inherit_locals_ = true;
    return *this;
  }

  // Spawns on `spawner` instead of the current environment's: on another
  // executor, or with another priority.
  SpawnBuilder& On(Spawner& spawner) {
    spawner_ = &spawner;
    return *this;
  }

  // Insists that the task stays on the calling thread, and so may use what is
  // not safe to share: spawning CHECK-fails unless the spawner is that of a
  // LocalExecutor (or a current-thread runtime) whose thread this is.
  SpawnBuilder& Local() {
    local_ = true;
    return *this;
  }

  // As Spawner::Spawn and Spawner::SpawnBorrowing.
  template <Future F>
  JoinHandle<OutputOf<F>> Spawn(
      F future, SourceLocation at = SourceLocation::current()) const {
    task_internal::CheckNotBorrowing(task_internal::FutureBorrows(future));
    return SpawnBorrowing(std::move(future), at);
  }
  template <class Fn>
    requires(!Future<Fn> && Future<std::invoke_result_t<Fn&>>)
  auto Spawn(Fn fn, SourceLocation at = SourceLocation::current()) const {
    return SpawnBorrowing(InvokeFuture<Fn>(std::move(fn)), at);
  }
  template <Future F>
  JoinHandle<OutputOf<F>> SpawnBorrowing(
      F future, SourceLocation at = SourceLocation::current()) const {
    return FindSpawner().SpawnBorrowing(std::move(future), Extras(), at);
  }
  template <class Fn>
    requires(!Future<Fn> && Future<std::invoke_result_t<Fn&>>)
  auto SpawnBorrowing(Fn fn,
                      SourceLocation at = SourceLocation::current()) const {
    return SpawnBorrowing(InvokeFuture<Fn>(std::move(fn)), at);
  }

  // As weft::SpawnBlocking; On and Local have no meaning for a blocking job.
  template <class Fn>
  auto SpawnBlocking(Fn fn, OffloadLane lane = OffloadLane::kGeneral) const {
    return Environment::CurrentOffload().Run(lane, std::move(fn), Extras());
  }

  // The name and the inherited values, for one Runnable::SetExtras().
  TaskExtrasPtr Extras() const;

 private:
  Spawner& FindSpawner() const;

  std::string name_;
  bool inherit_locals_ = false;
  bool local_ = false;
  Spawner* spawner_ = nullptr;
};

}  // namespace weft

#endif  // WEFT_TASK_SPAWN_BUILDER_H_
