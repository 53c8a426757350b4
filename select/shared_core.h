// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// SharedCore: who polls a shared future, and who waits for that. Internal;
// select/shared.h is the future.
//
// Each copy that is polled either has its turn to poll the future or waits in
// the queue. The future is polled with the core's own waker, so it does not
// matter which copy did so last: a wake wakes all that wait, and the first of
// them that is polled has the turn. A copy that is dropped takes nothing with
// it.
//
// Thread safety: Wake from any thread; the rest from one thread for each copy.
// Lifetime: counted: one reference of the shared state, one of each waker, so
// that a waker that is kept by the future does not keep the future.
#ifndef WEFT_SELECT_SHARED_CORE_H_
#define WEFT_SELECT_SHARED_CORE_H_

#include <atomic>
#include <cstdint>
#include <mutex>

#include "weft/sync/wait_queue.h"
#include "weft/task/context.h"
#include "weft/task/waker.h"

namespace weft::select_internal {

class SharedCore {
 public:
  // What a copy that is polled is to do.
  enum class Turn {
    kWait,  // nothing: it will be woken
    kPoll,  // poll the future, then call EndPending() or EndDone()
    kDone   // take the output
  };

  // What a waker of the core does; its data is the core.
  static const WakerVTable kWaker;

  // With one reference.
  SharedCore() = default;
  SharedCore(const SharedCore&) = delete;
  SharedCore& operator=(const SharedCore&) = delete;

  Turn Begin(sync_internal::WaitNode& node, Context& cx);
  void EndPending(sync_internal::WaitNode& node, Context& cx);
  void EndDone();
  void Leave(sync_internal::WaitNode& node);

  void Wake();
  // Relaxed: a new reference is made from an existing one.
  void Ref() { references_.fetch_add(1, std::memory_order_relaxed); }
  void Unref();

 private:
  ~SharedCore() = default;

  void Remove(sync_internal::WaitNode& node);

  std::atomic<uint32_t> references_{1};

  std::mutex mutex_;
  // Guarded by `mutex_`.
  bool woken_ = true;     // there is reason to poll the future
  bool polling_ = false;  // a copy does
  bool done_ = false;     // for good: the output is there
  // While woken_ is set and polling_ is not, none but copies that have been
  // woken since.
  sync_internal::WaitQueue waits_;
};

}  // namespace weft::select_internal

#endif  // WEFT_SELECT_SHARED_CORE_H_
