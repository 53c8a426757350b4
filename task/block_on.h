// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// BlockOn: runs a future on the calling thread and waits for its output.
//
//   int n = BlockOn(Count());
//
// Between polls the thread parks in its environment's driver, so a reactor or
// timers there are driven by this very thread; no other thread is needed.
//
// Requires: the thread is not polling a task. That one would wait for others
// that may need this thread to run: await, or move the call to SpawnBlocking. The
// future given to the BlockOn() of a current-thread Runtime counts as a task.
//
// It runs no tasks: whoever waits here for one on an executor that no other thread
// runs waits for ever. Use that executor's Run(), or Runtime::BlockOn().
//
// Thread safety: any thread.
// Lifetime: wakers of the future may outlive the call.
#ifndef WEFT_TASK_BLOCK_ON_H_
#define WEFT_TASK_BLOCK_ON_H_

#include <string_view>
#include <type_traits>
#include <utility>

#include "weft/task/context.h"
#include "weft/task/driver.h"
#include "weft/task/future.h"
#include "weft/task/polled.h"
#include "weft/task/waker.h"

namespace weft {
namespace task_internal {

// The waiting side of BlockOn.
class BlockingWaiter {
 public:
  // `caller` names the operation that blocks, for the error.
  explicit BlockingWaiter(std::string_view caller);
  BlockingWaiter(const BlockingWaiter&) = delete;
  BlockingWaiter& operator=(const BlockingWaiter&) = delete;
  ~BlockingWaiter();

  const Waker& waker() const { return waker_; }
  // Drives the thread's driver until the waker has fired since the last Wait.
  void Wait();

 private:
  struct Core;
  static const WakerVTable kVTable;

  Driver& driver_;
  Core* const core_;
  Waker waker_;  // owns `core_`
};

// BlockOn for an operation with a name of its own, `caller`.
template <class F>
OutputOf<F> BlockFor(std::string_view caller, F&& future) {
  BlockingWaiter waiter(caller);
  Context cx = Context(waiter.waker()).WithPromptness(true);
  for (;;) {
    auto polled = future.Poll(cx);
    if (polled.IsReady()) return *std::move(polled);
    waiter.Wait();
  }
}

}  // namespace task_internal

// The output of `future`; throws what its Poll throws. An lvalue is polled
// where it stands, and not again after this. Of a function, which Spawn() takes,
// make a future by Invoke(function) (task/invoke.h).
template <class F>
  requires Future<std::remove_reference_t<F>>
OutputOf<F> BlockOn(F&& future) {
  return task_internal::BlockFor("BlockOn()", std::forward<F>(future));
}

}  // namespace weft

#endif  // WEFT_TASK_BLOCK_ON_H_
