// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// weft-lint: allow-file(R22): the tests' tasks end before what they refer to.

#include "weft/select/shared.h"

#include <atomic>
#include <cstdlib>
#include <memory>
#include <optional>
#include <thread>
#include <type_traits>
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
#include "weft/task/random.h"
#include "weft/task/ready.h"
#include "weft/task/spawner.h"
#include "weft/task/status_matchers.h"
#include "weft/task/task.h"
#include "weft/task/waker.h"
#include "weft/task/yield_now.h"
#include "weft/tests/kit/explore_schedules.h"
#include "weft/tests/kit/signal.h"
#include "weft/tests/sync/callback_waker.h"

namespace weft {
namespace {

bool IsLong() { return std::getenv("WEFT_LONG") != nullptr; }

using SharedSignal = SharedFuture<Signal::WaitFuture>;

static_assert(Future<SharedSignal>);
static_assert(std::is_same_v<OutputOf<SharedSignal>, const int&>);
static_assert(std::is_void_v<OutputOf<SharedFuture<YieldNow>>>);

// A copy and who polls it.
class Waiter {
 public:
  explicit Waiter(const SharedSignal& shared) : shared_(shared) {}

  Polled<const int&> Poll() {
    Context cx(waker_.waker());
    return shared_.Poll(cx);
  }
  CountingWaker& waker() { return waker_; }

 private:
  CountingWaker waker_;
  SharedSignal shared_;
};

TEST(SharedTest, CopiesShareOneOutput) {
  auto shared = Shared(Ready(std::make_unique<int>(5)));
  auto copy = shared;
  Context cx(NoopWaker());

  const std::unique_ptr<int>& first = *shared.Poll(cx);
  const std::unique_ptr<int>& second = *copy.Poll(cx);

  EXPECT_EQ(*first, 5);
  EXPECT_EQ(&first, &second);
  EXPECT_EQ(&*shared.Poll(cx), &first);  // as often as one likes
}

TEST(SharedTest, PassesOnReferencesAndVoid) {
  int n = 0;
  auto reference = Shared(PollFn([&](Context&) -> Polled<int&> { return n; }));

  EXPECT_EQ(&BlockOn(reference), &n);
  BlockOn(Shared(YieldNow()));
}

TEST(SharedTest, WhicheverCopyIsPolledGoesOn) {
  Signal signal;
  const auto shared = Shared(signal.Wait());
  Waiter a(shared);
  Waiter b(shared);
  EXPECT_TRUE(a.Poll().IsPending());
  EXPECT_TRUE(b.Poll().IsPending());
  EXPECT_EQ(signal.polls(), 1);

  signal.Set(7);
  EXPECT_EQ(a.waker().TakeWakes(), 1);
  EXPECT_EQ(b.waker().TakeWakes(), 1);

  EXPECT_EQ(*b.Poll(), 7);
  EXPECT_EQ(*a.Poll(), 7);
  EXPECT_EQ(signal.polls(), 2);
  EXPECT_EQ(a.waker().outstanding() + b.waker().outstanding(), 0);
}

TEST(SharedTest, WhoeverPolledItMayBeDropped) {
  Signal signal;
  auto shared = std::make_unique<SharedSignal>(Shared(signal.Wait()));
  auto first = std::make_unique<Waiter>(*shared);
  Waiter second(*shared);
  shared.reset();
  EXPECT_TRUE(first->Poll().IsPending());
  EXPECT_TRUE(second.Poll().IsPending());

  first.reset();
  signal.WakeSpuriously();
  EXPECT_EQ(second.waker().TakeWakes(), 1);
  EXPECT_TRUE(second.Poll().IsPending());
  EXPECT_EQ(signal.polls(), 2);
  signal.Set(1);

  EXPECT_EQ(second.waker().TakeWakes(), 1);
  EXPECT_EQ(*second.Poll(), 1);
}

TEST(SharedTest, AWokenCopyMayBeDroppedUnpolled) {
  Signal signal;
  const auto shared = Shared(signal.Wait());
  auto first = std::make_unique<Waiter>(shared);
  Waiter second(shared);
  EXPECT_TRUE(first->Poll().IsPending());
  EXPECT_TRUE(second.Poll().IsPending());

  signal.Set(1);
  first.reset();

  EXPECT_EQ(second.waker().TakeWakes(), 1);
  EXPECT_EQ(*second.Poll(), 1);
}

TEST(SharedTest, AWakeDuringThePollOfACopyWakesAll) {
  int polls = 0;
  auto restless = PollFn([&](Context& cx) -> Polled<int> {
    if (++polls == 3) return 1;
    cx.waker().WakeByRef();
    return kPending;
  });
  auto a = Shared(std::move(restless));
  auto b = a;
  CountingWaker waker_a;
  CountingWaker waker_b;
  Context in_a(waker_a.waker());
  Context in_b(waker_b.waker());
  EXPECT_TRUE(a.Poll(in_a).IsPending());
  EXPECT_EQ(waker_a.TakeWakes(), 1);

  EXPECT_TRUE(b.Poll(in_b).IsPending());
  EXPECT_EQ(waker_b.TakeWakes(), 1);

  EXPECT_EQ(*a.Poll(in_a), 1);
}

TEST(SharedTest, ASpuriousPollDoesNotPollTheFuture) {
  Signal signal;
  Waiter waiter(Shared(signal.Wait()));

  for (int i = 0; i < 5; ++i) EXPECT_TRUE(waiter.Poll().IsPending());

  EXPECT_EQ(signal.polls(), 1);
  EXPECT_EQ(waiter.waker().wakes(), 0);
}

TEST(SharedTest, AFinishedFutureIsDestroyedAtOnce) {
  LiveCounter counter;
  auto task = [](LiveCounter::Object) -> Task<int> {
    co_await YieldNow();
    co_return 1;
  };
  auto shared = Shared(task(counter.Make()));
  EXPECT_EQ(counter.live(), 1);

  EXPECT_EQ(BlockOn(shared), 1);

  EXPECT_EQ(counter.live(), 0);
}

// The future keeps a waker that refers to what is shared.
TEST(SharedTest, TheLastCopyDropsTheFuture) {
  LiveCounter counter;
  sync::Event event;
  auto task = [](sync::Event* event, LiveCounter::Object) -> Task<int> {
    co_await event->Wait();
    co_return 1;
  };
  auto a = std::make_optional(Shared(task(&event, counter.Make())));
  auto b = a;
  Context cx(NoopWaker());
  EXPECT_TRUE(a->Poll(cx).IsPending());

  a.reset();
  EXPECT_EQ(counter.live(), 1);
  b.reset();

  EXPECT_EQ(counter.live(), 0);
}

// futures-intrusive#19 (C057).
TEST(SharedTest, WakesWhoeverPolledItLast) {
  Signal signal;
  auto shared = Shared(signal.Wait());
  CountingWaker a;
  CountingWaker b;
  Context in_a(a.waker());
  Context in_b(b.waker());
  EXPECT_TRUE(shared.Poll(in_a).IsPending());

  EXPECT_TRUE(shared.Poll(in_b).IsPending());
  EXPECT_EQ(a.outstanding(), 0);
  signal.Set(2);

  EXPECT_EQ(a.wakes(), 0);
  EXPECT_EQ(b.wakes(), 1);
  EXPECT_EQ(*shared.Poll(in_b), 2);
}

TEST(SharedTest, ASpentBudgetPollsNobody) {
  Signal signal;
  auto shared = Shared(signal.Wait());
  CountingWaker waker;
  Budget budget(0);
  Context cx(waker.waker(), &budget);

  EXPECT_TRUE(shared.Poll(cx).IsPending());

  EXPECT_EQ(signal.polls(), 0);
  EXPECT_EQ(waker.wakes(), 1);
}

TEST(SharedTest, WakersMayUseIt) {
  Signal signal;
  const auto shared = Shared(signal.Wait());
  auto victim = std::make_unique<Waiter>(shared);
  int wakes = 0;
  const Waker waker = CallbackWaker([&] {
    ++wakes;
    victim.reset();
    auto another = shared;
    Context cx(NoopWaker());
    EXPECT_EQ(*another.Poll(cx), 3);
  });
  Context cx(waker);
  auto copy = shared;
  EXPECT_TRUE(copy.Poll(cx).IsPending());
  EXPECT_TRUE(victim->Poll().IsPending());

  signal.Set(3);

  EXPECT_EQ(wakes, 1);
  EXPECT_EQ(*copy.Poll(cx), 3);
}

TEST(SharedTest, SurvivesADropAtEveryPoll) {
  LiveCounter counter;
  sync::Event event;
  auto branch = [](sync::Event* event,
                   LiveCounter::Object object) -> Task<LiveCounter::Object> {
    co_await event->Wait();
    co_await event->Wait();
    co_return object;
  };
  EXPECT_THAT(
      DropAtEveryPoll([&] { return Shared(branch(&event, counter.Make())); },
                      {.step =
                           [&] {
                             event.Notify();
                             return true;
                           },
                       .live = [&] { return counter.live(); }}),
      IsOkAndHolds(3));
}

TEST(SharedTest, IsOneLineOfATrace) {
  const auto shared = Shared(Pending());
  AwaitTrace trace;

  TraceFuture(shared, trace);

  ASSERT_EQ(trace.lines().size(), 1u);
  EXPECT_EQ(trace.lines()[0].what, "Shared");
}

TEST(SharedTest, MovingItAfterAPollDies) {
  auto shared = Shared(Pending());
  Context cx(NoopWaker());
  EXPECT_TRUE(shared.Poll(cx).IsPending());

  EXPECT_DEATH(static_cast<void>(SharedFuture(std::move(shared))),
               "moved after its first poll");
}

// Of eight copies some are polled, moved on and dropped at random; those that
// are left get the output, whoever polled the future when it was woken.
absl::Status ShareAmongTasks(DeterministicExecutor& executor) {
  const auto sum = executor.Run([]() -> Task<int> {
    auto [sender, receiver] = sync::Oneshot<int>();
    auto work = [](sync::OneshotReceiver<int> receiver) -> Task<int> {
      for (int i = 0; i < 3; ++i) co_await YieldNow();
      auto value = co_await receiver;
      for (int i = 0; i < 3; ++i) co_await YieldNow();
      co_return *value;
    };
    const auto shared = Shared(work(std::move(receiver)));
    auto wait = [](SharedFuture<Task<int>> shared) -> Task<int> {
      co_return co_await shared;
    };
    std::vector<JoinHandle<int>> kept;
    std::vector<JoinHandle<int>> dropped;
    for (int i = 0; i < 4; ++i) {
      kept.push_back(Spawn(wait(shared)));
      dropped.push_back(Spawn(wait(shared)));
    }
    auto drop = [](std::vector<JoinHandle<int>> handles) -> Task<> {
      while (!handles.empty()) {
        co_await YieldNow();
        handles.pop_back();
      }
    };
    JoinHandle<> dropper = Spawn(drop(std::move(dropped)));
    JoinHandle<> send = Spawn([](sync::OneshotSender<int> sender) -> Task<> {
      co_await YieldNow();
      static_cast<void>(std::move(sender).Send(1));
    }(std::move(sender)));
    int sum = 0;
    for (auto& handle : kept) sum += co_await handle;
    co_await dropper;
    co_await send;
    co_return sum;
  }());
  if (!sum.ok()) return sum.status();
  return *sum == 4 ? absl::OkStatus()
                   : absl::InternalError("an output is lost");
}

TEST(SharedTest, LosesNoWakeInAnyOrder) {
  EXPECT_GT(ExploreSchedules(IsLong() ? 10'000 : 1'000, ShareAmongTasks), 900u);
}

// Each thread waits for a copy, after it has dropped another one that it had
// polled; what they wait for goes on in steps that other threads make.
TEST(SharedTest, ThreadsShareItAndDropIt) {
  constexpr int kThreads = 3;
  static constexpr int kSteps = 10;
  const int rounds = IsLong() ? 10'000 : 100;
  for (int round = 0; round < rounds; ++round) {
    std::vector<sync::OneshotSender<int>> senders;
    std::vector<sync::OneshotReceiver<int>> receivers;
    for (int i = 0; i < kSteps; ++i) {
      auto [sender, receiver] = sync::Oneshot<int>();
      senders.push_back(std::move(sender));
      receivers.push_back(std::move(receiver));
    }
    auto work =
        [](std::vector<sync::OneshotReceiver<int>> receivers) -> Task<int> {
      int sum = 0;
      for (auto& receiver : receivers) {
        auto value = co_await receiver;
        sum += *value;
      }
      co_return sum;
    };
    auto shared = std::make_optional(Shared(work(std::move(receivers))));
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([copy = *shared]() {
        {
          auto dropped = copy;
          Context cx(NoopWaker());
          static_cast<void>(dropped.Poll(cx).IsReady());
        }
        auto mine = copy;
        EXPECT_EQ(BlockOn(mine), kSteps);
      });
    }
    shared.reset();

    for (auto& sender : senders) static_cast<void>(std::move(sender).Send(1));

    for (std::thread& thread : threads) thread.join();
  }
}

}  // namespace
}  // namespace weft
