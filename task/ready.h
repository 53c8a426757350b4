// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The smallest futures: Ready, Pending, PollFn, PollOnce.
//
//   co_await PollFn([&](Context& cx) { return queue.PollPop(cx); });
//   std::optional<int> n = co_await PollOnce(receiver.Receive());
//
// Thread safety: one thread at a time.
// Dropping: destroys what they hold; nothing else is lost.
#ifndef WEFT_TASK_READY_H_
#define WEFT_TASK_READY_H_

#include <optional>
#include <type_traits>
#include <utility>

#include "weft/task/await_trace.h"
#include "weft/task/context.h"
#include "weft/task/future.h"
#include "weft/task/polled.h"

namespace weft {

template <class T>
class [[nodiscard]] ReadyFuture {
 public:
  using Output = T;
  static constexpr bool kMovableAfterPoll = true;

  explicit ReadyFuture(T value) : value_(std::move(value)) {}
  Polled<T> Poll(Context&) { return std::move(value_); }

 private:
  T value_;
};

template <>
class [[nodiscard]] ReadyFuture<void> {
 public:
  using Output = void;
  static constexpr bool kMovableAfterPoll = true;

  Polled<void> Poll(Context&) { return Unit(); }
};

// Ready at once with `value`.
template <class T>
ReadyFuture<T> Ready(T value) {
  return ReadyFuture<T>(std::move(value));
}
inline ReadyFuture<void> Ready() { return ReadyFuture<void>(); }

template <class T>
class [[nodiscard]] PendingFuture {
 public:
  using Output = T;
  static constexpr bool kMovableAfterPoll = true;

  Polled<T> Poll(Context&) { return kPending; }
};

// Never ready.
template <class T = void>
PendingFuture<T> Pending() {
  return PendingFuture<T>();
}

template <class Fn>
class [[nodiscard]] PollFnFuture {
 public:
  using Output = typename std::invoke_result_t<Fn&, Context&>::value_type;

  explicit PollFnFuture(Fn fn) : fn_(std::move(fn)) {}
  Polled<Output> Poll(Context& cx) { return fn_(cx); }

 private:
  Fn fn_;
};

// A future whose Poll is fn(cx), which returns a Polled.
template <class Fn>
PollFnFuture<Fn> PollFn(Fn fn) {
  return PollFnFuture<Fn>(std::move(fn));
}

// F is a future (owned) or a reference to one (left as it is, to be polled on).
template <class F>
class [[nodiscard]] PollOnceFuture {
 public:
  using Output = std::optional<StoredOf<OutputOf<F>>>;

  explicit PollOnceFuture(F&& future) : future_(std::forward<F>(future)) {}

  Polled<Output> Poll(Context& cx) {
    // Without a fresh budget a spent one would look like "not ready". With one
    // that can still happen, but only after the future got somewhere: then it
    // is polled again.
    if (!cx.HasBudget()) return kPending;
    cx.Charge();
    Budget budget;
    Context inner = cx.WithBudget(&budget);
    auto polled = future_.Poll(inner);
    if (polled.IsReady()) return Output(TakeReady(std::move(polled)));
    if (!budget.IsSpent()) return Output();
    cx.waker().WakeByRef();
    return kPending;
  }

  // See task/await_trace.h.
  void Trace(AwaitTrace& trace) const { TraceFuture(future_, trace); }

 private:
  F future_;
};

// Polls `future` once: its output, or nullopt if it is pending. (One that uses
// up a whole budget is polled on until that is clear.) An lvalue may be awaited
// later; an rvalue is dropped.
template <class F>
  requires Future<std::remove_reference_t<F>>
PollOnceFuture<F> PollOnce(F&& future) {
  return PollOnceFuture<F>(std::forward<F>(future));
}

}  // namespace weft

#endif  // WEFT_TASK_READY_H_
