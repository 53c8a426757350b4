// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// weft-lint: allow-file(R22): the tests' tasks end before what they refer to.

#include "weft/sync/once_cell.h"

#include <atomic>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "weft/executor/deterministic_executor.h"
#include "weft/sync/event.h"
#include "weft/task/context.h"
#include "weft/task/counting_waker.h"
#include "weft/task/drop_at_every_poll.h"
#include "weft/task/join_handle.h"
#include "weft/task/live_counter.h"
#include "weft/task/ready.h"
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

constinit OnceCell<std::string> static_cell;

// An initializer that waits until it is told.
class SlowInit {
 public:
  SlowInit(Event& go, int value) : go_(&go), value_(value) {}
  Task<int> operator()() { return Make(go_, value_); }

 private:
  static Task<int> Make(Event* go, int value) {
    co_await go->Wait();
    co_return value;
  }

  Event* go_;
  int value_;
};

TEST(OnceCellTest, IsEmptyUntilItIsSet) {
  EXPECT_EQ(static_cell.Get(), nullptr);

  EXPECT_TRUE(static_cell.Set("first"));

  ASSERT_NE(static_cell.Get(), nullptr);
  EXPECT_EQ(*static_cell.Get(), "first");
  EXPECT_EQ(static_cell.BlockingWait(), "first");
  std::string second = "second";
  EXPECT_FALSE(static_cell.Set(std::move(second)));
  EXPECT_EQ(second, "second");
}

TEST(OnceCellTest, TheFirstInitializerMakesItForAll) {
  CountingWaker waker;
  Context cx(waker.waker());
  Event go;
  OnceCell<int> cell;
  auto first = cell.GetOrInit(SlowInit(go, 1));
  auto second = cell.GetOrInit(SlowInit(go, 2));
  auto wait = cell.Wait();
  EXPECT_TRUE(first.Poll(cx).IsPending());
  EXPECT_TRUE(second.Poll(cx).IsPending());
  EXPECT_TRUE(wait.Poll(cx).IsPending());
  EXPECT_FALSE(cell.Set(3));  // one is being made

  go.Set();
  EXPECT_TRUE(second.Poll(cx).IsPending());
  waker.TakeWakes();
  const Polled<int&> made = first.Poll(cx);

  ASSERT_TRUE(made.IsReady());
  EXPECT_EQ(*made, 1);
  EXPECT_EQ(waker.TakeWakes(), 2);
  const Polled<int&> waited = wait.Poll(cx);
  const Polled<int&> other = second.Poll(cx);
  ASSERT_TRUE(waited.IsReady());
  ASSERT_TRUE(other.IsReady());
  EXPECT_EQ(&*other, cell.Get());
  EXPECT_EQ(&*waited, cell.Get());
  EXPECT_EQ(waker.outstanding(), 0);
}

TEST(OnceCellTest, ADroppedInitializerGivesItsTurnToTheNext) {
  CountingWaker a;
  CountingWaker b;
  CountingWaker c;
  Context in_a(a.waker());
  Context in_b(b.waker());
  Context in_c(c.waker());
  Event go;
  OnceCell<int> cell;
  auto first = std::make_unique<decltype(cell.GetOrInit(SlowInit(go, 1)))>(
      cell.GetOrInit(SlowInit(go, 1)));
  auto second = std::make_unique<decltype(cell.GetOrInit(SlowInit(go, 2)))>(
      cell.GetOrInit(SlowInit(go, 2)));
  auto third = cell.GetOrInit(SlowInit(go, 3));
  EXPECT_TRUE(first->Poll(in_a).IsPending());
  EXPECT_TRUE(second->Poll(in_b).IsPending());
  EXPECT_TRUE(third.Poll(in_c).IsPending());

  first.reset();  // in the middle of its initializer
  EXPECT_EQ(b.TakeWakes(), 1);
  EXPECT_EQ(c.TakeWakes(), 0);
  second.reset();  // given the turn, and does not know
  EXPECT_EQ(c.TakeWakes(), 1);
  EXPECT_TRUE(third.Poll(in_c).IsPending());
  go.Set();

  const Polled<int&> made = third.Poll(in_c);
  ASSERT_TRUE(made.IsReady());
  EXPECT_EQ(*made, 3);
}

TEST(OnceCellTest, AFailedInitializerIsFollowedByTheNext) {
  CountingWaker waker;
  Context cx(waker.waker());
  Event go;
  OnceCell<int> cell;
  int calls = 0;
  auto fail = [&]() -> ReadyFuture<absl::StatusOr<int>> {
    ++calls;
    return Ready(absl::StatusOr<int>(absl::UnavailableError("later")));
  };
  auto succeed = [&]() -> ReadyFuture<absl::StatusOr<int>> {
    ++calls;
    return Ready(absl::StatusOr<int>(7));
  };

  auto failed = cell.GetOrTryInit(fail);
  Polled<absl::StatusOr<int*>> polled = failed.Poll(cx);
  ASSERT_TRUE(polled.IsReady());
  EXPECT_EQ(polled->status(), absl::UnavailableError("later"));
  EXPECT_FALSE(cell.HasValue());
  EXPECT_EQ(cell.BlockingGetOrTryInit([]() -> absl::StatusOr<int> {
                  return absl::AbortedError("");
                })
                .status(),
            absl::AbortedError(""));
  auto made = cell.GetOrTryInit(succeed);
  polled = made.Poll(cx);
  auto found = cell.GetOrTryInit(succeed);
  Polled<absl::StatusOr<int*>> again = found.Poll(cx);

  ASSERT_TRUE(polled.IsReady());
  ASSERT_TRUE(again.IsReady());
  ASSERT_TRUE(polled->ok());
  ASSERT_TRUE(again->ok());
  EXPECT_EQ(***polled, 7);
  EXPECT_EQ(**polled, **again);
  EXPECT_EQ(calls, 2);
}

TEST(OnceCellTest, BlockingInitializersRunOnTheThreadThatAsks) {
  OnceCell<std::thread::id> cell;
  std::thread thread([&] {
    EXPECT_EQ(cell.BlockingGetOrInit([] { return std::this_thread::get_id(); }),
              std::this_thread::get_id());
  });
  thread.join();

  EXPECT_NE(cell.BlockingGetOrInit([] { return std::this_thread::get_id(); }),
            std::this_thread::get_id());
}

TEST(OnceCellTest, BlockingInitializersMayReturnWhatConverts) {
  OnceCell<std::string> cell;

  EXPECT_EQ(
      cell.BlockingGetOrTryInit([] { return absl::AbortedError(""); }).status(),
      absl::AbortedError(""));
  EXPECT_EQ(cell.BlockingGetOrInit([] { return "text"; }), "text");
}

TEST(OnceCellTest, TakeEmptiesIt) {
  LiveCounter counter;
  OnceCell<LiveCounter::Object> cell;
  EXPECT_FALSE(cell.Take().has_value());
  EXPECT_TRUE(cell.Set(counter.Make()));

  EXPECT_TRUE(cell.Take().has_value());

  EXPECT_EQ(counter.live(), 0);
  EXPECT_FALSE(cell.HasValue());
  EXPECT_TRUE(cell.Set(counter.Make()));
  EXPECT_EQ(counter.live(), 1);
}

TEST(OnceCellTest, DestroysItsValue) {
  LiveCounter counter;
  {
    OnceCell<LiveCounter::Object> cell;
    EXPECT_TRUE(cell.Set(counter.Make()));
    EXPECT_EQ(counter.live(), 1);
  }
  EXPECT_EQ(counter.live(), 0);
}

TEST(OnceCellTest, WakesWhoeverPolledLast) {
  CountingWaker a;
  CountingWaker b;
  Context in_a(a.waker());
  Context in_b(b.waker());
  Event go;
  OnceCell<int> cell;
  auto wait = cell.Wait();
  auto turn = std::make_optional(cell.GetOrInit(SlowInit(go, 1)));
  EXPECT_TRUE(turn->Poll(in_a).IsPending());
  auto next = cell.GetOrInit(SlowInit(go, 2));
  for (Context* cx : {&in_a, &in_b}) {
    EXPECT_TRUE(wait.Poll(*cx).IsPending());
    EXPECT_TRUE(next.Poll(*cx).IsPending());
  }

  turn.reset();
  EXPECT_EQ(b.TakeWakes(), 1);
  EXPECT_TRUE(next.Poll(in_b).IsPending());
  go.Set();
  EXPECT_EQ(b.TakeWakes(), 1);
  EXPECT_TRUE(next.Poll(in_b).IsReady());

  EXPECT_EQ(b.TakeWakes(), 1);
  EXPECT_EQ(a.wakes(), 0);
  EXPECT_EQ(a.outstanding(), 0);
}

TEST(OnceCellTest, ASpentBudgetLosesNoTurn) {
  CountingWaker waker;
  Budget budget(0);
  Context cx(waker.waker(), &budget);
  OnceCell<int> cell;
  auto get = [&] { return cell.GetOrInit([] { return Ready(1); }); };
  {
    auto dropped = get();
    EXPECT_TRUE(dropped.Poll(cx).IsPending());
    EXPECT_EQ(waker.TakeWakes(), 1);
  }
  auto init = get();
  EXPECT_TRUE(init.Poll(cx).IsPending());

  budget = Budget(2);
  EXPECT_TRUE(init.Poll(cx).IsReady());
}

// A value whose constructor and destructor ask the cell, and a waker that does.
TEST(OnceCellTest, CodeOfOthersMayUseIt) {
  struct Curious {
    explicit Curious(OnceCell<Curious>* cell) : cell(cell) {}
    Curious(Curious&& other) noexcept
        : cell(std::exchange(other.cell, nullptr)) {
      EXPECT_FALSE(cell->Set(Curious(nullptr)));
    }
    ~Curious() {
      if (cell != nullptr) static_cast<void>(cell->Get());
    }
    OnceCell<Curious>* cell;
  };
  OnceCell<Curious> cell;
  int wakes = 0;
  auto use = [&] {
    ++wakes;
    EXPECT_EQ(cell.Set(Curious(nullptr)), false);
  };
  const Waker waker = CallbackWaker(use, [] {});
  Context cx(waker);
  auto wait = cell.Wait();
  EXPECT_TRUE(wait.Poll(cx).IsPending());
  EXPECT_TRUE(cell.Set(Curious(&cell)));

  EXPECT_EQ(wakes, 1);
  EXPECT_TRUE(wait.Poll(cx).IsReady());
}

TEST(OnceCellTest, SurvivesADropAtEveryPoll) {
  std::unique_ptr<OnceCell<LiveCounter::Object>> cell;
  LiveCounter counter;
  LiveCounter values;
  auto init = [](LiveCounter* values) -> Task<LiveCounter::Object> {
    co_await YieldNow();
    co_await YieldNow();
    co_return values->Make();
  };
  auto task = [](OnceCell<LiveCounter::Object>* cell, LiveCounter* values,
                 decltype(init) init, LiveCounter::Object) -> Task<> {
    auto make = [values, init] { return init(values); };
    auto get = cell->GetOrInit(std::move(make));
    co_await get;
    co_await cell->Wait();
  };

  EXPECT_THAT(DropAtEveryPoll(
                  [&] {
                    cell = std::make_unique<OnceCell<LiveCounter::Object>>();
                    return task(cell.get(), &values, init, counter.Make());
                  },
                  {.settle =
                       [&] {
                         EXPECT_EQ(values.live(), cell->HasValue());
                         // The turn is free again.
                         const bool had_value = cell->HasValue();
                         EXPECT_NE(cell->Set(values.Make()), had_value);
                         cell->Take();
                       },
                   .live = [&] { return counter.live(); }}),
              IsOkAndHolds(3));
}

TEST(OnceCellTest, WaitSurvivesADropAtEveryPoll) {
  std::unique_ptr<OnceCell<int>> cell;
  LiveCounter counter;
  auto task = [](OnceCell<int>* cell, LiveCounter::Object) -> Task<> {
    co_await cell->Wait();
  };

  EXPECT_THAT(DropAtEveryPoll(
                  [&] {
                    cell = std::make_unique<OnceCell<int>>();
                    return task(cell.get(), counter.Make());
                  },
                  {.step = [&] { return cell->Set(1); },
                   .live = [&] { return counter.live(); }}),
              IsOkAndHolds(2));
}

TEST(OnceCellTest, ThreadsAndTheirTasksMakeOneValue) {
  constexpr int kThreads = 4;
  const int rounds = Rounds(300);
  for (int round = 0; round < rounds; ++round) {
    OnceCell<int> cell;
    int made = 0;  // by one at a time
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&, i] {
        if (i == 0) {
          // Gives up in the middle.
          CountingWaker waker;
          Context cx(waker.waker());
          auto dropped = cell.GetOrInit([] { return Pending<int>(); });
          static_cast<void>(dropped.Poll(cx).IsReady());
        } else if (i == 1) {
          static_cast<void>(cell.BlockingGetOrTryInit(
              []() -> absl::StatusOr<int> { return absl::AbortedError(""); }));
        } else {
          EXPECT_EQ(cell.BlockingGetOrInit([&] { return ++made; }), 1);
        }
      });
    }
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(made, 1);
    EXPECT_EQ(*cell.Get(), 1);
  }
}

TEST(OnceCellTest, SomebodyAlwaysMakesItInAnyOrder) {
  struct Shared {
    OnceCell<int> cell;
    int running = 0;
    int got = 0;
    bool two_at_once = false;
  };
  auto init = [](std::shared_ptr<Shared> shared,
                 bool fails) -> Task<absl::StatusOr<int>> {
    if (shared->running++ != 0) shared->two_at_once = true;
    co_await YieldNow();
    --shared->running;
    if (fails) co_return absl::AbortedError("");
    co_return 5;
  };
  auto wants = [](std::shared_ptr<Shared> shared, decltype(init) init,
                  bool fails) -> Task<> {
    auto make = [shared, init, fails] { return init(shared, fails); };
    auto get = shared->cell.GetOrTryInit(std::move(make));
    absl::StatusOr<int*> value = co_await get;
    shared->got += value.ok() && **value == 5;
  };
  auto waits = [](std::shared_ptr<Shared> shared) -> Task<> {
    const int& value = co_await shared->cell.Wait();
    shared->got += value == 5;
  };
  auto scenario = [&](DeterministicExecutor& executor) -> absl::Status {
    auto shared = std::make_shared<Shared>();
    executor.Spawn(waits(shared)).Detach();
    executor.Spawn(wants(shared, init, true)).Detach();
    executor.Spawn(wants(shared, init, true)).Detach();
    executor.Spawn(wants(shared, init, false)).Detach();
    executor.Spawn(wants(shared, init, false)).Detach();
    const absl::Status status = executor.RunUntilIdle();
    if (!status.ok()) return status;
    if (executor.live() != 0) return absl::InternalError("some wait on");
    if (shared->two_at_once) return absl::InternalError("two at once");
    return shared->got >= 3 ? absl::OkStatus()
                            : absl::InternalError("a value is missing");
  };

  EXPECT_GT(ExploreSchedules(Rounds(100), scenario), 50u);
}

TEST(OnceCellDeathTest, DestroyingItWithAWaiterDies) {
  auto cell = std::make_unique<OnceCell<int>>();
  CountingWaker waker;
  Context cx(waker.waker());
  auto wait = cell->Wait();
  EXPECT_TRUE(wait.Poll(cx).IsPending());

  EXPECT_DEATH(cell.reset(), "while something waits");
  EXPECT_TRUE(cell->Set(1));
}

}  // namespace
}  // namespace weft::sync
