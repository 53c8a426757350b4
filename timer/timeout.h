// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Timeout: a future with a deadline.
//
//   absl::StatusOr<Page> page = co_await Timeout(absl::Seconds(5), Fetch(url));
//   if (absl::IsDeadlineExceeded(page.status())) ...
//
// The output is OutcomeOf<T> (task/outcome.h): the future's, or, if the
// deadline comes first, DeadlineStatus(); a future that gives a StatusOr or a
// Status is not wrapped once more. The future is polled before the deadline is
// looked at: one that is ready at once is never too late.
//
// A future given as an rvalue is cancelled and destroyed before the timeout is
// ready with DeadlineStatus(). One given as an lvalue is left pending where it
// stands, and may be awaited again.
//
// Thread safety: one thread at a time. Movable until first polled.
// Dropping: as dropping the future inside; an lvalue is left as it is.
#ifndef WEFT_TIMER_TIMEOUT_H_
#define WEFT_TIMER_TIMEOUT_H_

#include <chrono>
#include <optional>
#include <type_traits>
#include <utility>

#include "absl/time/time.h"
#include "weft/task/await_trace.h"
#include "weft/task/context.h"
#include "weft/task/future.h"
#include "weft/task/instant.h"
#include "weft/task/outcome.h"
#include "weft/task/polled.h"
#include "weft/task/status.h"
#include "weft/timer/sleep.h"

namespace weft {
namespace timer_internal {

// The future of a Timeout: owned, or for F = T& somebody else's.
template <class F>
class TimedFuture {
 public:
  explicit TimedFuture(F&& future) : future_(std::move(future)) {}
  F& get() { return *future_; }
  const F* find() const { return future_.has_value() ? &*future_ : nullptr; }
  void Drop() { future_.reset(); }

 private:
  std::optional<F> future_;
};
template <class F>
class TimedFuture<F&> {
 public:
  explicit TimedFuture(F& future) : future_(future) {}
  F& get() { return future_; }
  const F* find() const { return &future_; }
  void Drop() {}

 private:
  F& future_;
};

}  // namespace timer_internal

namespace timer {

template <class F>
class [[nodiscard]] TimeoutFuture {
 public:
  using Output = OutcomeOf<OutputOf<F>>;

  TimeoutFuture(Instant deadline, F&& future)
      : future_(std::forward<F>(future)), sleep_(deadline) {}

  Polled<Output> Poll(Context& cx) {
    // With a spent budget the future might be pending although it is ready.
    if (!cx.HasBudget()) return kPending;
    auto polled = future_.get().Poll(cx);
    if (polled.IsReady()) return MakeOutcome(std::move(polled));
    // A future that spends the whole budget in each poll has a deadline too.
    Context unlimited = cx.WithBudget(nullptr);
    if (sleep_.Poll(unlimited).IsPending()) return kPending;
    cx.Charge();
    future_.Drop();
    return Output(DeadlineStatus());
  }

  Instant deadline() const { return sleep_.deadline(); }

  // See task/await_trace.h.
  void Trace(AwaitTrace& trace) const {
    trace.AddFuture("Timeout");
    const AwaitTrace::Scope scope(trace);
    if (const auto* future = future_.find()) TraceFuture(*future, trace);
  }

 private:
  timer_internal::TimedFuture<F> future_;
  Sleep sleep_;
};

// `future`, given up at `deadline`.
template <class F>
  requires Future<std::remove_reference_t<F>>
TimeoutFuture<F> TimeoutAt(Instant deadline, F&& future) {
  return TimeoutFuture<F>(deadline, std::forward<F>(future));
}

// `future`, given up `d` from now on the current environment's clock.
template <class F>
  requires Future<std::remove_reference_t<F>>
TimeoutFuture<F> Timeout(absl::Duration d, F&& future) {
  return TimeoutAt(After(d).deadline(), std::forward<F>(future));
}
template <class Rep, class Period, class F>
  requires Future<std::remove_reference_t<F>>
TimeoutFuture<F> Timeout(std::chrono::duration<Rep, Period> d, F&& future) {
  return Timeout(absl::FromChrono(d), std::forward<F>(future));
}

}  // namespace timer
}  // namespace weft

#endif  // WEFT_TIMER_TIMEOUT_H_
