// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// StandIn: a thread of an Offload that takes a runner's place while the
// runner's own thread blocks: it parks in the runner's driver and runs tasks.
// Internal to the executor.
//
// A driver has one thread at a time. So a runner has one stand-in at most: called
// back before it has gone, it stays, or comes again if it is about to leave. The
// runner's thread does without its driver until it has gone. It goes on running
// tasks meanwhile, since what the stand-in runs may wait for one of them.
//
//                             +-----called back-----+
//                             v                     |
//     [wanted] --job starts--> [serving] --told--> [leaving] --left--> [gone]
//         |                       +--no place left----------------------^
//         +--told to stop before its job starts-------------------------+
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

#include "absl/functional/any_invocable.h"
#include "weft/task/atomic_waker.h"
#include "weft/task/context.h"
#include "weft/task/instant.h"
#include "weft/task/join_handle.h"
#include "weft/task/offload.h"

namespace weft::executor_internal {

class StandIn {
 public:
  // `owner_awake` is cleared while somebody serves: the runner's driver needs no
  // other to look after it. It outlives the runner's use of this.
  explicit StandIn(std::atomic<bool>& owner_awake)
      : owner_awake_(owner_awake) {}
  StandIn(const StandIn&) = delete;
  StandIn& operator=(const StandIn&) = delete;

  // Has `offload` call serve(), which is to return when PollStop() is true, and
  // may be called again after that. If the offload refuses, nobody comes.
  static std::shared_ptr<StandIn> Start(
      Offload& offload, std::atomic<bool>& owner_awake,
      absl::AnyInvocable<void(StandIn&)> serve);

  // The stand-in's main future: true when it shall leave.
  bool PollStop(Context& cx);

  // The runner's thread. Tells the stand-in to leave; `owner_awake` is the caller's
  // from here on.
  void Stop();
  // The runner's thread, after Stop(). Calls it back; false if it has gone.
  bool CallBack();
  // Any thread: waits until it has gone; false at the deadline. Requires: Stop()
  // was called.
  bool WaitGone(Instant deadline);

 private:
  enum class State { kWanted, kServing, kLeaving, kGone };

  void Serve(absl::AnyInvocable<void(StandIn&)>& serve);
  bool Begin();
  bool ServeAgain();
  void SetGone();

  std::atomic<bool>& owner_awake_;
  AtomicWaker stop_waker_;

  std::mutex mutex_;  // guards the rest
  std::condition_variable gone_;
  State state_ = State::kWanted;
  bool stopping_ = false;  // the last of Stop() and CallBack() was Stop()
  std::optional<JoinHandle<void>> job_;
};

}  // namespace weft::executor_internal

#endif  // WEFT_EXECUTOR_STAND_IN_H_
