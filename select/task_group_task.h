// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// GroupTask and LimitedTask: what a TaskGroup spawns around a user's future.
//
// A GroupTask puts the output of its future, or what that throws, into the
// entry of its task; where it is dropped before, because the task was cancelled
// or never ran, the entry says so. The future is gone by then. A LimitedTask
// waits for a permit of the group first. Internal.
//
// Thread safety: one thread at a time.
#ifndef WEFT_SELECT_TASK_GROUP_TASK_H_
#define WEFT_SELECT_TASK_GROUP_TASK_H_

#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "weft/select/caught_poll.h"
#include "weft/select/task_group_core.h"
#include "weft/sync/semaphore.h"
#include "weft/task/await_trace.h"
#include "weft/task/borrow.h"
#include "weft/task/context.h"
#include "weft/task/future.h"
#include "weft/task/outcome.h"
#include "weft/task/polled.h"
#include "weft/task/status.h"

namespace weft::select_internal {

// What a key is kept as where there is none.
struct NoKey {};
template <class Key>
using KeyOrNone = std::conditional_t<std::is_void_v<Key>, NoKey, Key>;

// The entry of a task whose output is a T.
template <class T, class Key>
struct TypedGroupEntry final : GroupEntry {
  explicit TypedGroupEntry(KeyOrNone<Key> key) : key(std::move(key)) {}

  void SetOutput(StoredOf<T> output) {
    if constexpr (std::is_same_v<T, absl::Status>) {
      status = output;
    } else if constexpr (std::is_same_v<OutcomeOf<T>, T>) {  // a StatusOr
      status = output.status();
    }
    value.emplace(std::move(output));
  }

  [[no_unique_address]] KeyOrNone<Key> key;
  std::optional<StoredOf<T>> value;
};

template <Future F, class Entry>
class GroupTask {
 public:
  using Output = void;

  // Gives `entry` back to `core` at the end.
  GroupTask(TaskGroupRef core, Entry& entry, F future)
      : core_(std::move(core)), entry_(&entry), future_(std::move(future)) {}
  GroupTask(GroupTask&& other) noexcept
      : core_(std::move(other.core_)),
        entry_(std::exchange(other.entry_, nullptr)),
        future_(std::move(other.future_)) {}
  GroupTask& operator=(GroupTask&&) = delete;
  ~GroupTask() {
    if (entry_ == nullptr) return;
    future_.reset();
    entry_->status = CancelledStatus();
    Finish();
  }

  Polled<void> Poll(Context& cx) {
    bool ready = false;
    std::exception_ptr exception = CaughtPoll([&] {
      auto polled = future_->Poll(cx);
      if (polled.IsPending()) return;
      entry_->SetOutput(TakeReady(std::move(polled)));
      ready = true;
    });
    if (!ready && exception == nullptr) return kPending;
    future_.reset();
    if (exception != nullptr) {
      entry_->value.reset();
      entry_->exception = std::move(exception);
    }
    Finish();
    return Unit();
  }

  // Before the end.
  bool IsDetached() const { return core_->IsDetached(*entry_); }

  // See task/await_trace.h.
  void Trace(AwaitTrace& trace) const {
    if (future_.has_value()) TraceFuture(*future_, trace);
  }
  // See task/borrow.h.
  bool Borrows() const {
    return future_.has_value() && task_internal::FutureBorrows(*future_);
  }

 private:
  void Finish() { core_->Finish(*std::exchange(entry_, nullptr)); }

  TaskGroupRef core_;
  Entry* entry_;
  std::optional<F> future_;
};

using GroupPermit = sync::Semaphore::Permit;

template <class Inner>
class LimitedTask {
 public:
  using Output = void;

  // Without a `permit` it gets one by itself.
  LimitedTask(TaskGroupRef core, std::optional<GroupPermit> permit, Inner inner)
      : core_(std::move(core)),
        has_turn_(permit.has_value()),
        permit_(std::move(permit)),
        inner_(std::move(inner)) {}

  Polled<void> Poll(Context& cx) {
    if (!has_turn_) {
      if (!acquire_.has_value()) acquire_.emplace(core_->permits().Acquire());
      auto acquired = acquire_->Poll(cx);
      if (acquired.IsPending()) return kPending;
      acquire_.reset();
      if (acquired->ok()) {
        permit_.emplace(*std::move(*acquired));
      } else if (!inner_.IsDetached()) {
        // The group is cancelled, and soon this is, too.
        return Unit();
      }
      has_turn_ = true;
    }
    return inner_.Poll(cx);
  }

  // See task/await_trace.h.
  void Trace(AwaitTrace& trace) const {
    if (has_turn_) {
      inner_.Trace(trace);
    } else {
      trace.AddFuture("its turn in a TaskGroup");
    }
  }
  // See task/borrow.h.
  bool Borrows() const { return inner_.Borrows(); }

 private:
  // What comes later is destroyed first.
  TaskGroupRef core_;
  // Also without a permit, if it was detached and the group is cancelled.
  bool has_turn_;
  std::optional<GroupPermit> permit_;
  std::optional<sync::Semaphore::AcquireFuture> acquire_;
  Inner inner_;
};

}  // namespace weft::select_internal

#endif  // WEFT_SELECT_TASK_GROUP_TASK_H_
