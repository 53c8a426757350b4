// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/executor/run_signal.h"

#include <atomic>
#include <cstdint>
#include <utility>

#include "weft/task/waker.h"

namespace weft::executor_internal {

const WakerVTable RunSignal::kVTable = {
    .clone =
        [](void* data) {
          // Relaxed: a new reference is made from an existing one.
          static_cast<RunSignal*>(data)->references_.fetch_add(
              1, std::memory_order_relaxed);
          return Waker(&kVTable, data);
        },
    .wake =
        [](void* data) {
          static_cast<RunSignal*>(data)->Notify();
          static_cast<RunSignal*>(data)->Unref();
        },
    .wake_by_ref = [](void* data) { static_cast<RunSignal*>(data)->Notify(); },
    .drop = [](void* data) { static_cast<RunSignal*>(data)->Unref(); },
};

Waker RunSignal::Make(Waker unparker) {
  return Waker(&kVTable, new RunSignal(std::move(unparker)));
}

void RunSignal::Notify() {
  // Release: publishes what led to the wake; acquire so that wakes add up. One
  // unpark until the next Take is enough.
  if (!notified_.exchange(true, std::memory_order_acq_rel)) Unpark();
}

void RunSignal::Unref() {
  // Acquire-release: the last one sees every use before deleting.
  if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

}  // namespace weft::executor_internal
