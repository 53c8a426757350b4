// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// weft-lint: allow-file(R22): the tests' tasks end before what they refer to.

#include "weft/sync/barrier.h"

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "weft/executor/deterministic_executor.h"
#include "weft/task/context.h"
#include "weft/task/counting_waker.h"
#include "weft/task/drop_at_every_poll.h"
#include "weft/task/join_handle.h"
#include "weft/task/live_counter.h"
#include "weft/task/status_matchers.h"
#include "weft/task/task.h"
#include "weft/task/waker.h"
#include "weft/tests/kit/explore_schedules.h"
#include "weft/tests/sync/callback_waker.h"

namespace weft::sync {
namespace {

// Many more rounds with WEFT_LONG=1.
int Rounds(int rounds) {
  return std::getenv("WEFT_LONG") != nullptr ? 100 * rounds : rounds;
}

constinit Barrier static_barrier(1);

// A wait and who polls it.
class Waiter {
 public:
  explicit Waiter(Barrier& barrier) : wait_(barrier.Wait()) {}

  Polled<bool> Poll() {
    Context cx(waker_.waker());
    return wait_.Poll(cx);
  }
  int64_t TakeWakes() { return waker_.TakeWakes(); }
  int64_t outstanding() const { return waker_.outstanding(); }

 private:
  CountingWaker waker_;
  Barrier::WaitFuture wait_;
};

TEST(BarrierTest, OfOneIsAlwaysOpenForItsLeader) {
  EXPECT_TRUE(static_barrier.BlockingWait());
  EXPECT_TRUE(static_barrier.BlockingWait());
}

TEST(BarrierTest, TheLastToComeOpensItAndLeads) {
  Barrier barrier(3);
  for (int round = 0; round < 3; ++round) {
    Waiter a(barrier);
    Waiter b(barrier);
    Waiter c(barrier);
    EXPECT_TRUE(a.Poll().IsPending());
    EXPECT_TRUE(b.Poll().IsPending());
    EXPECT_TRUE(a.Poll().IsPending());  // a spurious poll does not come again
    EXPECT_EQ(barrier.arrived(), 2u);

    Polled<bool> leads = c.Poll();

    ASSERT_TRUE(leads.IsReady());
    EXPECT_TRUE(*leads);
    EXPECT_EQ(barrier.arrived(), 0u);
    for (Waiter* other : {&a, &b}) {
      EXPECT_EQ(other->TakeWakes(), 1);
      leads = other->Poll();
      ASSERT_TRUE(leads.IsReady());
      EXPECT_FALSE(*leads);
      EXPECT_EQ(other->outstanding(), 0);
    }
  }
}

TEST(BarrierTest, OneOfTheNextRoundWaitsThoughTheLastIsNotThroughYet) {
  Barrier barrier(2);
  Waiter slow(barrier);
  Waiter fast(barrier);
  EXPECT_TRUE(slow.Poll().IsPending());
  EXPECT_TRUE(fast.Poll().IsReady());

  Waiter next(barrier);

  EXPECT_TRUE(next.Poll().IsPending());
  EXPECT_TRUE(slow.Poll().IsReady());
  EXPECT_TRUE(next.Poll().IsPending());
  EXPECT_EQ(next.TakeWakes(), 0);
}

TEST(BarrierTest, ADroppedWaitIsNotCounted) {
  Barrier barrier(2);
  {
    Waiter gone(barrier);
    EXPECT_TRUE(gone.Poll().IsPending());
  }
  Waiter a(barrier);
  EXPECT_TRUE(a.Poll().IsPending());
  EXPECT_EQ(barrier.arrived(), 1u);

  Waiter b(barrier);

  EXPECT_TRUE(b.Poll().IsReady());
  EXPECT_TRUE(a.Poll().IsReady());
}

TEST(BarrierTest, AWaitDroppedAfterTheOpeningChangesNothing) {
  Barrier barrier(2);
  auto a = std::make_unique<Waiter>(barrier);
  Waiter b(barrier);
  EXPECT_TRUE(a->Poll().IsPending());
  EXPECT_TRUE(b.Poll().IsReady());
  Waiter next(barrier);
  EXPECT_TRUE(next.Poll().IsPending());

  a.reset();

  EXPECT_EQ(barrier.arrived(), 1u);
  EXPECT_TRUE(next.Poll().IsPending());
}

TEST(BarrierTest, WakesWhoeverPolledLast) {
  Barrier barrier(2);
  CountingWaker a;
  CountingWaker b;
  Context in_a(a.waker());
  Context in_b(b.waker());
  auto wait = barrier.Wait();
  EXPECT_TRUE(wait.Poll(in_a).IsPending());
  EXPECT_TRUE(wait.Poll(in_b).IsPending());

  EXPECT_TRUE(barrier.BlockingWait());

  EXPECT_EQ(a.wakes(), 0);
  EXPECT_EQ(b.wakes(), 1);
  EXPECT_EQ(a.outstanding(), 0);
}

TEST(BarrierTest, WithoutBudgetTheLastComesLaterAndStillLeads) {
  Barrier barrier(2);
  Waiter first(barrier);
  EXPECT_TRUE(first.Poll().IsPending());
  CountingWaker waker;
  Budget budget(0);
  Context cx(waker.waker(), &budget);
  auto last = barrier.Wait();

  EXPECT_TRUE(last.Poll(cx).IsPending());
  EXPECT_EQ(waker.TakeWakes(), 1);
  EXPECT_TRUE(first.Poll().IsPending());
  budget = Budget(2);
  const Polled<bool> leads = last.Poll(cx);

  ASSERT_TRUE(leads.IsReady());
  EXPECT_TRUE(*leads);
  EXPECT_EQ(budget.units(), 1u);
  EXPECT_TRUE(first.Poll().IsReady());
}

TEST(BarrierTest, WithoutBudgetOneWhoIsNotTheLastHasCome) {
  Barrier barrier(2);
  CountingWaker waker;
  Budget budget(0);
  Context cx(waker.waker(), &budget);
  auto first = barrier.Wait();
  EXPECT_TRUE(first.Poll(cx).IsPending());

  EXPECT_TRUE(barrier.BlockingWait());

  budget = Budget(1);
  EXPECT_TRUE(first.Poll(cx).IsReady());
}

TEST(BarrierTest, WakersMayUseIt) {
  Barrier barrier(3);
  CountingWaker other;
  Context in_other(other.waker());
  std::optional<Barrier::WaitFuture> next;
  auto come = [&] {
    if (!next.has_value()) next.emplace(barrier.Wait());
    static_cast<void>(next->Poll(in_other).IsReady());
  };
  const Waker waker = CallbackWaker(come, come);
  Context cx(waker);
  auto a = barrier.Wait();
  auto b = barrier.Wait();
  auto gone = std::make_unique<Barrier::WaitFuture>(barrier.Wait());
  EXPECT_TRUE(gone->Poll(cx).IsPending());

  gone.reset();  // drops a waker, which comes in its place
  EXPECT_EQ(barrier.arrived(), 1u);
  EXPECT_TRUE(a.Poll(cx).IsPending());
  EXPECT_TRUE(b.Poll(in_other).IsReady());

  EXPECT_TRUE(a.Poll(in_other).IsReady());
}

TEST(BarrierTest, SurvivesADropAtEveryPoll) {
  Barrier barrier(2);
  LiveCounter counter;
  auto task = [](Barrier* barrier, LiveCounter::Object) -> Task<> {
    const bool first = co_await barrier->Wait();
    const bool second = co_await barrier->Wait();
    EXPECT_FALSE(first);
    EXPECT_FALSE(second);
  };

  EXPECT_THAT(
      DropAtEveryPoll([&] { return task(&barrier, counter.Make()); },
                      {.step =
                           [&] {
                             EXPECT_TRUE(barrier.BlockingWait());
                             return true;
                           },
                       .settle = [&] { EXPECT_EQ(barrier.arrived(), 0u); },
                       .live = [&] { return counter.live(); }}),
      IsOkAndHolds(3));
}

TEST(BarrierTest, ThreadsGoThroughTogetherBehindOneLeader) {
  constexpr int kThreads = 3;
  const int rounds = Rounds(300);
  Barrier barrier(kThreads);
  int parts[kThreads] = {};
  std::atomic<int> leaders{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      CountingWaker waker;
      Context cx(waker.waker());
      for (int round = 1; round <= rounds; ++round) {
        parts[i] = round;
        if (barrier.BlockingWait()) ++leaders;
        for (int part : parts) EXPECT_EQ(part, round);
        if (barrier.BlockingWait()) ++leaders;
      }
    });
  }

  for (auto& thread : threads) thread.join();
  EXPECT_EQ(leaders, 2 * rounds);
}

// Three come to a barrier of three, while others come and give up, who are there
// when it opens or are not: never does it open for fewer.
TEST(BarrierTest, NeverOpensOneShortInAnyOrder) {
  struct Shared {
    Barrier barrier{3};
    int came = 0;
    int leaders = 0;
    bool short_of_one = false;
  };
  auto member = [](std::shared_ptr<Shared> shared) -> Task<> {
    for (int round = 1; round <= 3; ++round) {
      ++shared->came;
      const bool leads = co_await shared->barrier.Wait();
      shared->leaders += leads;
      if (shared->came < 3 * round) shared->short_of_one = true;
    }
  };
  auto quitter = [](std::shared_ptr<Shared> shared) -> Task<> {
    auto wait = std::make_optional(shared->barrier.Wait());
    CountingWaker waker;
    Context cx(waker.waker());
    // With two of them there it would lead; only then is it not alone.
    if (shared->barrier.arrived() < 2) {
      EXPECT_TRUE(wait->Poll(cx).IsPending());
    }
    wait.reset();
    co_return;
  };
  auto scenario = [&](DeterministicExecutor& executor) -> absl::Status {
    auto shared = std::make_shared<Shared>();
    for (int i = 0; i < 3; ++i) {
      executor.Spawn(member(shared)).Detach();
      executor.Spawn(quitter(shared)).Detach();
      executor.Spawn(quitter(shared)).Detach();
    }
    const absl::Status status = executor.RunUntilIdle();
    if (!status.ok()) return status;
    if (executor.live() != 0) return absl::InternalError("some wait on");
    if (shared->leaders != 3) return absl::InternalError("not one leader each");
    return shared->short_of_one ? absl::InternalError("opened one short")
                                : absl::OkStatus();
  };

  EXPECT_GT(ExploreSchedules(Rounds(100), scenario), 50u);
}

TEST(BarrierDeathTest, DestroyingItWithAWaiterDies) {
  auto barrier = std::make_unique<Barrier>(2);
  Waiter waiter(*barrier);
  EXPECT_TRUE(waiter.Poll().IsPending());

  EXPECT_DEATH(barrier.reset(), "while something waits");
  EXPECT_TRUE(barrier->BlockingWait());
}

}  // namespace
}  // namespace weft::sync
