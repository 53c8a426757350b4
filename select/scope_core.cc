// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Algorithm. A poll takes the list of the woken and polls each of them once. If
// one has ended, whoever awaits it is woken by now, and the list is taken again,
// as it is if one was added: so results and new children need no other turn of
// the scheduler, and a child that wakes itself is polled again no more often than
// children begin and end. Since each of them may start the next one, there is a
// bound to that. Whoever is in the list when the poll ends makes it ask for another
// one.
//
// No wake is lost: a wake before the poll is in the list that the poll takes; one
// during the poll is in the list at its end; one after it finds the parent's
// waker, which the poll has left under the mutex before.
#include "weft/select/scope_core.h"

#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <utility>

#include "weft/select/caught_poll.h"
#include "weft/task/await_trace.h"
#include "weft/task/context.h"
#include "weft/task/waker.h"

namespace weft::select_internal {

const WakerVTable ScopeChild::kVTable = {
    .clone =
        [](void* data) {
          static_cast<ScopeChild*>(data)->Ref();
          return Waker(&kVTable, data);
        },
    .wake =
        [](void* data) {
          auto* child = static_cast<ScopeChild*>(data);
          child->core_->Wake(*child);
          child->Unref();
        },
    .wake_by_ref =
        [](void* data) {
          auto* child = static_cast<ScopeChild*>(data);
          child->core_->Wake(*child);
        },
    .drop = [](void* data) { static_cast<ScopeChild*>(data)->Unref(); },
};

void ScopeChild::Unref() {
  // Acquire-release: the last one sees every use before destroying.
  if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

bool ScopeChild::PollDone(const Waker& waker) {
  // The old one ends up in here and is dropped after the mutex is released.
  Waker fresh = waker;
  std::lock_guard lock(core_->mutex_);
  if (done_) return true;
  std::swap(awaiter_, fresh);
  return false;
}

void ScopeCore::Unref() {
  // Acquire-release: as above.
  if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

void ScopeCore::Add(task_internal::CountedRef<ScopeChild> child, bool is_body) {
  if (dropped_) {
    child->DropFuture();
    std::lock_guard lock(mutex_);
    child->done_ = true;
    return;
  }
  child->Ref();  // of the list
  child->previous_ = is_body ? nullptr : last_;
  child->next_ = is_body ? first_ : nullptr;
  (child->previous_ != nullptr ? child->previous_->next_ : first_) =
      child.get();
  (child->next_ != nullptr ? child->next_->previous_ : last_) = child.get();
  added_ = true;
  Wake(*child);
}

void ScopeCore::Wake(ScopeChild& child) {
  Waker parent;
  {
    std::lock_guard lock(mutex_);
    if (child.done_ || child.woken_) return;
    child.woken_ = true;
    child.Ref();
    child.next_woken_ = nullptr;
    (woken_.first != nullptr ? woken_.last->next_woken_ : woken_.first) =
        &child;
    woken_.last = &child;
    if (!polling_) std::swap(parent, parent_);
  }
  std::move(parent).Wake();
}

ScopeCore::WokenList ScopeCore::TakeWoken() {
  std::lock_guard lock(mutex_);
  polling_ = true;
  return std::exchange(woken_, WokenList());
}

void ScopeCore::PutBack(WokenList batch) {
  std::lock_guard lock(mutex_);
  batch.last->next_woken_ = woken_.first;
  if (woken_.first == nullptr) woken_.last = batch.last;
  woken_.first = batch.first;
}

bool ScopeCore::PollAll(Context& cx, std::exception_ptr& exception) {
  WokenList batch = TakeWoken();
  // Nobody else touches parent_ while this polls.
  if (!parent_.WillWake(cx.waker())) {
    Waker fresh = cx.waker();
    std::lock_guard lock(mutex_);
    std::swap(parent_, fresh);
  }
  size_t polls = 0;
  for (bool goes_on = true; goes_on;) {
    added_ = false;
    const bool ended = PollBatch(cx, batch, polls, exception);
    goes_on = (ended || added_) && exception == nullptr && polls < kMaxPolls;
    if (goes_on) batch = TakeWoken();
  }
  if (exception != nullptr) DropAll();
  bool woken;
  {
    std::lock_guard lock(mutex_);
    polling_ = false;
    woken = woken_.first != nullptr;
  }
  if (first_ == nullptr) return true;
  if (woken) cx.waker().WakeByRef();
  return false;
}

bool ScopeCore::PollBatch(Context& cx, WokenList batch, size_t& polls,
                          std::exception_ptr& exception) {
  bool ended = false;
  while (batch.first != nullptr) {
    if (polls == kMaxPolls) {
      PutBack(batch);
      break;
    }
    const task_internal::CountedRef<ScopeChild> child(batch.first);
    {
      // From now on it may be woken again, and so be linked elsewhere.
      std::lock_guard lock(mutex_);
      batch.first = child->next_woken_;
      child->woken_ = false;
    }
    if (exception != nullptr || child->done_) continue;
    ++polls;
    const BorrowedWaker waker(&ScopeChild::kVTable, child.get());
    Context inner = cx.WithWaker(waker.get()).WithPromptness(cx.IsPrompt());
    bool ready = false;
    exception = CaughtPoll([&] { ready = child->PollFuture(inner); });
    if (!ready && exception == nullptr) continue;
    child->DropFuture();
    Remove(*child);
    ended = true;
  }
  return ended;
}

void ScopeCore::Remove(ScopeChild& child) {
  (child.previous_ != nullptr ? child.previous_->next_ : first_) = child.next_;
  (child.next_ != nullptr ? child.next_->previous_ : last_) = child.previous_;
  Waker awaiter;
  {
    std::lock_guard lock(mutex_);
    child.done_ = true;
    std::swap(awaiter, child.awaiter_);
  }
  child.Unref();
  std::move(awaiter).Wake();
}

void ScopeCore::DropAll() {
  dropped_ = true;
  while (last_ != nullptr) {
    const task_internal::CountedRef<ScopeChild> child(last_);
    child->Ref();
    child->DropFuture();
    Remove(*child);
  }
  Waker parent;
  {
    std::lock_guard lock(mutex_);
    std::swap(parent, parent_);
  }
  for (ScopeChild* child = TakeWoken().first; child != nullptr;) {
    ScopeChild* const next = child->next_woken_;
    child->Unref();
    child = next;
  }
}

void ScopeCore::Trace(AwaitTrace& trace) const {
  for (const ScopeChild* child = first_; child != nullptr;
       child = child->next_) {
    child->Trace(trace);
  }
}

}  // namespace weft::select_internal
