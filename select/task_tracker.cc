// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Algorithm. A wait joins the queue of the event and then looks at the count;
// whoever finishes the tracker changes the count and then empties the queue. The
// event's mutex orders the two: either the wait is found in the queue, or it
// joined after the notification, and so sees the count.
#include "weft/select/task_tracker.h"

#include <limits>
#include <utility>

#include "weft/sync/event.h"
#include "weft/task/check.h"
#include "weft/task/context.h"
#include "weft/task/polled.h"

namespace weft {
namespace {

void NotifyAll(sync::Event& finished) {
  finished.Notify(std::numeric_limits<size_t>::max());
}

}  // namespace

void TaskTracker::Close() {
  if (core_->count.Close()) NotifyAll(core_->finished);
}

TaskTracker::Token::Token(CorePtr core) : core_(std::move(core)) {
  core_->count.Add();
}

TaskTracker::Token::~Token() {
  if (core_ == nullptr) return;
  if (core_->count.Remove()) NotifyAll(core_->finished);
}

Polled<void> TaskTracker::WaitFuture::Poll(Context& cx) {
  WEFT_CHECK(wait_.has_value(), "a future was polled after it was ready");
  // With a spent budget the event might be pending although it has notified.
  if (!cx.HasBudget()) return kPending;
  if (wait_->Poll(cx).IsPending()) {
    if (!core_->count.IsFinished()) return kPending;
    cx.Charge();
  }
  wait_.reset();
  return Unit();
}

}  // namespace weft
