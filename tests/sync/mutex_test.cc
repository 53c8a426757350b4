// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// weft-lint: allow-file(R22): the tests' tasks end before what they refer to.

#include "weft/sync/mutex.h"

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "weft/executor/deterministic_executor.h"
#include "weft/select/select.h"
#include "weft/task/context.h"
#include "weft/task/counting_waker.h"
#include "weft/task/drop_at_every_poll.h"
#include "weft/task/environment.h"
#include "weft/task/join_handle.h"
#include "weft/task/live_counter.h"
#include "weft/task/manual_executor.h"
#include "weft/task/random.h"
#include "weft/task/status_matchers.h"
#include "weft/task/task.h"
#include "weft/task/waker.h"
#include "weft/task/yield_now.h"
#include "weft/tests/kit/explore_schedules.h"
#include "weft/tests/sync/callback_waker.h"
#include "weft/tests/sync/wait_by_hand.h"
#include "weft/timer/fake_clock.h"

namespace weft::sync {
namespace {

bool IsLong() { return std::getenv("WEFT_LONG") != nullptr; }
int Rounds(int rounds) { return IsLong() ? 100 * rounds : rounds; }

using IntGuard = Mutex<int>::Guard;
using Wait = WaitByHand<Mutex<int>::LockFuture>;

constinit Mutex<int> static_mutex(7);

struct NeedsANumber {
  explicit NeedsANumber(int) {}
};
static_assert(std::is_default_constructible_v<Mutex<>>);
static_assert(std::is_default_constructible_v<Mutex<int>>);
static_assert(!std::is_default_constructible_v<Mutex<NeedsANumber>>);
static_assert(
    std::is_constructible_v<Mutex<NeedsANumber>, std::in_place_t, int>);
static_assert(!std::is_copy_constructible_v<Mutex<int>>);
static_assert(sizeof(void*) != 8 || sizeof(Mutex<int64_t>) == 56);

// Unlocks a mutex that `guard` has locked.
template <class Guard>
void Unlock(std::optional<Guard>& guard) {
  ASSERT_TRUE(guard.has_value());
  guard.reset();
}

// Waits that only the order of a barging lock decides do not grow old.
class MutexTest : public testing::Test {
 protected:
  MutexTest() {
    environment_.clock = &clock_;
    scope_.emplace(environment_);
  }

  timer::FakeClock clock_;

 private:
  Environment environment_ = Environment::Current();
  std::optional<EnvironmentScope> scope_;
};

TEST_F(MutexTest, IsConstantInitialized) {
  EXPECT_EQ(*static_mutex.BlockingLock(), 7);
}

TEST_F(MutexTest, TheGuardReachesTheValueAndUnlocks) {
  Mutex<std::string> mutex("a");
  {
    auto guard = mutex.TryLock();
    ASSERT_TRUE(guard.has_value());
    **guard += "b";
    EXPECT_EQ((*guard)->size(), 2u);
    EXPECT_FALSE(mutex.TryLock().has_value());
  }

  EXPECT_EQ(*mutex.BlockingLock(), "ab");
}

TEST_F(MutexTest, MayBeALockAlone) {
  Mutex<> mutex;
  auto guard = mutex.TryLock();
  WaitByHand wait(mutex.Lock());

  EXPECT_FALSE(wait.Poll());
  Unlock(guard);
  EXPECT_TRUE(wait.Poll());
}

TEST_F(MutexTest, MakesAValueInPlace) {
  Mutex<std::unique_ptr<int>> from_one(std::make_unique<int>(1));
  Mutex<std::string> from_many(std::in_place, 3, 'x');
  Mutex deduced(5);

  EXPECT_EQ(**from_one.BlockingLock(), 1);
  EXPECT_EQ(*from_many.BlockingLock(), "xxx");
  EXPECT_EQ(*deduced.BlockingLock(), 5);
}

TEST_F(MutexTest, GuardsMove) {
  Mutex<int> first(1);
  Mutex<int> second(2);
  IntGuard guard = first.BlockingLock();
  IntGuard moved = std::move(guard);
  EXPECT_FALSE(guard);
  EXPECT_TRUE(moved);
  EXPECT_FALSE(first.TryLock().has_value());

  moved = second.BlockingLock();

  EXPECT_TRUE(first.TryLock().has_value());
  EXPECT_FALSE(second.TryLock().has_value());
  EXPECT_EQ(*moved, 2);
}

TEST_F(MutexTest, UnlockingWakesTheFirstWaiter) {
  Mutex<int> mutex(0);
  auto guard = mutex.TryLock();
  Wait first(mutex.Lock());
  Wait second(mutex.Lock());
  EXPECT_FALSE(first.Poll());
  EXPECT_FALSE(second.Poll());

  Unlock(guard);

  EXPECT_EQ(first.TakeWakes(), 1);
  EXPECT_EQ(second.TakeWakes(), 0);
  EXPECT_TRUE(first.Poll());
  EXPECT_FALSE(second.Poll());
  first.Drop();
  EXPECT_EQ(second.TakeWakes(), 1);
  EXPECT_TRUE(second.Poll());
}

TEST_F(MutexTest, WhoComesWhileItIsUnlockedHasItAtOnce) {
  Mutex<int> mutex(0);
  auto guard = mutex.TryLock();
  Wait woken(mutex.Lock());
  Wait queued(mutex.Lock());
  EXPECT_FALSE(woken.Poll());
  EXPECT_FALSE(queued.Poll());
  Unlock(guard);

  Wait newcomer(mutex.Lock());
  EXPECT_TRUE(newcomer.Poll());

  EXPECT_FALSE(woken.Poll());
}

TEST_F(MutexTest, WhoComesTooLateGoesBackToTheFront) {
  Mutex<int> mutex(0);
  auto guard = mutex.TryLock();
  Wait first(mutex.Lock());
  Wait second(mutex.Lock());
  EXPECT_FALSE(first.Poll());
  EXPECT_FALSE(second.Poll());
  Unlock(guard);
  guard = mutex.TryLock();
  EXPECT_EQ(first.TakeWakes(), 1);
  EXPECT_FALSE(first.Poll());

  Unlock(guard);

  EXPECT_EQ(first.TakeWakes(), 1);
  EXPECT_EQ(second.TakeWakes(), 0);
  EXPECT_TRUE(first.Poll());
}

TEST_F(MutexTest, AForgottenWaiterHoldsUpNobody) {
  Mutex<int> mutex(0);
  auto guard = mutex.TryLock();
  Wait forgotten(mutex.Lock());
  Wait second(mutex.Lock());
  Wait third(mutex.Lock());
  EXPECT_FALSE(forgotten.PollUnsurely());
  EXPECT_FALSE(second.Poll());
  EXPECT_FALSE(third.Poll());

  Unlock(guard);

  EXPECT_EQ(second.TakeWakes(), 1);
  EXPECT_EQ(third.TakeWakes(), 0);
  EXPECT_TRUE(second.Poll());
}

// The first was woken, and its owner has other things to do.
TEST_F(MutexTest, AWokenWaiterThatDoesNotComeHoldsUpNobody) {
  Mutex<int> mutex(0);
  auto guard = mutex.TryLock();
  Wait absent(mutex.Lock());
  Wait second(mutex.Lock());
  Wait third(mutex.Lock());
  EXPECT_FALSE(absent.Poll());
  EXPECT_FALSE(second.Poll());
  EXPECT_FALSE(third.Poll());
  Unlock(guard);
  guard = mutex.TryLock();

  Unlock(guard);
  EXPECT_EQ(second.TakeWakes(), 1);
  EXPECT_TRUE(second.Poll());
  second.Drop();

  EXPECT_EQ(third.TakeWakes(), 1);
  EXPECT_TRUE(third.Poll());
  third.Drop();
  EXPECT_TRUE(absent.Poll());
}

// Each time somebody else is there first. Returns after how many times that is
// refused.
int TimesOvertaken(Mutex<int>& mutex, std::optional<IntGuard>& guard,
                   Wait& wait) {
  for (int times = 0; times < 100; ++times) {
    Unlock(guard);
    guard = mutex.TryLock();
    if (!guard.has_value()) return times;
    EXPECT_EQ(wait.TakeWakes(), 1);
    EXPECT_FALSE(wait.Poll());
  }
  return 100;
}

TEST_F(MutexTest, NobodyIsOvertakenMoreThanSixteenTimes) {
  Mutex<int> mutex(0);
  auto guard = mutex.TryLock();
  Wait starved(mutex.Lock());
  EXPECT_FALSE(starved.Poll());

  EXPECT_EQ(TimesOvertaken(mutex, guard, starved), 16);

  Wait newcomer(mutex.Lock());
  EXPECT_FALSE(newcomer.Poll());
  EXPECT_EQ(starved.TakeWakes(), 1);
  EXPECT_TRUE(starved.Poll());
  starved.Drop();
  // Barging is allowed again.
  EXPECT_EQ(newcomer.TakeWakes(), 1);
  EXPECT_TRUE(mutex.TryLock().has_value());
  EXPECT_TRUE(newcomer.Poll());
}

TEST_F(MutexTest, NobodyIsOvertakenAfterHalfAMillisecond) {
  Mutex<int> mutex(0);
  auto guard = mutex.TryLock();
  Wait starved(mutex.Lock());
  EXPECT_FALSE(starved.Poll());
  clock_.Advance(absl::Microseconds(499));
  Unlock(guard);
  guard = mutex.TryLock();
  EXPECT_EQ(starved.TakeWakes(), 1);
  EXPECT_FALSE(starved.Poll());

  clock_.Advance(absl::Microseconds(1));

  // It has to lose once to say so.
  EXPECT_EQ(TimesOvertaken(mutex, guard, starved), 1);
  EXPECT_TRUE(starved.Poll());
}

TEST_F(MutexTest, StarvedWaitersThatAreDroppedLeaveItOpen) {
  Mutex<int> mutex(0);
  auto guard = mutex.TryLock();
  auto starved = std::make_unique<Wait>(mutex.Lock());
  Wait other(mutex.Lock());
  EXPECT_FALSE(starved->Poll());
  EXPECT_FALSE(other.Poll());
  Unlock(guard);
  guard = mutex.TryLock();
  clock_.Advance(absl::Milliseconds(1));
  EXPECT_FALSE(starved->Poll());

  starved.reset();
  Unlock(guard);

  EXPECT_TRUE(mutex.TryLock().has_value());
  EXPECT_TRUE(other.Poll());
}

// Unlocked for one waiter, which is cancelled in the same turn.
TEST_F(MutexTest, AWokenWaiterThatIsDroppedPassesItOn) {
  Mutex<int> mutex(0);
  auto guard = mutex.TryLock();
  Wait first(mutex.Lock());
  Wait second(mutex.Lock());
  EXPECT_FALSE(first.Poll());
  EXPECT_FALSE(second.Poll());
  Unlock(guard);
  EXPECT_EQ(second.TakeWakes(), 0);

  first.Drop();

  EXPECT_EQ(second.TakeWakes(), 1);
  EXPECT_TRUE(second.Poll());
}

TEST_F(MutexTest, AWaiterThatWasHandedTheLockAndIsDroppedPassesItOn) {
  Mutex<int> mutex(0);
  auto guard = mutex.TryLock();
  Wait starved(mutex.Lock());
  Wait second(mutex.Lock());
  EXPECT_FALSE(starved.Poll());
  EXPECT_FALSE(second.Poll());
  EXPECT_EQ(TimesOvertaken(mutex, guard, starved), 16);
  EXPECT_FALSE(mutex.TryLock().has_value());

  starved.Drop();

  EXPECT_EQ(second.TakeWakes(), 1);
  EXPECT_TRUE(second.Poll());
}

TEST_F(MutexTest, AnUnpolledWaitIsNotInTheQueue) {
  Mutex<int> mutex(0);
  auto guard = mutex.TryLock();
  {
    const auto unpolled = mutex.Lock();
  }
  Wait wait(mutex.Lock());
  EXPECT_FALSE(wait.Poll());
  wait.Drop();

  Unlock(guard);

  EXPECT_TRUE(mutex.TryLock().has_value());
}

TEST_F(MutexTest, AThousandWaitersEachHaveIt) {
  Mutex<int> mutex(0);
  auto guard = mutex.TryLock();
  std::vector<std::unique_ptr<Wait>> waits;
  for (int i = 0; i < 1'000; ++i) {
    waits.push_back(std::make_unique<Wait>(mutex.Lock()));
    EXPECT_FALSE(waits.back()->Poll());
  }

  Unlock(guard);
  for (auto& wait : waits) {
    ASSERT_EQ(wait->TakeWakes(), 1);
    ASSERT_TRUE(wait->Poll());
    ++*wait->output();
    wait.reset();
  }

  EXPECT_EQ(*mutex.BlockingLock(), 1'000);
}

// A stored waker whose destructor locks the same mutex: when it is replaced, when
// its wait is dropped, and when it is woken.
TEST_F(MutexTest, WakersMayLockIt) {
  Mutex<int> mutex(0);
  int locked = 0;
  const auto lock = [&] { locked += mutex.TryLock().has_value(); };
  std::optional<IntGuard> guard = mutex.TryLock();
  {
    const Waker waker = CallbackWaker(lock, lock);
    Context cx(waker);
    Wait other(mutex.Lock());
    auto replaced = mutex.Lock();
    auto dropped = std::make_unique<Mutex<int>::LockFuture>(mutex.Lock());
    EXPECT_TRUE(replaced.Poll(cx).IsPending());
    EXPECT_TRUE(dropped->Poll(cx).IsPending());
    CountingWaker counting;
    Context in_counting(counting.waker());

    EXPECT_TRUE(replaced.Poll(in_counting).IsPending());
    EXPECT_EQ(locked, 0);
    EXPECT_FALSE(other.Poll());
    Unlock(guard);  // wakes `replaced`
    dropped.reset();
    EXPECT_EQ(locked, 1);
    guard = mutex.TryLock();
    auto woken = mutex.Lock();
    EXPECT_TRUE(woken.Poll(cx).IsPending());
    other.Drop();
    Unlock(guard);

    EXPECT_EQ(locked, 2);
  }

  EXPECT_GE(locked, 3);  // the local waker's drop, too
}

// A wait moves with the task that it is in to another task.
TEST_F(MutexTest, WakesWhoeverPolledLast) {
  Mutex<int> mutex(0);
  auto guard = mutex.TryLock();
  CountingWaker a;
  CountingWaker b;
  Context in_a(a.waker());
  Context in_b(b.waker());
  Task<> first = [](Mutex<int>* mutex) -> Task<> {
    auto guard = co_await mutex->Lock();
    ++*guard;
  }(&mutex);
  EXPECT_TRUE(first.Poll(in_a).IsPending());

  Task<> second = [](Task<> inner) -> Task<> {
    co_await std::move(inner);
  }(std::move(first));
  EXPECT_TRUE(second.Poll(in_b).IsPending());
  Unlock(guard);

  EXPECT_EQ(a.wakes(), 0);
  EXPECT_EQ(a.outstanding(), 0);
  EXPECT_EQ(b.wakes(), 1);
  EXPECT_TRUE(second.Poll(in_b).IsReady());
}

// Whoever asked first has it first, though its budget was spent.
TEST_F(MutexTest, ASpentBudgetKeepsThePlaceInTheQueue) {
  Mutex<int> mutex(0);
  Budget budget(0);
  Wait first(mutex.Lock());
  Wait behind(mutex.Lock());

  EXPECT_FALSE(first.Poll(&budget));
  EXPECT_EQ(first.TakeWakes(), 1);
  EXPECT_FALSE(behind.Poll());
  budget = Budget(1);
  EXPECT_TRUE(first.Poll(&budget));
  EXPECT_TRUE(budget.IsSpent());
  first.Drop();

  EXPECT_TRUE(behind.Poll());
}

TEST_F(MutexTest, OwnedGuardsKeepItAlive) {
  LiveCounter counter;
  auto mutex = std::make_shared<Mutex<LiveCounter::Object>>(counter.Make());
  using Owning = Mutex<LiveCounter::Object>;
  auto guard = Owning::TryLockOwned(mutex);
  WaitByHand wait(Owning::LockOwned(mutex));
  EXPECT_FALSE(wait.Poll());
  EXPECT_FALSE(Owning::TryLockOwned(mutex).has_value());

  mutex.reset();
  Unlock(guard);
  EXPECT_TRUE(wait.Poll());
  Owning::OwnedGuard last = wait.Take();
  wait.Drop();
  EXPECT_EQ(counter.live(), 1);
  last = Owning::BlockingLockOwned(std::make_shared<Owning>(counter.Make()));

  EXPECT_EQ(counter.live(), 1);
}

struct User {
  std::string name;
  int age;
};

TEST_F(MutexTest, AGuardCanBeMappedToAPart) {
  Mutex<User> mutex(User{"Ada", 36});
  {
    auto name = Mutex<User>::Guard::Map(mutex.BlockingLock(), &User::name);
    *name += "!";
    EXPECT_FALSE(mutex.TryLock().has_value());
    const auto first = [](std::string& name) -> char& { return name[0]; };
    auto letter = decltype(name)::Map(std::move(name), first);
    EXPECT_FALSE(name);
    *letter = 'a';
    EXPECT_FALSE(mutex.TryLock().has_value());
  }

  EXPECT_EQ(mutex.BlockingLock()->name, "ada!");
}

TEST_F(MutexTest, AnOwnedGuardCanBeMappedToAPart) {
  auto mutex = std::make_shared<Mutex<User>>(User{"Ada", 36});
  const std::weak_ptr<Mutex<User>> observer = mutex;
  {
    auto age = Mutex<User>::OwnedGuard::Map(
        Mutex<User>::BlockingLockOwned(std::move(mutex)), &User::age);
    ++*age;
    EXPECT_EQ(*age, 37);
    EXPECT_FALSE(observer.expired());
  }

  EXPECT_TRUE(observer.expired());
}

TEST_F(MutexTest, ItsSoleOwnerNeedsNoLock) {
  Mutex<std::unique_ptr<int>> mutex(std::make_unique<int>(1));

  *mutex.GetMutable() = 2;

  EXPECT_EQ(*std::move(mutex).IntoInner(), 2);
}

TEST_F(MutexTest, SurvivesADropAtEveryPoll) {
  auto mutex = std::make_shared<Mutex<int>>(0);
  std::optional<IntGuard> held;
  LiveCounter counter;
  auto task = [](std::shared_ptr<Mutex<int>> mutex,
                 LiveCounter::Object) -> Task<> {
    {
      auto guard = co_await mutex->Lock();
      ++*guard;
    }
    co_await YieldNow();
    auto guard = co_await Mutex<int>::LockOwned(mutex);
    ++*guard;
  };

  EXPECT_THAT(DropAtEveryPoll(
                  [&] {
                    held = mutex->TryLock();
                    return task(mutex, counter.Make());
                  },
                  {.step =
                       [&] {
                         // Locks it in the way of the next one, too.
                         if (held.has_value()) {
                           held.reset();
                         } else {
                           held = mutex->TryLock();
                         }
                         return true;
                       },
                   .settle =
                       [&] {
                         held.reset();
                         ASSERT_TRUE(mutex->TryLock().has_value());
                       },
                   .live = [&] { return counter.live(); }})
                  .status(),
              IsOk());
}

TEST_F(MutexTest, MisuseDies) {
  auto mutex = std::make_unique<Mutex<int>>(0);
  auto guard = mutex->TryLock();
  Wait wait(mutex->Lock());
  EXPECT_FALSE(wait.Poll());

  EXPECT_DEATH(mutex->GetMutable(), "while it is locked");
  EXPECT_DEATH(mutex.reset(), "while it is locked");
  Unlock(guard);
}

TEST_F(MutexTest, BlockingInATaskNamesTheCall) {
  Mutex<int> mutex(0);
  auto guard = mutex.TryLock();
  ManualExecutor executor;
  const JoinHandle<> handle = executor.Spawn([&mutex]() -> Task<> {
    static_cast<void>(mutex.BlockingLock());
    co_return;
  });

  EXPECT_DEATH(executor.RunUntilIdle(),
               "Mutex::BlockingLock\\(\\) was called by a task");
}

// Random steps of several waits: at most one has it, and once everybody who is
// woken comes, everybody gets it.
TEST_F(MutexTest, WhoeverIsWokenComesAndNobodyIsLeft) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Mutex<int> mutex(0);
    std::vector<std::unique_ptr<Wait>> waits;
    std::vector<IntGuard> held;
    const auto poll = [&](size_t index) {
      if (!waits[index]->Poll()) return;
      held.push_back(waits[index]->Take());
      waits.erase(waits.begin() + index);
    };
    for (int step = 0; step < 1'000; ++step) {
      const size_t index = waits.empty() ? 0 : random.Below(waits.size());
      switch (random.Below(6)) {
        case 0:
        case 1:
          waits.push_back(std::make_unique<Wait>(mutex.Lock()));
          poll(waits.size() - 1);
          break;
        case 2:
          if (!waits.empty()) poll(index);
          break;
        case 3:
          if (!waits.empty()) waits.erase(waits.begin() + index);
          break;
        case 4:
          held.clear();
          break;
        case 5:
          clock_.Advance(absl::Microseconds(random.Below(300)));
          break;
      }
      ASSERT_LE(held.size(), 1u);
    }
    held.clear();
    while (!waits.empty()) {
      bool woken = false;
      for (size_t i = 0; i < waits.size() && !woken; ++i) {
        if (waits[i]->TakeWakes() == 0) continue;
        woken = true;
        poll(i);
        held.clear();
      }
      ASSERT_TRUE(woken) << waits.size() << " are left";
    }
  }
}

struct Counters {
  Mutex<int> mutex{0};
  int inside = 0;
  int done = 0;
  bool crowded = false;
};

Task<> Yields(int times) {
  for (int i = 0; i < times; ++i) co_await YieldNow();
}

Task<> LockOften(std::shared_ptr<Counters> counters, int patience) {
  for (int round = 0; round < 4; ++round) {
    auto either =
        co_await Select(counters->mutex.Lock(), Yields(patience + round));
    if (either.index() == 1) continue;
    auto guard = std::move(std::get<0>(either).value);
    counters->crowded = counters->crowded || ++counters->inside > 1;
    co_await YieldNow();
    --counters->inside;
    ++*guard;
  }
  auto guard = co_await counters->mutex.Lock();
  ++counters->done;
}

TEST_F(MutexTest, NothingIsLostInAnyOrder) {
  constexpr int kTasks = 4;
  const auto scenario = [&](DeterministicExecutor& executor) -> absl::Status {
    auto counters = std::make_shared<Counters>();
    for (int i = 0; i < kTasks; ++i) {
      executor.Spawn(LockOften(counters, 1 + i)).Detach();
    }
    absl::Status status = executor.RunUntilIdle();
    if (!status.ok()) return status;
    if (counters->done != kTasks) return absl::InternalError("some wait");
    if (counters->crowded) return absl::InternalError("two are inside");
    return absl::OkStatus();
  };

  EXPECT_GT(ExploreSchedules(IsLong() ? 10'000 : 500, scenario), 400u);
}

TEST_F(MutexTest, ThreadsHaveItOneAtATime) {
  constexpr int kThreads = 4;
  const int rounds = Rounds(2'000);
  Mutex<int> mutex(0);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      CountingWaker waker;
      Context cx(waker.waker());
      for (int round = 0; round < rounds; ++round) {
        {
          auto dropped = mutex.Lock();
          static_cast<void>(dropped.Poll(cx).IsReady());
        }
        ++*mutex.BlockingLock();
        if (auto guard = mutex.TryLock(); guard.has_value()) {
          ++**guard;
          --**guard;
        }
      }
    });
  }
  for (auto& thread : threads) thread.join();

  EXPECT_EQ(*mutex.BlockingLock(), kThreads * rounds);
}

TEST_F(MutexTest, AThreadMayDestroyItOnceItHasHadIt) {
  const int rounds = Rounds(1'000);
  for (int round = 0; round < rounds; ++round) {
    auto mutex = std::make_unique<Mutex<int>>(0);
    auto guard = mutex->TryLock();
    std::thread unlocker(
        [guard = std::move(guard)]() mutable { guard.reset(); });
    static_cast<void>(mutex->BlockingLock());
    mutex.reset();
    unlocker.join();
  }
}

}  // namespace
}  // namespace weft::sync
