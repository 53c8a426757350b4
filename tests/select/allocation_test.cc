// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Combinators of fixed arity, and waiting as such, allocate nothing.

#include <cstdint>
#include <optional>
#include <utility>

#include "gtest/gtest.h"
#include "weft/select/cancellation_token.h"
#include "weft/select/join.h"
#include "weft/select/race.h"
#include "weft/select/select.h"
#include "weft/sync/event.h"
#include "weft/sync/semaphore.h"
#include "weft/task/context.h"
#include "weft/task/ready.h"
#include "weft/task/waker.h"
#include "weft/tests/select/allocation_counter.h"

namespace weft {
namespace {

// Polls `future` twice, the second time after `event` was set.
template <class F>
bool IsReadyAfter(sync::Event& event, F future) {
  Context cx(NoopWaker());
  event.Reset();
  if (future.Poll(cx).IsReady()) return false;
  event.Set();
  return future.Poll(cx).IsReady();
}

TEST(AllocationTest, CombinatorsAllocateNothing) {
  sync::Event event;
  CancellationSource source;
  const CancellationToken token = source.token();
  const int64_t before = TotalAllocations();
  bool ok = true;

  for (int i = 0; i < 100; ++i) {
    ok &= IsReadyAfter(event, Select(event.Wait(), Pending<int>()));
    ok &= IsReadyAfter(
        event, Select(On(event.Wait(), [] {}), OnIf(false, event.Wait(), [] {}),
                      Else([] {})));
    ok &= IsReadyAfter(event, Race(event.Wait(), Pending()));
    ok &= IsReadyAfter(event, Join(event.Wait(), Ready(1), event.Wait()));
    ok &= IsReadyAfter(event, token.RunUntilCancelled(event.Wait()));
    ok &= IsReadyAfter(event, Select(token.Cancelled(), event.Wait()));
  }

  const int64_t after = TotalAllocations();
  EXPECT_TRUE(ok);
  EXPECT_EQ(after, before);
}

TEST(AllocationTest, WaitingAllocatesNothing) {
  sync::Semaphore semaphore(1);
  Context cx(NoopWaker());
  const int64_t before = TotalAllocations();
  bool ok = true;

  for (int i = 0; i < 100; ++i) {
    auto first = semaphore.Acquire();
    auto second = semaphore.Acquire();
    std::optional permit = *first.Poll(cx);
    ok &= permit->ok() && second.Poll(cx).IsPending();
    permit.reset();
    ok &= second.Poll(cx).IsReady();
  }

  const int64_t after = TotalAllocations();
  EXPECT_TRUE(ok);
  EXPECT_EQ(after, before);
}

}  // namespace
}  // namespace weft
