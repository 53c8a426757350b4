// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// What a future throws reaches the coroutine that awaits it also where there is no
// memory left, which may be why it throws.

#include <deque>
#include <new>
#include <utility>

#include "gtest/gtest.h"
#include "weft/task/context.h"
#include "weft/task/join_handle.h"
#include "weft/task/polled.h"
#include "weft/task/runnable.h"
#include "weft/task/task.h"
#include "weft/task/waker.h"
#include "weft/tests/executor/failing_new.h"

namespace weft {
namespace {

using executor_testing::FailAllAllocations;
using executor_testing::StopFailing;

// Pending once; then uses up the memory and finds that there is none.
class WantsMemory {
 public:
  using Output = int;

  Polled<int> Poll(Context&) {
    if (!std::exchange(polled_, true)) return kPending;
    FailAllAllocations();
    ::operator delete(::operator new(100));
    return 0;
  }

 private:
  bool polled_ = false;
};

Task<int> Catches() {
  WantsMemory future;
  try {
    co_return co_await future;
  } catch (const std::bad_alloc&) {
    StopFailing();
    co_return 7;
  }
}

TEST(TaskWithoutMemoryTest, ACoroutineCatchesWhatItsFutureThrows) {
  std::deque<Runnable<>> queue;
  auto [runnable, handle] = SpawnOn(
      Catches(), [&queue](Runnable<> r) { queue.push_back(std::move(r)); });
  const Waker waker = runnable.MakeWaker();
  std::move(runnable).Run();
  waker.WakeByRef();
  ASSERT_EQ(queue.size(), 1u);
  std::move(queue.front()).Run();

  EXPECT_TRUE(handle.IsFinished());
}

Task<int> Throws() {
  WantsMemory future;
  co_return co_await future;
}

// Polls a task once, whatever becomes of it.
class PollFirst {
 public:
  using Output = void;

  explicit PollFirst(Task<int>& task) : task_(task) {}
  Polled<void> Poll(Context& cx) {
    static_cast<void>(task_.Poll(cx));
    return Unit();
  }

 private:
  Task<int>& task_;
};

// The child was polled before its parent awaits it, so that is where it throws.
Task<int> AwaitsOneThatWasPolled() {
  Task<int> child = Throws();
  PollFirst first(child);
  co_await first;
  try {
    co_return co_await std::move(child);
  } catch (const std::bad_alloc&) {
    StopFailing();
    co_return 3;
  }
}

TEST(TaskWithoutMemoryTest, AParentCatchesWhatAnAdoptedChildThrows) {
  auto [runnable, handle] =
      SpawnOn(AwaitsOneThatWasPolled(), [](Runnable<>) {});
  std::move(runnable).Run();

  EXPECT_TRUE(handle.IsFinished());
}

}  // namespace
}  // namespace weft
