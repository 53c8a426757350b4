// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Next: the next item of a stream, as a future.
//
//   while (std::optional<Line> line = co_await Next(lines)) Print(*line);
//
// Thread safety: that of the stream.
// Lifetime: the stream outlives the future and is polled by it alone.
// Dropping: takes no item that it does not give, so nothing is lost beyond what
// a drop of the stream's own poll loses.
#ifndef WEFT_STREAM_NEXT_H_
#define WEFT_STREAM_NEXT_H_

#include <optional>
#include <utility>

#include "weft/task/await_trace.h"
#include "weft/task/context.h"
#include "weft/task/future.h"
#include "weft/task/polled.h"

namespace weft {

// A stream that can take back what a pending PollNext() waits for, at no loss:
//
//   void StopWaiting();
//
// Next() calls it when it is dropped, and so can promise to poll promptly
// (task/context.h) what it polls.
template <class S>
concept StoppableStream = requires(S& stream) { stream.StopWaiting(); };

template <Stream S>
class [[nodiscard]] NextFuture {
 public:
  using Output = std::optional<typename S::Item>;
  static constexpr bool kMovableAfterPoll = true;
  static constexpr bool kBorrows = true;

  explicit NextFuture(S& stream) : stream_(&stream) {}
  NextFuture(NextFuture&& other) noexcept
      : stream_(other.stream_), waits_(std::exchange(other.waits_, false)) {}
  NextFuture& operator=(NextFuture&&) = delete;
  ~NextFuture() {
    if constexpr (StoppableStream<S>) {
      if (waits_) stream_->StopWaiting();
    }
  }

  Polled<Output> Poll(Context& cx) {
    Context inner = cx.WithPromptness(StoppableStream<S> && cx.IsPrompt());
    Polled<Output> polled = stream_->PollNext(inner);
    waits_ = polled.IsPending();
    return polled;
  }

  // See task/await_trace.h.
  void Trace(AwaitTrace& trace) const
    requires task_internal::Traceable<S>
  {
    stream_->Trace(trace);
  }

 private:
  S* stream_;
  bool waits_ = false;  // PollNext() was pending
};

// Ready with the next item of `stream`, or with nullopt at its end.
template <Stream S>
NextFuture<S> Next(S& stream) {
  return NextFuture<S>(stream);
}

}  // namespace weft

#endif  // WEFT_STREAM_NEXT_H_
