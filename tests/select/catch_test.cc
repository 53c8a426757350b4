// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// That something is caught is shown by exceptions_test.cc; this runs also where
// nothing can be.
#include "weft/select/catch.h"

#include <exception>
#include <memory>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "weft/sync/event.h"
#include "weft/task/await_trace.h"
#include "weft/task/block_on.h"
#include "weft/task/context.h"
#include "weft/task/drop_at_every_poll.h"
#include "weft/task/live_counter.h"
#include "weft/task/ready.h"
#include "weft/task/status_matchers.h"
#include "weft/task/task.h"
#include "weft/task/waker.h"
#include "weft/tests/select/script.h"

namespace weft {
namespace {

TEST(CatchTest, WithoutAnExceptionIsTheFuture) {
  int n = 0;
  auto reference = PollFn([&](Context&) -> Polled<int&> { return n; });

  EXPECT_EQ(BlockOn(Catch(Ready(5), [](std::exception_ptr) { return 1; })), 5);
  EXPECT_EQ(*BlockOn(Catch(Ready(std::make_unique<int>(3)),
                           [](std::exception_ptr) { return nullptr; })),
            3);
  EXPECT_EQ(
      &BlockOn(Catch(reference, [&](std::exception_ptr) -> int& { return n; })),
      &n);
  BlockOn(Catch(Ready(), [](std::exception_ptr) {}));
}

TEST(CatchTest, AFinishedFutureIsDestroyedAtOnce) {
  Script script{.pending = 1, .value = 4};
  auto caught = Catch(script.Make(), [](std::exception_ptr) { return 0; });
  Context cx(NoopWaker());
  EXPECT_TRUE(caught.Poll(cx).IsPending());

  EXPECT_EQ(*caught.Poll(cx), 4);

  EXPECT_EQ(script.live, 0);
}

TEST(CatchTest, SurvivesADropAtEveryPoll) {
  LiveCounter counter;
  sync::Event event;
  auto branch = [](sync::Event* event, LiveCounter::Object) -> Task<> {
    co_await event->Wait();
  };
  EXPECT_THAT(DropAtEveryPoll(
                  [&] {
                    return Catch(
                        branch(&event, counter.Make()),
                        [object = counter.Make()](std::exception_ptr) {});
                  },
                  {.step =
                       [&] {
                         event.Notify();
                         return true;
                       },
                   .live = [&] { return counter.live(); }}),
              IsOkAndHolds(2));
}

TEST(CatchTest, TracesWhatIsInIt) {
  auto caught = Catch(Pending(), [](std::exception_ptr) {});
  AwaitTrace trace;

  TraceFuture(caught, trace);

  ASSERT_EQ(trace.lines().size(), 1u);
  EXPECT_NE(trace.lines()[0].what.find("PendingFuture"), std::string::npos);
}

}  // namespace
}  // namespace weft
