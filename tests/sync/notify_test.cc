// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// weft-lint: allow-file(R22): the tests' tasks end before what they refer to.

#include "weft/sync/notify.h"

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
#include "weft/task/block_on.h"
#include "weft/task/context.h"
#include "weft/task/counting_waker.h"
#include "weft/task/drop_at_every_poll.h"
#include "weft/task/join_handle.h"
#include "weft/task/live_counter.h"
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

constinit Notify static_notify;

// A wait and who polls it.
class Waiter {
 public:
  explicit Waiter(Notify& notify) : wait_(notify.Wait()) {}

  bool Poll() {
    Context cx(waker_.waker());
    return wait_.Poll(cx).IsReady();
  }
  int64_t TakeWakes() { return waker_.TakeWakes(); }
  int64_t outstanding() const { return waker_.outstanding(); }

 private:
  CountingWaker waker_;
  Notify::WaitFuture wait_;
};

TEST(NotifyTest, KeepsOnePermit) {
  EXPECT_FALSE(static_notify.TryWait());

  static_notify.NotifyOne();
  static_notify.NotifyOne();

  static_notify.BlockingWait();
  EXPECT_FALSE(static_notify.TryWait());
  Waiter waiter(static_notify);
  EXPECT_FALSE(waiter.Poll());
}

TEST(NotifyTest, NotifyOneReleasesInTheOrderOfFirstPolls) {
  Notify notify;
  Waiter a(notify);
  Waiter b(notify);
  EXPECT_FALSE(b.Poll());
  EXPECT_FALSE(a.Poll());
  EXPECT_FALSE(b.Poll());  // a spurious poll keeps the place

  notify.NotifyOne();

  EXPECT_EQ(b.TakeWakes(), 1);
  EXPECT_EQ(a.TakeWakes(), 0);
  EXPECT_FALSE(a.Poll());
  EXPECT_TRUE(b.Poll());
  EXPECT_EQ(b.outstanding(), 0);
  EXPECT_FALSE(notify.TryWait());
}

TEST(NotifyTest, NotifyLastReleasesTheNewest) {
  Notify notify;
  Waiter a(notify);
  Waiter b(notify);
  EXPECT_FALSE(a.Poll());
  EXPECT_FALSE(b.Poll());

  notify.NotifyLast();
  EXPECT_FALSE(a.Poll());
  EXPECT_TRUE(b.Poll());
  notify.NotifyLast();
  EXPECT_TRUE(a.Poll());
  notify.NotifyLast();

  EXPECT_TRUE(notify.TryWait());
}

TEST(NotifyTest, NotifyAllReleasesWhoeverExistsAndKeepsNothing) {
  Notify notify;
  std::vector<std::unique_ptr<Waiter>> waiters;
  for (int i = 0; i < 50; ++i) {
    waiters.push_back(std::make_unique<Waiter>(notify));
    if (i % 2 == 0) {
      EXPECT_FALSE(waiters.back()->Poll());
    }
  }

  notify.NotifyAll();
  Waiter late(notify);

  EXPECT_FALSE(late.Poll());
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(waiters[i]->TakeWakes(), i % 2 == 0);
    EXPECT_TRUE(waiters[i]->Poll());
    EXPECT_EQ(waiters[i]->outstanding(), 0);
  }
  EXPECT_FALSE(notify.TryWait());
}

TEST(NotifyTest, NotifyAllLeavesAPermitAlone) {
  Notify notify;
  notify.NotifyOne();
  Waiter early(notify);

  notify.NotifyAll();

  EXPECT_TRUE(early.Poll());
  EXPECT_TRUE(notify.TryWait());
}

TEST(NotifyTest, ANotifiedWaiterThatIsDroppedPassesItOn) {
  Notify notify;
  std::optional<Waiter> first;
  std::optional<Waiter> second;
  first.emplace(notify);
  second.emplace(notify);
  EXPECT_FALSE(first->Poll());
  EXPECT_FALSE(second->Poll());

  notify.NotifyOne();
  first.reset();
  EXPECT_EQ(second->TakeWakes(), 1);
  second.reset();

  EXPECT_TRUE(notify.TryWait());
  EXPECT_FALSE(notify.TryWait());
}

TEST(NotifyTest, AWaiterOfARoundPassesNothingOn) {
  Notify notify;
  std::optional<Waiter> first;
  first.emplace(notify);
  EXPECT_FALSE(first->Poll());
  notify.NotifyAll();

  first.reset();

  EXPECT_FALSE(notify.TryWait());
}

TEST(NotifyTest, ADroppedWaiterLeavesNoTraceInTheQueue) {
  Notify notify;
  std::optional<Waiter> first;
  first.emplace(notify);
  EXPECT_FALSE(first->Poll());
  first.reset();

  notify.NotifyOne();

  EXPECT_TRUE(notify.TryWait());
}

TEST(NotifyTest, WakesWhoeverPolledLast) {
  Notify notify;
  CountingWaker a;
  CountingWaker b;
  Context in_a(a.waker());
  Context in_b(b.waker());
  auto wait = notify.Wait();
  EXPECT_TRUE(wait.Poll(in_a).IsPending());
  EXPECT_TRUE(wait.Poll(in_b).IsPending());
  EXPECT_EQ(a.outstanding(), 0);

  notify.NotifyOne();

  EXPECT_EQ(a.wakes(), 0);
  EXPECT_EQ(b.wakes(), 1);
  EXPECT_TRUE(wait.Poll(in_b).IsReady());
}

TEST(NotifyTest, ASpentBudgetDelaysAndLosesNothing) {
  Notify notify;
  CountingWaker waker;
  Budget budget(0);
  Context cx(waker.waker(), &budget);
  notify.NotifyOne();
  {
    auto wait = notify.Wait();
    EXPECT_TRUE(wait.Poll(cx).IsPending());
    EXPECT_EQ(waker.TakeWakes(), 1);
  }
  auto wait = notify.Wait();
  EXPECT_TRUE(wait.Poll(cx).IsPending());

  budget = Budget(2);
  EXPECT_TRUE(wait.Poll(cx).IsReady());
  EXPECT_EQ(budget.units(), 1u);
  EXPECT_FALSE(notify.TryWait());
}

TEST(NotifyTest, AReleasedWaiterMayDestroyIt) {
  auto notify = std::make_unique<Notify>();
  std::vector<Notify::WaitFuture> waits;
  for (int i = 0; i < 20; ++i) waits.push_back(notify->Wait());
  const Waker waker = CallbackWaker([&] {
    waits.clear();
    notify.reset();
  });
  Context cx(waker);
  for (auto& wait : waits) EXPECT_TRUE(wait.Poll(cx).IsPending());

  notify->NotifyAll();

  EXPECT_EQ(notify, nullptr);
}

TEST(NotifyTest, WakersMayUseIt) {
  Notify notify;
  int wakes = 0;
  const Waker waker = CallbackWaker(
      [&] {
        ++wakes;
        notify.NotifyOne();
        notify.NotifyAll();
      },
      [&] { notify.NotifyLast(); });
  Context cx(waker);
  CountingWaker other;
  Context in_other(other.waker());
  auto a = notify.Wait();
  auto b = std::make_unique<Notify::WaitFuture>(notify.Wait());
  EXPECT_TRUE(a.Poll(cx).IsPending());
  EXPECT_TRUE(b->Poll(cx).IsPending());

  b.reset();  // drops a waker, which notifies

  EXPECT_EQ(wakes, 1);
  EXPECT_TRUE(a.Poll(in_other).IsReady());
}

TEST(NotifyTest, SurvivesADropAtEveryPoll) {
  Notify notify;
  LiveCounter counter;
  auto task = [](Notify* notify, LiveCounter::Object) -> Task<> {
    co_await notify->Wait();
    co_await notify->Wait();
  };

  EXPECT_THAT(DropAtEveryPoll(
                  [&] {
                    static_cast<void>(notify.TryWait());
                    return task(&notify, counter.Make());
                  },
                  {.step =
                       [&] {
                         notify.NotifyOne();
                         return true;
                       },
                   .live = [&] { return counter.live(); }}),
              IsOkAndHolds(3));
}

TEST(NotifyTest, DestroyingItWithAWaiterDies) {
  auto notify = std::make_unique<Notify>();
  CountingWaker waker;
  Context cx(waker.waker());
  auto wait = notify->Wait();
  EXPECT_TRUE(wait.Poll(cx).IsPending());

  EXPECT_DEATH(notify.reset(), "while something waits");
}

TEST(NotifyTest, AThreadMayDestroyItOnceItWasReleased) {
  const int rounds = Rounds(1'000);
  for (int round = 0; round < rounds; ++round) {
    auto notify = std::make_unique<Notify>();
    std::thread notifier([notify = notify.get(), round] {
      round % 2 == 0 ? notify->NotifyOne() : notify->NotifyLast();
    });
    notify->BlockingWait();
    notify.reset();
    notifier.join();
  }
}

// Threads bring items and notify; others take all there are and wait, and give
// some waits up. Nobody sleeps on beside an item.
TEST(NotifyTest, NoItemIsLeftBesideASleeper) {
  constexpr int kProducers = 2;
  constexpr int kConsumers = 2;
  const int rounds = Rounds(5'000);
  Notify notify;
  std::atomic<int> items{0};
  std::atomic<int> left{kProducers * rounds};
  std::vector<std::thread> threads;
  for (int i = 0; i < kConsumers; ++i) {
    threads.emplace_back([&] {
      CountingWaker waker;
      Context cx(waker.waker());
      while (left > 0) {
        const int taken = items.exchange(0);
        if (taken > 0 && left.fetch_sub(taken) == taken) notify.NotifyAll();
        // Not a wait that began before what it waits for was looked at.
        auto wait = notify.Wait();
        if (left == 0) break;
        {
          auto dropped = notify.Wait();
          if (dropped.Poll(cx).IsReady()) notify.NotifyOne();
        }
        BlockOn(wait);
      }
      notify.NotifyOne();  // for who may have been given none
    });
  }
  for (int i = 0; i < kProducers; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < rounds; ++round) {
        items.fetch_add(1);
        notify.NotifyOne();
        if (round % 16 == 0) std::this_thread::yield();
      }
    });
  }

  for (auto& thread : threads) thread.join();
  EXPECT_EQ(left, 0);
}

TEST(NotifyTest, NoItemIsLeftBesideASleeperInAnyOrder) {
  struct Shared {
    Notify arrived;
    int items = 0;
    int taken = 0;
  };
  auto consumer = [](Shared* shared) -> Task<> {
    for (;;) {
      shared->taken += std::exchange(shared->items, 0);
      co_await shared->arrived.Wait();
    }
  };
  auto producer = [](Shared* shared) -> Task<> {
    for (int i = 0; i < 4; ++i) {
      ++shared->items;
      i % 2 == 0 ? shared->arrived.NotifyOne() : shared->arrived.NotifyLast();
      co_await YieldNow();
    }
  };
  auto scenario = [&](DeterministicExecutor& executor) -> absl::Status {
    Shared shared;
    absl::Status status;
    {
      auto a = executor.SpawnBorrowing(consumer(&shared));
      auto b = std::make_optional(executor.SpawnBorrowing(consumer(&shared)));
      auto c = executor.SpawnBorrowing(producer(&shared));
      auto d = executor.SpawnBorrowing(producer(&shared));
      auto wait = [](JoinHandle<> producer) -> Task<> { co_await producer; };
      status = executor.Run(wait(std::move(c)));
      b.reset();
      if (status.ok()) status = executor.RunUntilIdle();
    }
    // What the handles have cancelled goes while `shared` is there.
    if (status.ok()) status = executor.RunUntilIdle();
    if (!status.ok()) return status;
    return shared.taken == 8 ? absl::OkStatus()
                             : absl::InternalError("an item was left");
  };

  EXPECT_GT(ExploreSchedules(Rounds(100), scenario), 50u);
}

}  // namespace
}  // namespace weft::sync
