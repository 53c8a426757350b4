// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Shielded: a future that runs to its end even if its awaiter does not.
//
//   absl::Status status = co_await Shielded(Commit(transaction));
//
//   co_await Shielded(tracker, Commit(transaction));  // and is waited for
//
// It is spawned at its first poll, as a task of its own, and awaiting it gives
// its output, or throws what it threw. Dropped after that it runs on in the
// background; what it throws then goes to the handler of unhandled exceptions.
// With a TaskTracker, that one counts it, from when Shielded() is called: so a
// program that ends can wait for it. Dropped before its first poll it never
// starts, as any future.
//
// It is spawned in the environment of that poll. If its executor ends before
// it does, awaiting CHECK-fails, as awaiting a JoinHandle does.
//
// Thread safety: one thread at a time.
// Dropping: the output, and not the future: that runs on.
#ifndef WEFT_SELECT_SHIELDED_H_
#define WEFT_SELECT_SHIELDED_H_

#include <optional>
#include <type_traits>
#include <utility>

#include "weft/select/guarded_poll.h"
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

namespace weft {

template <Future F>
class [[nodiscard]] ShieldedFuture {
 public:
  using Output = OutputOf<F>;
  static constexpr bool kMovableAfterPoll = true;

  ShieldedFuture(std::optional<TaskTracker::Token> token, F future,
                 SourceLocation at)
      : token_(std::move(token)), future_(std::move(future)), at_(at) {}
  ShieldedFuture(ShieldedFuture&& other) noexcept
      : token_(std::move(other.token_)),
        future_(std::move(other.future_)),
        handle_(std::exchange(other.handle_, std::nullopt)),
        at_(other.at_) {}
  ShieldedFuture& operator=(ShieldedFuture&&) = delete;
  ~ShieldedFuture() {
    if (handle_.has_value()) (*std::move(handle_)).Detach();
  }

  Polled<Output> Poll(Context& cx) {
    if (future_.has_value()) Start(cx);
    WEFT_CHECK(handle_.has_value(), "a future was polled after it was ready");
    Polled<Output> polled = kPending;
    const bool ended = select_internal::GuardedPoll(
        [&] {
          polled = handle_->Poll(cx);
          return polled.IsReady();
        },
        [&] { handle_.reset(); });
    if (ended) handle_.reset();
    return polled;
  }

  // See task/await_trace.h.
  void Trace(AwaitTrace& trace) const {
    if (handle_.has_value()) handle_->Trace(trace);
  }
  // See task/borrow.h.
  bool Borrows() const {
    return future_.has_value() && task_internal::FutureBorrows(*future_);
  }

 private:
  void Start(Context& cx) {
    handle_.emplace(select_internal::SpawnTracked(
        select_internal::SpawnerOf(cx), std::exchange(token_, std::nullopt),
        *std::move(future_), at_));
    future_.reset();
  }

  std::optional<TaskTracker::Token> token_;
  std::optional<F> future_;  // until the first poll
  // From then until it has given the output.
  std::optional<JoinHandle<Output>> handle_;
  SourceLocation at_;
};

// Of a future, or of what a function returns.
template <Future F>
ShieldedFuture<F> Shielded(F future,
                           SourceLocation at = SourceLocation::current()) {
  return ShieldedFuture<F>(std::nullopt, std::move(future), at);
}
template <class Fn>
  requires(!Future<Fn> && Future<std::invoke_result_t<Fn&>>)
auto Shielded(Fn fn, SourceLocation at = SourceLocation::current()) {
  return Shielded(InvokeFuture<Fn>(std::move(fn)), at);
}
template <Future F>
ShieldedFuture<F> Shielded(const TaskTracker& tracker, F future,
                           SourceLocation at = SourceLocation::current()) {
  return ShieldedFuture<F>(tracker.token(), std::move(future), at);
}
template <class Fn>
  requires(!Future<Fn> && Future<std::invoke_result_t<Fn&>>)
auto Shielded(const TaskTracker& tracker, Fn fn,
              SourceLocation at = SourceLocation::current()) {
  return Shielded(tracker, InvokeFuture<Fn>(std::move(fn)), at);
}

}  // namespace weft

#endif  // WEFT_SELECT_SHIELDED_H_
