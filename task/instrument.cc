// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Algorithm. The waker that the future inside is polled with belongs to an object
// of its own on the heap, which is counted: by the record, while the future is
// pending, and by each clone. So a poll lends the same waker as the one before,
// and a leaf that compares it with the one it has need not clone it again.
//
// That object keeps the waker it was polled with last, in an AtomicWaker, and
// hands each wake on to it, the time having been noted before (task/wake_stamp.h):
// the next poll may begin at once. The waker is registered before the future is
// polled, so no wake is lost. When the future ends it is taken out again: a leaf
// may keep a clone for long, which must not keep a task.
//
// What user exceptions pass through is here, not in the header: see
// docs/design/task.md, "What no inline function may do".
#include "weft/task/instrument.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/functional/function_ref.h"
#include "weft/task/atomic_waker.h"
#include "weft/task/await_trace.h"
#include "weft/task/clock.h"
#include "weft/task/context.h"
#include "weft/task/environment.h"
#include "weft/task/frame_cache.h"
#include "weft/task/instant.h"
#include "weft/task/task_monitor.h"
#include "weft/task/wake_stamp.h"
#include "weft/task/waker.h"

namespace weft::task_internal {

class InstrumentWakes {
 public:
  static const WakerVTable kTable;

  // A poll begins whose pending future is to wake `outer`; returns what
  // WakeStamp::BeginPoll() says.
  int64_t BeginPoll(const Waker& outer) {
    const int64_t woken = stamp_.BeginPoll();
    outer_.Register(outer);
    return woken;
  }
  // It was pending, by `clock`.
  void EndPoll(const Clock& clock) {
    clock_.store(&clock, std::memory_order_relaxed);  // relaxed: see EndPoll
    stamp_.EndPoll();
  }
  // There is no future any more. Gives up the first reference.
  void Close() {
    stamp_.Close();
    static_cast<void>(outer_.Take());
    Unref();
  }

  // A suspended task's: whether nobody has this waker. Acquire: as the last one.
  bool IsForgotten() const {
    return references_.load(std::memory_order_acquire) == 1;
  }

  static void* operator new(size_t size) { return AllocateFrame(size); }
  static void operator delete(void* block) {
    FreeFrame(block, sizeof(InstrumentWakes));
  }

 private:
  static InstrumentWakes* Of(void* data) {
    return static_cast<InstrumentWakes*>(data);
  }

  void Wake() {
    // Relaxed: there is one, by the acquire load of kWaiting.
    stamp_.Mark([this] {
      return clock_.load(std::memory_order_relaxed)->Now().nanoseconds();
    });
    outer_.Wake();
  }
  void Ref() {
    // Relaxed: made from another reference.
    references_.fetch_add(1, std::memory_order_relaxed);
  }
  void Unref() {
    // Release and acquire: the last one sees what the others did.
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  std::atomic<uint32_t> references_{1};
  std::atomic<const Clock*> clock_{nullptr};  // that the last poll ended by
  WakeStamp stamp_;
  AtomicWaker outer_;
};

const WakerVTable InstrumentWakes::kTable = {
    .clone =
        [](void* data) {
          Of(data)->Ref();
          return Waker(&kTable, data);
        },
    .wake =
        [](void* data) {
          Of(data)->Wake();
          Of(data)->Unref();
        },
    .wake_by_ref = [](void* data) { Of(data)->Wake(); },
    .drop = [](void* data) { Of(data)->Unref(); },
};

// Ends a poll, also if that throws.
class InstrumentRecord::PollScope {
 public:
  PollScope(InstrumentRecord& record, const Clock& clock, Instant start)
      : record_(record), clock_(clock), start_(start) {}
  PollScope(const PollScope&) = delete;
  PollScope& operator=(const PollScope&) = delete;
  ~PollScope() {
    const Instant end = clock_.Now();
    record_.clock_ = &clock_;
    record_.since_ = end;
    record_.monitor_->AddPoll(end.nanoseconds() - start_.nanoseconds());
    if (pending) {
      record_.wakes_->EndPoll(clock_);
    } else {
      record_.End(threw ? MonitorCore::End::kThrew : MonitorCore::End::kReady);
    }
  }

  bool pending = false;
  bool threw = true;

 private:
  InstrumentRecord& record_;
  const Clock& clock_;
  const Instant start_;
};

InstrumentRecord::InstrumentRecord(const TaskMonitor& monitor)
    : monitor_(monitor.core()),
      clock_(&Environment::CurrentClock()),
      since_(clock_->Now()) {
  monitor_->AddCreated();
}

InstrumentRecord::InstrumentRecord(InstrumentRecord&& other) noexcept
    : monitor_(std::exchange(other.monitor_, nullptr)),
      clock_(other.clock_),
      since_(other.since_),
      wakes_(std::exchange(other.wakes_, nullptr)),
      polled_(other.polled_) {}

InstrumentRecord::~InstrumentRecord() {
  if (monitor_ != nullptr) End(MonitorCore::End::kDropped);
}

void InstrumentRecord::Poll(const Context& cx,
                            absl::FunctionRef<bool(Context&)> poll) {
  const Clock& clock = cx.clock();
  const Instant start = clock.Now();
  if (!std::exchange(polled_, true)) wakes_ = new InstrumentWakes;
  const int64_t woken = wakes_->BeginPoll(cx.waker());
  if (clock_ == &clock) AddWait(woken, start);
  const BorrowedWaker waker(&InstrumentWakes::kTable, wakes_);
  Context inner = cx.WithWaker(waker.get()).WithPromptness(cx.IsPrompt());
  PollScope scope(*this, clock, start);
  scope.pending = !poll(inner);
  scope.threw = false;
}

void InstrumentRecord::Trace(AwaitTrace& trace) const {
  if (wakes_ != nullptr && wakes_->IsForgotten()) trace.AddOwnWaker();
}

// How the time from `since_` to the start of a poll was spent.
void InstrumentRecord::AddWait(int64_t woken, Instant start) {
  const int64_t since = since_.nanoseconds();
  const int64_t until = start.nanoseconds();
  if (woken == WakeStamp::kPolling) {
    monitor_->AddFirstPollDelay(until - since);
  } else if (woken == WakeStamp::kWokenInPoll) {
    monitor_->AddScheduled(until - since);
  } else if (woken == WakeStamp::kWaiting) {
    monitor_->AddIdle(until - since);
  } else {
    // A late wake may bring a time of before; see task/wake_stamp.h.
    const int64_t at = std::min(std::max(woken, since), until);
    monitor_->AddIdle(at - since);
    monitor_->AddScheduled(until - at);
  }
}

void InstrumentRecord::End(MonitorCore::End end) {
  if (wakes_ != nullptr) std::exchange(wakes_, nullptr)->Close();
  std::exchange(monitor_, nullptr)->AddEnd(end);
}

}  // namespace weft::task_internal
