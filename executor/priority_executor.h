// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// PriorityExecutor: tasks of several levels, over any spawner.
//
// Level 0 is the highest. When a thread of the spawner below is free for one of
// these tasks, it polls the best that is ready then:
//   - strict: one of the highest level; low ones starve while high ones are
//     busy;
//   - weighted: levels that are ready share the polls in the proportion of
//     their weights; none starves.
// Within a level it is the one that was spawned or woken first. A poll that has
// begun is not interrupted. weft::Spawn() inside a task spawns on its level.
//
//   PriorityExecutor tasks(executor.spawner(),
//                          PriorityExecutorOptions().Strict(2));
//   JoinHandle<Page> page = tasks.Spawn(0, Render(request));
//   tasks.Spawn(1, CollectGarbage()).Detach();
//
// Priorities hold among these tasks; beside others of the spawner below they
// are ordinary ones. It has tasks there while it has unfinished tasks, and none
// else.
//
// Thread safety: all methods from any thread. Copies are the same executor.
// Lifetime: the spawner below outlives spawning here. Tasks, handles and wakers
// do not need this object: without it tasks go on.
// Dropping: when the spawner below destroys its tasks, these tasks are
// destroyed on that thread, and what is spawned later is destroyed unrun.
#ifndef WEFT_EXECUTOR_PRIORITY_EXECUTOR_H_
#define WEFT_EXECUTOR_PRIORITY_EXECUTOR_H_

#include <memory>
#include <utility>
#include <vector>

#include "weft/executor/pump_core.h"
#include "weft/executor/task_dump.h"
#include "weft/task/check.h"
#include "weft/task/future.h"
#include "weft/task/join_handle.h"
#include "weft/task/source_location.h"
#include "weft/task/spawner.h"

namespace weft {

// By default two strict levels.
class PriorityExecutorOptions {
 public:
  // `n` levels, at least 1, in strict order.
  PriorityExecutorOptions& Strict(int n) {
    strict_levels_ = n;
    weights_.clear();
    return *this;
  }
  // A level per weight, from 1 to 65536: with {3, 1}, while both are ready,
  // three polls of level 0 to one of level 1.
  PriorityExecutorOptions& Weighted(std::vector<int> weights) {
    strict_levels_ = 0;
    weights_ = std::move(weights);
    return *this;
  }
  // How many of the tasks may be polled at the same time; at least 1. More than
  // the spawner below has threads gain nothing. By default the number of the
  // machine's processors.
  PriorityExecutorOptions& Parallelism(int n) {
    WEFT_CHECK(n >= 1, "Parallelism() needs at least one task at a time");
    parallelism_ = n;
    return *this;
  }

 private:
  friend class PriorityExecutor;

  int strict_levels_ = 2;
  std::vector<int> weights_;
  int parallelism_ = 0;  // the default
};

class PriorityExecutor {
 public:
  explicit PriorityExecutor(
      Spawner& below,
      const PriorityExecutorOptions& options = PriorityExecutorOptions());

  int levels() const { return static_cast<int>(core().levels()); }

  // Starts running a future, or what a function returns; see Spawner.
  template <class F>
  auto Spawn(int level, F future_or_fn,
             SourceLocation at = SourceLocation::current()) const {
    return spawner(level).Spawn(std::move(future_or_fn), at);
  }
  template <class F>
  auto SpawnBorrowing(int level, F future_or_fn,
                      SourceLocation at = SourceLocation::current()) const {
    return spawner(level).SpawnBorrowing(std::move(future_or_fn), at);
  }
  template <class Range>
  auto SpawnMany(int level, Range&& futures_or_fns,
                 SourceLocation at = SourceLocation::current()) const {
    return spawner(level).SpawnMany(std::forward<Range>(futures_or_fns), at);
  }
  // Its live tasks, of which the dump of the executor below shows none; see
  // executor/task_dump.h. Any thread.
  TaskDump Dump() const { return core().Dump(); }

  // Lives as long as a copy of the executor or an unfinished task of it.
  // CHECK-fails for a level that does not exist.
  Spawner& spawner(int level) const;

 private:
  executor_internal::PumpCore& core() const {
    WEFT_CHECK(core_ != nullptr,
               "this PriorityExecutor was moved from; use the one that it was "
               "moved to");
    return *core_;
  }

  std::shared_ptr<executor_internal::PumpCore> core_;
};

}  // namespace weft

#endif  // WEFT_EXECUTOR_PRIORITY_EXECUTOR_H_
