// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// GroupSpawn: a task of a TaskGroup that is not spawned yet. Internal.
//
// Thread safety: one thread at a time.
#ifndef WEFT_SELECT_TASK_GROUP_SPAWN_H_
#define WEFT_SELECT_TASK_GROUP_SPAWN_H_

#include <optional>
#include <type_traits>
#include <utility>

#include "weft/select/task_group_core.h"
#include "weft/select/task_group_task.h"
#include "weft/task/environment.h"
#include "weft/task/future.h"
#include "weft/task/invoke.h"
#include "weft/task/join_handle.h"
#include "weft/task/source_location.h"
#include "weft/task/spawner.h"
#include "weft/task/task_id.h"

namespace weft::select_internal {

template <class T, class Key, Future F>
class GroupSpawn {
 public:
  static_assert(std::is_same_v<OutputOf<F>, T>,
                "all tasks of a TaskGroup<T> have the output type T");

  GroupSpawn(KeyOrNone<Key> key, F future, SourceLocation at)
      : key_(std::move(key)), future_(std::move(future)), at_(at) {}

  // Spawns, once; with a permit if the group has a limit and the caller has one.
  // The task's id, or that of no task if the group is cancelled. `core` is a
  // reference of its own: the task may run at once, and destroy the group.
  TaskId operator()(TaskGroupRef core, std::optional<GroupPermit> permit) {
    auto* entry = new Entry(std::move(key_));
    GroupTask<F, Entry> task(core, *entry, std::move(future_));
    if (!core->BeginSpawn(*entry)) return TaskId();
    SpawnScope scope(core, *entry);
    Spawner& spawner = core->options().spawner != nullptr
                           ? *core->options().spawner
                           : Environment::CurrentSpawner();
    if (core->options().limit == 0) {
      scope.handle.emplace(spawner.Spawn(std::move(task), at_));
    } else {
      scope.handle.emplace(
          spawner.Spawn(LimitedTask<GroupTask<F, Entry>>(
                            core, std::move(permit), std::move(task)),
                        at_));
    }
    return scope.handle->id();
  }

 private:
  using Entry = TypedGroupEntry<T, Key>;

  // Ends the spawning, also by an exception.
  struct SpawnScope {
    SpawnScope(const TaskGroupRef& core, GroupEntry& entry)
        : core(core), entry(entry) {}
    ~SpawnScope() { core->EndSpawn(entry, std::move(handle)); }

    const TaskGroupRef& core;
    GroupEntry& entry;
    std::optional<JoinHandle<>> handle;
  };

  [[no_unique_address]] KeyOrNone<Key> key_;
  F future_;
  SourceLocation at_;
};

template <class T, class Key, class F>
auto MakeGroupSpawn(KeyOrNone<Key> key, F future_or_fn, SourceLocation at) {
  if constexpr (Future<F>) {
    return GroupSpawn<T, Key, F>(std::move(key), std::move(future_or_fn), at);
  } else {
    return GroupSpawn<T, Key, InvokeFuture<F>>(
        std::move(key), InvokeFuture<F>(std::move(future_or_fn)), at);
  }
}

}  // namespace weft::select_internal

#endif  // WEFT_SELECT_TASK_GROUP_SPAWN_H_
