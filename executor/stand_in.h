// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// StandIn: a thread of an Offload that takes a runner's place while the
// runner's own thread blocks: it parks in the runner's driver and runs tasks.
// Internal to the executor.
//
// A driver has one thread at a time. So a stand-in first waits until the one
// before it, of the same runner, has gone; and the runner's thread does without
// its driver until the last one has. It goes on running tasks meanwhile, since
// what the stand-in runs may wait for one of them.
//
//     [wanted] --job starts--> [running] --told to stop, poll over--> [gone]
//         +--told to stop before that-------------------------------->
//
// Thread safety: as said at each member.
// Lifetime: shared by the runner and the job.
#ifndef WEFT_EXECUTOR_STAND_IN_H_
#define WEFT_EXECUTOR_STAND_IN_H_

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "weft/task/atomic_waker.h"
#include "weft/task/context.h"
#include "weft/task/instant.h"
#include "weft/task/join_handle.h"
#include "weft/task/offload.h"

namespace weft::executor_internal {

class StandIn {
 public:
  explicit StandIn(std::shared_ptr<StandIn> previous)
      : previous_(std::move(previous)) {}
  StandIn(const StandIn&) = delete;
  StandIn& operator=(const StandIn&) = delete;

  // Has `offload` call serve(), once `previous` (stopped, or null) has gone.
  // serve() is to return when PollStop() is true. If the offload refuses, nobody
  // comes.
  static std::shared_ptr<StandIn> Start(
      Offload& offload, std::shared_ptr<StandIn> previous,
      absl::AnyInvocable<void(StandIn&)> serve);

  // The stand-in's main future: true when it shall leave.
  bool PollStop(Context& cx);

  // The runner's thread. Tells the stand-in to leave.
  void Stop();
  // Any thread: waits until it and those before it are gone; false at the
  // deadline. Requires: Stop() was called, or will be.
  bool WaitGone(Instant deadline);

 private:
  enum class State { kWanted, kRunning, kGone };

  bool IsGone();
  bool Begin();
  void SetGone();

  // One that is not gone runs; then this one has not begun.
  const std::shared_ptr<StandIn> previous_;

  std::atomic<bool> stopping_{false};
  AtomicWaker stop_waker_;

  std::mutex mutex_;  // guards the rest
  std::condition_variable gone_;
  State state_ = State::kWanted;
  std::optional<JoinHandle<void>> job_;
};

}  // namespace weft::executor_internal

#endif  // WEFT_EXECUTOR_STAND_IN_H_
