// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Strand: tasks that never run at the same time, over any spawner.
//
// Its tasks are polled one after the other, in the order in which they were
// spawned or woken, on whatever threads the spawner below has: what only they
// touch needs no lock. A task keeps the strand during a poll, not across
// co_await. weft::Spawn() inside a task of a strand spawns on the strand.
//
//   Strand strand(executor.spawner());
//   JoinHandle<> a = strand.Spawn(Append(log, "a"));
//   JoinHandle<> b = strand.Spawn(Append(log, "b"));  // no race on *log
//
// A busy strand takes its turn among the tasks of the spawner below after every
// few polls. It has a task there while it has unfinished tasks, and none else.
//
// What one poll did happens before the next poll on the strand.
//
// Thread safety: all methods from any thread. Copies are the same strand.
// Lifetime: the spawner below outlives spawning here. Tasks, handles and wakers
// do not need the Strand: without it tasks go on.
// Dropping: when the spawner below destroys its tasks, the strand's tasks are
// destroyed on that thread, and what is spawned later is destroyed unrun.
#ifndef WEFT_EXECUTOR_STRAND_H_
#define WEFT_EXECUTOR_STRAND_H_

#include <memory>
#include <utility>

#include "weft/executor/level_queue.h"
#include "weft/executor/pump_core.h"
#include "weft/executor/task_dump.h"
#include "weft/task/check.h"
#include "weft/task/future.h"
#include "weft/task/join_handle.h"
#include "weft/task/source_location.h"
#include "weft/task/spawner.h"

namespace weft {

class Strand {
 public:
  explicit Strand(Spawner& below)
      : core_(std::make_shared<executor_internal::PumpCore>(
            below, executor_internal::LevelQueue::Strict(1), 1)) {}

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
  // Its live tasks, of which the dump of the executor below shows none; see
  // executor/task_dump.h. Any thread.
  TaskDump Dump() const { return core().Dump(); }

  // Lives as long as a copy of the strand or an unfinished task of it.
  Spawner& spawner() const { return core().spawner(0); }

 private:
  executor_internal::PumpCore& core() const {
    WEFT_CHECK(core_ != nullptr,
               "this Strand was moved from; use the one that it was moved to");
    return *core_;
  }

  std::shared_ptr<executor_internal::PumpCore> core_;
};

}  // namespace weft

#endif  // WEFT_EXECUTOR_STRAND_H_
