// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// BlockInPlace: lets a task block its thread without holding up others.
//
//   int n = BlockInPlace([&] { return ReadWithTheOldLibrary(file); });
//
// Calls fn() on the calling thread and returns what it returns. Before, what
// the thread has to run is given to other runners of its Executor, and a thread
// of the environment's Offload takes its place in the driver, so that its
// sockets and timers are served meanwhile. Inside, blocking is allowed: BlockOn,
// locks, system calls. Unlike SpawnBlocking, fn may use the task's own variables
// by reference, and nothing is allocated for its result. It costs tens of
// microseconds; other branches of the same task wait as long as fn does.
//
// After fn() the task goes on at once. The thread gets its driver back once the
// one that stood in has finished its current poll, and runs tasks until then. So
// Executor::Run() returns only after that poll, even if its future is ready: what
// a task blocks for must not be something that is done after Run().
//
// Without an Offload, or where that has no thread left, fn() runs all the same,
// and the thread's own sockets and timers wait for it; so do the executor's tasks,
// if no other thread is in Run(). A BlockingPool keeps one thread for jobs that fn
// may wait for; if it has only that one, fn must not wait for a job. Nor may it
// ever wait for a task of the strand that the caller runs in.
//
// On a thread that may block it calls fn() and nothing more. CHECK-fails on a
// thread that is not in Executor::Run(), so in a task of a LocalExecutor (or a
// current-thread runtime) and of one driven by Ticks, whose other tasks nobody
// else could run: use SpawnBlocking there. Where such an executor is itself
// driven by a task of an Executor, its other tasks wait.
//
// Thread safety: any thread. Exceptions of fn pass through.
#ifndef WEFT_EXECUTOR_BLOCK_IN_PLACE_H_
#define WEFT_EXECUTOR_BLOCK_IN_PLACE_H_

#include <optional>
#include <type_traits>
#include <utility>

#include "weft/executor/place_loan.h"
#include "weft/task/blocking_check.h"

namespace weft {

template <class Fn>
std::invoke_result_t<Fn&> BlockInPlace(Fn fn) {
  std::optional<executor_internal::PlaceLoan> loan;
  if (!task_internal::MayBlock()) loan.emplace();
  const task_internal::MayBlockScope may_block;
  return fn();
}

}  // namespace weft

#endif  // WEFT_EXECUTOR_BLOCK_IN_PLACE_H_
