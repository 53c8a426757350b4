// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Algorithm. The three flags and the queue change together, under the mutex.
// That no wake is lost is one invariant: while the future has reason to be
// polled and nobody polls it, no copy sleeps. It holds at first, with an empty
// queue; whoever sets woken_ empties the queue and wakes all that were in it,
// or leaves that to the copy that polls, which does the same when it has ended
// without the output; and a copy that comes later takes the turn instead of
// queueing. So it needs no copy in particular to go on, and to drop one never
// has to be made up for.

#include "weft/select/shared_core.h"

#include <mutex>
#include <utility>

#include "weft/sync/wait_queue.h"
#include "weft/task/context.h"
#include "weft/task/waker.h"

namespace weft::select_internal {

using sync_internal::WaitNode;
using sync_internal::WakeBatch;

const WakerVTable SharedCore::kWaker = {
    .clone =
        [](void* data) {
          static_cast<SharedCore*>(data)->Ref();
          return Waker(&SharedCore::kWaker, data);
        },
    .wake =
        [](void* data) {
          auto* const core = static_cast<SharedCore*>(data);
          core->Wake();
          core->Unref();
        },
    .wake_by_ref = [](void* data) { static_cast<SharedCore*>(data)->Wake(); },
    .drop = [](void* data) { static_cast<SharedCore*>(data)->Unref(); },
};

SharedCore::Turn SharedCore::Begin(WaitNode& node, Context& cx) {
  // The old waker ends up in here and is dropped after the mutex is released.
  Waker fresh;
  for (bool have_fresh = false;; have_fresh = true) {
    {
      const std::lock_guard lock(mutex_);
      const bool turn = woken_ && !polling_;
      if (done_ || turn) {
        Remove(node);
        std::swap(node.waker, fresh);
        if (done_) return Turn::kDone;
        woken_ = false;
        polling_ = true;
        return Turn::kPoll;
      }
      const bool queued = node.state == WaitNode::kQueued;
      if (queued && node.waker.WillWake(cx.waker())) return Turn::kWait;
      if (have_fresh) {
        node.polled = true;
        std::swap(node.waker, fresh);
        if (!queued) waits_.PushBack(node);
        return Turn::kWait;
      }
    }
    fresh = cx.waker();
  }
}

void SharedCore::EndPending(WaitNode& node, Context& cx) {
  Waker fresh = cx.waker();
  WakeBatch wakers;
  {
    std::unique_lock lock(mutex_);
    wakers.Reserve(lock, [&] { return waits_.size(); });
    polling_ = false;
    if (!woken_) {
      node.polled = true;
      std::swap(node.waker, fresh);
      waits_.PushBack(node);
      return;
    }
    wakers.AddAll(waits_);
  }
  wakers.WakeAll();
  std::move(fresh).Wake();
}

void SharedCore::EndDone() {
  WakeBatch wakers;
  {
    std::unique_lock lock(mutex_);
    wakers.Reserve(lock, [&] { return waits_.size(); });
    polling_ = false;
    done_ = true;
    wakers.AddAll(waits_);
  }
  wakers.WakeAll();
}

void SharedCore::Wake() {
  WakeBatch wakers;
  {
    std::unique_lock lock(mutex_);
    wakers.Reserve(lock, [&] { return waits_.size(); });
    if (done_) return;
    woken_ = true;
    if (polling_) return;
    wakers.AddAll(waits_);
  }
  wakers.WakeAll();
}

void SharedCore::Leave(WaitNode& node) {
  if (!node.polled) return;
  Waker old;  // dropped after the mutex is released
  const std::lock_guard lock(mutex_);
  Remove(node);
  std::swap(node.waker, old);
}

void SharedCore::Unref() {
  // Release: our use of the core; acquire: the last one sees all others'.
  if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

void SharedCore::Remove(WaitNode& node) {
  if (node.state == WaitNode::kQueued) waits_.Remove(node);
  node.state = WaitNode::kIdle;
  node.polled = false;
}

}  // namespace weft::select_internal
