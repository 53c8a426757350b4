// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The Future and Stream concepts.
//
// A future is an object with an output type and Poll(cx). Poll returns the
// output once, or pending; when pending it has kept cx.waker() and will wake it
// when another poll may get further. So:
//   - Poll may be called at any time until it is ready (spurious polls are
//     legal), by any thread, by one at a time, each time with another waker:
//     only the last one counts.
//   - After it is ready it is not polled again.
//   - Destroying it cancels it. What that loses is part of each future's
//   contract.
//   - It is movable until first polled; some stay movable (kMovableAfterPoll).
//   - A Poll that throws counts as ready.
//
// A stream is the same with many items: PollNext(cx) is ready with the next
// item, or with nullopt at the end.
#ifndef WEFT_TASK_FUTURE_H_
#define WEFT_TASK_FUTURE_H_

#include <concepts>
#include <optional>
#include <type_traits>

#include "weft/task/context.h"
#include "weft/task/polled.h"

namespace weft {

template <class F>
concept Future = std::is_object_v<F> && requires(F& future, Context& cx) {
  typename F::Output;
  { future.Poll(cx) } -> std::same_as<Polled<typename F::Output>>;
};

template <class F>
using OutputOf = typename std::remove_cvref_t<F>::Output;

template <class S>
concept Stream = std::is_object_v<S> && requires(S& stream, Context& cx) {
  typename S::Item;
  {
    stream.PollNext(cx)
  } -> std::same_as<Polled<std::optional<typename S::Item>>>;
};

// True for futures that may be moved between polls: their state is elsewhere. A
// future type says so by a static constexpr member of this name.
template <class F>
inline constexpr bool kMovableAfterPoll = [] {
  if constexpr (requires { F::kMovableAfterPoll; }) {
    return F::kMovableAfterPoll;
  } else {
    return false;
  }
}();

}  // namespace weft

#endif  // WEFT_TASK_FUTURE_H_
