// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// weft-lint: allow-file(R22): the tests' tasks end before what they refer to.

#include "weft/sync/semaphore.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
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

// Many more rounds with WEFT_LONG=1.
int Rounds(int rounds) {
  return std::getenv("WEFT_LONG") != nullptr ? 100 * rounds : rounds;
}

constinit Semaphore static_semaphore(2);

// A wait, who polls it, and what it got.
class Waiter {
 public:
  explicit Waiter(Semaphore& semaphore, size_t count = 1)
      : acquire_(semaphore.Acquire(count)) {}

  // As an executor polls.
  bool Poll() { return PollIn(Context(waker_.waker()).WithPromptness(true)); }
  // As one polls who may leave it alone afterwards.
  bool PollUnsurely() { return PollIn(Context(waker_.waker())); }
  int64_t TakeWakes() { return waker_.TakeWakes(); }

  std::optional<absl::StatusOr<Semaphore::Permit>> result;

 private:
  bool PollIn(Context cx) {
    auto polled = acquire_.Poll(cx);
    if (polled.IsPending()) return false;
    result = *std::move(polled);
    return true;
  }

  CountingWaker waker_;
  Semaphore::AcquireFuture acquire_;
};

TEST(SemaphoreTest, IsConstantInitialized) {
  EXPECT_EQ(static_semaphore.AvailablePermits(), 2u);
}

TEST(SemaphoreTest, GivesWhatIsThere) {
  Semaphore semaphore(3);
  {
    Waiter two(semaphore, 2);
    EXPECT_TRUE(two.Poll());
    EXPECT_EQ((*two.result)->count(), 2u);
    EXPECT_EQ(semaphore.AvailablePermits(), 1u);
  }

  EXPECT_EQ(semaphore.AvailablePermits(), 3u);
}

TEST(SemaphoreTest, ThePermitGivesBack) {
  Semaphore semaphore(1);
  Waiter first(semaphore);
  Waiter second(semaphore);
  EXPECT_TRUE(first.Poll());
  EXPECT_FALSE(second.Poll());

  first.result.reset();

  EXPECT_EQ(second.TakeWakes(), 1);
  EXPECT_TRUE(second.Poll());
}

TEST(SemaphoreTest, NobodyOvertakesTheQueue) {
  Semaphore semaphore(2);
  auto held = semaphore.TryAcquire();
  Waiter many(semaphore, 2);
  Waiter one(semaphore);
  EXPECT_FALSE(many.Poll());
  EXPECT_FALSE(one.Poll());
  EXPECT_EQ(semaphore.AvailablePermits(), 1u);

  EXPECT_THAT(semaphore.TryAcquire(),
              StatusIs(absl::StatusCode::kResourceExhausted, ""));
  EXPECT_FALSE(one.Poll());
  {
    auto given_back = *std::move(held);
  }
  EXPECT_EQ(many.TakeWakes(), 1);
  EXPECT_EQ(one.TakeWakes(), 0);
  EXPECT_TRUE(many.Poll());
  EXPECT_FALSE(one.Poll());
  many.result.reset();

  EXPECT_EQ(one.TakeWakes(), 1);
  EXPECT_TRUE(one.Poll());
}

TEST(SemaphoreTest, AWaiterForManyThatLeavesLetsTheNextIn) {
  Semaphore semaphore(1);
  auto many = std::make_unique<Waiter>(semaphore, 5);
  Waiter one(semaphore);
  EXPECT_FALSE(many->Poll());
  EXPECT_FALSE(one.Poll());

  many.reset();

  EXPECT_EQ(one.TakeWakes(), 1);
  EXPECT_TRUE(one.Poll());
}

TEST(SemaphoreTest, AddedPermitsServeSeveral) {
  Semaphore semaphore(0);
  std::vector<std::unique_ptr<Waiter>> waiters;
  for (int i = 0; i < 40; ++i) {
    waiters.push_back(std::make_unique<Waiter>(semaphore));
    EXPECT_FALSE(waiters.back()->Poll());
  }

  semaphore.AddPermits(30);

  for (int i = 0; i < 40; ++i) {
    EXPECT_EQ(waiters[i]->TakeWakes(), i < 30);
    EXPECT_EQ(waiters[i]->Poll(), i < 30);
  }
}

TEST(SemaphoreTest, ForgottenPermitsAreGone) {
  Semaphore semaphore(2);
  auto permit = semaphore.TryAcquire();

  std::move(*permit).Forget();
  permit = absl::CancelledError();

  EXPECT_EQ(semaphore.AvailablePermits(), 1u);
}

TEST(SemaphoreTest, PermitsMove) {
  Semaphore semaphore(2);
  auto first = semaphore.TryAcquire();
  auto second = semaphore.TryAcquire();

  Semaphore::Permit moved = *std::move(first);
  moved = *std::move(second);

  EXPECT_EQ(moved.count(), 1u);
  EXPECT_EQ(semaphore.AvailablePermits(), 1u);
  second = absl::CancelledError();
  first = absl::CancelledError();
  EXPECT_EQ(semaphore.AvailablePermits(), 1u);
}

TEST(SemaphoreTest, OnePermitMayReleaseManyWhoWantNone) {
  Semaphore semaphore(0);
  Waiter first(semaphore, 1);
  EXPECT_FALSE(first.Poll());
  std::vector<std::unique_ptr<Waiter>> others;
  for (int i = 0; i < 40; ++i) {
    others.push_back(std::make_unique<Waiter>(semaphore, 0));
    EXPECT_FALSE(others.back()->Poll());
  }

  semaphore.AddPermits(1);

  EXPECT_TRUE(first.Poll());
  for (const auto& waiter : others) EXPECT_TRUE(waiter->Poll());
}

TEST(SemaphoreTest, AnAssignedPermitGivesBackWhatItHad) {
  Semaphore semaphore(3);
  Semaphore::Permit one = *semaphore.TryAcquire(1);
  Semaphore::Permit two = *semaphore.TryAcquire(2);

  two = std::move(one);

  EXPECT_EQ(semaphore.AvailablePermits(), 2u);
  EXPECT_EQ(two.count(), 1u);
  EXPECT_EQ(one.count(), 0u);
}

TEST(SemaphoreTest, PermitsSplitAndMerge) {
  Semaphore semaphore(5);
  auto permit = semaphore.TryAcquire(5);
  {
    Semaphore::Permit two = permit->Split(2);
    Semaphore::Permit one = two.Split(1);
    EXPECT_EQ(permit->count(), 3u);
    EXPECT_EQ(two.count(), 1u);

    permit->Merge(std::move(two));
    EXPECT_EQ(permit->count(), 4u);
    EXPECT_EQ(semaphore.AvailablePermits(), 0u);
  }

  EXPECT_EQ(semaphore.AvailablePermits(), 1u);
}

TEST(SemaphoreTest, PermitsThatNobodyHasCanBeForgotten) {
  Semaphore semaphore(5);
  auto held = semaphore.TryAcquire(2);

  EXPECT_EQ(semaphore.ForgetPermits(1), 1u);
  EXPECT_EQ(semaphore.AvailablePermits(), 2u);
  EXPECT_EQ(semaphore.ForgetPermits(7), 2u);
  EXPECT_EQ(semaphore.ForgetPermits(7), 0u);

  held = absl::CancelledError();
  EXPECT_EQ(semaphore.AvailablePermits(), 2u);
}

TEST(SemaphoreTest, OwnedPermitsKeepItAlive) {
  auto semaphore = std::make_shared<Semaphore>(3);
  const std::weak_ptr<Semaphore> observer = semaphore;
  auto two = Semaphore::TryAcquireOwned(semaphore, 2);
  ASSERT_THAT(two, IsOk());
  EXPECT_THAT(Semaphore::TryAcquireOwned(semaphore, 2),
              StatusIs(absl::StatusCode::kResourceExhausted));
  WaitByHand wait(Semaphore::AcquireOwned(semaphore, 2));
  EXPECT_FALSE(wait.Poll());
  Semaphore::OwnedPermit last =
      *Semaphore::TryAcquireOwned(std::make_shared<Semaphore>(1));

  semaphore.reset();
  last = two->Split(1);  // of the other semaphore, and then of this
  two = absl::CancelledError();
  EXPECT_TRUE(wait.Poll());
  wait.Drop();
  EXPECT_FALSE(observer.expired());
  last = *Semaphore::BlockingAcquireOwned(std::make_shared<Semaphore>(1));

  EXPECT_TRUE(observer.expired());
}

TEST(SemaphoreTest, AThousandWaitersEachHaveTheirs) {
  Semaphore semaphore(0);
  std::vector<std::unique_ptr<Waiter>> waiters;
  for (int i = 0; i < 1'000; ++i) {
    waiters.push_back(std::make_unique<Waiter>(semaphore));
    EXPECT_FALSE(waiters.back()->Poll());
  }

  semaphore.AddPermits(10);

  for (auto& waiter : waiters) {
    ASSERT_EQ(waiter->TakeWakes(), 1);
    ASSERT_TRUE(waiter->Poll());
    waiter.reset();
  }
  EXPECT_EQ(semaphore.AvailablePermits(), 10u);
}

TEST(BargingSemaphoreTest, WhoComesWhileThereAreSomeTakesThem) {
  Semaphore semaphore(0, Semaphore::Order::kBarging);
  Waiter many(semaphore, 3);
  EXPECT_FALSE(many.Poll());

  semaphore.AddPermits(2);
  EXPECT_THAT(semaphore.TryAcquire(2), IsOk());
  semaphore.AddPermits(1);

  EXPECT_EQ(many.TakeWakes(), 1);
  EXPECT_TRUE(many.Poll());
}

TEST(BargingSemaphoreTest, WakesAsManyAsThereIsEnoughFor) {
  Semaphore semaphore(0, Semaphore::Order::kBarging);
  std::vector<std::unique_ptr<Waiter>> waiters;
  for (const size_t count : {1, 2, 2, 1}) {
    waiters.push_back(std::make_unique<Waiter>(semaphore, count));
    EXPECT_FALSE(waiters.back()->Poll());
  }

  semaphore.AddPermits(4);

  EXPECT_EQ(waiters[0]->TakeWakes(), 1);
  EXPECT_EQ(waiters[1]->TakeWakes(), 1);
  EXPECT_EQ(waiters[2]->TakeWakes(), 0);
  EXPECT_EQ(semaphore.AvailablePermits(), 4u);
  waiters[0].reset();
  waiters[1].reset();
  EXPECT_EQ(waiters[2]->TakeWakes(), 1);
  EXPECT_EQ(waiters[3]->TakeWakes(), 1);
}

// One who wants many is overtaken 16 times by those who want one.
TEST(BargingSemaphoreTest, AForgottenWaiterHoldsUpNobody) {
  Semaphore semaphore(0, Semaphore::Order::kBarging);
  Waiter forgotten(semaphore), next(semaphore), third(semaphore);
  EXPECT_FALSE(forgotten.PollUnsurely());
  EXPECT_FALSE(next.Poll());
  EXPECT_FALSE(third.Poll());

  semaphore.AddPermits(1);

  EXPECT_EQ(forgotten.TakeWakes(), 1);
  EXPECT_EQ(next.TakeWakes(), 1);
  EXPECT_EQ(third.TakeWakes(), 0);
  EXPECT_TRUE(next.Poll());
}

TEST(BargingSemaphoreTest, WhoWantsManyIsNotStarved) {
  Semaphore semaphore(2, Semaphore::Order::kBarging);
  auto held = semaphore.TryAcquire();
  Waiter many(semaphore, 2);
  EXPECT_FALSE(many.Poll());

  int overtaken = 0;
  for (; overtaken < 100; ++overtaken) {
    held = absl::CancelledError();
    held = semaphore.TryAcquire();
    if (!held.ok()) break;
    EXPECT_FALSE(many.Poll());
  }

  EXPECT_LE(overtaken, 16);
  EXPECT_TRUE(many.Poll());
}

// With it the order changes: all who may be left alone are woken for one permit.
TEST(BargingSemaphoreTest, AStarvedWaiterThatIsDroppedLetsTheOthersIn) {
  Semaphore semaphore(2, Semaphore::Order::kBarging);
  auto held = semaphore.TryAcquire();
  std::optional<Waiter> many(std::in_place, semaphore, 2);
  EXPECT_FALSE(many->Poll());
  for (int i = 0; i < 16; ++i) {
    held = absl::CancelledError();
    held = semaphore.TryAcquire();
    EXPECT_FALSE(many->Poll());
  }
  std::deque<Waiter> others;
  for (int i = 0; i < 20; ++i) {
    EXPECT_FALSE(others.emplace_back(semaphore).PollUnsurely());
  }

  many.reset();

  for (Waiter& other : others) EXPECT_EQ(other.TakeWakes(), 1);
  EXPECT_TRUE(others.back().Poll());
}

// Also where there is never enough for it, so that it is never woken to try.
TEST(BargingSemaphoreTest, WhoWantsManyIsNotStarvedByThoseWhoTakeTurns) {
  Semaphore semaphore(2, Semaphore::Order::kBarging);
  auto held = semaphore.TryAcquire();
  auto also_held = semaphore.TryAcquire();
  Waiter many(semaphore, 2);
  EXPECT_FALSE(many.Poll());

  int overtaken = 0;
  for (; overtaken < 100; ++overtaken) {
    std::swap(held, also_held);
    held = absl::CancelledError();
    held = semaphore.TryAcquire();
    if (!held.ok()) break;
  }

  EXPECT_LE(overtaken, 16);
  EXPECT_EQ(many.TakeWakes(), 0);
  also_held = absl::CancelledError();
  EXPECT_EQ(many.TakeWakes(), 1);
  EXPECT_TRUE(many.Poll());
}

TEST(BargingSemaphoreTest, CloseEndsTheWaitsOfThoseWhoWereWoken) {
  Semaphore semaphore(0, Semaphore::Order::kBarging);
  Waiter woken(semaphore);
  Waiter queued(semaphore);
  EXPECT_FALSE(woken.Poll());
  EXPECT_FALSE(queued.Poll());
  semaphore.AddPermits();

  semaphore.Close();

  EXPECT_TRUE(woken.Poll());
  EXPECT_TRUE(queued.Poll());
  EXPECT_THAT(*woken.result, StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(*queued.result, StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST(SemaphoreTest, NoPermitsAreHadAtOnce) {
  Semaphore semaphore(0);
  Waiter none(semaphore, 0);

  EXPECT_TRUE(none.Poll());
}

TEST(SemaphoreTest, CloseEndsWaitsAndRefusesMore) {
  Semaphore semaphore(1);
  auto held = semaphore.TryAcquire();
  Waiter given(semaphore);
  Waiter waiting(semaphore);
  EXPECT_FALSE(given.Poll());
  EXPECT_FALSE(waiting.Poll());
  held = absl::CancelledError();  // `given` has it, and does not know yet

  semaphore.Close();

  EXPECT_TRUE(semaphore.IsClosed());
  EXPECT_EQ(waiting.TakeWakes(), 1);
  EXPECT_TRUE(waiting.Poll());
  EXPECT_THAT(*waiting.result,
              StatusIs(absl::StatusCode::kFailedPrecondition, ""));
  EXPECT_TRUE(given.Poll());
  EXPECT_THAT(*given.result, IsOk());
  Waiter late(semaphore);
  EXPECT_TRUE(late.Poll());
  EXPECT_THAT(*late.result, StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(semaphore.TryAcquire(),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  given.result.reset();
  EXPECT_EQ(semaphore.AvailablePermits(), 1u);
}

// Released to one waiter, which is cancelled in the same turn: the other gets
// it, and the sum is right in the end.
TEST(SemaphoreTest, APermitInFlightIsPassedOnWhenItsWaiterIsDropped) {
  Semaphore semaphore(0);
  auto first = std::make_unique<Waiter>(semaphore);
  Waiter second(semaphore);
  EXPECT_FALSE(first->Poll());
  EXPECT_FALSE(second.Poll());

  semaphore.AddPermits();
  EXPECT_EQ(first->TakeWakes(), 1);
  EXPECT_EQ(second.TakeWakes(), 0);
  first.reset();

  EXPECT_EQ(second.TakeWakes(), 1);
  EXPECT_TRUE(second.Poll());
  second.result.reset();
  EXPECT_EQ(semaphore.AvailablePermits(), 1u);
}

TEST(SemaphoreTest, APermitInFlightOfTheLastWaiterIsGivenBack) {
  Semaphore semaphore(0);
  {
    Waiter waiter(semaphore, 2);
    EXPECT_FALSE(waiter.Poll());
    semaphore.AddPermits(2);
    EXPECT_EQ(semaphore.AvailablePermits(), 0u);
  }

  EXPECT_EQ(semaphore.AvailablePermits(), 2u);
}

// A stored waker whose destructor gives a permit to the same semaphore: when it
// is replaced, when its wait is dropped, and when its wait ends.
TEST(SemaphoreTest, WakersMayGiveBackPermits) {
  Semaphore semaphore(0);
  const auto release = [&] { semaphore.AddPermits(); };
  {
    const Waker waker = CallbackWaker(release, release);
    Context cx(waker);
    CountingWaker other;
    Context in_other(other.waker());
    auto replaced = semaphore.Acquire(10);
    auto dropped =
        std::make_unique<Semaphore::AcquireFuture>(semaphore.Acquire(10));
    auto woken = semaphore.Acquire(2);
    EXPECT_TRUE(replaced.Poll(cx).IsPending());
    EXPECT_TRUE(dropped->Poll(cx).IsPending());
    EXPECT_TRUE(woken.Poll(cx).IsPending());

    EXPECT_TRUE(replaced.Poll(in_other).IsPending());
    EXPECT_EQ(semaphore.AvailablePermits(), 1u);
    dropped.reset();
    EXPECT_EQ(semaphore.AvailablePermits(), 2u);
    semaphore.AddPermits(8);  // serves `replaced`

    EXPECT_EQ(other.wakes(), 1);
    semaphore.AddPermits(2);  // serves `woken`, whose wake adds one
    EXPECT_EQ(semaphore.AvailablePermits(), 1u);
  }

  EXPECT_EQ(semaphore.AvailablePermits(), 14u);  // the local waker's drop, too
}

TEST(SemaphoreTest, WakesWhoeverPolledLast) {
  Semaphore semaphore(0);
  CountingWaker a;
  CountingWaker b;
  Context in_a(a.waker());
  Context in_b(b.waker());
  auto body = [](Semaphore* semaphore) -> Task<> {
    auto permit = co_await semaphore->Acquire();
    EXPECT_THAT(permit, IsOk());
  };
  Task<> first = body(&semaphore);
  EXPECT_TRUE(first.Poll(in_a).IsPending());

  Task<> second = [](Task<> inner) -> Task<> {
    co_await std::move(inner);
  }(std::move(first));
  EXPECT_TRUE(second.Poll(in_b).IsPending());
  semaphore.AddPermits();

  EXPECT_EQ(a.wakes(), 0);
  EXPECT_EQ(a.outstanding(), 0);
  EXPECT_EQ(b.wakes(), 1);
  EXPECT_TRUE(second.Poll(in_b).IsReady());
}

// Whoever asked first has the permit first, though its budget was spent.
TEST(SemaphoreTest, ASpentBudgetKeepsThePlaceInTheQueue) {
  Semaphore semaphore(1);
  CountingWaker waker;
  Budget budget(0);
  Context cx(waker.waker(), &budget);
  auto acquire = semaphore.Acquire();
  Waiter behind(semaphore);

  EXPECT_TRUE(acquire.Poll(cx).IsPending());
  EXPECT_EQ(waker.TakeWakes(), 1);
  EXPECT_FALSE(behind.Poll());
  budget = Budget(1);
  {
    auto polled = acquire.Poll(cx);
    ASSERT_TRUE(polled.IsReady());
    EXPECT_THAT(*polled, IsOk());
  }

  EXPECT_TRUE(behind.Poll());
}

TEST(SemaphoreTest, SurvivesADropAtEveryPoll) {
  Semaphore semaphore(0);
  LiveCounter counter;
  auto task = [](Semaphore* semaphore, LiveCounter::Object) -> Task<> {
    auto one = co_await semaphore->Acquire();
    auto two = co_await semaphore->Acquire(2);
    std::move(*one).Forget();
    std::move(*two).Forget();
  };

  EXPECT_THAT(
      DropAtEveryPoll([&] { return task(&semaphore, counter.Make()); },
                      {.step =
                           [&] {
                             semaphore.AddPermits();
                             return true;
                           },
                       .settle =
                           [&] {
                             const size_t left = semaphore.AvailablePermits();
                             std::move(*semaphore.TryAcquire(left)).Forget();
                           },
                       .live = [&] { return counter.live(); }})
          .status(),
      IsOk());
}

TEST(SemaphoreTest, MisuseDies) {
  Semaphore semaphore(1);
  auto destroyed = std::make_unique<Semaphore>(0);
  {
    Waiter waiter(*destroyed);
    EXPECT_FALSE(waiter.Poll());
    EXPECT_DEATH(destroyed.reset(), "while something waits");
  }

  EXPECT_DEATH(semaphore.AddPermits(Semaphore::kMaxPermits),
               "more than kMaxPermits");
  EXPECT_DEATH(Semaphore(Semaphore::kMaxPermits + 1), "up to kMaxPermits");
  EXPECT_DEATH(Waiter(semaphore, Semaphore::kMaxPermits + 1),
               "would wait for ever");
  Semaphore other(1);
  EXPECT_DEATH(semaphore.TryAcquire()->Merge(*other.TryAcquire()),
               "permits of two semaphores");
  EXPECT_DEATH(static_cast<void>(semaphore.TryAcquire()->Split(2)),
               "more permits than there are");
}

// Random operations against a model: a queue of (id, count) and a number.
TEST(SemaphoreTest, DoesWhatASimpleModelDoes) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Semaphore semaphore(5);
    size_t available = 5;
    struct Model {
      std::unique_ptr<Waiter> waiter;
      size_t count;
      bool granted;
    };
    std::deque<Model> waiting;  // not told yet, in order
    std::vector<Semaphore::Permit> held;
    const auto distribute = [&] {
      for (Model& model : waiting) {
        if (model.granted) continue;
        if (model.count > available) break;
        available -= model.count;
        model.granted = true;
      }
    };
    for (int step = 0; step < 500; ++step) {
      switch (random.Below(5)) {
        case 0:
        case 1: {
          const size_t count = random.Below(5);
          auto waiter = std::make_unique<Waiter>(semaphore, count);
          const bool ready = waiter->Poll();
          waiting.push_back({std::move(waiter), count, false});
          distribute();
          ASSERT_EQ(ready, waiting.back().granted);
          if (ready) {
            held.push_back(**std::move(waiting.back().waiter->result));
            waiting.pop_back();
          }
          break;
        }
        case 2: {
          if (waiting.empty()) break;
          auto it = waiting.begin() + random.Below(waiting.size());
          ASSERT_EQ(it->waiter->Poll(), it->granted);
          if (!it->granted) break;
          held.push_back(**std::move(it->waiter->result));
          waiting.erase(it);
          break;
        }
        case 3: {
          if (waiting.empty()) break;
          auto it = waiting.begin() + random.Below(waiting.size());
          if (it->granted) available += it->count;
          waiting.erase(it);
          distribute();
          break;
        }
        case 4: {
          if (held.empty()) break;
          const size_t index = random.Below(held.size());
          available += held[index].count();
          std::swap(held[index], held.back());
          held.pop_back();
          distribute();
          break;
        }
      }
      ASSERT_EQ(semaphore.AvailablePermits(), available);
    }
    waiting.clear();
    held.clear();
    EXPECT_EQ(semaphore.AvailablePermits(), 5u);
  }
}

struct Slots {
  explicit Slots(Semaphore::Order order) : semaphore(2, order) {}
  Semaphore semaphore;
  size_t held = 0;
  int done = 0;
  bool crowded = false;
};

Task<> Yields(int times) {
  for (int i = 0; i < times; ++i) co_await YieldNow();
}

Task<> AcquireOften(std::shared_ptr<Slots> slots, int index) {
  for (int round = 0; round < 4; ++round) {
    const size_t count = 1 + (index + round) % 2;
    auto either = co_await Select(slots->semaphore.Acquire(count),
                                  Yields(1 + index + round));
    if (either.index() == 1) continue;
    auto permit = std::move(std::get<0>(either).value);
    slots->held += permit->count();
    slots->crowded = slots->crowded || slots->held > 2;
    co_await YieldNow();
    slots->held -= permit->count();
  }
  auto permit = co_await slots->semaphore.Acquire(2);
  slots->done += permit.ok();
}

void ExploreOrders(Semaphore::Order order) {
  constexpr int kTasks = 4;
  const auto scenario = [&](DeterministicExecutor& executor) -> absl::Status {
    auto slots = std::make_shared<Slots>(order);
    for (int i = 0; i < kTasks; ++i) {
      executor.Spawn(AcquireOften(slots, i)).Detach();
    }
    absl::Status status = executor.RunUntilIdle();
    if (!status.ok()) return status;
    if (slots->done != kTasks) return absl::InternalError("some wait");
    if (slots->crowded) return absl::InternalError("too many are inside");
    return absl::OkStatus();
  };

  EXPECT_GT(ExploreSchedules(std::getenv("WEFT_LONG") != nullptr ? 10'000 : 500,
                             scenario),
            400u);
}

TEST(SemaphoreTest, NothingIsLostInAnyOrder) {
  ExploreOrders(Semaphore::Order::kFifo);
}

TEST(BargingSemaphoreTest, NothingIsLostInAnyOrder) {
  ExploreOrders(Semaphore::Order::kBarging);
}

void UseFromThreads(Semaphore::Order order) {
  constexpr int kThreads = 4;
  const int rounds = Rounds(1'000);
  Semaphore semaphore(3, order);
  std::atomic<size_t> held{0};
  std::atomic<bool> too_many{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      CountingWaker waker;
      Context cx(waker.waker());
      for (int round = 0; round < rounds; ++round) {
        const size_t count = 1 + (round + i) % 3;
        {
          auto dropped = semaphore.Acquire(count);
          static_cast<void>(dropped.Poll(cx).IsReady());
        }
        auto permit = semaphore.BlockingAcquire(count);
        if ((held += count) > 3) too_many = true;
        held -= count;
      }
    });
  }
  for (auto& thread : threads) thread.join();

  EXPECT_FALSE(too_many);
  EXPECT_EQ(semaphore.AvailablePermits(), 3u);
}

TEST(SemaphoreTest, ThreadsNeverHoldMoreThanThereIs) {
  UseFromThreads(Semaphore::Order::kFifo);
}

TEST(BargingSemaphoreTest, ThreadsNeverHoldMoreThanThereIs) {
  UseFromThreads(Semaphore::Order::kBarging);
}

TEST(SemaphoreTest, AThreadMayDestroyItOnceItHasThePermit) {
  const int rounds = Rounds(1'000);
  for (int round = 0; round < rounds; ++round) {
    auto semaphore = std::make_unique<Semaphore>(0);
    std::thread releaser(
        [semaphore = semaphore.get()] { semaphore->AddPermits(); });
    auto permit = semaphore->BlockingAcquire();
    std::move(*permit).Forget();
    semaphore.reset();
    releaser.join();
  }
}

TEST(SemaphoreDeathTest, BlockingInATaskNamesTheCall) {
  Semaphore semaphore(0);
  ManualExecutor executor;
  const JoinHandle<> handle = executor.Spawn([&semaphore]() -> Task<> {
    static_cast<void>(semaphore.BlockingAcquire());
    co_return;
  });
  EXPECT_DEATH(executor.RunUntilIdle(),
               "Semaphore::BlockingAcquire\\(\\) was called by a task");
}

}  // namespace
}  // namespace weft::sync
