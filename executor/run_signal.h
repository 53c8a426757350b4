// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// RunSignal: what reaches a thread inside Run(): a flag that says "poll the
// main future", and the unparker of the thread's driver. Internal to the
// executors.
//
// Its waker is the main future's. The flag carries the news and unparking is
// sticky, so a wake is never lost: Run looks at the flag before each park.
//
// Thread safety: Take by the running thread, the rest from any thread.
// Lifetime: counted; late wakers and notifiers find it alive.
#ifndef WEFT_EXECUTOR_RUN_SIGNAL_H_
#define WEFT_EXECUTOR_RUN_SIGNAL_H_

#include <atomic>
#include <cstdint>
#include <utility>

#include "weft/task/waker.h"

namespace weft::executor_internal {

class RunSignal {
 public:
  // With one reference, which the result owns. Starts notified.
  static Waker Make(Waker unparker);
  // The signal that `waker`, got from Make, belongs to.
  static RunSignal& Of(const Waker& waker) {
    return *static_cast<RunSignal*>(waker.data());
  }

  RunSignal(const RunSignal&) = delete;
  RunSignal& operator=(const RunSignal&) = delete;

  bool IsNotified() const {
    // Acquire: as Take().
    return notified_.load(std::memory_order_acquire);
  }
  // True if notified since the last time.
  bool Take() {
    // Acquire: what happened before the wake. The load keeps the common case
    // free of a locked instruction.
    return IsNotified() && notified_.exchange(false, std::memory_order_acquire);
  }

  // Makes the current or next Park of the thread's driver return.
  void Unpark() const { unparker_.WakeByRef(); }

 private:
  static const WakerVTable kVTable;

  explicit RunSignal(Waker unparker) : unparker_(std::move(unparker)) {}

  void Notify();
  void Unref();

  std::atomic<bool> notified_{true};
  std::atomic<uint32_t> references_{1};
  const Waker unparker_;
};

}  // namespace weft::executor_internal

#endif  // WEFT_EXECUTOR_RUN_SIGNAL_H_
