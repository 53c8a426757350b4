// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Offload: where work that blocks is done.
//
// System calls that block, name lookups, long computations: they are handed to
// an Offload (a pool of threads, usually) so that the threads that poll tasks
// stay free. Each job names a lane, so that one kind of work cannot starve
// another.
//
//   int n = co_await SpawnBlocking([] { return Fibonacci(40); });
//
// Thread safety: all methods from any thread.
// Dropping: the handle of a job that has not started drops the job, at once where
// the Offload supports that (BlockingPool does); one that is running finishes,
// and its result is discarded.
#ifndef WEFT_TASK_OFFLOAD_H_
#define WEFT_TASK_OFFLOAD_H_

#include <memory>
#include <type_traits>
#include <utility>

#include "weft/task/blocking_check.h"
#include "weft/task/context.h"
#include "weft/task/environment.h"
#include "weft/task/instant.h"
#include "weft/task/join_handle.h"
#include "weft/task/polled.h"
#include "weft/task/runnable.h"
#include "weft/task/task_identity.h"

namespace weft {

// The kinds of work that must not starve each other.
enum class OffloadLane {
  kGeneral,  // the user's own blocking work
  kFile,     // file system calls
  kName,     // name lookups, which may hang for a long time
  kStandIn,  // running tasks for a thread that is in BlockInPlace()
};
inline constexpr int kOffloadLanes = 4;

// What an Offload keeps in each of its jobs. The fields after `lane` belong to
// it alone.
struct OffloadJob {
  // Where a job waits, as its handle sees it.
  class Queue {
   public:
    virtual ~Queue() = default;
    // The handle was dropped or cancelled: destroys the job if it still waits.
    // Called by the thread that does so.
    virtual void GiveUp(OffloadJob& job) = 0;
  };

  static constexpr bool kIsJob = true;  // and so called in messages

  explicit OffloadJob(OffloadLane lane) : lane(lane) {}
  // Called by the task (see runnable.h).
  void OnCancel() {
    if (queue != nullptr) queue->GiveUp(*this);
  }

  OffloadLane lane;
  std::shared_ptr<Queue> queue;  // set in Submit(), if at all
  bool waiting = false;          // for its turn
  void* raw = nullptr;           // Runnable<OffloadJob>::IntoRaw(), in a list
  OffloadJob* next = nullptr;
  OffloadJob* previous = nullptr;
  Instant since;
};

class Offload {
 public:
  virtual ~Offload() = default;

  // Runs `job` where blocking is allowed. If it never will, destroys it, and its
  // handle's Outcome() says so: ResourceExhausted where there is no room for it
  // (Runnable::Refuse), Cancelled where the Offload is shut down.
  virtual void Submit(Runnable<OffloadJob> job) = 0;

  // Runs fn() as a job of `lane`. The handle gives what it returns or throws;
  // awaiting it CHECK-fails for a job that was destroyed unrun, so where that may
  // happen await std::move(handle).Outcome(). `extras` come from SpawnBuilder
  // (task/spawn_builder.h).
  template <class Fn>
  JoinHandle<std::invoke_result_t<Fn&>> Run(OffloadLane lane, Fn fn,
                                            TaskExtrasPtr extras = nullptr);
};

namespace task_internal {

// Calls a function once.
template <class Fn>
class CallFuture {
 public:
  using Output = std::invoke_result_t<Fn&>;

  explicit CallFuture(Fn fn) : fn_(std::move(fn)) {}

  Polled<Output> Poll(Context&) {
    const MayBlockScope may_block;
    if constexpr (std::is_void_v<Output>) {
      fn_();
      return Unit();
    } else {
      return fn_();
    }
  }

 private:
  Fn fn_;
};

}  // namespace task_internal

template <class Fn>
JoinHandle<std::invoke_result_t<Fn&>> Offload::Run(OffloadLane lane, Fn fn,
                                                   TaskExtrasPtr extras) {
  auto spawned = SpawnOn(
      task_internal::CallFuture<Fn>(std::move(fn)),
      // A job is never suspended, so nobody wakes it.
      [](Runnable<OffloadJob> job) { static_cast<void>(job); },
      OffloadJob(lane));
  spawned.runnable.SetExtras(std::move(extras));
  Submit(std::move(spawned.runnable));
  return std::move(spawned.handle);
}

// Runs fn(), which may block, on the current environment's Offload, else on the
// default runtime's; CHECK-fails where there is neither.
template <class Fn>
JoinHandle<std::invoke_result_t<Fn&>> SpawnBlocking(
    Fn fn, OffloadLane lane = OffloadLane::kGeneral) {
  return Environment::CurrentOffload().Run(lane, std::move(fn));
}

}  // namespace weft

#endif  // WEFT_TASK_OFFLOAD_H_
