// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// TaskTracker: counts tasks that nobody joins, so that their end can be waited
// for.
//
//   TaskTracker connections;
//   while (auto socket = co_await Accept()) {
//     connections.Spawn(Serve(std::move(*socket))).Detach();
//   }
//   connections.Close();
//   co_await connections.Wait();  // all of them are gone
//
// It keeps no results, so one that lives as long as the program does not grow.
// For results, errors and cancelling there is TaskGroup; a CancellationToken
// beside the tracker asks its tasks to stop.
//
// What counts is a Token; Track(future) is a future with one. Wait() ends when
// the tracker is closed and there is no token, or was so at a moment during the
// wait. Closing refuses nothing: tasks may still be added, and are waited for,
// which tasks that spawn others need. What tracked tasks did happens before the
// end of the wait.
//
// A handle: copies mean the same tracker.
//
// Thread safety: all methods from any thread.
// Lifetime: tokens and waits are independent of the tracker.
// Dropping: no effect; the last token of a tracker that nobody has notifies its
// waits.
#ifndef WEFT_SELECT_TASK_TRACKER_H_
#define WEFT_SELECT_TASK_TRACKER_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

#include "weft/select/tracker_count.h"
#include "weft/sync/event.h"
#include "weft/task/await_trace.h"
#include "weft/task/borrow.h"
#include "weft/task/context.h"
#include "weft/task/environment.h"
#include "weft/task/future.h"
#include "weft/task/invoke.h"
#include "weft/task/polled.h"
#include "weft/task/source_location.h"
#include "weft/task/spawner.h"

namespace weft {

template <Future F>
class TrackedFuture;

class TaskTracker {
 public:
  class Token;
  class WaitFuture;

  TaskTracker() : core_(std::make_shared<Core>()) {}

  // What counts as a task as long as it exists.
  Token token() const;

  // A future that is `future`, and counts until it is destroyed.
  template <Future F>
  TrackedFuture<F> Track(F future) const;

  // weft::Spawn() of a tracked future, or of what a function returns.
  template <class F>
  auto Spawn(F future_or_fn,
             SourceLocation at = SourceLocation::current()) const {
    return SpawnOn(Environment::CurrentSpawner(), std::move(future_or_fn), at);
  }
  template <class F>
  auto SpawnOn(Spawner& spawner, F future_or_fn,
               SourceLocation at = SourceLocation::current()) const {
    if constexpr (Future<F>) {
      return spawner.Spawn(Track(std::move(future_or_fn)), at);
    } else {
      return spawner.Spawn(Track(InvokeFuture<F>(std::move(future_or_fn))), at);
    }
  }

  void Close();
  // Waits wait again, but those that have ended.
  void Reopen() { core_->count.Reopen(); }
  bool IsClosed() const { return core_->count.IsClosed(); }

  // How many tokens there are.
  size_t size() const { return core_->count.size(); }

  // Ready once closed and empty.
  WaitFuture Wait() const;

 private:
  struct Core {
    select_internal::BasicTrackerCount<> count;
    sync::Event finished;  // never set: notifies
  };
  using CorePtr = std::shared_ptr<Core>;

  CorePtr core_;
};

class TaskTracker::Token {
 public:
  Token(const Token& other) : Token(other.core_) {}
  Token(Token&& other) noexcept = default;
  Token& operator=(Token other) noexcept {
    std::swap(core_, other.core_);
    return *this;
  }
  ~Token();

 private:
  friend TaskTracker;
  explicit Token(CorePtr core);

  CorePtr core_;  // null once moved from
};

class [[nodiscard]] TaskTracker::WaitFuture {
 public:
  using Output = void;

  WaitFuture(WaitFuture&&) = default;
  WaitFuture& operator=(WaitFuture&&) = delete;

  Polled<void> Poll(Context& cx);

 private:
  friend TaskTracker;
  explicit WaitFuture(CorePtr core)
      : core_(std::move(core)), wait_(core_->finished.Wait()) {}

  // What comes later is destroyed first.
  CorePtr core_;
  std::optional<sync::Event::WaitFuture> wait_;
};

// Dropping: what dropping the future inside loses; it does not count any more,
// once that is gone.
template <Future F>
class [[nodiscard]] TrackedFuture {
 public:
  using Output = typename F::Output;
  static constexpr bool kMovableAfterPoll = weft::kMovableAfterPoll<F>;

  TrackedFuture(TaskTracker::Token token, F future)
      : token_(std::move(token)), future_(std::move(future)) {}

  Polled<Output> Poll(Context& cx) { return future_.Poll(cx); }

  // See task/await_trace.h.
  void Trace(AwaitTrace& trace) const { TraceFuture(future_, trace); }
  // See task/borrow.h.
  bool Borrows() const { return task_internal::FutureBorrows(future_); }

 private:
  // What comes later is destroyed first.
  TaskTracker::Token token_;
  F future_;
};

inline TaskTracker::Token TaskTracker::token() const { return Token(core_); }
template <Future F>
TrackedFuture<F> TaskTracker::Track(F future) const {
  return TrackedFuture<F>(token(), std::move(future));
}
inline TaskTracker::WaitFuture TaskTracker::Wait() const {
  return WaitFuture(core_);
}

}  // namespace weft

#endif  // WEFT_SELECT_TASK_TRACKER_H_
