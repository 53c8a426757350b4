// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// ConcurrencyLimit: at most so many tasks at a time, over any spawner.
//
// Of its tasks at most `limit` are started and unfinished at any time, however
// long they are suspended; the others wait, unpolled, in the order in which
// they were spawned. Started tasks are polled side by side, as tasks of the
// spawner below. weft::Spawn() inside a task spawns below, outside of the
// limit, so a task may wait for its children.
//
//   ConcurrencyLimit downloads(executor.spawner(), 8);
//   for (const Url& url : urls) downloads.Spawn(Fetch(url)).Detach();
//
// A task that is cancelled before it was started keeps its place, and is
// destroyed when its turn comes. A task that spawns here and waits for that
// occupies its own place meanwhile: with all places taken so, none goes on.
//
// Thread safety: all methods from any thread. Copies are the same limit.
// Lifetime: the spawner below outlives spawning here. Tasks, handles and wakers
// do not need this object: without it tasks go on.
// Dropping: when the spawner below destroys its tasks, these tasks are
// destroyed on that thread, and what is spawned later is destroyed unrun.
#ifndef WEFT_EXECUTOR_CONCURRENCY_LIMIT_H_
#define WEFT_EXECUTOR_CONCURRENCY_LIMIT_H_

#include <cstddef>
#include <memory>
#include <utility>

#include "weft/executor/task_dump.h"
#include "weft/task/future.h"
#include "weft/task/join_handle.h"
#include "weft/task/source_location.h"
#include "weft/task/spawner.h"

namespace weft {

class ConcurrencyLimit {
 public:
  // Requires: limit >= 1.
  ConcurrencyLimit(Spawner& below, int limit);

  // Starts running a future, or what a function returns; see Spawner.
  template <class F>
  auto Spawn(F future_or_fn,
             SourceLocation at = SourceLocation::current()) const {
    return spawner().Spawn(std::move(future_or_fn), at);
  }
  template <class F>
  auto SpawnBorrowing(F future_or_fn,
                      SourceLocation at = SourceLocation::current()) const {
    return spawner().SpawnBorrowing(std::move(future_or_fn), at);
  }
  template <class Range>
  auto SpawnMany(Range&& futures_or_fns,
                 SourceLocation at = SourceLocation::current()) const {
    return spawner().SpawnMany(std::forward<Range>(futures_or_fns), at);
  }
  // Lives as long as a copy of the limit or an unfinished task of it.
  Spawner& spawner() const;

  // Its live tasks, of which the dump of the executor below shows none; see
  // executor/task_dump.h. Any thread.
  TaskDump Dump() const;

  // How many tasks are started and unfinished, and how many wait.
  size_t running() const;
  size_t waiting() const;

 private:
  class Core;

  Core& core() const;

  std::shared_ptr<Core> core_;
};

}  // namespace weft

#endif  // WEFT_EXECUTOR_CONCURRENCY_LIMIT_H_
