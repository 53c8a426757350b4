// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Instrument: a future whose times a TaskMonitor adds up.
//
//   TaskMonitor monitor;
//   Spawn(Instrument(monitor, Serve(std::move(connection)))).Detach();
//
// Instrument(monitor, future) has the output of `future` and polls it whenever it
// is polled. It hands on every wake, after it has noted the time of the first one
// since the last poll. What the monitor says of it is explained in
// task/task_monitor.h. Times are those of the context's clock; where that is
// another one than the last time, the time in between is not counted.
//
// It costs two readings of the clock for each poll, one for a wake between polls,
// and one block of memory (128 bytes, from task/frame_cache.h) for the future, at
// its first poll.
//
// Thread safety: as the future inside. It may be woken from any thread.
// Lifetime: movable until first polled, or as long as `future` is. The monitor
// may go before. A clock outlives the futures polled by it and, unless it is the
// real one, the wakes that are under way when they are destroyed.
// Dropping: what dropping `future` loses; the monitor counts it as dropped.
#ifndef WEFT_TASK_INSTRUMENT_H_
#define WEFT_TASK_INSTRUMENT_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "absl/functional/function_ref.h"
#include "weft/task/await_trace.h"
#include "weft/task/check.h"
#include "weft/task/clock.h"
#include "weft/task/context.h"
#include "weft/task/future.h"
#include "weft/task/instant.h"
#include "weft/task/polled.h"
#include "weft/task/task_monitor.h"

namespace weft {
namespace task_internal {

class InstrumentWakes;  // in the source

// What an instrumented future knows beside the future inside.
class InstrumentRecord {
 public:
  explicit InstrumentRecord(const TaskMonitor& monitor);
  InstrumentRecord(InstrumentRecord&& other) noexcept;
  ~InstrumentRecord();

  bool polled() const { return polled_; }

  // Calls poll(), which returns whether the future is ready, with a context that
  // has a waker of this object's. Passes on what it throws.
  void Poll(const Context& cx, absl::FunctionRef<bool(Context&)> poll);

  // See task/await_trace.h.
  void Trace(AwaitTrace& trace) const;

 private:
  class PollScope;

  void AddWait(int64_t woken, Instant start);
  void End(MonitorCore::End end);

  std::shared_ptr<MonitorCore> monitor_;  // null: moved from, or over
  const Clock* clock_;                    // that `since_` was read from
  Instant since_;  // when this was made, then the end of the last poll
  InstrumentWakes* wakes_ = nullptr;  // from the first poll to the end
  bool polled_ = false;
};

}  // namespace task_internal

// What Instrument() returns.
template <Future F>
class [[nodiscard]] InstrumentFuture {
 public:
  using Output = typename F::Output;
  static constexpr bool kMovableAfterPoll = weft::kMovableAfterPoll<F>;

  InstrumentFuture(const TaskMonitor& monitor, F future)
      : record_(monitor), future_(std::move(future)) {}
  InstrumentFuture(InstrumentFuture&& other) noexcept
      : record_(std::move(other.record_)), future_(std::move(other.future_)) {
    WEFT_CHECK(kMovableAfterPoll || !record_.polled(),
               "an Instrument() was moved after its first poll");
  }

  Polled<Output> Poll(Context& cx) {
    std::optional<Polled<Output>> polled;
    record_.Poll(cx, [&](Context& inner) {
      return polled.emplace(future_.Poll(inner)).IsReady();
    });
    return *std::move(polled);
  }

  // See task/await_trace.h.
  void Trace(AwaitTrace& trace) const {
    record_.Trace(trace);
    TraceFuture(future_, trace);
  }

  // See task/borrow.h.
  bool Borrows() const
    requires requires(const F& future) { future.Borrows(); }
  {
    return future_.Borrows();
  }

 private:
  task_internal::InstrumentRecord record_;  // goes after the future
  F future_;
};

// `future`, as one of those that `monitor` is about. Counts from now on. Of a
// function that returns a future make one by Invoke(function).
template <Future F>
InstrumentFuture<F> Instrument(const TaskMonitor& monitor, F future) {
  return InstrumentFuture<F>(monitor, std::move(future));
}

}  // namespace weft

#endif  // WEFT_TASK_INSTRUMENT_H_
