// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Algorithm. A new waiter is given its permits where it stands if nobody waits
// and there are enough; else it queues. Permits that come back, and a waiter
// that leaves, may satisfy the head of the queue, then the next one, and so on:
// Distribute. A notified waiter owns its permits already, so dropping it gives
// them back.
#include "weft/sync/semaphore.h"

#include <cstddef>
#include <mutex>
#include <utility>

#include "absl/status/statusor.h"
#include "weft/sync/wait_queue.h"
#include "weft/task/block_on.h"
#include "weft/task/check.h"
#include "weft/task/context.h"
#include "weft/task/polled.h"
#include "weft/task/status.h"

namespace weft::sync {

using sync_internal::WaitNode;

Semaphore::~Semaphore() {
  // Whoever gave back the last permit may still be inside.
  std::lock_guard lock(mutex_);
  WEFT_CHECK(waiters_.IsEmpty(),
             "a Semaphore was destroyed while something waits for it");
}

absl::StatusOr<Semaphore::Permit> Semaphore::BlockingAcquire(size_t count) {
  return task_internal::BlockFor("Semaphore::BlockingAcquire()",
                                 AcquireMany(count));
}

absl::StatusOr<Semaphore::Permit> Semaphore::TryAcquire(size_t count) {
  std::lock_guard lock(mutex_);
  if (closed_) return ClosedStatus();
  if (!waiters_.IsEmpty() || available_ < count) {
    return RefusedStatus();
  }
  available_ -= count;
  return Permit(this, count);
}

void Semaphore::AddPermits(size_t count) {
  Distribute(std::unique_lock(mutex_), count);
}

void Semaphore::Close() {
  sync_internal::WakeBatch wakers;
  std::unique_lock lock(mutex_);
  wakers.Reserve(lock, [&] { return waiters_.size(); });
  closed_ = true;
  while (!waiters_.IsEmpty()) {
    wakers.Add(waiters_.NotifyFront(WaitNode::kReleased));
  }
  lock.unlock();
  wakers.WakeAll();
}

bool Semaphore::IsClosed() const {
  std::lock_guard lock(mutex_);
  return closed_;
}

size_t Semaphore::AvailablePermits() const {
  std::lock_guard lock(mutex_);
  return available_;
}

Semaphore::Acquired Semaphore::PollWait(Waiter& waiter, Context& cx) {
  bool closed = false;
  const bool finished =
      sync_internal::PollWait(mutex_, waiters_, waiter, cx, [&] {
        if (waiter.state == WaitNode::kIdle && !closed_ && waiters_.IsEmpty() &&
            waiter.count <= available_) {
          available_ -= waiter.count;
          waiter.state = WaitNode::kNotified;
        }
        closed = closed_ && waiter.state != WaitNode::kNotified;
        return closed || waiter.state == WaitNode::kNotified;
      });
  if (!finished) return Acquired::kNotYet;
  return closed ? Acquired::kClosed : Acquired::kPermits;
}

void Semaphore::DropWait(Waiter& waiter) {
  std::unique_lock lock(mutex_);
  const bool has_permits = waiter.state == WaitNode::kNotified;
  if (waiter.state == WaitNode::kQueued) waiters_.Remove(waiter);
  Distribute(std::move(lock), has_permits ? waiter.count : 0);
}

// How many of the first waiters `permits` are enough for.
size_t Semaphore::CountServed(size_t permits) const {
  size_t served = 0;
  for (const WaitNode* node = waiters_.front(); node != nullptr;
       node = node->next) {
    const size_t needed = static_cast<const Waiter*>(node)->count;
    if (needed > permits) break;
    permits -= needed;
    ++served;
  }
  return served;
}

void Semaphore::Distribute(std::unique_lock<std::mutex> lock, size_t count) {
  sync_internal::WakeBatch wakers;
  wakers.Reserve(lock, [&] { return CountServed(available_ + count); });
  WEFT_CHECK(count <= kMaxPermits - available_,
             "a Semaphore was given more than kMaxPermits");
  available_ += count;
  while (!waiters_.IsEmpty()) {
    const size_t needed = static_cast<Waiter*>(waiters_.front())->count;
    if (needed > available_) break;
    available_ -= needed;
    wakers.Add(waiters_.NotifyFront());
  }
  lock.unlock();
  wakers.WakeAll();
}

Polled<absl::StatusOr<Semaphore::Permit>> Semaphore::AcquireFuture::Poll(
    Context& cx) {
  switch (semaphore_.PollWait(waiter_, cx)) {
    case Acquired::kNotYet:
      break;
    case Acquired::kPermits:
      return Output(Permit(&semaphore_, waiter_.count));
    case Acquired::kClosed:
      return Output(ClosedStatus());
  }
  return kPending;
}

}  // namespace weft::sync
