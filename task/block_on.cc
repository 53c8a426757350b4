// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Algorithm. A counted core holds a flag and the driver's unparker. The waker
// sets the flag and unparks; Wait clears it, parking while it is clear. The
// flag, not the park, carries the news: a driver may return from Park for other
// reasons and may swallow an unpark. A late waker finds the core alive and the
// unparker counted, whatever became of the thread.
#include "weft/task/block_on.h"

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "weft/task/blocking_check.h"
#include "weft/task/check.h"
#include "weft/task/driver.h"
#include "weft/task/environment.h"
#include "weft/task/instant.h"
#include "weft/task/waker.h"

namespace weft::task_internal {

struct BlockingWaiter::Core {
  explicit Core(Waker unparker) : unparker(std::move(unparker)) {}

  void Wake() {
    // Release: publishes what led to the wake. One unpark per Wait is enough.
    if (!notified.exchange(true, std::memory_order_acq_rel)) {
      unparker.WakeByRef();
    }
  }
  void Unref() {
    // Acquire-release: the last one sees every use before deleting.
    if (references.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  std::atomic<bool> notified{false};
  std::atomic<uint32_t> references{1};
  const Waker unparker;
};

const WakerVTable BlockingWaiter::kVTable = {
    .clone =
        [](void* data) {
          // Relaxed: a new reference is made from an existing one.
          static_cast<Core*>(data)->references.fetch_add(
              1, std::memory_order_relaxed);
          return Waker(&kVTable, data);
        },
    .wake =
        [](void* data) {
          static_cast<Core*>(data)->Wake();
          static_cast<Core*>(data)->Unref();
        },
    .wake_by_ref = [](void* data) { static_cast<Core*>(data)->Wake(); },
    .drop = [](void* data) { static_cast<Core*>(data)->Unref(); },
};

BlockingWaiter::BlockingWaiter(std::string_view caller)
    : driver_(Environment::CurrentDriver()),
      core_(new Core(driver_.Unparker())),
      waker_(&kVTable, core_) {
  WEFT_CHECK(
      MayBlock(),
      std::string(caller) +
          " was called by a task, whose thread others may need: co_await "
          "the future instead, or make the call inside SpawnBlocking()");
}

BlockingWaiter::~BlockingWaiter() = default;

void BlockingWaiter::Wait() {
  // A future that wakes itself must not starve the driver. Relaxed: only how
  // long to park depends on it.
  Instant deadline = core_->notified.load(std::memory_order_relaxed)
                         ? Instant::Past()
                         : Instant::Infinite();
  do {
    driver_.Park(deadline);
    deadline = Instant::Infinite();
    // Acquire: pairs with the release in Wake.
  } while (!core_->notified.exchange(false, std::memory_order_acq_rel));
}

}  // namespace weft::task_internal
