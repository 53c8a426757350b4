// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// weft-lint: allow-file(R22): the tests' tasks end before what they refer to.

#include "weft/sync/rw_lock.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "weft/executor/deterministic_executor.h"
#include "weft/select/select.h"
#include "weft/task/context.h"
#include "weft/task/counting_waker.h"
#include "weft/task/drop_at_every_poll.h"
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

namespace weft::sync {
namespace {

bool IsLong() { return std::getenv("WEFT_LONG") != nullptr; }
int Rounds(int rounds) { return IsLong() ? 100 * rounds : rounds; }

using Lock = RwLock<int>;
using ReadWait = WaitByHand<decltype(std::declval<Lock&>().Read())>;
using WriteWait = WaitByHand<decltype(std::declval<Lock&>().Write())>;

static_assert(
    std::is_same_v<decltype(*std::declval<Lock::ReadGuard&>()), const int&>);
static_assert(std::is_same_v<decltype(*std::declval<Lock::UpgradableGuard&>()),
                             const int&>);

constinit Lock static_lock(7);

TEST(RwLockTest, IsConstantInitialized) {
  EXPECT_EQ(*static_lock.BlockingRead(), 7);
}

TEST(RwLockTest, ManyReadOrOneWrites) {
  RwLock<std::string> lock("a");
  {
    auto first = lock.TryRead();
    auto second = lock.TryRead();
    ASSERT_TRUE(first.has_value());
    ASSERT_TRUE(second.has_value());
    EXPECT_EQ((*first)->size(), 1u);
    EXPECT_FALSE(lock.TryWrite().has_value());
  }
  {
    auto write = lock.TryWrite();
    ASSERT_TRUE(write.has_value());
    **write += "b";
    EXPECT_FALSE(lock.TryRead().has_value());
    EXPECT_FALSE(lock.TryWrite().has_value());
    EXPECT_FALSE(lock.TryUpgradableRead().has_value());
  }

  EXPECT_EQ(*lock.BlockingRead(), "ab");
}

TEST(RwLockTest, OneUpgradableReaderIsBesideTheOthers) {
  Lock lock(1);
  auto upgradable = lock.TryUpgradableRead();
  ASSERT_TRUE(upgradable.has_value());

  EXPECT_TRUE(lock.TryRead().has_value());
  EXPECT_FALSE(lock.TryUpgradableRead().has_value());
  EXPECT_FALSE(lock.TryWrite().has_value());
  EXPECT_EQ(**upgradable, 1);
}

TEST(RwLockTest, AWriterWaitsForAllReaders) {
  Lock lock(0);
  auto first = lock.TryRead();
  auto second = lock.TryRead();
  WriteWait writer(lock.Write());
  EXPECT_FALSE(writer.Poll());

  first.reset();
  EXPECT_EQ(writer.TakeWakes(), 0);
  second.reset();

  EXPECT_EQ(writer.TakeWakes(), 1);
  EXPECT_TRUE(writer.Poll());
}

// Readers that overlap do not keep a writer out.
TEST(RwLockTest, NewcomersQueueBehindAWriterThatWaits) {
  Lock lock(0);
  auto reader = lock.TryRead();
  WriteWait writer(lock.Write());
  EXPECT_FALSE(writer.Poll());

  EXPECT_FALSE(lock.TryRead().has_value());
  ReadWait late(lock.Read());
  EXPECT_FALSE(late.Poll());
  reader.reset();

  EXPECT_TRUE(writer.Poll());
  EXPECT_FALSE(late.Poll());
  writer.Drop();
  EXPECT_EQ(late.TakeWakes(), 1);
  EXPECT_TRUE(late.Poll());
}

TEST(RwLockTest, ReadersThatAreNextToEachOtherGetInTogether) {
  Lock lock(0);
  auto writer = lock.TryWrite();
  std::deque<ReadWait> before;
  std::deque<ReadWait> after;
  for (int i = 0; i < 20; ++i) {
    EXPECT_FALSE(before.emplace_back(lock.Read()).Poll());
  }
  WriteWait between(lock.Write());
  EXPECT_FALSE(between.Poll());
  for (int i = 0; i < 20; ++i) {
    EXPECT_FALSE(after.emplace_back(lock.Read()).Poll());
  }

  writer.reset();

  for (ReadWait& wait : before) {
    EXPECT_EQ(wait.TakeWakes(), 1);
    EXPECT_TRUE(wait.Poll());
  }
  EXPECT_EQ(between.TakeWakes(), 0);
  before.clear();
  EXPECT_TRUE(between.Poll());
  for (ReadWait& wait : after) EXPECT_EQ(wait.TakeWakes(), 0);
  between.Drop();
  for (ReadWait& wait : after) EXPECT_TRUE(wait.Poll());
}

TEST(RwLockTest, AWriterThatLeavesTheQueueLetsReadersIn) {
  Lock lock(0);
  auto reader = lock.TryRead();
  WriteWait writer(lock.Write());
  ReadWait late(lock.Read());
  EXPECT_FALSE(writer.Poll());
  EXPECT_FALSE(late.Poll());

  writer.Drop();

  EXPECT_EQ(late.TakeWakes(), 1);
  EXPECT_TRUE(late.Poll());
  EXPECT_TRUE(lock.TryRead().has_value());
}

// Let in, and cancelled in the same turn.
TEST(RwLockTest, AWaiterThatWasLetInAndIsDroppedPassesItOn) {
  Lock lock(0);
  auto held = lock.TryWrite();
  WriteWait first(lock.Write());
  ReadWait second(lock.Read());
  WriteWait third(lock.Write());
  EXPECT_FALSE(first.Poll());
  EXPECT_FALSE(second.Poll());
  EXPECT_FALSE(third.Poll());
  held.reset();
  EXPECT_EQ(second.TakeWakes(), 0);

  first.Drop();
  EXPECT_EQ(second.TakeWakes(), 1);
  second.Drop();

  EXPECT_EQ(third.TakeWakes(), 1);
  EXPECT_TRUE(third.Poll());
}

TEST(RwLockTest, AWriterMayBecomeAReader) {
  Lock lock(0);
  auto writer = lock.TryWrite();
  ReadWait reader(lock.Read());
  WriteWait late(lock.Write());
  EXPECT_FALSE(reader.Poll());
  EXPECT_FALSE(late.Poll());
  **writer = 1;

  {
    Lock::ReadGuard read = (*std::move(writer)).Downgrade();
    EXPECT_EQ(*read, 1);
    EXPECT_EQ(reader.TakeWakes(), 1);
    EXPECT_TRUE(reader.Poll());
    reader.Drop();
    EXPECT_FALSE(late.Poll());
  }

  EXPECT_TRUE(late.Poll());
}

TEST(RwLockTest, AWriterMayBecomeUpgradable) {
  Lock lock(0);
  {
    Lock::UpgradableGuard guard = lock.BlockingWrite().DowngradeToUpgradable();
    EXPECT_TRUE(lock.TryRead().has_value());
    EXPECT_FALSE(lock.TryUpgradableRead().has_value());
    {
      auto write = guard.TryUpgrade();
      ASSERT_TRUE(write.has_value());
      EXPECT_FALSE(guard);
      guard = (*std::move(write)).DowngradeToUpgradable();
    }
    const Lock::ReadGuard read = std::move(guard).Downgrade();
    EXPECT_TRUE(lock.TryUpgradableRead().has_value());
    EXPECT_FALSE(lock.TryWrite().has_value());
  }

  EXPECT_TRUE(lock.TryWrite().has_value());
}

TEST(RwLockTest, AnUpgradeIsRefusedWhileOthersRead) {
  Lock lock(0);
  Lock::UpgradableGuard guard = lock.BlockingUpgradableRead();
  auto reader = lock.TryRead();

  EXPECT_FALSE(guard.TryUpgrade().has_value());
  EXPECT_TRUE(guard);
  reader.reset();

  EXPECT_TRUE(guard.TryUpgrade().has_value());
}

// It is nearer than those in the queue: they wait for it anyway.
TEST(RwLockTest, AnUpgradeGoesBeforeTheQueue) {
  Lock lock(0);
  Lock::UpgradableGuard guard = lock.BlockingUpgradableRead();
  auto reader = lock.TryRead();
  WriteWait queued(lock.Write());
  EXPECT_FALSE(queued.Poll());
  {
    WaitByHand upgrade(guard.Upgrade());
    EXPECT_FALSE(upgrade.Poll());
    EXPECT_FALSE(lock.TryRead().has_value());

    reader.reset();
    EXPECT_EQ(upgrade.TakeWakes(), 1);
    EXPECT_EQ(queued.TakeWakes(), 0);
    EXPECT_TRUE(upgrade.Poll());
    EXPECT_FALSE(guard);
    ++*upgrade.output();
  }

  EXPECT_TRUE(queued.Poll());
  EXPECT_EQ(*queued.output(), 1);
}

TEST(RwLockTest, AnUpgradeNeedsNoWaitBesideAQueue) {
  Lock lock(0);
  Lock::UpgradableGuard guard = lock.BlockingUpgradableRead();
  WriteWait queued(lock.Write());
  EXPECT_FALSE(queued.Poll());

  WaitByHand upgrade(guard.Upgrade());

  EXPECT_TRUE(upgrade.Poll());
  upgrade.Drop();
  EXPECT_TRUE(queued.Poll());
}

TEST(RwLockTest, ADroppedUpgradeLeavesItsGuardAsItWas) {
  Lock lock(0);
  Lock::UpgradableGuard guard = lock.BlockingUpgradableRead();
  auto reader = lock.TryRead();
  ReadWait late(lock.Read());
  {
    WaitByHand pending(guard.Upgrade());
    EXPECT_FALSE(pending.Poll());
    EXPECT_FALSE(late.Poll());
  }
  EXPECT_EQ(late.TakeWakes(), 1);
  EXPECT_TRUE(late.Poll());
  late.Drop();
  ReadWait later(lock.Read());
  {
    WaitByHand let_in(guard.Upgrade());
    EXPECT_FALSE(let_in.Poll());
    EXPECT_FALSE(later.Poll());
    reader.reset();
    EXPECT_EQ(let_in.TakeWakes(), 1);
    EXPECT_EQ(later.TakeWakes(), 0);
  }

  EXPECT_EQ(later.TakeWakes(), 1);
  EXPECT_TRUE(later.Poll());
  EXPECT_TRUE(guard);
  EXPECT_FALSE(lock.TryUpgradableRead().has_value());
}

// One guard can be upgraded once only; the mistake lets nobody in beside the writer.
TEST(RwLockTest, ASecondUpgradeOfAGuardGetsNothing) {
  Lock lock(0);
  std::optional<Lock::ReadGuard> read = lock.TryRead();
  Lock::UpgradableGuard guard = *lock.TryUpgradableRead();
  WaitByHand first(guard.Upgrade());
  WaitByHand second(guard.Upgrade());
  EXPECT_FALSE(first.Poll());
  EXPECT_FALSE(second.Poll());
  read.reset();
  EXPECT_TRUE(second.Poll());

  EXPECT_FALSE(lock.TryRead().has_value());
  EXPECT_EQ(first.TakeWakes(), 0);
  first.Drop();
  EXPECT_FALSE(lock.TryRead().has_value());
  second.Drop();
  EXPECT_TRUE(lock.TryWrite().has_value());
}

TEST(RwLockTest, AThousandWaitersEachGetIn) {
  Lock lock(0);
  auto held = lock.TryWrite();
  std::deque<ReadWait> readers;
  std::deque<WriteWait> writers;
  for (int i = 0; i < 500; ++i) {
    EXPECT_FALSE(readers.emplace_back(lock.Read()).Poll());
    EXPECT_FALSE(writers.emplace_back(lock.Write()).Poll());
  }

  held.reset();

  for (int i = 0; i < 500; ++i) {
    ASSERT_TRUE(readers[i].Poll());
    ASSERT_EQ(*readers[i].output(), i);
    readers[i].Drop();
    ASSERT_TRUE(writers[i].Poll());
    ++*writers[i].output();
    writers[i].Drop();
  }
}

// A stored waker whose destructor uses the same lock: when it is replaced, when
// its wait is dropped, and when it is woken.
TEST(RwLockTest, WakersMayUseIt) {
  Lock lock(0);
  int tried = 0;
  int got_in = 0;
  const auto use = [&] {
    ++tried;
    got_in += lock.TryRead().has_value();
  };
  auto held = lock.TryWrite();
  {
    const Waker waker = CallbackWaker(use, use);
    Context cx(waker);
    CountingWaker counting;
    Context in_counting(counting.waker());
    auto replaced = lock.Read();
    auto woken = lock.Read();
    EXPECT_TRUE(replaced.Poll(cx).IsPending());
    EXPECT_TRUE(woken.Poll(cx).IsPending());
    {
      auto dropped = lock.Write();
      EXPECT_TRUE(dropped.Poll(cx).IsPending());
    }
    EXPECT_EQ(tried, 1);

    EXPECT_TRUE(replaced.Poll(in_counting).IsPending());
    EXPECT_EQ(tried, 2);
    EXPECT_EQ(got_in, 0);
    held.reset();

    EXPECT_EQ(tried, 3);
    EXPECT_EQ(got_in, 1);
    EXPECT_EQ(counting.wakes(), 1);
  }

  EXPECT_EQ(tried, 4);  // the local waker's drop, too
}

// A wait moves with the task that it is in to another task.
TEST(RwLockTest, WakesWhoeverPolledLast) {
  Lock lock(0);
  auto held = lock.TryWrite();
  CountingWaker a;
  CountingWaker b;
  Context in_a(a.waker());
  Context in_b(b.waker());
  Task<> first = [](Lock* lock) -> Task<> {
    auto guard = co_await lock->Read();
    EXPECT_EQ(*guard, 0);
  }(&lock);
  EXPECT_TRUE(first.Poll(in_a).IsPending());

  Task<> second = [](Task<> inner) -> Task<> {
    co_await std::move(inner);
  }(std::move(first));
  EXPECT_TRUE(second.Poll(in_b).IsPending());
  held.reset();

  EXPECT_EQ(a.wakes(), 0);
  EXPECT_EQ(a.outstanding(), 0);
  EXPECT_EQ(b.wakes(), 1);
  EXPECT_TRUE(second.Poll(in_b).IsReady());
}

// Whoever asked first gets in first, though its budget was spent.
TEST(RwLockTest, ASpentBudgetKeepsThePlaceInTheQueue) {
  Lock lock(0);
  Budget budget(0);
  WriteWait first(lock.Write());
  ReadWait behind(lock.Read());

  EXPECT_FALSE(first.Poll(&budget));
  EXPECT_EQ(first.TakeWakes(), 1);
  EXPECT_FALSE(behind.Poll());
  budget = Budget(1);
  EXPECT_TRUE(first.Poll(&budget));
  EXPECT_TRUE(budget.IsSpent());
  first.Drop();

  EXPECT_TRUE(behind.Poll());
}

TEST(RwLockTest, OwnedGuardsKeepItAlive) {
  auto lock = std::make_shared<Lock>(3);
  const std::weak_ptr<Lock> observer = lock;
  auto read = Lock::TryReadOwned(lock);
  ASSERT_TRUE(read.has_value());
  EXPECT_FALSE(Lock::TryWriteOwned(lock).has_value());
  WaitByHand write(Lock::WriteOwned(lock));
  EXPECT_FALSE(write.Poll());
  EXPECT_FALSE(Lock::TryUpgradableReadOwned(lock).has_value());
  WaitByHand late(Lock::ReadOwned(std::move(lock)));
  EXPECT_FALSE(late.Poll());

  read.reset();
  EXPECT_TRUE(write.Poll());
  Lock::OwnedReadGuard last = write.Take().DowngradeToUpgradable().Downgrade();
  write.Drop();
  EXPECT_TRUE(late.Poll());
  late.Drop();
  EXPECT_FALSE(observer.expired());
  EXPECT_EQ(*last, 3);
  auto other = std::make_shared<Lock>(4);
  WaitByHand upgradable(Lock::UpgradableReadOwned(std::move(other)));
  ASSERT_TRUE(upgradable.Poll());
  last = upgradable.Take().Downgrade();

  EXPECT_TRUE(observer.expired());
  EXPECT_EQ(*last, 4);
}

TEST(RwLockTest, ThreadsHaveOwnedGuards) {
  {
    auto guard = Lock::BlockingWriteOwned(std::make_shared<Lock>(1));
    ++*guard;
    EXPECT_EQ(*std::move(guard).Downgrade(), 2);
  }
  {
    auto guard = Lock::BlockingUpgradableReadOwned(std::make_shared<Lock>(1));
    EXPECT_EQ(*guard.BlockingUpgrade(), 1);
  }
  EXPECT_EQ(*Lock::BlockingReadOwned(std::make_shared<Lock>(1)), 1);
}

struct User {
  std::string name;
  int age;
};

TEST(RwLockTest, GuardsCanBeMappedToAPart) {
  RwLock<User> lock(User{"Ada", 36});
  {
    auto name =
        RwLock<User>::WriteGuard::Map(lock.BlockingWrite(), &User::name);
    const auto first = [](std::string& name) -> char& { return name[0]; };
    auto letter = decltype(name)::Map(std::move(name), first);
    *letter = 'a';
    EXPECT_FALSE(lock.TryRead().has_value());
  }
  {
    auto name = RwLock<User>::ReadGuard::Map(lock.BlockingRead(), &User::name);
    const auto first = [](const std::string& name) -> const char& {
      return name[0];
    };
    const auto letter = decltype(name)::Map(std::move(name), first);
    EXPECT_EQ(*letter, 'a');
    EXPECT_TRUE(lock.TryRead().has_value());
    EXPECT_FALSE(lock.TryWrite().has_value());
  }

  EXPECT_TRUE(lock.TryWrite().has_value());
}

TEST(RwLockTest, ItsSoleOwnerNeedsNoLock) {
  RwLock<std::unique_ptr<int>> lock(std::in_place, std::make_unique<int>(1));

  *lock.GetMutable() = 2;

  EXPECT_EQ(*std::move(lock).IntoInner(), 2);
}

TEST(RwLockTest, SurvivesADropAtEveryPoll) {
  auto lock = std::make_shared<Lock>(0);
  std::optional<Lock::WriteGuard> writer;
  std::optional<Lock::ReadGuard> reader;
  LiveCounter counter;
  auto task = [](std::shared_ptr<Lock> lock, LiveCounter::Object) -> Task<> {
    {
      auto read = co_await lock->Read();
      co_await YieldNow();
    }
    {
      auto guard = co_await lock->UpgradableRead();
      co_await YieldNow();
      auto write = co_await guard.Upgrade();
      ++*write;
    }
    co_await YieldNow();
    auto write = co_await Lock::WriteOwned(lock);
    ++*write;
  };

  EXPECT_THAT(DropAtEveryPoll(
                  [&] {
                    writer = lock->TryWrite();
                    return task(lock, counter.Make());
                  },
                  {.step =
                       [&] {
                         // Gets in the way of what comes next.
                         if (writer.has_value()) {
                           writer.reset();
                           reader = lock->TryRead();
                         } else if (reader.has_value()) {
                           reader.reset();
                         } else {
                           reader = lock->TryRead();
                         }
                         return true;
                       },
                   .settle =
                       [&] {
                         writer.reset();
                         reader.reset();
                         ASSERT_TRUE(lock->TryWrite().has_value());
                       },
                   .live = [&] { return counter.live(); }})
                  .status(),
              IsOk());
}

TEST(RwLockTest, MisuseDies) {
  auto lock = std::make_unique<Lock>(0);
  auto read = lock->TryRead();

  EXPECT_DEATH(lock->GetMutable(), "while somebody is in");
  EXPECT_DEATH(lock.reset(), "while somebody is in");
}

TEST(RwLockTest, BlockingInATaskNamesTheCall) {
  Lock lock(0);
  auto held = lock.TryRead();
  ManualExecutor executor;
  const JoinHandle<> handle = executor.Spawn([&lock]() -> Task<> {
    static_cast<void>(lock.BlockingWrite());
    co_return;
  });

  EXPECT_DEATH(executor.RunUntilIdle(),
               "RwLock::BlockingWrite\\(\\) was called by a task");
}

// Random operations against a model: a queue of (kind, let in), and who is in.
TEST(RwLockTest, DoesWhatASimpleModelDoes) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Lock lock(0);
    struct Model {
      bool writes = false;
      bool is_in = false;
      bool knows = false;
      std::unique_ptr<ReadWait> read;
      std::unique_ptr<WriteWait> write;

      bool Poll() {
        knows = writes ? write->Poll() : read->Poll();
        return knows;
      }
    };
    std::deque<Model> models;  // in the order in which they came
    const auto let_in = [&] {
      size_t readers = 0;
      size_t writers = 0;
      for (Model& model : models) {
        if (!model.is_in) continue;
        ++(model.writes ? writers : readers);
      }
      for (Model& model : models) {
        if (model.is_in) continue;
        if (writers != 0 || (model.writes && readers != 0)) break;
        model.is_in = true;
        ++(model.writes ? writers : readers);
      }
    };
    for (int step = 0; step < 500; ++step) {
      const size_t index = models.empty() ? 0 : random.Below(models.size());
      switch (random.Below(4)) {
        case 0: {
          Model model;
          model.writes = random.Below(3) == 0;
          if (model.writes) {
            model.write = std::make_unique<WriteWait>(lock.Write());
          } else {
            model.read = std::make_unique<ReadWait>(lock.Read());
          }
          models.push_back(std::move(model));
          let_in();
          ASSERT_EQ(models.back().Poll(), models.back().is_in);
          break;
        }
        case 1:
          if (models.empty() || models[index].knows) break;
          ASSERT_EQ(models[index].Poll(), models[index].is_in);
          break;
        case 2:
        case 3:
          if (models.empty()) break;
          models.erase(models.begin() + index);
          let_in();
          break;
      }
    }
    models.clear();
    EXPECT_TRUE(lock.TryWrite().has_value());
  }
}

struct Library {
  Library() = default;

  Lock lock{0};
  int readers = 0;
  int writers = 0;
  int done = 0;
  bool crowded = false;

  void Enter(int& count) {
    ++count;
    crowded = crowded || writers > 1 || (writers == 1 && readers != 0);
  }
};

Task<> Yields(int times) {
  for (int i = 0; i < times; ++i) co_await YieldNow();
}

Task<> UseOften(std::shared_ptr<Library> library, int index) {
  for (int round = 0; round < 3; ++round) {
    if ((index + round) % 2 == 0) {
      auto either =
          co_await Select(library->lock.Read(), Yields(index + round));
      if (either.index() == 1) continue;
      auto guard = std::move(std::get<0>(either).value);
      library->Enter(library->readers);
      co_await YieldNow();
      --library->readers;
    } else {
      auto guard = co_await library->lock.UpgradableRead();
      library->Enter(library->readers);
      co_await YieldNow();
      --library->readers;
      auto either = co_await Select(guard.Upgrade(), Yields(index + round));
      if (either.index() == 1) continue;
      auto write = std::move(std::get<0>(either).value);
      library->Enter(library->writers);
      co_await YieldNow();
      --library->writers;
    }
  }
  auto guard = co_await library->lock.Write();
  library->Enter(library->writers);
  ++library->done;
  --library->writers;
}

TEST(RwLockTest, NothingIsLostInAnyOrder) {
  constexpr int kTasks = 4;
  const auto scenario = [&](DeterministicExecutor& executor) -> absl::Status {
    auto library = std::make_shared<Library>();
    for (int i = 0; i < kTasks; ++i) {
      executor.Spawn(UseOften(library, i)).Detach();
    }
    absl::Status status = executor.RunUntilIdle();
    if (!status.ok()) return status;
    if (library->done != kTasks) return absl::InternalError("some wait");
    if (library->crowded) return absl::InternalError("too many are in");
    return absl::OkStatus();
  };

  EXPECT_GT(ExploreSchedules(IsLong() ? 10'000 : 500, scenario), 400u);
}

TEST(RwLockTest, ThreadsReadWhatWasWritten) {
  constexpr int kThreads = 4;
  const int rounds = Rounds(1'000);
  struct Pair {
    int a = 0;
    int b = 0;
  };
  RwLock<Pair> lock;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      CountingWaker waker;
      Context cx(waker.waker());
      for (int round = 0; round < rounds; ++round) {
        {
          auto dropped = lock.Write();
          static_cast<void>(dropped.Poll(cx).IsReady());
        }
        if ((round + i) % 4 == 0) {
          auto guard = lock.BlockingUpgradableRead();
          const int seen = guard->a;
          auto write = guard.BlockingUpgrade();
          ASSERT_EQ(write->a, seen);
          ++write->a;
          ++write->b;
        } else {
          auto read = lock.BlockingRead();
          ASSERT_EQ(read->a, read->b);
        }
      }
    });
  }
  for (auto& thread : threads) thread.join();

  EXPECT_EQ(lock.BlockingRead()->a, kThreads * rounds / 4);
}

TEST(RwLockTest, AThreadMayDestroyItOnceItHasBeenIn) {
  const int rounds = Rounds(1'000);
  for (int round = 0; round < rounds; ++round) {
    auto lock = std::make_unique<Lock>(0);
    auto guard = lock->TryRead();
    std::thread leaver([guard = std::move(guard)]() mutable { guard.reset(); });
    static_cast<void>(lock->BlockingWrite());
    lock.reset();
    leaver.join();
  }
}

}  // namespace
}  // namespace weft::sync
