// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// weft-lint: allow-file(R22): the tests' tasks end before what they refer to.

#include "weft/select/futures_unordered.h"

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
#include "weft/sync/event.h"
#include "weft/sync/oneshot.h"
#include "weft/task/await_trace.h"
#include "weft/task/block_on.h"
#include "weft/task/budget.h"
#include "weft/task/context.h"
#include "weft/task/counting_waker.h"
#include "weft/task/drop_at_every_poll.h"
#include "weft/task/future.h"
#include "weft/task/join_handle.h"
#include "weft/task/live_counter.h"
#include "weft/task/polled.h"
#include "weft/task/ready.h"
#include "weft/task/spawner.h"
#include "weft/task/status_matchers.h"
#include "weft/task/task.h"
#include "weft/task/waker.h"
#include "weft/task/yield_now.h"
#include "weft/tests/kit/explore_schedules.h"
#include "weft/tests/kit/signal.h"
#include "weft/tests/select/allocation_counter.h"

namespace weft {
namespace {

using testing::ElementsAre;

bool IsLong() { return std::getenv("WEFT_LONG") != nullptr; }

using Set = FuturesUnordered<Signal::WaitFuture>;
using Tasks = FuturesUnordered<Task<int>>;

static_assert(Stream<Set>);
static_assert(Stream<FuturesUnordered<YieldNow>>);

Task<int> Give(int value, int yields) {
  for (int i = 0; i < yields; ++i) co_await YieldNow();
  co_return value;
}

Task<int> Leaf() {
  co_await Pending();
  co_return 1;
}

template <class S>
Task<std::vector<int>> Drain(S* set) {
  std::vector<int> items;
  while (std::optional<int> item = co_await set->Next()) {
    items.push_back(*item);
  }
  co_return items;
}

TEST(FuturesUnorderedTest, GivesNothingWhileItIsEmpty) {
  Tasks set;

  EXPECT_EQ(BlockOn(set.Next()), std::nullopt);
  set.Push(Give(7, 0));
  EXPECT_EQ(set.size(), 1u);
  EXPECT_EQ(BlockOn(set.Next()), 7);
  EXPECT_TRUE(set.empty());
  EXPECT_EQ(BlockOn(set.Next()), std::nullopt);
}

TEST(FuturesUnorderedTest, GivesOutputsAsTheyAreReady) {
  Tasks set;
  for (int yields : {3, 1, 2, 0}) set.Push(Give(yields, yields));

  EXPECT_THAT(BlockOn(Drain(&set)), ElementsAre(0, 1, 2, 3));
}

TEST(FuturesUnorderedTest, HoldsVoidReferencesAndWhatOnlyMoves) {
  int n = 0;
  FuturesUnordered<YieldNow> nothing;
  auto refer = [&](Context&) -> Polled<int&> { return n; };
  FuturesUnordered<PollFnFuture<decltype(refer)>> references;
  FuturesUnordered<ReadyFuture<std::unique_ptr<int>>> pointers;
  nothing.Push(YieldNow());
  references.Push(PollFn(refer));
  pointers.Push(Ready(std::make_unique<int>(3)));

  EXPECT_EQ(BlockOn(nothing.Next()), Unit());
  EXPECT_EQ(&BlockOn(references.Next())->get(), &n);
  EXPECT_EQ(**BlockOn(pointers.Next()), 3);
}

TEST(FuturesUnorderedTest, PollsOnlyTheChildThatWasWoken) {
  constexpr int kChildren = 1'000;
  std::vector<Signal> signals(kChildren);
  Set set;
  for (Signal& signal : signals) set.Push(signal.Wait());
  CountingWaker waker;
  Context cx(waker.waker());
  int polls = 0;
  while (set.PollNext(cx).IsPending()) {
    ASSERT_LT(++polls, 10);
    if (waker.TakeWakes() == 0) break;
  }
  for (Signal& signal : signals) ASSERT_EQ(signal.polls(), 1);

  signals[617].WakeSpuriously();
  EXPECT_EQ(waker.TakeWakes(), 1);
  EXPECT_TRUE(set.PollNext(cx).IsPending());
  EXPECT_EQ(signals[617].polls(), 2);
  signals[617].Set(5);
  EXPECT_EQ(waker.TakeWakes(), 1);
  EXPECT_EQ(*set.PollNext(cx), 5);

  EXPECT_EQ(signals[617].polls(), 3);
  for (int i = 0; i < kChildren; ++i) {
    if (i != 617) EXPECT_EQ(signals[i].polls(), 1);
  }
}

TEST(FuturesUnorderedTest, WakesItsOwnerOnceForManyChildren) {
  std::vector<Signal> signals(20);
  Set set;
  for (Signal& signal : signals) set.Push(signal.Wait());
  CountingWaker waker;
  Context cx(waker.waker());
  EXPECT_TRUE(set.PollNext(cx).IsPending());

  for (Signal& signal : signals) signal.Set();

  EXPECT_EQ(waker.TakeWakes(), 1);
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(set.PollNext(cx).IsReady());
  EXPECT_EQ(waker.TakeWakes(), 0);
}

TEST(FuturesUnorderedTest, ASpuriousPollPollsNoChild) {
  Signal signal;
  Set set;
  set.Push(signal.Wait());
  CountingWaker waker;
  Context cx(waker.waker());

  for (int i = 0; i < 5; ++i) EXPECT_TRUE(set.PollNext(cx).IsPending());

  EXPECT_EQ(signal.polls(), 1);
  EXPECT_EQ(waker.wakes(), 0);
  EXPECT_EQ(waker.clones(), 1);
}

// futures-lite#105 is of a zip that kept them.
TEST(FuturesUnorderedTest, AFinishedFutureIsDestroyedBeforeItsOutputIsGiven) {
  LiveCounter counter;
  FuturesUnordered<Task<bool>> set;
  auto task = [](LiveCounter::Object, bool wait) -> Task<bool> {
    if (wait) co_await Pending();
    co_return true;
  };
  set.Push(task(counter.Make(), true));
  set.Push(task(counter.Make(), false));
  CountingWaker waker;
  Context cx(waker.waker());
  EXPECT_EQ(counter.live(), 2);

  EXPECT_TRUE(set.PollNext(cx).IsReady());

  EXPECT_EQ(counter.live(), 1);
  EXPECT_EQ(set.size(), 1u);
}

// Pends for ever, waking itself by reference.
struct Restless {
  using Output = void;
  Polled<void> Poll(Context& cx) {
    ++*polls;
    cx.waker().WakeByRef();
    return kPending;
  }
  int* polls;
};

TEST(FuturesUnorderedTest, ChildrenThatWakeThemselvesArePolledOnceInEachPoll) {
  int polls = 0;
  FuturesUnordered<Restless> set;
  for (int i = 0; i < 10; ++i) set.Push(Restless{&polls});
  CountingWaker waker;
  Context cx(waker.waker());

  EXPECT_TRUE(set.PollNext(cx).IsPending());
  EXPECT_EQ(polls, 10);
  EXPECT_EQ(waker.TakeWakes(), 1);
  EXPECT_TRUE(set.PollNext(cx).IsPending());

  EXPECT_EQ(polls, 20);
}

// Whether it yields, or finds the budget spent.
TEST(FuturesUnorderedTest, AChildThatAlwaysWakesItselfDoesNotKeepTheTurn) {
  auto yield = []() -> Task<int> {
    for (;;) co_await YieldNow();
  };
  auto consume = []() -> Task<int> {
    for (;;) co_await ConsumeBudget();
  };
  auto wait = [](sync::Event* event) -> Task<int> {
    co_await event->Wait();
    co_return 1;
  };
  for (const bool yields : {false, true}) {
    sync::Event event;
    Tasks set;
    set.Push(yields ? yield() : consume());
    set.Push(wait(&event));
    const auto poll = [&] {
      Budget budget;
      Context cx(NoopWaker(), &budget);
      return set.PollNext(cx);
    };
    while (event.waiters() == 0) EXPECT_TRUE(poll().IsPending());

    event.Set();

    int polls = 0;
    while (polls < 10 && poll().IsPending()) ++polls;
    EXPECT_LE(polls, 2);
  }
}

TEST(FuturesUnorderedTest, OnePollPollsSoManyChildrenAndGoesOnLater) {
  int polls = 0;
  FuturesUnordered<Restless> set;
  for (int i = 0; i < 1'000; ++i) set.Push(Restless{&polls});
  CountingWaker waker;
  Context cx(waker.waker());

  for (int i = 1; i <= 8; ++i) {
    EXPECT_TRUE(set.PollNext(cx).IsPending());
    EXPECT_EQ(polls, 256 * i);
    EXPECT_EQ(waker.TakeWakes(), 1);
  }
}

TEST(FuturesUnorderedTest, ASpentBudgetPollsNobody) {
  Signal signal;
  Set set;
  set.Push(signal.Wait());
  CountingWaker waker;
  Budget budget(0);
  Context cx(waker.waker(), &budget);

  EXPECT_TRUE(set.PollNext(cx).IsPending());

  EXPECT_EQ(signal.polls(), 0);
  EXPECT_EQ(waker.wakes(), 1);
}

// tokio#3516: sets in sets that yield, each for itself, take half of the time.
// Here each poll of the outer one does all that the budget allows, and few polls
// of children find it spent.
TEST(FuturesUnorderedTest, NestedSetsUseUpTheBudgetOfEachPoll) {
  constexpr int kSets = 8;
  constexpr int kChildren = 64;
  constexpr int kSteps = 50;
  static int polls;
  polls = 0;
  struct Counted {
    using Output = void;
    Polled<void> Poll(Context& cx) {
      ++polls;
      return task.Poll(cx);
    }
    Task<> task;
  };
  auto work = []() -> Task<> {
    for (int i = 0; i < kSteps; ++i) co_await ConsumeBudget();
  };
  auto inner = [](FuturesUnordered<Counted> set) -> Task<> {
    while (co_await set.Next()) {
    }
  };
  FuturesUnordered<Task<>> outer;
  for (int i = 0; i < kSets; ++i) {
    FuturesUnordered<Counted> set;
    for (int j = 0; j < kChildren; ++j) set.Push(Counted{work()});
    outer.Push(inner(std::move(set)));
  }
  CountingWaker waker;

  int rounds = 0;
  while (!outer.empty()) {
    Budget budget;
    Context cx(waker.waker(), &budget);
    ++rounds;
    while (outer.PollNext(cx).IsReady() && !outer.empty()) {
    }
    if (!outer.empty()) EXPECT_GE(waker.TakeWakes(), 1);
  }

  constexpr int kUnits = kSets * kChildren * kSteps;
  EXPECT_LE(rounds, kUnits / static_cast<int>(Budget::kPerPoll) + 1);
  EXPECT_LE(polls, kSets * kChildren + rounds);
}

TEST(FuturesUnorderedTest, APushWakesAPendingNext) {
  Tasks set;
  set.Push(Leaf());
  CountingWaker waker;
  Context cx(waker.waker());
  EXPECT_TRUE(set.PollNext(cx).IsPending());

  set.Push(Give(3, 0));

  EXPECT_EQ(waker.TakeWakes(), 1);
  EXPECT_EQ(*set.PollNext(cx), 3);
}

TEST(FuturesUnorderedTest, ClearDropsAllAndEndsAPendingNext) {
  LiveCounter counter;
  FuturesUnordered<Task<int>> set;
  auto task = [](LiveCounter::Object) -> Task<int> {
    co_await Pending();
    co_return 1;
  };
  for (int i = 0; i < 5; ++i) set.Push(task(counter.Make()));
  CountingWaker waker;
  Context cx(waker.waker());
  EXPECT_TRUE(set.PollNext(cx).IsPending());
  set.Push(task(counter.Make()));
  EXPECT_EQ(waker.TakeWakes(), 1);
  EXPECT_TRUE(set.PollNext(cx).IsPending());

  set.Clear();

  EXPECT_EQ(counter.live(), 0);
  EXPECT_TRUE(set.empty());
  EXPECT_EQ(waker.TakeWakes(), 1);
  EXPECT_EQ(*set.PollNext(cx), std::nullopt);
  set.Push(Give(2, 1));
  EXPECT_EQ(BlockOn(set.Next()), 2);
}

TEST(FuturesUnorderedTest, AWakerOutlivesChildAndSet) {
  std::vector<Waker> kept;
  auto keep = [&](Context& cx) -> Polled<int> {
    kept.push_back(cx.waker());
    return kept.size() == 1 ? Polled<int>(kPending) : Polled<int>(1);
  };
  auto set =
      std::make_optional<FuturesUnordered<PollFnFuture<decltype(keep)>>>();
  set->Push(PollFn(keep));
  set->Push(PollFn(keep));
  CountingWaker waker;
  Context cx(waker.waker());
  EXPECT_TRUE(set->PollNext(cx).IsReady());
  EXPECT_TRUE(set->PollNext(cx).IsPending());

  kept[1].WakeByRef();  // of the one that is gone
  EXPECT_EQ(waker.TakeWakes(), 0);
  kept[0].WakeByRef();
  EXPECT_EQ(waker.TakeWakes(), 1);
  set.reset();
  for (Waker& late : kept) std::move(late).Wake();

  EXPECT_EQ(waker.TakeWakes(), 0);
  EXPECT_EQ(waker.outstanding(), 0);
}

TEST(FuturesUnorderedTest, AChildKeepsTheWakerItHas) {
  Signal signal;
  Set set;
  set.Push(signal.Wait());
  Waker seen[2];
  auto look = [&](int poll) {
    return PollFn([&seen, poll](Context& cx) -> Polled<void> {
      if (!seen[poll].WillWake(cx.waker())) seen[poll] = cx.waker();
      return kPending;
    });
  };
  auto leaf = PollFn([&](Context& cx) -> Polled<int> {
    const int poll = seen[0] ? 1 : 0;
    auto future = look(poll);
    static_cast<void>(future.Poll(cx).IsPending());
    return kPending;
  });
  FuturesUnordered<decltype(leaf)> leaves;
  leaves.Push(std::move(leaf));
  CountingWaker waker;
  Context cx(waker.waker());

  EXPECT_TRUE(leaves.PollNext(cx).IsPending());
  seen[0].WakeByRef();
  EXPECT_TRUE(leaves.PollNext(cx).IsPending());

  EXPECT_TRUE(seen[0].WillWake(seen[1]));
}

TEST(FuturesUnorderedTest, ChildrenThatKeepNoWakerAreOneAllocation) {
  FuturesUnordered<YieldNow> set;
  Context cx(NoopWaker());
  const int64_t before = TotalAllocations();

  for (int i = 0; i < 100; ++i) set.Push(YieldNow());
  EXPECT_TRUE(set.PollNext(cx).IsPending());
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(set.PollNext(cx).IsReady());

  EXPECT_EQ(TotalAllocations() - before, CountsAllocations() ? 100 : 0);
}

// futures-intrusive#19 (C057).
TEST(FuturesUnorderedTest, AMovedSetWakesWhoeverPolledItLast) {
  Signal signal;
  Set set;
  set.Push(signal.Wait());
  CountingWaker a;
  CountingWaker b;
  Context in_a(a.waker());
  Context in_b(b.waker());
  EXPECT_TRUE(set.PollNext(in_a).IsPending());

  Set moved = std::move(set);
  EXPECT_TRUE(moved.PollNext(in_b).IsPending());
  EXPECT_EQ(a.outstanding(), 0);
  signal.Set(4);

  EXPECT_EQ(a.wakes(), 0);
  EXPECT_EQ(b.wakes(), 1);
  EXPECT_EQ(signal.polls(), 1);
  EXPECT_EQ(*moved.PollNext(in_b), 4);
  EXPECT_EQ(b.outstanding(), 0);
}

TEST(FuturesUnorderedTest, AMoveAssignedSetDropsWhatItHad) {
  LiveCounter counter;
  auto task = [](LiveCounter::Object) -> Task<int> {
    co_await Pending();
    co_return 1;
  };
  Tasks a;
  Tasks b;
  a.Push(task(counter.Make()));
  b.Push(Give(5, 0));

  a = std::move(b);

  EXPECT_EQ(counter.live(), 0);
  EXPECT_EQ(BlockOn(a.Next()), 5);
}

TEST(FuturesUnorderedTest, SurvivesADropAtEveryPoll) {
  LiveCounter counter;
  sync::Event event;
  auto child = [](sync::Event* event, LiveCounter::Object) -> Task<int> {
    co_await event->Wait();
    co_await event->Wait();
    co_return 1;
  };
  auto drain = [](Tasks set) -> Task<> {
    while (co_await set.Next()) {
    }
  };
  EXPECT_THAT(DropAtEveryPoll(
                  [&] {
                    Tasks set;
                    for (int i = 0; i < 3; ++i) {
                      set.Push(child(&event, counter.Make()));
                    }
                    return drain(std::move(set));
                  },
                  {.step =
                       [&] {
                         event.Notify();
                         return true;
                       },
                   .live = [&] { return counter.live(); }}),
              IsOkAndHolds(7));
}

TEST(FuturesUnorderedTest, ADroppedNextLosesNothing) {
  Tasks set;
  set.Push(Give(1, 1));
  CountingWaker waker;
  Context cx(waker.waker());
  EXPECT_TRUE(set.Next().Poll(cx).IsPending());

  EXPECT_EQ(*set.Next().Poll(cx), 1);
}

TEST(FuturesUnorderedTest, IsTraced) {
  Tasks set;
  set.Push(Leaf());
  set.Push(Leaf());
  CountingWaker waker;
  Context cx(waker.waker());
  EXPECT_TRUE(set.PollNext(cx).IsPending());
  AwaitTrace trace;
  auto next = set.Next();

  TraceFuture(next, trace);

  ASSERT_EQ(trace.lines().size(), 5u);
  EXPECT_EQ(trace.lines()[0].what, "FuturesUnordered");
  EXPECT_EQ(trace.lines()[1].depth, 1);
  EXPECT_EQ(trace.lines()[3].depth, 1);
  EXPECT_EQ(trace.own_wakers(), 1);  // nobody can wake them
}

TEST(FuturesUnorderedTest, WhoeverHoldsAChildsWakerIsNotForgotten) {
  Signal signal;
  Set set;
  set.Push(signal.Wait());
  CountingWaker waker;
  Context cx(waker.waker());
  EXPECT_TRUE(set.PollNext(cx).IsPending());
  AwaitTrace trace;

  set.Trace(trace);

  EXPECT_EQ(trace.own_wakers(), 0);
}

// Sixteen one-shots, sent by four tasks in any order, are received, and each
// receiver is polled at most once for being new and once for its value.
absl::Status ReceiveAll(DeterministicExecutor& executor) {
  constexpr int kValues = 16;
  auto sum = executor.Run([]() -> Task<int> {
    FuturesUnordered<sync::OneshotReceiver<int>> set;
    std::vector<JoinHandle<>> senders;
    for (int i = 0; i < 4; ++i) {
      std::vector<sync::OneshotSender<int>> ends;
      for (int j = 0; j < kValues / 4; ++j) {
        auto [sender, receiver] = sync::Oneshot<int>();
        ends.push_back(std::move(sender));
        set.Push(std::move(receiver));
      }
      senders.push_back(
          Spawn([](std::vector<sync::OneshotSender<int>> ends) -> Task<> {
            for (auto& end : ends) {
              co_await YieldNow();
              static_cast<void>(std::move(end).Send(1));
            }
          }(std::move(ends))));
    }
    int sum = 0;
    while (auto value = co_await set.Next()) sum += **value;
    co_return sum;
  }());
  if (!sum.ok()) return sum.status();
  return *sum == kValues ? absl::OkStatus()
                         : absl::InternalError("a value is lost");
}

TEST(FuturesUnorderedTest, LosesNoWakeInAnyOrder) {
  EXPECT_GT(ExploreSchedules(IsLong() ? 10'000 : 1'000, ReceiveAll), 900u);
}

// Threads set signals while the set is polled and, at times, dropped.
TEST(FuturesUnorderedTest, ThreadsMayWakeWhileItIsPolledAndDropped) {
  constexpr int kThreads = 3;
  constexpr int kEach = 16;
  const int rounds = IsLong() ? 20'000 : 200;
  for (int round = 0; round < rounds; ++round) {
    std::vector<sync::OneshotSender<int>> senders[kThreads];
    FuturesUnordered<sync::OneshotReceiver<int>> set;
    for (int i = 0; i < kThreads * kEach; ++i) {
      auto [sender, receiver] = sync::Oneshot<int>();
      senders[i % kThreads].push_back(std::move(sender));
      set.Push(std::move(receiver));
    }
    std::vector<std::thread> threads;
    for (auto& ends : senders) {
      threads.emplace_back([&ends] {
        for (auto& end : ends) static_cast<void>(std::move(end).Send(1));
      });
    }

    const int wanted = round % 3 == 0 ? kEach : kThreads * kEach;
    auto receive = [](FuturesUnordered<sync::OneshotReceiver<int>> set,
                      int wanted) -> Task<int> {
      int sum = 0;
      while (sum < wanted) {
        auto value = co_await set.Next();
        sum += **value;
      }
      co_return sum;
    };
    EXPECT_EQ(BlockOn(receive(std::move(set), wanted)), wanted);

    for (std::thread& thread : threads) thread.join();
  }
}

}  // namespace
}  // namespace weft
