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
    Offload& offload, std::shared_ptr<StandIn> previous,
    absl::AnyInvocable<void(StandIn&)> serve) {
  while (previous != nullptr && previous->IsGone()) {
    previous = previous->previous_;
  }
  auto stand_in = std::make_shared<StandIn>(std::move(previous));
  JoinHandle<void> job = offload.Run(
      OffloadLane::kStandIn, [stand_in, serve = std::move(serve)]() mutable {
        if (stand_in->previous_ != nullptr) {
          stand_in->previous_->WaitGone(Instant::Infinite());
        }
        if (!stand_in->Begin()) return;
        struct Leave {
          StandIn& stand_in;
          ~Leave() { stand_in.SetGone(); }
        } leave{*stand_in};
        serve(*stand_in);
      });
  const std::lock_guard lock(stand_in->mutex_);
  stand_in->job_ = std::move(job);
  return stand_in;
}

bool StandIn::PollStop(Context& cx) {
  stop_waker_.Register(cx.waker());
  // Sequentially consistent, as the store: the waker or the flag is seen.
  return stopping_.load();
}

void StandIn::Stop() {
  stopping_.store(true);
  stop_waker_.Wake();
  std::optional<JoinHandle<void>> job;  // a job not begun goes with its handle
  const std::lock_guard lock(mutex_);
  std::swap(job, job_);
  if (state_ == State::kWanted) state_ = State::kGone;
  gone_.notify_all();
}

bool StandIn::IsGone() {
  const std::lock_guard lock(mutex_);
  return state_ == State::kGone;
}

bool StandIn::WaitGone(Instant deadline) {
  if (previous_ != nullptr && !previous_->WaitGone(deadline)) return false;
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
  state_ = State::kRunning;
  return true;
}

void StandIn::SetGone() {
  const std::lock_guard lock(mutex_);
  state_ = State::kGone;
  gone_.notify_all();
}

}  // namespace weft::executor_internal
