// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/select/select.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "weft/sync/event.h"
#include "weft/sync/oneshot.h"
#include "weft/sync/semaphore.h"
#include "weft/task/block_on.h"
#include "weft/task/budget.h"
#include "weft/task/context.h"
#include "weft/task/counting_waker.h"
#include "weft/task/drop_at_every_poll.h"
#include "weft/task/environment.h"
#include "weft/task/live_counter.h"
#include "weft/task/random.h"
#include "weft/task/ready.h"
#include "weft/task/status_matchers.h"
#include "weft/task/task.h"
#include "weft/task/yield_now.h"
#include "weft/tests/select/script.h"

namespace weft {
namespace {

static_assert(
    kMovableAfterPoll<SelectFuture<Task<>, sync::Event::WaitFuture&>>);
static_assert(
    !kMovableAfterPoll<SelectFuture<Task<>, sync::Event::WaitFuture>>);

// A context with a waker that counts and random numbers of its own.
class SelectTest : public testing::Test {
 protected:
  SelectTest() { environment_.random = &random_; }

  Context MakeContext(Budget* budget = nullptr) {
    return Context(waker_.waker(), budget, &environment_);
  }

  CountingWaker waker_;
  Random random_{4711};
  Environment environment_;
};

TEST_F(SelectTest, TellsWhichWasReady) {
  auto winner = BlockOn(Select(Pending<int>(), Ready(5)));

  ASSERT_EQ(winner.index(), 1u);
  EXPECT_EQ(std::get<1>(winner).value, 5);
}

TEST_F(SelectTest, TellsOutputsOfOneTypeApart) {
  auto winner = BlockOn(Select(Pending<int>(), Pending<int>(), Ready(5)));
  struct Visitor {
    int operator()(Selected<0, int>) const { return 0; }
    int operator()(Selected<1, int>) const { return 1; }
    int operator()(Selected<2, int> s) const { return s.value; }
  };

  EXPECT_EQ(std::visit(Visitor(), winner), 5);
}

TEST_F(SelectTest, GivesUnitForVoidAndReferencesAsSuch) {
  int n = 1;
  auto reference = PollFn([&](Context&) -> Polled<int&> { return n; });
  auto first = BlockOn(Select(Ready(), Pending<std::unique_ptr<int>>()));
  auto second = BlockOn(Select(Pending(), reference));

  static_assert(std::is_same_v<decltype(std::get<0>(first).value), Unit>);
  std::get<1>(second).value.get() = 2;
  EXPECT_EQ(n, 2);
}

TEST_F(SelectTest, GivesWhatOnlyMoves) {
  auto winner =
      BlockOn(Select(Ready(std::make_unique<int>(3)), Pending<std::string>()));

  EXPECT_EQ(*std::get<0>(winner).value, 3);
}

TEST_F(SelectTest, DropsLosersAndWinnerAtOnce) {
  Script loser{.pending = Script::kForever};
  Script winner{.pending = 1};
  Context cx = MakeContext();
  auto select = Select(loser.Make(), winner.Make());

  EXPECT_TRUE(select.Poll(cx).IsPending());
  EXPECT_EQ(loser.live, 1);
  EXPECT_TRUE(select.Poll(cx).IsReady());

  EXPECT_EQ(loser.live, 0);
  EXPECT_EQ(winner.live, 0);
}

TEST_F(SelectTest, ANamedLoserStaysPending) {
  Script script{.pending = 3, .value = 7};
  auto slow = script.Make();
  Context cx = MakeContext();

  for (int round = 0; round < 3; ++round) {
    auto winner = Select(Biased(), slow, Ready()).Poll(cx);
    EXPECT_EQ(winner->index(), 1u);
    EXPECT_EQ(script.live, 1);
  }
  auto winner = Select(Biased(), slow, Ready()).Poll(cx);

  EXPECT_EQ(std::get<0>(*winner).value, 7);
  EXPECT_EQ(script.live, 1);
}

Task<int> NineAfter(sync::Event* event) {
  co_await event->Wait();
  co_return 9;
}

TEST_F(SelectTest, ATaskThatLostIsAwaitedLater) {
  sync::Event event;
  auto outer = [](sync::Event* event) -> Task<int> {
    Task<int> slow = NineAfter(event);
    auto winner = co_await Select(slow, Ready());
    EXPECT_EQ(winner.index(), 1u);
    event->Set();
    const int result = co_await std::move(slow);
    co_return result;
  };

  EXPECT_EQ(BlockOn(outer(&event)), 9);
}

// --- Every outcome of three branches, each pending for 0, 1, 2 polls or for
// ever: who wins, after how many polls, who was polled how often, who is alive.

constexpr std::array<int, 4> kPendings = {0, 1, 2, Script::kForever};

TEST_F(SelectTest, TruthTableOfABiasedSelect) {
  for (int code = 0; code < 4 * 4 * 4; ++code) {
    std::array<Script, 3> scripts;
    size_t expected = 0;
    for (size_t i = 0; i < 3; ++i) {
      scripts[i].pending = kPendings[(code >> (2 * i)) % 4];
      scripts[i].value = static_cast<int>(i);
      if (scripts[i].pending < scripts[expected].pending) expected = i;
    }
    const int rounds = scripts[expected].pending;
    if (rounds == Script::kForever) continue;
    Context cx = MakeContext();

    auto select = Select(Biased(), scripts[0].Make(), scripts[1].Make(),
                         scripts[2].Make());
    for (int i = 0; i < rounds; ++i) EXPECT_TRUE(select.Poll(cx).IsPending());
    auto winner = select.Poll(cx);

    ASSERT_TRUE(winner.IsReady()) << code;
    EXPECT_EQ(winner->index(), expected) << code;
    for (size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(scripts[i].polls, rounds + (i <= expected)) << code;
      EXPECT_EQ(scripts[i].live, 0) << code;
    }
  }
}

TEST_F(SelectTest, TruthTableOfARandomSelect) {
  for (int code = 0; code < 4 * 4 * 4 * 20; ++code) {
    std::array<Script, 3> scripts;
    int rounds = Script::kForever;
    for (size_t i = 0; i < 3; ++i) {
      scripts[i].pending = kPendings[(code >> (2 * i)) % 4];
      rounds = std::min(rounds, scripts[i].pending);
    }
    if (rounds == Script::kForever) continue;
    Context cx = MakeContext();

    auto select =
        Select(scripts[0].Make(), scripts[1].Make(), scripts[2].Make());
    for (int i = 0; i < rounds; ++i) EXPECT_TRUE(select.Poll(cx).IsPending());
    auto winner = select.Poll(cx);

    ASSERT_TRUE(winner.IsReady()) << code;
    EXPECT_EQ(scripts[winner->index()].pending, rounds) << code;
    for (const Script& script : scripts) {
      EXPECT_GE(script.polls, rounds) << code;
      EXPECT_LE(script.polls, rounds + 1) << code;
      EXPECT_EQ(script.live, 0) << code;
    }
  }
}

TEST_F(SelectTest, CanBeDroppedAtEveryPoll) {
  for (int drop_after = 0; drop_after < 3; ++drop_after) {
    Script a{.pending = 3};
    Script b{.pending = 2};
    Context cx = MakeContext();
    {
      auto select = Select(a.Make(), b.Make());
      for (int i = 0; i < drop_after; ++i)
        static_cast<void>(select.Poll(cx).IsReady());
    }
    EXPECT_EQ(a.live + b.live, 0);
  }
  LiveCounter counter;
  sync::Event event;
  auto task = [](sync::Event* event, LiveCounter::Object object) -> Task<> {
    auto again = event->Wait();
    for (int i = 0; i < 2; ++i) {
      auto select = Select(On(event->Wait(), [object] {}), On(again, [] {}));
      co_await select;
    }
  };
  EXPECT_THAT(DropAtEveryPoll([&] { return task(&event, counter.Make()); },
                              {.step =
                                   [&] {
                                     event.Notify();
                                     return true;
                                   },
                               .live = [&] { return counter.live(); }})
                  .status(),
              IsOk());
}

TEST_F(SelectTest, TwoReadyBranchesWinEquallyOften) {
  int first = 0;
  Context cx = MakeContext();
  for (int i = 0; i < 100'000; ++i) {
    first += Select(Ready(), Ready()).Poll(cx)->index() == 0;
  }

  EXPECT_GT(first, 49'000);
  EXPECT_LT(first, 51'000);
}

TEST_F(SelectTest, EveryReadyBranchWinsEquallyOften) {
  std::array<int, 8> wins = {};
  Context cx = MakeContext();
  for (int i = 0; i < 80'000; ++i) {
    auto select = Select(Ready(), Ready(), Ready(), Ready(), Ready(), Ready(),
                         Ready(), Ready());
    ++wins[select.Poll(cx)->index()];
  }

  for (int n : wins) {
    EXPECT_GT(n, 9'500);
    EXPECT_LT(n, 10'500);
  }
}

TEST_F(SelectTest, OneSeedGivesOneOrder) {
  auto run = [&] {
    random_ = Random(99);
    std::vector<size_t> order;
    Context cx = MakeContext();
    for (int i = 0; i < 64; ++i) {
      order.push_back(Select(Ready(), Ready(), Ready()).Poll(cx)->index());
    }
    return order;
  };

  EXPECT_EQ(run(), run());
}

TEST_F(SelectTest, MovesUntilItIsPolledAndLongerIfItsBranchesDo) {
  Context cx = MakeContext();
  auto pair = sync::Oneshot<int>();
  auto select = Select(std::move(pair.second), Pending());
  auto moved = std::move(select);
  EXPECT_TRUE(moved.Poll(cx).IsPending());
  auto again = std::move(moved);
  std::move(pair.first).Send(4);

  auto winner = again.Poll(cx);

  EXPECT_THAT(std::get<0>(*winner).value, IsOkAndHolds(4));
}

// --- Budget.

TEST_F(SelectTest, ASpentBudgetPollsNobody) {
  Script script;
  Budget budget(0);
  Context cx = MakeContext(&budget);
  auto select = Select(script.Make(), script.Make());

  EXPECT_TRUE(select.Poll(cx).IsPending());

  EXPECT_EQ(script.polls, 0);
  EXPECT_EQ(waker_.wakes(), 1);
}

TEST_F(SelectTest, DefaultIsNotMistakenForASpentBudget) {
  sync::Event event;
  event.Set();
  Budget budget(0);
  Context cx = MakeContext(&budget);
  bool defaulted = false;
  auto select =
      Select(On(event.Wait(), [] {}), Default([&] { defaulted = true; }));

  EXPECT_TRUE(select.Poll(cx).IsPending());
  EXPECT_EQ(waker_.wakes(), 1);
  budget = Budget(1);

  EXPECT_TRUE(select.Poll(cx).IsReady());
  EXPECT_FALSE(defaulted);
  EXPECT_TRUE(budget.IsSpent());
}

TEST_F(SelectTest, DefaultWaitsForABranchThatUsesUpItsBudget) {
  for (uint32_t needed : {1u, 127u, 128u, 129u, 300u}) {
    for (const bool ready : {true, false}) {
      auto busy = [](uint32_t steps, bool ready) -> Task<> {
        for (uint32_t i = 0; i < steps; ++i) co_await ConsumeBudget();
        if (!ready) co_await Pending();
      };
      Budget budget;
      Context cx = MakeContext(&budget);
      bool defaulted = false;
      auto select = Select(On(busy(needed, ready), [] {}),
                           Default([&] { defaulted = true; }));

      int polls = 0;
      for (;;) {
        if (select.Poll(cx).IsReady()) break;
        ASSERT_LT(++polls, 10);
        ASSERT_GE(waker_.TakeWakes(), 1) << needed;
        budget = Budget();
      }

      EXPECT_EQ(defaulted, !ready) << needed;
    }
  }
}

// --- Handlers.

TEST_F(SelectTest, CallsTheWinnersHandler) {
  auto handled = BlockOn(
      Select(On(Pending<std::string>(), [](std::string s) { return s; }),
             On(Ready(5), [](int n) { return std::to_string(n); })));

  EXPECT_EQ(handled, "5");
}

TEST_F(SelectTest, HandlersGetVoidReferencesAndMoves) {
  int n = 1;
  auto reference = PollFn([&](Context&) -> Polled<int&> { return n; });
  BlockOn(Select(On(reference, [](int& n) { ++n; })));
  BlockOn(Select(On(Ready(), [&] { ++n; })));
  BlockOn(Select(On(Ready(std::make_unique<int>(4)),
                    [&](std::unique_ptr<int> p) { n += *p; })));
  int& result = BlockOn(Select(On(Ready(), [&]() -> int& { return n; })));

  EXPECT_EQ(n, 7);
  EXPECT_EQ(&result, &n);
}

TEST_F(SelectTest, HandlersRunAfterTheFuturesAreGone) {
  Script loser{.pending = Script::kForever};
  Script winner{.value = 3};
  Context cx = MakeContext();
  int live = -1;
  auto select = Select(On(loser.Make(), [](int) { return 0; }),
                       On(winner.Make(), [&](int n) {
                         live = loser.live + winner.live;
                         return n;
                       }));

  EXPECT_EQ(*select.Poll(cx), 3);
  EXPECT_EQ(live, 0);
}

TEST_F(SelectTest, ADisabledBranchIsNotPolled) {
  Script disabled;
  Script enabled{.pending = 1};
  Context cx = MakeContext();
  std::string called;
  auto select =
      Select(OnIf(false, disabled.Make(), [&](int) { called += "d"; }),
             OnIf(true, enabled.Make(), [&](int) { called += "e"; }));

  EXPECT_TRUE(select.Poll(cx).IsPending());
  EXPECT_TRUE(select.Poll(cx).IsReady());

  EXPECT_EQ(disabled.polls, 0);
  EXPECT_EQ(disabled.live, 0);
  EXPECT_EQ(called, "e");
}

// Which handler runs, for each way of enabling two branches, each of them ready
// or pending, with and without Default and Else.
TEST_F(SelectTest, TruthTableOfHandlers) {
  for (int code = 0; code < 16; ++code) {
    const bool a_on = code & 1;
    const bool b_on = code & 2;
    const bool a_ready = code & 4;
    const bool b_ready = code & 8;
    auto run = [&](auto... more) -> std::string {
      Script a{.pending = a_ready ? 0 : Script::kForever};
      Script b{.pending = b_ready ? 0 : Script::kForever};
      Context cx = MakeContext();
      auto select = Select(
          Biased(), OnIf(a_on, a.Make(), [](int) { return std::string("a"); }),
          OnIf(b_on, b.Make(), [](int) { return std::string("b"); }),
          std::move(more)...);
      auto polled = select.Poll(cx);
      EXPECT_EQ(a.polls, a_on);
      EXPECT_EQ(a.live, polled.IsPending());
      return polled.IsReady() ? *polled : "pending";
    };
    const auto otherwise = [] { return std::string("else"); };
    const auto by_default = [] { return std::string("default"); };
    const std::string winner = a_on && a_ready   ? "a"
                               : b_on && b_ready ? "b"
                                                 : "";
    const bool none = !a_on && !b_on;

    if (!none) {
      EXPECT_EQ(run(), winner.empty() ? "pending" : winner) << code;
    }
    EXPECT_EQ(run(Else(otherwise)), none             ? "else"
                                    : winner.empty() ? "pending"
                                                     : winner)
        << code;
    EXPECT_EQ(run(Default(by_default)), winner.empty() ? "default" : winner)
        << code;
    EXPECT_EQ(run(Default(by_default), Else(otherwise)), none ? "else"
                                                         : winner.empty()
                                                             ? "default"
                                                             : winner)
        << code;
    EXPECT_EQ(run(Else(otherwise), Default(by_default)), none ? "else"
                                                         : winner.empty()
                                                             ? "default"
                                                             : winner)
        << code;
  }
}

TEST_F(SelectTest, AllDisabledWithoutElseDies) {
  auto select = Select(OnIf(false, Ready(), [] {}));
  Context cx = MakeContext();

  EXPECT_DEATH(static_cast<void>(select.Poll(cx).IsReady()), "add an Else");
}

TEST_F(SelectTest, ElseAloneIsCalled) {
  EXPECT_EQ(BlockOn(Select(Else([] { return 1; }))), 1);
}

TEST_F(SelectTest, AHandlerMayReturnATask) {
  auto task = []() -> Task<int> {
    auto next = [](int n) -> Task<int> {
      co_await YieldNow();
      co_return n + 1;
    };
    auto select = Select(On(Ready(1), next), On(Pending<int>(), next));
    Task<int> chosen = co_await select;
    const int result = co_await std::move(chosen);
    co_return result;
  };

  EXPECT_EQ(BlockOn(task()), 2);
}

TEST_F(SelectTest, DefaultLeavesNamedFuturesPending) {
  sync::Event event;
  auto wait = event.Wait();
  Context cx = MakeContext();
  for (int i = 0; i < 3; ++i) {
    auto select = Select(On(wait, [] { return 1; }), Default([] { return 0; }));
    EXPECT_EQ(*select.Poll(cx), 0);
  }
  event.Set();

  EXPECT_EQ(waker_.wakes(), 1);
  auto select = Select(On(wait, [] { return 1; }), Default([] { return 0; }));
  EXPECT_EQ(*select.Poll(cx), 1);
}

// --- In tasks.

// The same numbers under every compiler: a branch that is awaited one time too
// often, or not at all, shows here.
TEST_F(SelectTest, PollsAreCounted) {
  std::array<Script, 4> scripts = {Script{.pending = 2}, Script{.pending = 4},
                                   Script{.pending = 1}, Script{.pending = 9}};
  auto task = [](std::array<Script, 4>* scripts) -> Task<> {
    auto kept = (*scripts)[3].Make();
    for (int i = 0; i < 3; ++i) {
      (*scripts)[0].polls = 0;
      auto winner = co_await Select(Biased(), kept, (*scripts)[0].Make());
      EXPECT_EQ(winner.index(), 1u);
    }
    auto select = Select(Biased(), On((*scripts)[1].Make(), [](int) {}),
                         On((*scripts)[2].Make(), [](int) {}));
    co_await select;
  };
  Context cx = MakeContext();
  auto running = task(&scripts);

  int polls = 1;
  while (running.Poll(cx).IsPending()) ++polls;

  EXPECT_EQ(polls, 3 * 2 + 1 + 1);
  EXPECT_EQ(scripts[0].polls, 3);
  EXPECT_EQ(scripts[1].polls, 2);
  EXPECT_EQ(scripts[2].polls, 2);
  EXPECT_EQ(scripts[3].polls, 9);
}

TEST_F(SelectTest, HandedToAnotherTaskItWakesThatOne) {
  sync::Event event;
  auto body = [](sync::Event* event) -> Task<size_t> {
    auto winner = co_await Select(Pending(), event->Wait());
    co_return winner.index();
  };
  CountingWaker other;
  Context in_other(other.waker());
  Context cx = MakeContext();
  Task<size_t> first = body(&event);
  EXPECT_TRUE(first.Poll(cx).IsPending());

  Task<size_t> second = [](Task<size_t> inner) -> Task<size_t> {
    const size_t result = co_await std::move(inner);
    co_return result;
  }(std::move(first));
  EXPECT_TRUE(second.Poll(in_other).IsPending());
  event.Set();

  EXPECT_EQ(waker_.wakes(), 0);
  EXPECT_EQ(other.wakes(), 1);
  EXPECT_EQ(*second.Poll(in_other), 1u);
}

// A receiver that loses keeps its value for the next round, also when both
// become ready between two polls.
TEST_F(SelectTest, ANamedReceiverThatLosesLosesNothing) {
  Context cx = MakeContext();
  for (int i = 0; i < 1'000; ++i) {
    auto ends = sync::Oneshot<int>();
    sync::Event event;
    auto stop = event.Wait();
    auto select = Select(ends.second, stop);
    EXPECT_TRUE(select.Poll(cx).IsPending());
    event.Set();
    std::move(ends.first).Send(i);
    auto winner = select.Poll(cx);

    if (winner->index() == 1) {
      EXPECT_THAT(BlockOn(ends.second), IsOkAndHolds(i));
    } else {
      EXPECT_THAT(std::get<0>(*winner).value, IsOkAndHolds(i));
    }
  }
}

// Permits that reach a wait just before it loses are passed on: whatever the
// order of wins, the sum is right in the end.
TEST_F(SelectTest, AnAcquireThatLosesGivesItsPermitBack) {
  sync::Semaphore semaphore(0);
  Context cx = MakeContext();
  size_t added = 0;
  int acquired = 0;
  for (int i = 0; i < 1'000; ++i) {
    sync::Event event;
    auto select = Select(semaphore.Acquire(), event.Wait());
    if (semaphore.AvailablePermits() == 0) {
      EXPECT_TRUE(select.Poll(cx).IsPending());
      semaphore.AddPermits();
      ++added;
    }
    event.Set();
    auto winner = select.Poll(cx);

    ASSERT_TRUE(winner.IsReady());
    acquired += winner->index() == 0;
    EXPECT_EQ(semaphore.AvailablePermits(), winner->index() == 0 ? 0u : 1u);
    if (winner->index() == 0) {
      std::move(*std::get<0>(*winner).value).Forget();
      --added;
    }
  }

  EXPECT_GT(acquired, 400);
  EXPECT_LT(acquired, 600);
  EXPECT_EQ(semaphore.AvailablePermits(), added);
}

TEST_F(SelectTest, PollingItAgainDies) {
  auto select = Select(Ready(), Pending());
  Context cx = MakeContext();
  EXPECT_TRUE(select.Poll(cx).IsReady());

  EXPECT_DEATH(static_cast<void>(select.Poll(cx).IsReady()),
               "polled after it was ready");
}

}  // namespace
}  // namespace weft
