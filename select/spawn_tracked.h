// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// SpawnTracked: spawns in the environment of a poll, for a tracker or none.
// Internal.
//
// Thread safety: any thread.
#ifndef WEFT_SELECT_SPAWN_TRACKED_H_
#define WEFT_SELECT_SPAWN_TRACKED_H_

#include <optional>
#include <utility>

#include "weft/select/task_tracker.h"
#include "weft/task/context.h"
#include "weft/task/environment.h"
#include "weft/task/future.h"
#include "weft/task/join_handle.h"
#include "weft/task/source_location.h"
#include "weft/task/spawner.h"

namespace weft::select_internal {

inline Spawner& SpawnerOf(Context& cx) {
  Spawner* const spawner = cx.Find(&Environment::spawner);
  return spawner != nullptr ? *spawner : Environment::CurrentSpawner();
}

// As Spawner::Spawn(); the task counts if there is a token.
template <Future F>
JoinHandle<OutputOf<F>> SpawnTracked(Spawner& spawner,
                                     std::optional<TaskTracker::Token> token,
                                     F future, SourceLocation at) {
  if (!token.has_value()) return spawner.Spawn(std::move(future), at);
  return spawner.Spawn(TrackedFuture<F>(*std::move(token), std::move(future)),
                       at);
}

}  // namespace weft::select_internal

#endif  // WEFT_SELECT_SPAWN_TRACKED_H_
