// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/select/either.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "weft/sync/event.h"
#include "weft/task/await_trace.h"
#include "weft/task/block_on.h"
#include "weft/task/drop_at_every_poll.h"
#include "weft/task/future.h"
#include "weft/task/live_counter.h"
#include "weft/task/ready.h"
#include "weft/task/status_matchers.h"
#include "weft/task/task.h"
#include "weft/task/yield_now.h"
#include "weft/tests/select/script.h"

namespace weft {
namespace {

using Number = Either<Task<int>, ReadyFuture<int>>;

static_assert(Future<Number>);
static_assert(kMovableAfterPoll<Number>);
static_assert(!kMovableAfterPoll<Either<Task<int>, Script::Future>>);

Task<int> Slow(int n) {
  co_await YieldNow();
  co_return n;
}

Number Double(int n, bool slow) {
  if (slow) return Slow(2 * n);
  return Ready(2 * n);
}

TEST(EitherTest, IsOneOfTwo) {
  EXPECT_EQ(BlockOn(Double(2, false)), 4);
  EXPECT_EQ(BlockOn(Double(3, true)), 6);
}

TEST(EitherTest, SurvivesADropAtEveryPoll) {
  LiveCounter counter;
  sync::Event event;
  auto branch = [](sync::Event* event, LiveCounter::Object) -> Task<> {
    co_await event->Wait();
  };
  EXPECT_THAT(DropAtEveryPoll(
                  [&]() -> Either<YieldNow, Task<>> {
                    return branch(&event, counter.Make());
                  },
                  {.step =
                       [&] {
                         event.Notify();
                         return true;
                       },
                   .live = [&] { return counter.live(); }}),
              IsOkAndHolds(2));
}

TEST(EitherTest, TracesWhatIsInIt) {
  const Either<YieldNow, PendingFuture<void>> first = YieldNow();
  const Either<YieldNow, PendingFuture<void>> second = Pending();
  AwaitTrace trace;

  TraceFuture(first, trace);
  TraceFuture(second, trace);

  ASSERT_EQ(trace.lines().size(), 2u);
  EXPECT_NE(trace.lines()[0].what.find("YieldNow"), std::string::npos);
  EXPECT_NE(trace.lines()[1].what.find("PendingFuture"), std::string::npos);
}

}  // namespace
}  // namespace weft
