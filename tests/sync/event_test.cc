// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// weft-lint: allow-file(R22): the tests' tasks end before what they refer to.

#include "weft/sync/event.h"

#include <atomic>
#include <cstdlib>
#include <deque>
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
#include "weft/task/manual_executor.h"
#include "weft/task/status_matchers.h"
#include "weft/task/task.h"
#include "weft/task/waker.h"
#include "weft/task/yield_now.h"
#include "weft/tests/kit/explore_schedules.h"
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

TEST(EventTest, NotifyAtLeastCountsThoseWhoDoNotKnowYet) {
  Event event;
  std::vector<std::unique_ptr<Waiter>> waiters;
  for (int i = 0; i < 4; ++i) {
    waiters.push_back(std::make_unique<Waiter>(event));
    EXPECT_FALSE(waiters.back()->Poll());
  }

  event.Notify();
  event.NotifyAtLeast();
  EXPECT_EQ(waiters[1]->TakeWakes(), 0);
  event.NotifyAtLeast(2);
  EXPECT_EQ(waiters[1]->TakeWakes(), 1);
  EXPECT_EQ(waiters[2]->TakeWakes(), 0);
  EXPECT_TRUE(waiters[0]->Poll());
  EXPECT_TRUE(waiters[1]->Poll());
  event.NotifyAtLeast();

  EXPECT_EQ(waiters[2]->TakeWakes(), 1);
  EXPECT_EQ(waiters[3]->TakeWakes(), 0);
}

TEST(EventTest, NotifyAtLeastCountsAnHeirOnceAndNobodyWhoLeft) {
  Event event;
  auto first = std::make_unique<Waiter>(event);
  auto second = std::make_unique<Waiter>(event);
  Waiter third(event);
  EXPECT_FALSE(first->Poll());
  EXPECT_FALSE(second->Poll());
  EXPECT_FALSE(third.Poll());
  event.NotifyAtLeast();
  first.reset();
  EXPECT_EQ(second->TakeWakes(), 1);

  event.NotifyAtLeast();
  EXPECT_EQ(third.TakeWakes(), 0);
  second.reset();
  EXPECT_EQ(third.TakeWakes(), 1);
  EXPECT_TRUE(third.Poll());
  Waiter fourth(event);
  EXPECT_FALSE(fourth.Poll());
  event.NotifyAtLeast();

  EXPECT_TRUE(fourth.Poll());
}

TEST(EventTest, TellsHowManyWait) {
  Event event;
  auto first = std::make_unique<Waiter>(event);
  Waiter second(event);
  EXPECT_EQ(event.waiters(), 0u);

  EXPECT_FALSE(first->Poll());
  EXPECT_FALSE(second.Poll());
  EXPECT_EQ(event.waiters(), 2u);
  first.reset();
  EXPECT_EQ(event.waiters(), 1u);
  event.Notify();

  EXPECT_EQ(event.waiters(), 0u);
}

TEST(EventTest, AListenerIsInTheQueueAtOnce) {
  Event event;
  CountingWaker waker;
  Context cx(waker.waker());
  Event::Listener listener = event.Listen();
  Waiter behind(event);
  EXPECT_FALSE(behind.Poll());
  EXPECT_FALSE(listener.TryWait());

  event.Notify();

  EXPECT_FALSE(behind.Poll());
  EXPECT_TRUE(listener.Poll(cx).IsReady());
  EXPECT_EQ(waker.clones(), waker.drops());
}

TEST(EventTest, AListenerWakesWhoeverPolledLast) {
  Event event;
  CountingWaker a;
  CountingWaker b;
  Context in_a(a.waker());
  Context in_b(b.waker());
  auto listener = event.Listen();
  EXPECT_TRUE(listener.Poll(in_a).IsPending());
  EXPECT_TRUE(listener.Poll(in_b).IsPending());

  event.Notify();

  EXPECT_EQ(a.wakes(), 0);
  EXPECT_EQ(b.wakes(), 1);
  EXPECT_TRUE(listener.TryWait());
  EXPECT_EQ(b.outstanding(), 0);
}

TEST(EventTest, AListenerToASetEventIsReleased) {
  Event event;
  event.Set();
  auto listener = event.Listen();
  event.Reset();

  EXPECT_TRUE(listener.TryWait());
}

TEST(EventTest, ADroppedListenerPassesItsNotificationOn) {
  Event event;
  std::optional<Event::Listener> first;
  first.emplace(event);
  auto second = event.Listen();
  event.Notify();
  EXPECT_FALSE(second.TryWait());

  first.reset();

  EXPECT_TRUE(second.TryWait());
}

TEST(EventTest, DiscardPassesNothingOn) {
  Event event;
  auto first = event.Listen();
  auto second = event.Listen();
  event.Notify();

  EXPECT_TRUE(first.Discard());
  EXPECT_FALSE(first.Discard());
  EXPECT_FALSE(second.TryWait());
  EXPECT_FALSE(second.Discard());
  EXPECT_EQ(event.waiters(), 0u);
}

TEST(EventTest, AListenerSurvivesADropAtEveryPoll) {
  Event event;
  LiveCounter counter;
  auto task = [](Event* event, LiveCounter::Object) -> Task<> {
    auto listener = event->Listen();
    co_await listener;
  };

  EXPECT_THAT(DropAtEveryPoll([&] { return task(&event, counter.Make()); },
                              {.step =
                                   [&] {
                                     event.Notify();
                                     return true;
                                   },
                               .live = [&] { return counter.live(); }}),
              IsOkAndHolds(2));
}

// A condition of the test's own, waited for by listening first: no push that
// somebody could take is missed, however few locks Notify takes.
TEST(EventTest, WhoListensFirstMissesNothing) {
  const int rounds = Rounds(20'000);
  Event event;
  std::atomic<int> pushed{0};
  std::thread consumer([&] {
    for (int next = 1; next <= rounds; ++next) {
      while (pushed.load(std::memory_order_relaxed) < next) {
        auto listener = event.Listen();
        if (pushed.load(std::memory_order_relaxed) >= next) break;
        listener.BlockingWait();
      }
    }
  });

  for (int i = 0; i < rounds; ++i) {
    pushed.fetch_add(1, std::memory_order_relaxed);
    event.Notify();
    if (i % 64 == 0) std::this_thread::yield();
  }

  consumer.join();
  EXPECT_EQ(event.waiters(), 0u);
}

// Tasks take items from a stack that others fill; some waits are dropped in the
// middle. Everything is taken, or somebody sleeps beside an item.
TEST(EventTest, NoItemIsLeftBesideASleeperInAnyOrder) {
  struct Shared {
    Event pushed;
    std::deque<int> items;
    int taken = 0;
  };
  auto consumer = [](Shared* shared, int count) -> Task<> {
    for (int i = 0; i < count; ++i) {
      while (shared->items.empty()) co_await shared->pushed.Wait();
      shared->items.pop_front();
      ++shared->taken;
    }
  };
  // Waits for a while and gives up, notified or not.
  auto quitter = [](Shared* shared) -> Task<> {
    CountingWaker waker;
    Context cx(waker.waker());
    for (int i = 0; i < 3; ++i) {
      auto wait = shared->pushed.Wait();
      EXPECT_TRUE(wait.Poll(cx).IsPending());
      co_await YieldNow();
    }
  };
  auto producer = [](Shared* shared, int count) -> Task<> {
    for (int i = 0; i < count; ++i) {
      shared->items.push_back(i);
      shared->pushed.Notify();
      co_await YieldNow();
    }
  };
  auto scenario = [&](DeterministicExecutor& executor) -> absl::Status {
    Shared shared;
    absl::Status status;
    {
      auto a = executor.SpawnBorrowing(consumer(&shared, 3));
      auto b = executor.SpawnBorrowing(consumer(&shared, 3));
      auto p = executor.SpawnBorrowing(producer(&shared, 6));
      auto q = executor.SpawnBorrowing(quitter(&shared));
      auto wait = [](JoinHandle<> p) -> Task<> { co_await p; };
      status = executor.Run(wait(std::move(p)));
      if (status.ok()) status = executor.RunUntilIdle();
    }
    // What the handles have cancelled goes while `shared` is there.
    if (status.ok()) status = executor.RunUntilIdle();
    if (!status.ok()) return status;
    return shared.taken == 6 ? absl::OkStatus()
                             : absl::InternalError("an item was left");
  };

  EXPECT_GT(ExploreSchedules(Rounds(100), scenario), 50u);
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
