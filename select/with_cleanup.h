// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// WithCleanup and Finally: a future, and what has to be done after it, even if it
// is dropped, by another future.
//
//   co_await WithCleanup(Transfer(session), [session] {
//     return session->Abort();  // a future: tells the other side
//   });
//
// A destructor cannot wait. So when the future is dropped after its first poll
// and before its end, cleanup() is called, and the future that it returns is
// spawned in the background, where the task was running. The first future is gone
// by then.
//
// WithCleanup does so only then; Finally also where the future has come to its
// end, by an output or an exception: then it is ready when the cleanup is, with
// that output, or throws that exception, or what the cleanup threw. Dropped while
// it waits for the cleanup it lets that run on.
//
// To wait for cleanups, give a TaskTracker as the first argument. It counts from
// then on until the future has ended or the cleanup has, without a gap:
//
//   TaskTracker cleanups;
//   group.Spawn(WithCleanup(cleanups, Transfer(session), abort));
//   ...
//   co_await group.Shutdown();
//   cleanups.Close();
//   co_await cleanups.Wait();
//
// Thread safety: one thread at a time.
// Lifetime: the spawner of the environment in which it is first polled outlives
// it. An executor that ends destroys its tasks, and does not start their cleanups.
// Dropping: as said above; the output is lost.
#ifndef WEFT_SELECT_WITH_CLEANUP_H_
#define WEFT_SELECT_WITH_CLEANUP_H_

#include <exception>
#include <optional>
#include <utility>

#include "weft/select/caught_poll.h"
#include "weft/select/spawn_tracked.h"
#include "weft/select/task_tracker.h"
#include "weft/task/await_trace.h"
#include "weft/task/borrow.h"
#include "weft/task/check.h"
#include "weft/task/context.h"
#include "weft/task/future.h"
#include "weft/task/invoke.h"
#include "weft/task/join_handle.h"
#include "weft/task/polled.h"
#include "weft/task/source_location.h"
#include "weft/task/spawner.h"

namespace weft {

// F is the future, Fn the cleanup; kAlways: Finally.
template <Future F, class Fn, bool kAlways>
class [[nodiscard]] CleanupFuture {
 public:
  using Output = OutputOf<F>;

  CleanupFuture(std::optional<TaskTracker::Token> token, F future, Fn cleanup,
                SourceLocation at)
      : token_(std::move(token)),
        future_(std::move(future)),
        cleanup_(std::move(cleanup)),
        at_(at) {}
  CleanupFuture(CleanupFuture&& other) noexcept
      : token_(std::move(other.token_)),
        future_(std::move(other.future_)),
        cleanup_(std::move(other.cleanup_)),
        at_(other.at_) {
    WEFT_CHECK(other.spawner_ == nullptr,
               "a WithCleanup was moved after its first poll");
  }
  CleanupFuture& operator=(CleanupFuture&&) = delete;
  ~CleanupFuture() {
    if (handle_.has_value()) {
      (*std::move(handle_)).Detach();
    } else if (spawner_ != nullptr && future_.has_value()) {
      future_.reset();
      StartCleanup().Detach();
    }
  }

  Polled<Output> Poll(Context& cx) {
    if (spawner_ == nullptr) spawner_ = &select_internal::SpawnerOf(cx);
    if (future_.has_value() && !PollFuture(cx)) return kPending;
    if (handle_.has_value() && !PollCleanup(cx)) return kPending;
    if (exception_ != nullptr) select_internal::Rethrow(exception_);
    return std::move(output_);
  }

  // See task/await_trace.h.
  void Trace(AwaitTrace& trace) const {
    if (future_.has_value()) {
      TraceFuture(*future_, trace);
    } else {
      trace.AddFuture("a cleanup");
    }
  }
  // See task/borrow.h.
  bool Borrows() const {
    return future_.has_value() && task_internal::FutureBorrows(*future_);
  }

 private:
  using Cleanup = InvokeFuture<Fn>;

  // True once the future has ended; it is gone then.
  bool PollFuture(Context& cx) {
    exception_ =
        select_internal::CaughtPoll([&] { output_ = future_->Poll(cx); });
    if (exception_ == nullptr && output_.IsPending()) return false;
    future_.reset();
    if constexpr (kAlways) {
      handle_.emplace(StartCleanup());
    } else {
      token_.reset();
    }
    return true;
  }
  // True once the cleanup has ended.
  bool PollCleanup(Context& cx) {
    bool ready = false;
    std::exception_ptr thrown = select_internal::CaughtPoll(
        [&] { ready = handle_->Poll(cx).IsReady(); });
    if (!ready && thrown == nullptr) return false;
    handle_.reset();
    if (exception_ == nullptr) exception_ = std::move(thrown);
    return true;
  }
  JoinHandle<OutputOf<Cleanup>> StartCleanup() {
    return select_internal::SpawnTracked(*spawner_,
                                         std::exchange(token_, std::nullopt),
                                         Cleanup(std::move(cleanup_)), at_);
  }

  std::optional<TaskTracker::Token> token_;
  Spawner* spawner_ = nullptr;  // from the first poll on
  std::optional<F> future_;     // until its end
  Fn cleanup_;
  std::optional<JoinHandle<OutputOf<Cleanup>>> handle_;  // while it is awaited
  Polled<Output> output_ = kPending;
  std::exception_ptr exception_;
  SourceLocation at_;
};

template <Future F, class Fn>
CleanupFuture<F, Fn, false> WithCleanup(
    F future, Fn cleanup, SourceLocation at = SourceLocation::current()) {
  return {std::nullopt, std::move(future), std::move(cleanup), at};
}
template <Future F, class Fn>
CleanupFuture<F, Fn, false> WithCleanup(
    const TaskTracker& tracker, F future, Fn cleanup,
    SourceLocation at = SourceLocation::current()) {
  return {tracker.token(), std::move(future), std::move(cleanup), at};
}
template <Future F, class Fn>
CleanupFuture<F, Fn, true> Finally(
    F future, Fn cleanup, SourceLocation at = SourceLocation::current()) {
  return {std::nullopt, std::move(future), std::move(cleanup), at};
}
template <Future F, class Fn>
CleanupFuture<F, Fn, true> Finally(
    const TaskTracker& tracker, F future, Fn cleanup,
    SourceLocation at = SourceLocation::current()) {
  return {tracker.token(), std::move(future), std::move(cleanup), at};
}

}  // namespace weft

#endif  // WEFT_SELECT_WITH_CLEANUP_H_
