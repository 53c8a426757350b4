// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/select/scope.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "weft/sync/event.h"
#include "weft/task/block_on.h"
#include "weft/task/context.h"
#include "weft/task/counting_waker.h"
#include "weft/task/drop_at_every_poll.h"
#include "weft/task/invoke.h"
#include "weft/task/live_counter.h"
#include "weft/task/manual_executor.h"
#include "weft/task/polled.h"
#include "weft/task/ready.h"
#include "weft/task/status_matchers.h"
#include "weft/task/task.h"
#include "weft/task/waker.h"
#include "weft/task/yield_now.h"

namespace weft {
namespace {

using testing::ElementsAre;

class ScopeTest : public testing::Test {
 protected:
  // Waits for an event, counts its polls.
  struct Waiter {
    using Output = void;

    Waiter(sync::Event& event, int& polls)
        : wait(event.Wait()), polls(&polls) {}
    Polled<void> Poll(Context& cx) {
      ++*polls;
      return wait.Poll(cx);
    }

    sync::Event::WaitFuture wait;
    int* polls;
  };

  static Task<> Append(std::vector<int>* to, int value) {
    co_await YieldNow();
    to->push_back(value);
  }

  CountingWaker waker_;
  Context cx_{waker_.waker()};
};

TEST_F(ScopeTest, GivesWhatTheBodyGives) {
  EXPECT_EQ(BlockOn(InScope([](Scope&) { return Ready(3); })), 3);
}

TEST_F(ScopeTest, EndsWhenTheBodyAndAllChildrenHave) {
  sync::Event first;
  sync::Event second;
  sync::Event body;
  int polls = 0;
  auto future = InScope([&](Scope& scope) {
    scope.Start(Waiter(first, polls));
    scope.Start(Waiter(second, polls));
    return Waiter(body, polls);
  });
  EXPECT_TRUE(future.Poll(cx_).IsPending());
  EXPECT_EQ(polls, 3);

  body.Set();
  EXPECT_EQ(waker_.TakeWakes(), 1);
  EXPECT_TRUE(future.Poll(cx_).IsPending());
  second.Set();
  EXPECT_TRUE(future.Poll(cx_).IsPending());
  first.Set();

  EXPECT_TRUE(future.Poll(cx_).IsReady());
  EXPECT_EQ(waker_.outstanding(), 0);
}

TEST_F(ScopeTest, ChildrenBorrowFromTheFrameAround) {
  const auto sum = []() -> Task<int> {
    std::vector<int> values;
    auto scope = InScope([&](Scope& scope) -> Task<> {
      for (int i = 0; i < 100; ++i) scope.Start(Append(&values, i));
      co_return;
    });
    co_await scope;
    int sum = 0;
    for (const int value : values) sum += value;
    co_return sum;
  };

  EXPECT_EQ(BlockOn(sum()), 4950);
}

TEST_F(ScopeTest, OnlyThoseThatWereWokenArePolled) {
  constexpr int kChildren = 1'000;
  std::deque<sync::Event> events(kChildren);
  int polls = 0;
  auto future = InScope([&](Scope& scope) {
    for (sync::Event& event : events) scope.Start(Waiter(event, polls));
    return Ready();
  });
  do {
    EXPECT_TRUE(future.Poll(cx_).IsPending());
  } while (waker_.TakeWakes() > 0);
  EXPECT_EQ(polls, kChildren);

  for (int i = 0; i < kChildren; ++i) {
    events[i].Set();
    EXPECT_EQ(waker_.TakeWakes(), 1);
    EXPECT_EQ(future.Poll(cx_).IsReady(), i == kChildren - 1);
  }

  EXPECT_EQ(polls, 2 * kChildren);
}

TEST_F(ScopeTest, SeveralWakesBeforeAPollAreOne) {
  std::deque<sync::Event> events(3);
  int polls = 0;
  auto future = InScope([&](Scope& scope) {
    for (sync::Event& event : events) scope.Start(Waiter(event, polls));
    return Ready();
  });
  EXPECT_TRUE(future.Poll(cx_).IsPending());

  for (sync::Event& event : events) event.Set();

  EXPECT_EQ(waker_.wakes(), 1);
  EXPECT_TRUE(future.Poll(cx_).IsReady());
}

TEST_F(ScopeTest, ASpuriousPollPollsNobody) {
  sync::Event event;
  int polls = 0;
  auto future = InScope([&](Scope&) { return Waiter(event, polls); });
  EXPECT_TRUE(future.Poll(cx_).IsPending());

  EXPECT_TRUE(future.Poll(cx_).IsPending());

  EXPECT_EQ(polls, 1);
  EXPECT_EQ(waker_.wakes(), 0);
}

TEST_F(ScopeTest, WakesWhoeverPolledLast) {
  sync::Event event;
  int polls = 0;
  CountingWaker other;
  Context in_other(other.waker());
  auto future = InScope([&](Scope&) { return Waiter(event, polls); });
  EXPECT_TRUE(future.Poll(cx_).IsPending());
  EXPECT_TRUE(future.Poll(in_other).IsPending());
  EXPECT_EQ(waker_.outstanding(), 0);

  event.Set();

  EXPECT_EQ(waker_.wakes(), 0);
  EXPECT_EQ(other.wakes(), 1);
  EXPECT_TRUE(future.Poll(in_other).IsReady());
}

TEST_F(ScopeTest, ChildrenThatYieldLetOtherTasksRun) {
  ManualExecutor executor;
  std::vector<std::string> log;
  auto handle = executor.SpawnBorrowing([&]() -> Task<> {
    auto scope = InScope([&](Scope& scope) -> Task<> {
      scope.Start([&]() -> Task<> {
        for (int i = 0; i < 3; ++i) {
          log.push_back("child");
          co_await YieldNow();
        }
      });
      co_return;
    });
    co_await scope;
  });
  auto other = executor.SpawnBorrowing([&]() -> Task<> {
    for (int i = 0; i < 3; ++i) {
      log.push_back("other");
      co_await YieldNow();
    }
  });

  executor.RunUntilIdle();

  EXPECT_THAT(
      log, ElementsAre("child", "other", "child", "other", "child", "other"));
  EXPECT_TRUE(handle.IsFinished());
  EXPECT_TRUE(other.IsFinished());
}

TEST_F(ScopeTest, AChainOfChildrenYields) {
  int started = 0;
  std::function<void(Scope&)> start = [&](Scope& scope) {
    if (++started == 1'000) return;
    scope.Start([&]() -> Task<> {
      start(scope);
      co_return;
    });
  };
  auto future = InScope([&](Scope& scope) -> Task<> {
    start(scope);
    co_return;
  });

  int polls = 1;
  while (future.Poll(cx_).IsPending()) {
    EXPECT_LE(started, 256 * polls + 1);
    ++polls;
    ASSERT_EQ(waker_.TakeWakes(), 1);
  }

  EXPECT_EQ(started, 1'000);
  EXPECT_EQ(polls, 4);
}

TEST_F(ScopeTest, ManyWokenChildrenArePolledInTurnsOnceEach) {
  sync::Event event;
  std::vector<int> polls(600);
  auto future = InScope([&](Scope& scope) {
    for (int& count : polls) scope.Start(Waiter(event, count));
    return Ready();
  });

  for (int turn = 1; turn <= 3; ++turn) {
    EXPECT_TRUE(future.Poll(cx_).IsPending());
    // The body is the last to be polled.
    EXPECT_EQ(std::count(polls.begin(), polls.end(), 1),
              std::min(turn * 256, 600));
    EXPECT_EQ(waker_.TakeWakes(), turn < 3 ? 1 : 0);
  }
  event.Set();
  while (future.Poll(cx_).IsPending()) ASSERT_GT(waker_.TakeWakes(), 0);

  EXPECT_EQ(std::count(polls.begin(), polls.end(), 2), 600);
}

TEST_F(ScopeTest, HandlesGiveWhatChildrenGive) {
  int n = 0;
  auto future = InScope([&](Scope& scope) -> Task<int> {
    auto number = scope.Start(Ready(40));
    auto nothing = scope.Start(YieldNow());
    auto pointer = scope.Start(Ready(std::make_unique<int>(2)));
    auto reference =
        scope.Start(PollFn([&](Context&) -> Polled<int&> { return n; }));
    co_await nothing;
    const int value = co_await number;
    const std::unique_ptr<int> two = co_await pointer;
    int& same = co_await reference;
    EXPECT_EQ(&same, &n);
    co_return value + *two;
  });

  EXPECT_EQ(BlockOn(future), 42);
}

TEST_F(ScopeTest, AResultGoesOnInTheSamePoll) {
  sync::Event event;
  int polls = 0;
  auto future = InScope([&](Scope& scope) -> Task<> {
    auto first = scope.Start(Waiter(event, polls));
    auto second = scope.Start([&first]() -> Task<> { co_await first; });
    co_await second;
  });
  EXPECT_TRUE(future.Poll(cx_).IsPending());

  event.Set();

  EXPECT_TRUE(future.Poll(cx_).IsReady());
  EXPECT_EQ(waker_.wakes(), 1);
}

TEST_F(ScopeTest, ChildrenMaySpawn) {
  int ended = 0;
  struct Tree {
    static Task<> Grow(Scope* scope, int* ended, int depth) {
      co_await YieldNow();
      if (depth > 0) {
        scope->Start(Grow(scope, ended, depth - 1));
        scope->Start(Grow(scope, ended, depth - 1));
      }
      ++*ended;
    }
  };

  BlockOn(InScope([&](Scope& scope) { return Tree::Grow(&scope, &ended, 9); }));

  EXPECT_EQ(ended, (1 << 10) - 1);
}

TEST_F(ScopeTest, DroppingItDropsTheNewestFirstAndTheBodyLast) {
  std::vector<int> order;
  struct Last {
    using Output = void;
    Last(std::vector<int>* order, int n) : order(order), n(n) {}
    Last(Last&& other) noexcept
        : order(std::exchange(other.order, nullptr)), n(other.n) {}
    ~Last() {
      if (order != nullptr) order->push_back(n);
    }
    Polled<void> Poll(Context&) { return kPending; }
    std::vector<int>* order;
    int n;
  };
  {
    auto future = InScope([&](Scope& scope) {
      for (int i = 1; i <= 3; ++i) scope.Start(Last(&order, i));
      return Last(&order, 0);
    });
    EXPECT_TRUE(future.Poll(cx_).IsPending());
  }

  EXPECT_THAT(order, ElementsAre(3, 2, 1, 0));
  EXPECT_EQ(waker_.outstanding(), 0);
}

TEST_F(ScopeTest, WhatIsSpawnedByADestructorIsDropped) {
  LiveCounter counter;
  struct Spawns {
    using Output = void;
    Spawns(Scope* scope, LiveCounter* counter)
        : scope(scope), counter(counter) {}
    Spawns(Spawns&& other) noexcept
        : scope(std::exchange(other.scope, nullptr)), counter(other.counter) {}
    ~Spawns() {
      if (scope == nullptr) return;
      scope->Start([object = counter->Make()] { return Pending(); });
    }
    Polled<void> Poll(Context&) { return kPending; }
    Scope* scope;
    LiveCounter* counter;
  };
  {
    auto future = InScope([&](Scope& scope) {
      scope.Start(Spawns(&scope, &counter));
      return Pending();
    });
    EXPECT_TRUE(future.Poll(cx_).IsPending());
  }

  EXPECT_EQ(counter.made(), 1);
  EXPECT_EQ(counter.live(), 0);
}

TEST_F(ScopeTest, WakersMayOutliveIt) {
  Waker kept;
  {
    auto future = InScope([&](Scope& scope) {
      scope.Start(PollFn([&](Context& cx) -> Polled<void> {
        kept = cx.waker();
        return Unit();
      }));
      return Pending();
    });
    EXPECT_TRUE(future.Poll(cx_).IsPending());
    kept.WakeByRef();
    EXPECT_EQ(waker_.TakeWakes(), 0);  // that child has ended
  }

  std::move(kept).Wake();

  EXPECT_EQ(waker_.wakes(), 0);
}

TEST_F(ScopeTest, ChildrenShareTheBudget) {
  Budget budget(3);
  Context cx(waker_.waker(), &budget);
  std::deque<sync::Event> events(5);
  int polls = 0;
  for (sync::Event& event : events) event.Set();
  auto future = InScope([&](Scope& scope) {
    for (sync::Event& event : events) scope.Start(Waiter(event, polls));
    return Ready();
  });

  EXPECT_TRUE(future.Poll(cx).IsPending());
  EXPECT_TRUE(budget.IsSpent());
  EXPECT_GE(waker_.wakes(), 1);
  budget = Budget(5);

  EXPECT_TRUE(future.Poll(cx).IsReady());
  EXPECT_EQ(budget.units(), 3u);
}

TEST_F(ScopeTest, MovesUntilItIsPolled) {
  auto future = InScope([](Scope&) { return Pending(); });
  auto moved = std::move(future);
  EXPECT_TRUE(moved.Poll(cx_).IsPending());

  EXPECT_DEATH(static_cast<void>(decltype(moved)(std::move(moved))),
               "moved after its first poll");
}

TEST_F(ScopeTest, SurvivesADropAtEveryPoll) {
  LiveCounter counter;
  sync::Event event;
  const auto body = [](sync::Event* event, LiveCounter* counter) -> Task<> {
    auto scope = InScope([&](Scope& scope) -> Task<> {
      auto wait = [&scope, event, object = counter->Make()]() -> Task<> {
        co_await event->Wait();
        scope.Start([event, object]() -> Task<> { co_await event->Wait(); });
        co_await YieldNow();
      };
      auto handle = scope.Start(std::move(wait));
      co_await handle;
      co_await event->Wait();
    });
    co_await scope;
  };

  EXPECT_THAT(DropAtEveryPoll([&] { return body(&event, &counter); },
                              {.step =
                                   [&] {
                                     event.Notify();
                                     return true;
                                   },
                               .live = [&] { return counter.live(); }}),
              IsOkAndHolds(testing::Gt(3u)));
}

TEST_F(ScopeTest, AHandleWhoseScopeIsGoneDies) {
  std::optional<ScopedHandle<void>> handle;
  {
    auto future = InScope([&](Scope& scope) {
      handle.emplace(scope.Start(Pending()));
      return Pending();
    });
    EXPECT_TRUE(future.Poll(cx_).IsPending());
  }

  EXPECT_DEATH(static_cast<void>(handle->Poll(cx_)), "whose scope is gone");
}

TEST_F(ScopeTest, PollingItAgainDies) {
  auto future = InScope([](Scope&) { return Ready(); });
  EXPECT_TRUE(future.Poll(cx_).IsReady());

  EXPECT_DEATH(static_cast<void>(future.Poll(cx_).IsReady()),
               "polled after it was ready");
}

// --- Threads.

// Children are woken by other threads, while they are polled and while not.
TEST_F(ScopeTest, NoWakeOfOtherThreadsIsLost) {
  constexpr int kThreads = 3;
  constexpr int kChildren = 30;
  const int rounds = std::getenv("WEFT_LONG") != nullptr ? 5'000 : 100;
  for (int round = 0; round < rounds; ++round) {
    std::deque<sync::Event> events(kChildren);
    std::atomic<bool> start{false};
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&, i] {
        start.wait(false);
        for (int j = i; j < kChildren; j += kThreads) events[j].Set();
      });
    }
    int ended = 0;  // no atomic: children are polled one at a time
    BlockOn(InScope([&](Scope& scope) {
      for (sync::Event& event : events) {
        scope.Start([&ended, &event]() -> Task<> {
          co_await event.Wait();
          ++ended;
        });
      }
      return PollFn([&](Context&) -> Polled<void> {
        start = true;
        start.notify_all();
        return Unit();
      });
    }));
    EXPECT_EQ(ended, kChildren);
    for (std::thread& thread : threads) thread.join();
  }
}

// Other threads wake children of scopes that are being dropped.
TEST_F(ScopeTest, DroppingItMayMeetWakes) {
  const int rounds = std::getenv("WEFT_LONG") != nullptr ? 20'000 : 300;
  for (int round = 0; round < rounds; ++round) {
    std::atomic<int> ready{0};
    std::vector<Waker> wakers;
    auto future = std::make_unique<
        ScopeFuture<std::function<PendingFuture<void>(Scope&)>>>(
        [&](Scope& scope) {
          for (int i = 0; i < 5; ++i) {
            scope.Start(PollFn([&](Context& cx) -> Polled<void> {
              wakers.push_back(cx.waker());
              return kPending;
            }));
          }
          return Pending();
        });
    EXPECT_TRUE(future->Poll(cx_).IsPending());
    std::thread thread([&] {
      ++ready;
      while (ready < 2) std::this_thread::yield();
      for (Waker& waker : wakers) std::move(waker).Wake();
    });
    ++ready;
    while (ready < 2) std::this_thread::yield();
    static_cast<void>(future->Poll(cx_).IsReady());
    future.reset();
    thread.join();
  }
}

}  // namespace
}  // namespace weft
