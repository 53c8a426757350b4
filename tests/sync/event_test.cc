// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// weft-lint: allow-file(R22): the tests' tasks end before what they refer to.

#include "weft/sync/event.h"

#include <atomic>
#include <cstdlib>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "weft/task/context.h"
#include "weft/task/counting_waker.h"
#include "weft/task/drop_at_every_poll.h"
#include "weft/task/join_handle.h"
#include "weft/task/live_counter.h"
#include "weft/task/manual_executor.h"
#include "weft/task/status_matchers.h"
#include "weft/task/task.h"
#include "weft/task/waker.h"
#include "weft/tests/sync/callback_waker.h"

namespace weft::sync {
namespace {

// Many more rounds with WEFT_LONG=1.
int Rounds(int rounds) {
  return std::getenv("WEFT_LONG") != nullptr ? 100 * rounds : rounds;
}

constinit Event static_event;

// A wait and who polls it.
class Waiter {
 public:
  explicit Waiter(Event& event) : wait_(event.Wait()) {}

  bool Poll() {
    Context cx(waker_.waker());
    return wait_.Poll(cx).IsReady();
  }
  int64_t TakeWakes() { return waker_.TakeWakes(); }
  int64_t outstanding() const { return waker_.outstanding(); }

 private:
  CountingWaker waker_;
  Event::WaitFuture wait_;
};

TEST(EventTest, IsConstantInitialized) {
  EXPECT_FALSE(static_event.IsSet());

  static_event.Set();

  EXPECT_TRUE(static_event.IsSet());
  static_event.BlockingWait();
}

TEST(EventTest, SetBeforeWaitDoesNotSuspend) {
  Event event;
  event.Set();
  Waiter waiter(event);

  EXPECT_TRUE(waiter.Poll());
  EXPECT_EQ(waiter.outstanding(), 0);
}

TEST(EventTest, SetWakesEveryWaiterOnce) {
  Event event;
  std::vector<std::unique_ptr<Waiter>> waiters;
  for (int i = 0; i < 100; ++i) {
    waiters.push_back(std::make_unique<Waiter>(event));
    EXPECT_FALSE(waiters.back()->Poll());
  }

  event.Set();

  for (auto& waiter : waiters) {
    EXPECT_EQ(waiter->TakeWakes(), 1);
    EXPECT_TRUE(waiter->Poll());
    EXPECT_EQ(waiter->outstanding(), 0);
  }
  event.Set();
  for (auto& waiter : waiters) EXPECT_EQ(waiter->TakeWakes(), 0);
}

TEST(EventTest, ResetMakesLaterWaitsWait) {
  Event event;
  event.Set();
  event.Reset();
  Waiter waiter(event);

  EXPECT_FALSE(event.IsSet());
  EXPECT_FALSE(waiter.Poll());
  event.Set();
  EXPECT_TRUE(waiter.Poll());
}

TEST(EventTest, ResetDoesNotTakeBackARelease) {
  Event event;
  Waiter released(event);
  Waiter late(event);
  EXPECT_FALSE(released.Poll());

  event.Set();
  event.Reset();

  EXPECT_FALSE(late.Poll());
  EXPECT_TRUE(released.Poll());
}

TEST(EventTest, NotifyReleasesInTheOrderOfFirstPolls) {
  Event event;
  Waiter a(event);
  Waiter b(event);
  Waiter c(event);
  EXPECT_FALSE(b.Poll());
  EXPECT_FALSE(c.Poll());
  EXPECT_FALSE(a.Poll());
  EXPECT_FALSE(b.Poll());  // a spurious poll keeps the place

  event.Notify();
  EXPECT_EQ(b.TakeWakes(), 1);
  EXPECT_EQ(c.TakeWakes(), 0);
  event.Notify(2);

  EXPECT_EQ(c.TakeWakes(), 1);
  EXPECT_EQ(a.TakeWakes(), 1);
  EXPECT_TRUE(a.Poll());
  EXPECT_TRUE(b.Poll());
  EXPECT_TRUE(c.Poll());
  EXPECT_FALSE(event.IsSet());
}

TEST(EventTest, NotifyWithNobodyWaitingHasNoEffect) {
  Event event;
  event.Notify(3);
  Waiter waiter(event);

  EXPECT_FALSE(waiter.Poll());
}

TEST(EventTest, NotifyReleasesUpToSoMany) {
  Event event;
  std::vector<std::unique_ptr<Waiter>> waiters;
  for (int i = 0; i < 50; ++i) {
    waiters.push_back(std::make_unique<Waiter>(event));
    EXPECT_FALSE(waiters.back()->Poll());
  }

  event.Notify(20);

  for (int i = 0; i < 50; ++i) EXPECT_EQ(waiters[i]->Poll(), i < 20);
  event.Notify(1000);
  for (int i = 20; i < 50; ++i) EXPECT_TRUE(waiters[i]->Poll());
}

TEST(EventTest, ANotifiedWaiterThatIsDroppedPassesItOn) {
  Event event;
  auto first = std::make_unique<Waiter>(event);
  auto second = std::make_unique<Waiter>(event);
  Waiter third(event);
  EXPECT_FALSE(first->Poll());
  EXPECT_FALSE(second->Poll());
  EXPECT_FALSE(third.Poll());

  event.Notify();
  first.reset();
  EXPECT_EQ(second->TakeWakes(), 1);
  EXPECT_EQ(third.TakeWakes(), 0);
  second.reset();

  EXPECT_EQ(third.TakeWakes(), 1);
  EXPECT_TRUE(third.Poll());
}

TEST(EventTest, AWaiterThatSetReleasedPassesNothingOn) {
  Event event;
  auto first = std::make_unique<Waiter>(event);
  Waiter later(event);
  EXPECT_FALSE(first->Poll());
  event.Set();
  event.Reset();
  EXPECT_FALSE(later.Poll());

  first.reset();

  EXPECT_EQ(later.TakeWakes(), 0);
  EXPECT_FALSE(later.Poll());
}

TEST(EventTest, AFinishedWaiterPassesNothingOn) {
  Event event;
  auto first = std::make_unique<Waiter>(event);
  Waiter second(event);
  EXPECT_FALSE(first->Poll());
  EXPECT_FALSE(second.Poll());
  event.Notify();
  EXPECT_TRUE(first->Poll());

  first.reset();

  EXPECT_EQ(second.TakeWakes(), 0);
}

TEST(EventTest, DroppedWaitersLeaveTheQueue) {
  Event event;
  Waiter first(event);
  auto second = std::make_unique<Waiter>(event);
  Waiter third(event);
  EXPECT_FALSE(first.Poll());
  EXPECT_FALSE(second->Poll());
  EXPECT_FALSE(third.Poll());

  second.reset();
  event.Notify(2);

  EXPECT_TRUE(first.Poll());
  EXPECT_TRUE(third.Poll());
}

TEST(EventTest, WakesWhoeverPolledLast) {
  Event event;
  CountingWaker a;
  CountingWaker b;
  Context in_a(a.waker());
  Context in_b(b.waker());
  auto wait = event.Wait();

  EXPECT_TRUE(wait.Poll(in_a).IsPending());
  EXPECT_TRUE(wait.Poll(in_b).IsPending());
  EXPECT_TRUE(wait.Poll(in_b).IsPending());
  EXPECT_EQ(a.outstanding(), 0);
  EXPECT_EQ(b.clones(), 1);
  event.Set();

  EXPECT_EQ(a.wakes(), 0);
  EXPECT_EQ(b.wakes(), 1);
  EXPECT_TRUE(wait.Poll(in_b).IsReady());
}

Task<> WaitFor(Event* event) { co_await event->Wait(); }

TEST(EventTest, AWaitHandedToAnotherTaskWakesThatOne) {
  Event event;
  CountingWaker a;
  CountingWaker b;
  Context in_a(a.waker());
  Context in_b(b.waker());
  Task<> first = WaitFor(&event);
  EXPECT_TRUE(first.Poll(in_a).IsPending());

  Task<> second = [](Task<> inner) -> Task<> {
    co_await std::move(inner);
  }(std::move(first));
  EXPECT_TRUE(second.Poll(in_b).IsPending());
  event.Set();

  EXPECT_EQ(a.wakes(), 0);
  EXPECT_EQ(b.wakes(), 1);
  EXPECT_TRUE(second.Poll(in_b).IsReady());
}

TEST(EventTest, ASpentBudgetDelaysAndKeepsThePlace) {
  Event event;
  CountingWaker waker;
  Budget budget(0);
  Context cx(waker.waker(), &budget);
  auto wait = event.Wait();
  Waiter behind(event);

  EXPECT_TRUE(wait.Poll(cx).IsPending());
  EXPECT_EQ(waker.TakeWakes(), 1);  // to be polled again
  EXPECT_FALSE(behind.Poll());
  event.Notify();
  EXPECT_EQ(waker.TakeWakes(), 1);
  EXPECT_TRUE(wait.Poll(cx).IsPending());

  budget = Budget(2);
  EXPECT_TRUE(wait.Poll(cx).IsReady());
  EXPECT_EQ(budget.units(), 1);
  EXPECT_FALSE(behind.Poll());
}

TEST(EventTest, ANotifiedWaiterWithoutBudgetPassesItOn) {
  Event event;
  CountingWaker waker;
  Budget budget(0);
  Context cx(waker.waker(), &budget);
  Waiter heir(event);
  {
    auto wait = event.Wait();
    EXPECT_TRUE(wait.Poll(cx).IsPending());
    event.Notify();
    EXPECT_TRUE(wait.Poll(cx).IsPending());
    EXPECT_FALSE(heir.Poll());
  }

  EXPECT_TRUE(heir.Poll());
}

TEST(EventTest, AWaitMovesUntilItIsPolled) {
  Event event;
  auto wait = event.Wait();
  auto moved = std::move(wait);
  CountingWaker waker;
  Context cx(waker.waker());
  EXPECT_TRUE(moved.Poll(cx).IsPending());

  EXPECT_DEATH(static_cast<void>(Event::WaitFuture(std::move(moved))),
               "moved after its first poll");
}

TEST(EventTest, AReleasedWaiterMayDestroyTheEvent) {
  auto event = std::make_unique<Event>();
  std::vector<Event::WaitFuture> waits;
  for (int i = 0; i < 20; ++i) waits.push_back(event->Wait());
  const Waker waker = CallbackWaker([&] {
    waits.clear();
    event.reset();
  });
  Context cx(waker);
  for (auto& wait : waits) EXPECT_TRUE(wait.Poll(cx).IsPending());

  event->Set();

  EXPECT_EQ(event, nullptr);
}

TEST(EventTest, WakersMayUseTheEvent) {
  Event event;
  int wakes = 0;
  const Waker waker = CallbackWaker(
      [&] {
        ++wakes;
        event.Reset();
        event.Set();
        event.Notify();
      },
      [&] { event.Notify(); });
  Context cx(waker);
  CountingWaker other;
  Context in_other(other.waker());
  auto a = event.Wait();
  auto b = event.Wait();
  auto c = std::make_unique<Event::WaitFuture>(event.Wait());

  EXPECT_TRUE(a.Poll(cx).IsPending());
  EXPECT_TRUE(c->Poll(cx).IsPending());
  EXPECT_TRUE(b.Poll(in_other).IsPending());
  c.reset();            // drops a waker, which notifies
  EXPECT_EQ(wakes, 1);  // `a`, whose waker sets
  EXPECT_EQ(other.wakes(), 1);
  EXPECT_TRUE(a.Poll(in_other).IsReady());
  EXPECT_TRUE(b.Poll(cx).IsReady());
}

TEST(EventTest, SurvivesADropAtEveryPoll) {
  Event event;
  LiveCounter counter;
  auto task = [](Event* event, LiveCounter::Object) -> Task<> {
    co_await event->Wait();
    co_await event->Wait();
  };

  EXPECT_THAT(DropAtEveryPoll([&] { return task(&event, counter.Make()); },
                              {.step =
                                   [&] {
                                     event.Notify();
                                     return true;
                                   },
                               .live = [&] { return counter.live(); }}),
              IsOkAndHolds(3));
}

TEST(EventTest, DestroyingItWithAWaiterDies) {
  auto event = std::make_unique<Event>();
  CountingWaker waker;
  Context cx(waker.waker());
  auto wait = event->Wait();
  EXPECT_TRUE(wait.Poll(cx).IsPending());

  EXPECT_DEATH(event.reset(), "while something waits");
  event->Set();
  EXPECT_TRUE(wait.Poll(cx).IsReady());
}

TEST(EventTest, AThreadMayDestroyItOnceItWasReleased) {
  const int rounds = Rounds(1'000);
  for (int round = 0; round < rounds; ++round) {
    auto event = std::make_unique<Event>();
    std::thread setter([event = event.get()] { event->Set(); });
    event->BlockingWait();
    event.reset();
    setter.join();
  }
}

TEST(EventTest, SetReleasesTasksAndThreads) {
  constexpr int kThreads = 4;
  Event event;
  std::atomic<int> started{0};
  int before = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      ++started;
      event.BlockingWait();
      EXPECT_EQ(before, 1);
    });
  }
  Waiter waiter(event);
  EXPECT_FALSE(waiter.Poll());
  while (started < kThreads) std::this_thread::yield();

  before = 1;
  event.Set();

  for (auto& thread : threads) thread.join();
  EXPECT_EQ(waiter.TakeWakes(), 1);
}

// Threads wait, some of them give up, and as many notifications are sent as
// there are waits: every notification that is not lost to an empty queue ends
// exactly one wait.
TEST(EventTest, NotificationsAreNotLostAmongDroppedWaits) {
  constexpr int kThreads = 3;
  const int rounds = Rounds(500);
  Event event;
  std::atomic<int> left{kThreads};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      CountingWaker waker;
      Context cx(waker.waker());
      for (int round = 0; round < rounds; ++round) {
        {
          auto dropped = event.Wait();
          if (dropped.Poll(cx).IsPending() && (round + i) % 3 == 0) {
            static_cast<void>(dropped.Poll(cx).IsReady());
          }
        }
        event.BlockingWait();
      }
      --left;
    });
  }

  while (left > 0) {
    event.Notify();
    std::this_thread::yield();
  }

  for (auto& thread : threads) thread.join();
}

TEST(EventDeathTest, BlockingInATaskNamesTheCall) {
  Event event;
  ManualExecutor executor;
  const JoinHandle<> handle = executor.Spawn([&event]() -> Task<> {
    event.BlockingWait();
    co_return;
  });
  EXPECT_DEATH(executor.RunUntilIdle(),
               "Event::BlockingWait\\(\\) was called by a task");
}

}  // namespace
}  // namespace weft::sync
