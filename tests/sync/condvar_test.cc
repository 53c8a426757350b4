// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// weft-lint: allow-file(R22): the tests' tasks end before what they refer to.

#include "weft/sync/condvar.h"

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
#include "weft/select/select.h"
#include "weft/sync/mutex.h"
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
#include "weft/tests/sync/wait_by_hand.h"

namespace weft::sync {
namespace {

bool IsLong() { return std::getenv("WEFT_LONG") != nullptr; }
int Rounds(int rounds) { return IsLong() ? 100 * rounds : rounds; }

using Guard = Mutex<int>::Guard;
using Wait = WaitByHand<CondvarWaitFuture<Guard>>;

constinit Condvar static_condvar;

TEST(CondvarTest, IsConstantInitialized) {
  static_condvar.NotifyOne();
  static_condvar.NotifyAll();
}

TEST(CondvarTest, UnlocksWaitsAndLocksAgain) {
  Mutex<int> mutex(0);
  Condvar changed;
  Wait wait(changed.Wait(mutex.BlockingLock()));
  EXPECT_FALSE(mutex.TryLock().has_value());

  EXPECT_FALSE(wait.Poll());
  **mutex.TryLock() = 1;
  EXPECT_FALSE(wait.Poll());
  changed.NotifyOne();

  EXPECT_EQ(wait.TakeWakes(), 1);
  EXPECT_TRUE(wait.Poll());
  EXPECT_EQ(*wait.output(), 1);
  EXPECT_FALSE(mutex.TryLock().has_value());
}

TEST(CondvarTest, ANotifiedWaiterWaitsForTheMutex) {
  Mutex<int> mutex(0);
  Condvar changed;
  Wait wait(changed.Wait(mutex.BlockingLock()));
  EXPECT_FALSE(wait.Poll());
  auto guard = mutex.TryLock();

  changed.NotifyOne();
  EXPECT_EQ(wait.TakeWakes(), 1);
  EXPECT_FALSE(wait.Poll());
  guard.reset();

  EXPECT_EQ(wait.TakeWakes(), 1);
  EXPECT_TRUE(wait.Poll());
}

TEST(CondvarTest, NotifyOneReleasesTheFirst) {
  Mutex<int> mutex(0);
  Condvar changed;
  changed.NotifyOne();  // is for nobody
  Wait first(changed.Wait(mutex.BlockingLock()));
  EXPECT_FALSE(first.Poll());
  Wait second(changed.Wait(mutex.BlockingLock()));
  EXPECT_FALSE(second.Poll());

  changed.NotifyOne();

  EXPECT_EQ(first.TakeWakes(), 1);
  EXPECT_EQ(second.TakeWakes(), 0);
  EXPECT_FALSE(second.Poll());
  EXPECT_TRUE(first.Poll());
}

TEST(CondvarTest, NotifyAllReleasesAThousand) {
  Mutex<int> mutex(0);
  Condvar changed;
  std::deque<Wait> waits;
  for (int i = 0; i < 1'000; ++i) {
    EXPECT_FALSE(waits.emplace_back(changed.Wait(mutex.BlockingLock())).Poll());
  }

  changed.NotifyAll();

  for (Wait& wait : waits) {
    ASSERT_EQ(wait.TakeWakes(), 1);
    ASSERT_TRUE(wait.Poll());
    ++*wait.output();
    wait.Drop();
  }
  EXPECT_EQ(*mutex.BlockingLock(), 1'000);
}

TEST(CondvarTest, AWaitThatWasNeverPolledUnlocksWhenDropped) {
  Mutex<int> mutex(0);
  Condvar changed;
  {
    const auto unpolled = changed.Wait(mutex.BlockingLock());
    EXPECT_FALSE(mutex.TryLock().has_value());
  }

  EXPECT_TRUE(mutex.TryLock().has_value());
}

TEST(CondvarTest, ADroppedWaitLeavesTheMutexUnlocked) {
  Mutex<int> mutex(0);
  Condvar changed;
  Wait waiting(changed.Wait(mutex.BlockingLock()));
  EXPECT_FALSE(waiting.Poll());
  waiting.Drop();
  EXPECT_TRUE(mutex.TryLock().has_value());
  Wait locking(changed.Wait(mutex.BlockingLock()));
  EXPECT_FALSE(locking.Poll());
  auto guard = mutex.TryLock();
  changed.NotifyAll();
  EXPECT_FALSE(locking.Poll());
  guard.reset();

  locking.Drop();

  EXPECT_TRUE(mutex.TryLock().has_value());
}

// Notified, and cancelled in the same turn: before it locks, and while it does.
TEST(CondvarTest, ANotifiedWaiterThatIsDroppedPassesItOn) {
  Mutex<int> mutex(0);
  Condvar changed;
  Wait first(changed.Wait(mutex.BlockingLock()));
  EXPECT_FALSE(first.Poll());
  Wait second(changed.Wait(mutex.BlockingLock()));
  EXPECT_FALSE(second.Poll());
  Wait third(changed.Wait(mutex.BlockingLock()));
  EXPECT_FALSE(third.Poll());
  changed.NotifyOne();

  first.Drop();
  EXPECT_EQ(second.TakeWakes(), 1);
  auto guard = mutex.TryLock();
  EXPECT_FALSE(second.Poll());
  EXPECT_EQ(third.TakeWakes(), 0);
  second.Drop();

  EXPECT_EQ(third.TakeWakes(), 1);
  guard.reset();
  EXPECT_TRUE(third.Poll());
}

TEST(CondvarTest, AWaiterThatWasReleasedWithAllPassesNothingOn) {
  Mutex<int> mutex(0);
  Condvar changed;
  Wait first(changed.Wait(mutex.BlockingLock()));
  EXPECT_FALSE(first.Poll());
  changed.NotifyAll();
  Wait late(changed.Wait(mutex.BlockingLock()));
  EXPECT_FALSE(late.Poll());

  first.Drop();

  EXPECT_EQ(late.TakeWakes(), 0);
}

TEST(CondvarTest, AWaiterThatIsReadyPassesNothingOn) {
  Mutex<int> mutex(0);
  Condvar changed;
  Wait first(changed.Wait(mutex.BlockingLock()));
  EXPECT_FALSE(first.Poll());
  Wait second(changed.Wait(mutex.BlockingLock()));
  EXPECT_FALSE(second.Poll());
  changed.NotifyOne();
  EXPECT_TRUE(first.Poll());

  first.Drop();

  EXPECT_EQ(second.TakeWakes(), 0);
}

TEST(CondvarTest, WaitUntilLooksUnderTheLock) {
  Mutex<int> mutex(2);
  Condvar changed;
  const auto is_even = [&](int value) {
    EXPECT_FALSE(mutex.TryLock().has_value());
    return value % 2 == 0;
  };
  WaitByHand at_once(changed.WaitUntil(mutex.BlockingLock(), is_even));
  EXPECT_TRUE(at_once.Poll());
  *at_once.output() = 3;
  WaitByHand wait(changed.WaitUntil(at_once.Take(), is_even));
  EXPECT_FALSE(wait.Poll());

  changed.NotifyOne();  // though nothing has changed
  EXPECT_EQ(wait.TakeWakes(), 1);
  EXPECT_FALSE(wait.Poll());
  ++**mutex.TryLock();
  changed.NotifyAll();

  EXPECT_EQ(wait.TakeWakes(), 1);
  EXPECT_TRUE(wait.Poll());
  EXPECT_EQ(*wait.output(), 4);
}

TEST(CondvarTest, WorksWithALockAloneAndWithOwnedGuards) {
  auto mutex = std::make_shared<Mutex<>>();
  const std::weak_ptr<Mutex<>> observer = mutex;
  Condvar changed;
  bool set = false;
  auto guard = Mutex<>::BlockingLockOwned(std::move(mutex));
  WaitByHand wait(changed.WaitUntil(std::move(guard), [&set] { return set; }));
  EXPECT_FALSE(wait.Poll());

  set = true;
  changed.NotifyOne();
  EXPECT_TRUE(wait.Poll());

  EXPECT_FALSE(observer.expired());
  wait.Drop();
  EXPECT_TRUE(observer.expired());
}

// A stored waker whose destructor notifies: when it is replaced, when its wait is
// dropped, and when it is woken.
TEST(CondvarTest, WakersMayNotify) {
  Mutex<int> mutex(0);
  Condvar changed;
  const auto notify = [&] { changed.NotifyOne(); };
  const Waker waker = CallbackWaker(notify, notify);
  Context cx(waker);
  CountingWaker counting;
  Context in_counting(counting.waker());
  auto replaced = changed.Wait(mutex.BlockingLock());
  EXPECT_TRUE(replaced.Poll(cx).IsPending());
  auto dropped = std::make_unique<CondvarWaitFuture<Guard>>(
      changed.Wait(mutex.BlockingLock()));
  EXPECT_TRUE(dropped->Poll(cx).IsPending());
  Wait last(changed.Wait(mutex.BlockingLock()));
  EXPECT_FALSE(last.Poll());

  EXPECT_TRUE(replaced.Poll(in_counting).IsPending());
  EXPECT_EQ(counting.wakes(), 1);  // notified by its own waker
  EXPECT_EQ(last.TakeWakes(), 0);
  dropped.reset();

  EXPECT_EQ(last.TakeWakes(), 1);
  EXPECT_TRUE(last.Poll());
  last.Drop();
  EXPECT_TRUE(replaced.Poll(in_counting).IsReady());
}

// A wait moves with the task that it is in to another task.
TEST(CondvarTest, WakesWhoeverPolledLast) {
  Mutex<int> mutex(0);
  Condvar changed;
  CountingWaker a;
  CountingWaker b;
  Context in_a(a.waker());
  Context in_b(b.waker());
  Task<> first = [](Mutex<int>* mutex, Condvar* changed) -> Task<> {
    auto guard = co_await mutex->Lock();
    guard = co_await changed->Wait(std::move(guard));
    ++*guard;
  }(&mutex, &changed);
  EXPECT_TRUE(first.Poll(in_a).IsPending());

  Task<> second = [](Task<> inner) -> Task<> {
    co_await std::move(inner);
  }(std::move(first));
  EXPECT_TRUE(second.Poll(in_b).IsPending());
  changed.NotifyOne();

  EXPECT_EQ(a.wakes(), 0);
  EXPECT_EQ(a.outstanding(), 0);
  EXPECT_EQ(b.wakes(), 1);
  EXPECT_TRUE(second.Poll(in_b).IsReady());
}

TEST(CondvarTest, SurvivesADropAtEveryPoll) {
  Mutex<int> mutex(0);
  Condvar changed;
  std::optional<Guard> held;
  LiveCounter counter;
  auto task = [](Mutex<int>* mutex, Condvar* changed,
                 LiveCounter::Object) -> Task<> {
    auto guard = co_await mutex->Lock();
    guard = co_await changed->Wait(std::move(guard));
    const auto is_positive = [](int value) { return value > 0; };
    auto wait = changed->WaitUntil(std::move(guard), is_positive);
    guard = co_await wait;
    *guard = 0;
  };

  EXPECT_THAT(
      DropAtEveryPoll([&] { return task(&mutex, &changed, counter.Make()); },
                      {.step =
                           [&] {
                             // Notifies while it is locked, then unlocks.
                             if (held.has_value()) {
                               held.reset();
                             } else {
                               held = mutex.TryLock();
                               ++**held;
                               changed.NotifyOne();
                             }
                             return true;
                           },
                       .settle =
                           [&] {
                             held.reset();
                             auto guard = mutex.TryLock();
                             ASSERT_TRUE(guard.has_value());
                             **guard = 0;
                           },
                       .live = [&] { return counter.live(); }})
          .status(),
      IsOk());
}

TEST(CondvarTest, MisuseDies) {
  Mutex<int> mutex(0);
  auto changed = std::make_unique<Condvar>();
  Wait wait(changed->Wait(mutex.BlockingLock()));
  EXPECT_FALSE(wait.Poll());

  EXPECT_DEATH(changed.reset(), "while something waits");
}

TEST(CondvarTest, BlockingInATaskNamesTheCall) {
  Mutex<int> mutex(0);
  Condvar changed;
  ManualExecutor executor;
  const JoinHandle<> handle = executor.Spawn([&]() -> Task<> {
    auto guard = co_await mutex.Lock();
    static_cast<void>(changed.BlockingWait(std::move(guard)));
  });

  EXPECT_DEATH(executor.RunUntilIdle(),
               "Condvar::BlockingWait\\(\\) was called by a task");
}

// A queue with room for one.
struct Slot {
  Slot() = default;

  Mutex<std::optional<int>> mutex;
  Condvar filled;
  Condvar emptied;
  int sum = 0;
};

Task<> Put(std::shared_ptr<Slot> slot, int value) {
  auto guard = co_await slot->mutex.Lock();
  const auto is_empty = [](const std::optional<int>& item) {
    return !item.has_value();
  };
  auto wait = slot->emptied.WaitUntil(std::move(guard), is_empty);
  guard = co_await wait;
  *guard = value;
  slot->filled.NotifyOne();
}

// Takes one, unless it loses its patience.
Task<bool> Take(std::shared_ptr<Slot> slot, int patience) {
  auto guard = co_await slot->mutex.Lock();
  const auto is_full = [](const std::optional<int>& item) {
    return item.has_value();
  };
  auto yields = [](int times) -> Task<> {
    for (int i = 0; i < times; ++i) co_await YieldNow();
  };
  auto wait = slot->filled.WaitUntil(std::move(guard), is_full);
  auto either = co_await Select(std::move(wait), yields(patience));
  if (either.index() == 1) co_return false;
  Mutex<std::optional<int>>::Guard full = std::move(std::get<0>(either).value);
  slot->sum += **full;
  full->reset();
  slot->emptied.NotifyOne();
  co_return true;
}

Task<> TakeSeveral(std::shared_ptr<Slot> slot, int count, int patience) {
  while (count > 0) {
    const bool took = co_await Take(slot, patience);
    count -= took;
    if (!took) patience += 3;
  }
}

TEST(CondvarTest, NoNotificationIsLostInAnyOrder) {
  const auto scenario = [](DeterministicExecutor& executor) -> absl::Status {
    auto slot = std::make_shared<Slot>();
    for (int i = 1; i <= 4; ++i) executor.Spawn(Put(slot, i)).Detach();
    executor.Spawn(TakeSeveral(slot, 2, 1)).Detach();
    executor.Spawn(TakeSeveral(slot, 1, 2)).Detach();
    executor.Spawn(TakeSeveral(slot, 1, 1'000)).Detach();
    absl::Status status = executor.RunUntilIdle();
    if (!status.ok()) return status;
    if (executor.live() != 0) return absl::InternalError("some wait");
    if (slot->sum != 10) return absl::InternalError("an item is lost");
    return absl::OkStatus();
  };

  EXPECT_GT(ExploreSchedules(IsLong() ? 10'000 : 500, scenario), 400u);
}

TEST(CondvarTest, ThreadsWaitForEachOther) {
  constexpr int kThreads = 4;
  const int rounds = Rounds(500);
  Mutex<int> turn(0);
  Condvar changed;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      CountingWaker waker;
      Context cx(waker.waker());
      for (int round = 0; round < rounds; ++round) {
        {
          auto dropped = changed.Wait(turn.BlockingLock());
          ASSERT_TRUE(dropped.Poll(cx).IsPending());
        }
        auto guard = changed.BlockingWaitUntil(
            turn.BlockingLock(),
            [i](int turn) { return turn % kThreads == i; });
        ++*guard;
        changed.NotifyAll();
      }
    });
  }
  for (auto& thread : threads) thread.join();

  EXPECT_EQ(*turn.BlockingLock(), kThreads * rounds);
}

TEST(CondvarTest, AThreadMayDestroyItOnceItIsNotified) {
  const int rounds = Rounds(500);
  for (int round = 0; round < rounds; ++round) {
    struct Both {
      Mutex<bool> mutex{false};
      Condvar changed;
    };
    auto both = std::make_unique<Both>();
    std::thread notifier([both = both.get()] {
      auto guard = both->mutex.BlockingLock();
      *guard = true;
      both->changed.NotifyOne();
    });
    {
      const auto guard = both->changed.BlockingWaitUntil(
          both->mutex.BlockingLock(), [](bool is_set) { return is_set; });
    }
    both.reset();
    notifier.join();
  }
}

}  // namespace
}  // namespace weft::sync
