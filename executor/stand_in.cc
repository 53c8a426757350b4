// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/executor/stand_in.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "weft/executor/steady_deadline.h"
#include "weft/task/context.h"
#include "weft/task/instant.h"
#include "weft/task/join_handle.h"
#include "weft/task/offload.h"

namespace weft::executor_internal {

std::shared_ptr<StandIn> StandIn::Start(
    Offload& offload, std::atomic<bool>& owner_awake,
    absl::AnyInvocable<void(StandIn&)> serve) {
  auto stand_in = std::make_shared<StandIn>(owner_awake);
  JoinHandle<void> job = offload.Run(
      OffloadLane::kStandIn, [stand_in, serve = std::move(serve)]() mutable {
        stand_in->Serve(serve);
      });
  const std::lock_guard lock(stand_in->mutex_);
  stand_in->job_ = std::move(job);
  return stand_in;
}

// The job.
void StandIn::Serve(absl::AnyInvocable<void(StandIn&)>& serve) {
  if (!Begin()) return;
  struct Leave {
    StandIn& stand_in;
    ~Leave() { stand_in.SetGone(); }
  } leave{*this};
  do {
    serve(*this);
  } while (ServeAgain());
}

bool StandIn::PollStop(Context& cx) {
  // Before the look: Stop() finds the waker, or this sees that it was called.
  stop_waker_.Register(cx.waker());
  const std::lock_guard lock(mutex_);
  if (!stopping_) {
    owner_awake_.store(false);
    return false;
  }
  state_ = State::kLeaving;
  return true;
}

void StandIn::Stop() {
  std::optional<JoinHandle<void>> job;  // a job not begun goes with its handle
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    std::swap(job, job_);
    if (state_ == State::kWanted) state_ = State::kGone;
  }
  stop_waker_.Wake();
}

bool StandIn::CallBack() {
  const std::lock_guard lock(mutex_);
  if (state_ == State::kGone) return false;
  stopping_ = false;
  return true;
}

bool StandIn::WaitGone(Instant deadline) {
  const auto is_gone = [this] { return state_ == State::kGone; };
  std::unique_lock lock(mutex_);
  if (deadline.IsInfinite()) {
    gone_.wait(lock, is_gone);
    return true;
  }
  return gone_.wait_until(lock, SteadyDeadline(deadline), is_gone);
}

bool StandIn::Begin() {
  const std::lock_guard lock(mutex_);
  if (state_ != State::kWanted) return false;
  state_ = State::kServing;
  return true;
}

// After serve(): true if it has been called back since it was told to leave. A
// serve() that returned for another reason would do so again.
bool StandIn::ServeAgain() {
  const std::lock_guard lock(mutex_);
  if (state_ != State::kLeaving || stopping_) {
    state_ = State::kGone;  // from here on CallBack() is false
    return false;
  }
  state_ = State::kServing;
  return true;
}

void StandIn::SetGone() {
  const std::lock_guard lock(mutex_);
  state_ = State::kGone;
  // Where its run has ended by itself, as the driver threw, others look after it.
  if (!stopping_) owner_awake_.store(true);
  gone_.notify_all();
}

}  // namespace weft::executor_internal
