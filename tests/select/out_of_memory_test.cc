// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// weft-lint: allow-file(R22): the tests' tasks end before what they refer to.

// Each allocation of an operation fails once: it throws std::bad_alloc then, or
// does without, and nothing is leaked, nor left half done.

#include <array>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "weft/select/cancellation_token.h"
#include "weft/select/futures_ordered.h"
#include "weft/select/futures_unordered.h"
#include "weft/select/shared.h"
#include "weft/select/task_group.h"
#include "weft/stream/next.h"
#include "weft/sync/event.h"
#include "weft/task/context.h"
#include "weft/task/counting_waker.h"
#include "weft/task/live_counter.h"
#include "weft/task/manual_executor.h"
#include "weft/task/ready.h"
#include "weft/task/task.h"
#include "weft/task/waker.h"
#include "weft/tests/select/allocation_counter.h"

namespace weft {
namespace {

class OutOfMemoryTest : public testing::Test {
 protected:
  // Calls play(attempt) until no allocation of an attempt fails: the first in
  // the first round, the second in the next, and so on. attempt(fn) calls fn(),
  // and is true if that has not failed.
  template <class Play>
  static void FailEach(Play play) {
    const auto never = [](auto fn) {
      fn();
      return true;
    };
    play(never);  // what is allocated once and kept
    bool failed = true;
    for (int64_t n = 0; failed; ++n) {
      ASSERT_LT(n, 1'000);
      failed = false;
      const int64_t before = LiveAllocations();
      play([&](auto fn) {
        bool done = true;
        FailAllocationAfter(n);
        try {
          fn();
        } catch (const std::bad_alloc&) {
          done = false;
        }
        failed |= HasFailedAllocation();
        FailAllocationAfter(-1);
        return done;
      });
      EXPECT_EQ(LiveAllocations(), before) << "allocation " << n;
    }
  }

  Context cx_{NoopWaker()};
};

TEST_F(OutOfMemoryTest, AChildOfATokenIsMadeOrNot) {
  FailEach([](auto attempt) {
    const CancellationSource parent;
    attempt([&] { const CancellationSource child(parent.token()); });
    attempt([] { const CancellationSource other; });
  });
}

TEST_F(OutOfMemoryTest, AFutureIsPushedOrNot) {
  FailEach([&](auto attempt) {
    FuturesUnordered<ReadyFuture<int>> unordered;
    FuturesOrdered<ReadyFuture<int>> ordered;
    const bool pushed = attempt([&] { unordered.Push(Ready(1)); });
    const bool in_order = attempt([&] { ordered.Push(Ready(1)); });

    EXPECT_EQ(unordered.size(), pushed ? 1u : 0u);
    EXPECT_EQ(ordered.size(), in_order ? 1u : 0u);
    ordered.Push(Ready(2));
    EXPECT_EQ(**ordered.PollNext(cx_), in_order ? 1 : 2);
  });
}

TEST_F(OutOfMemoryTest, AChildWithoutAWakerOfItsOwnIsWoken) {
  FailEach([](auto attempt) {
    CountingWaker owner;
    Context cx(owner.waker());
    std::array<sync::Event, 3> events;
    FuturesUnordered<sync::Event::WaitFuture> waits;
    for (auto& event : events) waits.Push(event.Wait());

    EXPECT_TRUE(attempt([&] { EXPECT_TRUE(waits.PollNext(cx).IsPending()); }));
    const bool is_woken = owner.TakeWakes() > 0;

    for (auto& event : events) {
      if (is_woken || waits.size() < events.size()) {
        EXPECT_TRUE(waits.PollNext(cx).IsPending());
      }
      event.Set();
      EXPECT_GT(owner.TakeWakes(), 0);
      auto polled = waits.PollNext(cx);
      ASSERT_TRUE(polled.IsReady());
      EXPECT_TRUE(polled->has_value());
    }
    EXPECT_TRUE(waits.empty());
  });
}

TEST_F(OutOfMemoryTest, ASetInASetIsWoken) {
  using Inner = FuturesUnordered<sync::Event::WaitFuture>;
  FailEach([](auto attempt) {
    CountingWaker owner;
    Context cx(owner.waker());
    sync::Event event;
    Inner inner;
    inner.Push(event.Wait());
    FuturesUnordered<NextFuture<Inner>> outer;
    outer.Push(inner.Next());

    EXPECT_TRUE(attempt([&] { EXPECT_TRUE(outer.PollNext(cx).IsPending()); }));
    if (owner.TakeWakes() > 0) EXPECT_TRUE(outer.PollNext(cx).IsPending());
    event.Set();

    EXPECT_GT(owner.TakeWakes(), 0);
    EXPECT_TRUE(outer.PollNext(cx).IsReady());
    EXPECT_TRUE(inner.empty());
  });
}

TEST_F(OutOfMemoryTest, AllCopiesOfASharedFutureGoOn) {
  FailEach([](auto attempt) {
    CountingWaker first;
    CountingWaker second;
    Context cx(first.waker());
    Context other_cx(second.waker());
    sync::Event event;
    auto shared = Shared(event.Wait());
    FuturesUnordered<decltype(shared)> copies;
    copies.Push(shared);

    EXPECT_TRUE(attempt([&] { EXPECT_TRUE(copies.PollNext(cx).IsPending()); }));
    if (first.TakeWakes() > 0) EXPECT_TRUE(copies.PollNext(cx).IsPending());
    EXPECT_TRUE(shared.Poll(other_cx).IsPending());
    event.Set();

    EXPECT_GT(first.TakeWakes(), 0);
    EXPECT_EQ(second.TakeWakes(), 1);
    EXPECT_TRUE(shared.Poll(other_cx).IsReady());
    EXPECT_TRUE(copies.PollNext(cx).IsReady());
  });
}

TEST_F(OutOfMemoryTest, AGroupIsCancelledOrNot) {
  FailEach([](auto attempt) {
    LiveCounter counter;
    sync::Event gate;
    ManualExecutor executor;
    TaskGroup<> group({.spawner = &executor.spawner()});
    for (int i = 0; i < 3; ++i) {
      group.Spawn([&gate, object = counter.Make()]() -> Task<> {
        co_await gate.Wait();
      });
    }
    executor.RunUntilIdle();

    if (!attempt([&] { group.CancelAll(); })) group.CancelAll();

    executor.RunUntilIdle();
    EXPECT_EQ(group.running(), 0u);
    EXPECT_EQ(counter.live(), 0);
  });
}

TEST_F(OutOfMemoryTest, ATaskOfAGroupIsSpawnedOrCancelled) {
  for (const size_t limit : {0, 1}) {
    FailEach([limit](auto attempt) {
      ManualExecutor executor;
      TaskGroup<int> group({.limit = limit,
                            .on_error = OnTaskError::kGoOn,
                            .spawner = &executor.spawner()});
      group.Spawn(Ready(1));

      attempt([&] { group.Spawn(Ready(2)); });

      executor.RunUntilIdle();
      EXPECT_EQ(group.running(), 0u);
      EXPECT_EQ(**executor.Run(group.Next()), 1);
    });
  }
}

TEST_F(OutOfMemoryTest, ResultsOfAGroupAreNotLeaked) {
  FailEach([&](auto attempt) {
    LiveCounter counter;
    ManualExecutor executor;
    {
      TaskGroup<std::unique_ptr<LiveCounter::Object>> group(
          {.spawner = &executor.spawner()});
      for (int i = 0; i < 5; ++i) {
        group.Spawn(
            Ready(std::make_unique<LiveCounter::Object>(counter.Make())));
      }
      executor.RunUntilIdle();
      auto join = group.Join();
      attempt([&] { static_cast<void>(join.Poll(cx_).IsReady()); });
    }
    EXPECT_EQ(counter.live(), 0);
  });
}

}  // namespace
}  // namespace weft
