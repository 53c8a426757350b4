// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// weft-lint: allow-file(R22): the tests' tasks end before what they refer to.

#include "weft/executor/executor.h"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "weft/executor/runner_options.h"
#include "weft/task/block_on.h"
#include "weft/task/context.h"
#include "weft/task/counting_waker.h"
#include "weft/task/driver.h"
#include "weft/task/environment.h"
#include "weft/task/instant.h"
#include "weft/task/join_handle.h"
#include "weft/task/parker.h"
#include "weft/task/polled.h"
#include "weft/task/ready.h"
#include "weft/task/spawn_builder.h"
#include "weft/task/spawner.h"
#include "weft/task/task.h"
#include "weft/task/yield_now.h"
#include "weft/tests/executor/runners.h"
#include "weft/timer/fake_clock.h"

namespace weft {
namespace {

using executor_testing::Gate;
using executor_testing::Runners;
using executor_testing::SpinUntil;
using ::testing::Each;
using ::testing::HasSubstr;

Task<int> Return(int value) { co_return value; }

Task<> Append(std::vector<int>* out, int value) {
  out->push_back(value);
  co_return;
}

Task<int> AddOne(JoinHandle<int> handle) { co_return co_await handle + 1; }

// Takes what it needs when it is first used.
constinit Executor constant_executor;

TEST(ExecutorTest, CanBeAConstant) {
  EXPECT_TRUE(constant_executor.IsEmpty());
  EXPECT_EQ(constant_executor.Run(Return(4)), 4);
}

TEST(ExecutorTest, ThreadsMayUseItForTheFirstTimeAtOnce) {
  Executor executor;
  std::vector<std::thread> threads;
  std::atomic<int> sum{0};
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back(
        [&] { sum += executor.Run(executor.Spawn(Return(1))); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(sum.load(), 4);
}

TEST(ExecutorTest, RunReturnsTheOutputOfItsFuture) {
  Executor executor;

  EXPECT_EQ(executor.Run(Return(7)), 7);
}

TEST(ExecutorTest, RunPollsALvalueWhereItStands) {
  Executor executor;
  Task<int> task = Return(8);

  EXPECT_EQ(executor.Run(task), 8);
}

TEST(ExecutorTest, SpawnedTasksRunWhileRunWaitsForThem) {
  Executor executor;
  JoinHandle<int> handle = executor.Spawn(Return(1));

  EXPECT_EQ(executor.Run(AddOne(std::move(handle))), 2);
  EXPECT_TRUE(executor.IsEmpty());
}

TEST(ExecutorTest, FreeSpawnInsideUsesThisExecutor) {
  Executor executor;

  const int result = executor.Run([]() -> Task<int> {
    JoinHandle<int> handle = weft::Spawn(Return(3));
    co_return co_await handle;
  }());

  EXPECT_EQ(result, 3);
}

TEST(ExecutorTest, SpawnKeepsALambdaBesideItsTask) {
  Executor executor;
  auto value = std::make_unique<int>(5);

  JoinHandle<int> handle = executor.Spawn(
      [value = std::move(value)]() -> Task<int> { co_return *value; });

  EXPECT_EQ(executor.Run(std::move(handle)), 5);
}

TEST(ExecutorTest, TasksSpawnedByARunnerRunInOrder) {
  Executor executor;
  std::vector<int> order;

  executor.Run([](Executor& executor, std::vector<int>& order) -> Task<> {
    std::vector<JoinHandle<>> handles;
    for (int i = 0; i < 100; ++i) {
      handles.push_back(executor.SpawnBorrowing(Append(&order, i)));
    }
    for (JoinHandle<>& handle : handles) co_await handle;
  }(executor, order));

  ASSERT_EQ(order.size(), 100u);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(order[i], i);
}

// The number of times it was polled.
class CountPolls {
 public:
  using Output = void;

  CountPolls(Gate& gate, int& polls) : wait_(gate.Wait()), polls_(polls) {}
  Polled<void> Poll(Context& cx) {
    ++polls_;
    return wait_.Poll(cx);
  }

 private:
  Gate::WaitFuture wait_;
  int& polls_;
};

TEST(ExecutorTest, TheMainFutureIsPolledOnlyWhenItWasWoken) {
  Executor executor;
  Gate gate;
  int polls = 0;
  JoinHandle<> crowd = executor.SpawnBorrowing([](Gate& gate) -> Task<> {
    for (int i = 0; i < 1000; ++i) co_await YieldNow();
    gate.Open();
  }(gate));

  executor.Run(CountPolls(gate, polls));

  EXPECT_EQ(polls, 2);
  EXPECT_TRUE(crowd.IsFinished());
}

TEST(ExecutorTest, TryTickRunsOneTask) {
  Executor executor;
  std::vector<int> order;
  EXPECT_FALSE(executor.TryTick());

  JoinHandle<> first = executor.SpawnBorrowing(Append(&order, 1));
  JoinHandle<> second = executor.SpawnBorrowing(Append(&order, 2));

  EXPECT_TRUE(executor.TryTick());
  EXPECT_EQ(order.size(), 1u);
  EXPECT_TRUE(executor.TryTick());
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
  EXPECT_FALSE(executor.TryTick());
}

TEST(ExecutorTest, TickWaitsForATask) {
  Executor executor;
  CountingWaker waker;
  Context cx(waker.waker());
  TickFuture tick = executor.Tick();
  EXPECT_FALSE(tick.Poll(cx).IsReady());

  JoinHandle<int> handle = executor.Spawn(Return(4));

  EXPECT_EQ(waker.wakes(), 1);
  EXPECT_TRUE(tick.Poll(cx).IsReady());
  EXPECT_TRUE(handle.IsFinished());
}

TEST(ExecutorTest, DroppingANotifiedTickWakesAnother) {
  Executor executor;
  CountingWaker first_waker;
  CountingWaker second_waker;
  Context first_cx(first_waker.waker());
  Context second_cx(second_waker.waker());
  std::optional<TickFuture> first(executor.Tick());
  TickFuture second = executor.Tick();
  EXPECT_FALSE(first->Poll(first_cx).IsReady());
  EXPECT_FALSE(second.Poll(second_cx).IsReady());
  JoinHandle<int> handle = executor.Spawn(Return(4));
  EXPECT_EQ(first_waker.wakes(), 1);
  EXPECT_EQ(second_waker.wakes(), 0);

  first.reset();

  EXPECT_EQ(second_waker.wakes(), 1);
  EXPECT_TRUE(second.Poll(second_cx).IsReady());
  EXPECT_TRUE(handle.IsFinished());
}

TEST(ExecutorTest, ATickPassesOnWhenThereIsMore) {
  Executor executor;
  CountingWaker wakers[3];
  std::vector<std::unique_ptr<TickFuture>> ticks;
  std::vector<Context> contexts;
  for (CountingWaker& waker : wakers) {
    contexts.emplace_back(waker.waker());
    ticks.push_back(std::make_unique<TickFuture>(executor.Tick()));
    EXPECT_FALSE(ticks.back()->Poll(contexts.back()).IsReady());
  }
  JoinHandle<int> first = executor.Spawn(Return(1));
  JoinHandle<int> second = executor.Spawn(Return(2));

  EXPECT_EQ(wakers[0].wakes(), 1);
  EXPECT_EQ(wakers[1].wakes(), 1);
  EXPECT_TRUE(ticks[0]->Poll(contexts[0]).IsReady());
  EXPECT_TRUE(ticks[1]->Poll(contexts[1]).IsReady());
  EXPECT_TRUE(first.IsFinished());
  EXPECT_TRUE(second.IsFinished());
}

// The task that the first tick runs yields, which wakes the second: a wake of the
// outer task, by a task of the inner executor, in a poll of the outer one.
TEST(ExecutorTest, ATaskThatTicksIsWokenByWhatItTicks) {
  Executor outer;
  Executor inner;
  TickFuture first = inner.Tick();
  TickFuture second = inner.Tick();
  int polls = 0;
  JoinHandle<> both = outer.Spawn(PollFn([&](Context& cx) -> Polled<void> {
    ++polls;
    if (polls == 1) {
      EXPECT_FALSE(first.Poll(cx).IsReady());
      EXPECT_FALSE(second.Poll(cx).IsReady());
      return kPending;
    }
    if (polls == 2) {
      EXPECT_TRUE(first.Poll(cx).IsReady());
      return kPending;
    }
    EXPECT_TRUE(second.Poll(cx).IsReady());
    return Unit();
  }));
  EXPECT_TRUE(outer.TryTick());
  JoinHandle<> child = inner.Spawn(YieldNow());
  EXPECT_TRUE(outer.TryTick());

  EXPECT_TRUE(outer.TryTick());
  EXPECT_TRUE(both.IsFinished());
  EXPECT_TRUE(child.IsFinished());
}

TEST(ExecutorTest, TicksReplaceTheirWaker) {
  Executor executor;
  CountingWaker old_waker;
  CountingWaker new_waker;
  Context old_cx(old_waker.waker());
  Context new_cx(new_waker.waker());
  TickFuture tick = executor.Tick();
  EXPECT_FALSE(tick.Poll(old_cx).IsReady());
  EXPECT_FALSE(tick.Poll(new_cx).IsReady());

  JoinHandle<int> handle = executor.Spawn(Return(4));

  EXPECT_EQ(old_waker.wakes(), 0);
  EXPECT_EQ(new_waker.wakes(), 1);
}

TEST(ExecutorTest, TryTickInsideRunSeesTheRunnersOwnTasks) {
  Executor executor;

  const int ticks = executor.Run([](Executor& executor) -> Task<int> {
    JoinHandle<int> child = executor.Spawn(Return(1));
    JoinHandle<int> parent = executor.Spawn(AddOne(std::move(child)));
    int ticks = 0;
    while (!parent.IsFinished() && ++ticks < 10) executor.TryTick();
    co_return ticks;
  }(executor));

  EXPECT_LT(ticks, 10);
}

TEST(ExecutorTest, AYieldingTaskStarvesNeitherDriverNorMainFuture) {
  class CountingDriver : public Driver {
   public:
    void Park(Instant deadline) override {
      ++parks;
      parker.Park(deadline);
    }
    Waker Unparker() override { return parker.Unparker(); }
    Parker parker;
    int parks = 0;
  };
  CountingDriver driver;
  Environment environment = Environment::Current();
  environment.driver = &driver;
  EnvironmentScope scope(environment);
  Executor executor;

  executor.Run([](Executor& executor) -> Task<> {
    co_await executor.Spawn([]() -> Task<> {
      for (int i = 0; i < 1000; ++i) co_await YieldNow();
    });
  }(executor));

  // Between any two polls of the only task.
  EXPECT_GE(driver.parks, 1000);
}

TEST(ExecutorTest, TwoTasksThatWakeEachOtherDoNotStarveOthers) {
  struct Pair {
    std::mutex mutex;
    Waker wakers[2];
    int turn = 0;
    bool stop = false;
  };
  class Player {
   public:
    using Output = void;
    Player(Pair& pair, int self) : pair_(pair), self_(self) {}
    Polled<void> Poll(Context& cx) {
      Waker other;
      {
        const std::lock_guard lock(pair_.mutex);
        pair_.wakers[self_] = cx.waker();
        ++pair_.turn;
        other = pair_.wakers[1 - self_];
        if (pair_.stop) {
          other.WakeByRef();
          return Unit();
        }
      }
      other.WakeByRef();
      return kPending;
    }

   private:
    Pair& pair_;
    const int self_;
  };
  Executor executor;
  Pair pair;

  const int turns =
      executor.Run([](Executor& executor, Pair& pair) -> Task<int> {
        JoinHandle<> ping = executor.SpawnBorrowing(Player(pair, 0));
        JoinHandle<> pong = executor.SpawnBorrowing(Player(pair, 1));
        for (int i = 0; i < 100; ++i) co_await YieldNow();
        JoinHandle<int> third = executor.Spawn([]() -> Task<int> {
          for (int i = 0; i < 10; ++i) co_await YieldNow();
          co_return 1;
        });
        const int before = pair.turn;
        co_await third;
        const int turns = pair.turn - before;
        {
          const std::lock_guard lock(pair.mutex);
          pair.stop = true;
        }
        co_await ping;
        co_await pong;
        co_return turns;
      }(executor, pair));

  EXPECT_GT(turns, 0);
  EXPECT_LT(turns, 200);
}

TEST(ExecutorTest, RunInsideATaskFailsWithTheRemedy) {
  Executor executor;
  Executor other;

  EXPECT_DEATH(executor.Run([](Executor& other) -> Task<> {
    other.Run(Return(1));
    co_return;
  }(other)),
               "co_await the future");
}

TEST(ExecutorTest, BlockingOnAChildInsideATaskFailsWithTheRemedy) {
  Executor executor;
  JoinHandle<int> handle = executor.Spawn([]() -> Task<int> {
    JoinHandle<int> child = weft::Spawn(Return(1));
    co_return BlockOn(std::move(child));
  });

  EXPECT_DEATH(executor.Run(std::move(handle)), "co_await the future");
}

TEST(ExecutorTest, DebugStringTellsWhatIsWhere) {
  Executor executor;
  Gate gate;
  JoinHandle<> waiting = executor.SpawnBorrowing(gate.Wait());
  EXPECT_TRUE(executor.TryTick());
  JoinHandle<int> queued = executor.Spawn(Return(1));

  EXPECT_THAT(executor.DebugString(), HasSubstr("suspended tasks: 1"));
  EXPECT_THAT(executor.DebugString(), HasSubstr("injector: 1"));
  EXPECT_FALSE(executor.IsEmpty());
}

TEST(ExecutorTest, DebugStringNamesSuspendedTasks) {
  Executor executor;
  Gate gate;
  SpawnBuilder reader;
  reader.Name("reader").On(executor.spawner());
  EXPECT_THAT(executor.DebugString(), HasSubstr("names: []"));
  JoinHandle<> outside = reader.SpawnBorrowing(gate.Wait());
  EXPECT_TRUE(executor.TryTick());
  JoinHandle<> inside = reader.Name("writer").SpawnBorrowing(gate.Wait());
  const std::string names = absl::StrCat("[reader#", outside.id().value(),
                                         " writer#", inside.id().value(), "]");

  Runners runners(executor, 1);
  SpinUntil([&] { return executor.Stats().suspended == 2; });
  EXPECT_THAT(executor.DebugString(), HasSubstr("names: " + names));
  gate.Open();
  SpinUntil([&] { return executor.Stats().suspended == 0; });
  EXPECT_THAT(executor.DebugString(), HasSubstr("names: []"));
}

// ---- Several runners ----

class ExecutorRunnersTest : public testing::TestWithParam<int> {};

INSTANTIATE_TEST_SUITE_P(Runners, ExecutorRunnersTest,
                         testing::Values(1, 2, 4, 8));

TEST_P(ExecutorRunnersTest, TasksSpawnedFromOutsideAreRun) {
  Executor executor;
  Runners runners(executor, GetParam());

  for (int i = 0; i < 1000; ++i) {
    JoinHandle<int> handle = executor.Spawn(Return(i));
    ASSERT_EQ(BlockOn(std::move(handle)), i);
  }
}

TEST_P(ExecutorRunnersTest, ATreeOfTasksIsRun) {
  struct Tree {
    static Task<int> Count(int depth) {
      if (depth == 0) co_return 1;
      JoinHandle<int> left = weft::Spawn(Count(depth - 1));
      JoinHandle<int> right = weft::Spawn(Count(depth - 1));
      const int sum = co_await left;
      co_return sum + co_await right;
    }
  };
  Executor executor;
  Runners runners(executor, GetParam());

  JoinHandle<int> root = executor.Spawn(Tree::Count(12));

  EXPECT_EQ(BlockOn(std::move(root)), 4096);
}

TEST_P(ExecutorRunnersTest, RunnersComeAndGo) {
  Executor executor;
  std::atomic<int> done{0};
  std::vector<JoinHandle<>> handles;
  for (int i = 0; i < 200; ++i) {
    handles.push_back(
        executor.SpawnBorrowing([](std::atomic<int>& done) -> Task<> {
          for (int i = 0; i < 50; ++i) co_await YieldNow();
          ++done;
        }(done)));
  }

  std::vector<std::thread> threads;
  for (int i = 0; i < GetParam(); ++i) {
    threads.emplace_back([&] {
      while (done.load() < 200) {
        executor.Run([]() -> Task<> {
          for (int i = 0; i < 5; ++i) co_await YieldNow();
        }());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();

  EXPECT_EQ(done.load(), 200);
  EXPECT_TRUE(executor.IsEmpty());
}

TEST(ExecutorTest, ALeavingRunnerPassesItsTasksOn) {
  Executor executor;
  Gate gate;
  std::vector<JoinHandle<>> handles;

  executor.Run([](Executor& executor, Gate& gate,
                  std::vector<JoinHandle<>>& handles) -> Task<> {
    // These wait; waking them fills the slot and the queue of this runner.
    for (int i = 0; i < 10; ++i) {
      handles.push_back(executor.SpawnBorrowing(gate.Wait()));
    }
    for (int i = 0; i < 20; ++i) co_await YieldNow();
    gate.Open();
  }(executor, gate, handles));

  while (executor.TryTick()) {
  }
  for (JoinHandle<>& handle : handles) EXPECT_TRUE(handle.IsFinished());
}

TEST(ExecutorTest, OthersRunWhatATaskSpawnedThatDoesNotReturn) {
  Executor executor;
  auto ran = std::make_shared<std::atomic<int>>(0);
  Runners runners(executor, 2);

  JoinHandle<> parent = executor.Spawn([ran]() -> Task<> {
    for (int i = 0; i < 1000; ++i) {
      weft::Spawn([ran]() -> Task<> {
        ++*ran;
        co_return;
      }).Detach();
    }
    // The last ones are in this runner's own queue.
    SpinUntil([&] { return ran->load() == 1000; });
    co_return;
  });
  BlockOn(std::move(parent));

  EXPECT_GT(executor.Stats().steals, 0u);
}

// Two threads in Run() whose main futures have spawned before either goes on.
class BusyRunners {
 public:
  BusyRunners(Executor& executor, std::vector<RunnerOptions> options,
              std::function<void(size_t)> spawn)
      : ready_(static_cast<std::ptrdiff_t>(options.size())) {
    for (size_t i = 0; i < options.size(); ++i) {
      threads_.emplace_back([this, &executor, spawn, i, own = options[i]] {
        executor.Run(own, Begin(spawn, i));
      });
    }
  }
  ~BusyRunners() {
    for (std::thread& thread : threads_) thread.join();
  }
  Gate& stop() { return stop_; }

 private:
  Task<> Begin(std::function<void(size_t)> spawn, size_t i) {
    spawn(i);
    ready_.arrive_and_wait();
    co_await stop_.Wait();
  }

  std::barrier<> ready_;
  Gate stop_;
  std::vector<std::thread> threads_;
};

TEST(ExecutorTest, ARunnerThatIsNeverIdleTakesItsShare) {
  Executor executor;
  {
    // Until somebody has stolen more than the two, which are taken if their thread
    // is held up: nobody else is ever idle here.
    const auto shared = [&] { return executor.Stats().stolen_tasks > 2; };
    const auto yield = [&]() -> Task<> {
      while (!shared()) co_await YieldNow();
    };
    BusyRunners runners(executor, std::vector<RunnerOptions>(2), [&](size_t i) {
      for (int n = i == 0 ? 40 : 2; n > 0; --n) weft::Spawn(yield).Detach();
    });
    SpinUntil(shared);
    runners.stop().Open();
  }
  EXPECT_GE(executor.Stats().stolen_tasks, 10u);
}

// Ten tasks in turn, with polls longer than what a task from outside shall wait: it
// comes next, also where each round of yields ends with a look.
TEST(ExecutorTest, LongPollsLetATaskFromOutsideInAfterEachOfThem) {
  Executor executor;
  std::atomic<int> polls{0};
  std::atomic<bool> over{false};
  const auto stall = [&]() -> Task<> {
    while (!over.load()) {
      ++polls;
      const Instant end = Instant::Now() + absl::Microseconds(100);
      while (Instant::Now() < end) {
      }
      co_await YieldNow();
    }
  };
  std::vector<int> waited;
  std::thread outside([&] {
    SpinUntil([&] { return polls.load() > 200; });
    for (int i = 0; i < 30; ++i) {
      const int before = polls.load();
      std::atomic<int> after{0};
      executor
          .Spawn([&]() -> Task<> {
            after.store(polls.load());
            co_return;
          })
          .Detach();
      SpinUntil([&] { return after.load() != 0; });
      waited.push_back(after.load() - before);
    }
    over.store(true);
  });
  executor.Run(executor.Spawn([&]() -> Task<> {
    for (int i = 0; i < 10; ++i) weft::Spawn(stall).Detach();
    while (!over.load()) co_await YieldNow();
  }));
  outside.join();
  // Half of them, since this thread may be held between the two counts.
  std::nth_element(waited.begin(), waited.begin() + 15, waited.end());
  EXPECT_LE(waited[15], 2);
}

// Tasks that note where they were spawned, ten at each of two places.
struct StealOrder {
  static constexpr size_t kTasks = 20;

  std::mutex mutex;
  std::vector<int> ran;  // guarded by mutex
  std::atomic<int> filled{0};
  Gate all_ran;

  void Note(int location) {
    const std::lock_guard lock(mutex);
    ran.push_back(location);
    if (ran.size() == kTasks) all_ran.Open();
  }
  // Spawns, and holds its thread until others have run everything.
  Task<> Fill(int location) {
    for (int n = 0; n < 10; ++n) {
      weft::Spawn([this, location]() -> Task<> {
        Note(location);
        co_return;
      }).Detach();
    }
    ++filled;
    SpinUntil([&] { return all_ran.IsOpen(); });
    co_return;
  }
};

TEST(ExecutorTest, AThreadStealsFirstWhereItWasToldTo) {
  for (const int first : {1, 2}) {
    Executor executor;
    StealOrder order;
    std::vector<std::thread> threads;
    for (const int location : {1, 2}) {
      threads.emplace_back([&, location] {
        executor.Run(RunnerOptions().At(location), order.Fill(location));
      });
    }
    SpinUntil([&] { return order.filled.load() == 2; });
    executor.Run(RunnerOptions().StealFrom({first, 3 - first}),
                 order.all_ran.Wait());
    for (std::thread& thread : threads) thread.join();
    // A task that is alone in its queue is left to its runner for a while.
    order.ran.resize(9);
    EXPECT_THAT(order.ran, Each(first));
  }
}

// Spawns a task, and holds its thread until that has run elsewhere.
Task<> HoldUntilTheChildHasRun(std::atomic<bool>* done) {
  weft::Spawn([done]() -> Task<> {
    done->store(true);
    co_return;
  }).Detach();
  SpinUntil([&] { return done->load(); });
  co_return;
}

// Always wakes itself, until `done`.
Task<> YieldUntil(std::atomic<bool>* done) {
  while (!done->load()) co_await YieldNow();
}

TEST(ExecutorTest, ALoneTaskIsTakenByARunnerWhoseMainFutureAlwaysYields) {
  for (int i = 0; i < 20; ++i) {
    Executor executor;
    std::atomic<bool> done{false};
    std::thread yielding([&] { executor.Run(YieldUntil(&done)); });
    executor.Run(HoldUntilTheChildHasRun(&done));
    yielding.join();
  }
}

TEST(ExecutorTest, ALoneTaskIsTakenOnAFakeClock) {
  timer::FakeClock clock;
  Environment environment = Environment::Current();
  environment.clock = &clock;
  Executor executor;
  Gate stop;
  std::thread idle([&] {
    const EnvironmentScope scope(environment);
    executor.Run(stop.Wait());
  });
  const EnvironmentScope scope(environment);
  for (int i = 0; i < 20; ++i) {
    std::atomic<bool> done{false};
    executor.Run(HoldUntilTheChildHasRun(&done));
  }
  stop.Open();
  idle.join();
}

// A runner is held by a poll that ends when another has run what is alone in its
// queue; two more have a task each, which yields all the time. With 3 runners
// nobody is idle.
class ExecutorHeldTest : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Runners, ExecutorHeldTest, testing::Values(3, 4));

TEST_P(ExecutorHeldTest, ALoneTaskIsTakenBesideBusyOnes) {
  constexpr int64_t kEnough = 100'000'000;  // polls, if nobody takes it
  struct Shared {
    std::atomic<int> started{0};
    std::atomic<int64_t> yields{0};
    std::atomic<bool> ran{false};

    bool IsOver() const { return ran.load() || yields.load() >= kEnough; }
    // Called by each task: so each has a runner of its own.
    void Start() {
      ++started;
      SpinUntil([this] { return started.load() == 3; });
    }
    void AwaitStarted(int n) {
      SpinUntil([&] { return started.load() == n; });
    }
  };
  Executor executor;
  Runners runners(executor, GetParam());
  for (int round = 0; round < 20; ++round) {
    auto shared = std::make_shared<Shared>();
    auto churn = [shared]() -> Task<> {
      shared->Start();
      while (!shared->IsOver()) {
        ++shared->yields;
        co_await YieldNow();
      }
    };
    JoinHandle<> first = executor.Spawn(churn);
    shared->AwaitStarted(1);
    JoinHandle<> second = executor.Spawn(churn);
    shared->AwaitStarted(2);
    JoinHandle<bool> held = executor.Spawn([shared]() -> Task<bool> {
      shared->Start();
      weft::Spawn([shared]() -> Task<> {
        shared->ran = true;
        co_return;
      }).Detach();
      SpinUntil([&] { return shared->IsOver(); });
      co_return shared->ran.load();
    });
    const bool taken = BlockOn(std::move(held));
    BlockOn(std::move(first));
    BlockOn(std::move(second));
    ASSERT_TRUE(taken) << "round " << round;
  }
}

// ---- The end ----

TEST(ExecutorTest, DestructionDestroysTasksThatWait) {
  auto token = std::make_shared<int>(1);
  Gate gate;
  std::optional<JoinHandle<>> handle;
  {
    Executor executor;
    handle.emplace(executor.SpawnBorrowing(
        [](std::shared_ptr<int> token, Gate& gate) -> Task<> {
          co_await gate.Wait();
          *token = 2;
        }(token, gate)));
    EXPECT_TRUE(executor.TryTick());
    EXPECT_EQ(token.use_count(), 2);
  }

  EXPECT_EQ(token.use_count(), 1);
  EXPECT_EQ(*token, 1);
  EXPECT_EQ(BlockOn(std::move(*handle).Outcome()).code(),
            absl::StatusCode::kCancelled);
  gate.Open();  // its wakers outlive the executor
}

TEST(ExecutorTest, DestructionDestroysTasksThatNeverRan) {
  auto token = std::make_shared<int>(1);
  std::optional<JoinHandle<>> handle;
  {
    Executor executor;
    handle.emplace(executor.Spawn([token]() -> Task<> { co_return; }));
  }

  EXPECT_EQ(token.use_count(), 1);
  EXPECT_EQ(BlockOn(std::move(*handle).Outcome()).code(),
            absl::StatusCode::kCancelled);
}

TEST(ExecutorDeathTest, ATasksDestructorCannotCloseIt) {
  struct Closer {
    Executor* executor;
    ~Closer() { executor->Close(); }
  };
  EXPECT_DEATH(
      {
        Executor executor;
        executor
            .Spawn([closer = std::make_shared<Closer>(&executor)]() -> Task<> {
              static_cast<void>(closer);
              co_return;
            })
            .Detach();
        executor.Close();
      },
      "destructor of one of its tasks");
}

// ---- Drive ----

TEST(ExecutorDriveTest, NestsOneExecutorInAnother) {
  Executor outer;
  Executor inner;
  JoinHandle<int> task = inner.Spawn(Return(5));

  EXPECT_EQ(outer.Run(inner.Drive(AddOne(std::move(task)))), 6);
}

Task<Spawner*> CurrentSpawner() { co_return Environment::Current().spawner; }

TEST(ExecutorDriveTest, MakesItsExecutorTheCurrentOne) {
  Executor outer;
  Executor inner;
  EXPECT_EQ(outer.Run(inner.Drive(CurrentSpawner())), &inner.spawner());
  EXPECT_EQ(BlockOn(inner.Drive(CurrentSpawner())), &inner.spawner());
  EXPECT_EQ(outer.Run(CurrentSpawner()), &outer.spawner());
  EXPECT_EQ(outer.Run(inner.Drive(inner.Spawn(CurrentSpawner()))),
            &inner.spawner());
}

TEST(ExecutorDriveTest, WakesForWhatComesLater) {
  Executor inner;
  std::optional<JoinHandle<int>> handle;
  Gate gate;
  std::thread later([&] {
    handle.emplace(inner.Spawn(Return(9)));
    gate.Open();
  });
  BlockOn(inner.Drive(gate.Wait()));
  later.join();
  EXPECT_EQ(BlockOn(inner.Drive(*std::move(handle))), 9);
}

TEST(ExecutorDriveTest, LetsTheOuterExecutorRunBetween) {
  Executor outer;
  Executor inner;
  bool stop = false;
  JoinHandle<void> busy = inner.SpawnBorrowing([](bool& stop) -> Task<> {
    while (!stop) co_await YieldNow();
  }(stop));
  JoinHandle<void> other = outer.SpawnBorrowing([](bool& stop) -> Task<> {
    for (int i = 0; i < 3; ++i) co_await YieldNow();
    stop = true;
  }(stop));

  outer.Run(inner.Drive(std::move(busy)));
  EXPECT_TRUE(other.IsFinished());
}

TEST(ExecutorDriveTest, DroppedAtEveryPollItPassesItsWakeOn) {
  Executor inner;
  std::optional<JoinHandle<int>> task;
  {
    CountingWaker waker;
    Context cx(waker.waker());
    Gate never;
    auto dropped = inner.Drive(never.Wait());
    EXPECT_TRUE(dropped.Poll(cx).IsPending());
    task.emplace(inner.Spawn(Return(2)));  // wakes the one that goes
  }
  EXPECT_EQ(BlockOn(inner.Drive(*std::move(task))), 2);
}

// ---- SpawnMany ----

TEST(ExecutorSpawnManyTest, GivesTheHandlesInOrder) {
  Executor executor;
  std::vector<Task<int>> tasks;
  for (int i = 0; i < 1000; ++i) tasks.push_back(Return(i));
  std::vector<JoinHandle<int>> handles = executor.SpawnMany(tasks);
  ASSERT_EQ(handles.size(), 1000u);
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(executor.Run(std::move(handles[i])), i);
  }
  EXPECT_TRUE(executor.IsEmpty());
}

// More than a runner's queue takes.
TEST(ExecutorSpawnManyTest, WorksInsideATask) {
  Executor executor;
  const int sum = executor.Run([](Executor& executor) -> Task<int> {
    std::vector<Task<int>> tasks;
    for (int i = 0; i < 1000; ++i) tasks.push_back(Return(1));
    std::vector<JoinHandle<int>> handles = executor.SpawnMany(tasks);
    int sum = 0;
    for (JoinHandle<int>& handle : handles) sum += co_await handle;
    co_return sum;
  }(executor));
  EXPECT_EQ(sum, 1000);
}

// Each task waits for all the others: nobody may be left asleep.
TEST(ExecutorSpawnManyTest, WakesAsManyRunnersAsThereIsWorkFor) {
  constexpr int kRunners = 4;
  Executor executor;
  Runners runners(executor, kRunners);
  for (int round = 0; round < 50; ++round) {
    SpinUntil([&] { return executor.Stats().parked == kRunners; });
    auto started = std::make_shared<std::atomic<int>>(0);
    std::vector<Task<>> tasks;
    for (int i = 0; i < kRunners; ++i) {
      tasks.push_back([](std::shared_ptr<std::atomic<int>> started) -> Task<> {
        started->fetch_add(1);
        SpinUntil([&] { return started->load() == kRunners; });
        co_return;
      }(started));
    }
    for (JoinHandle<void>& handle : executor.SpawnMany(tasks)) {
      BlockOn(std::move(handle));
    }
  }
}

TEST(ExecutorSpawnManyTest, AnEmptyRangeIsNothing) {
  Executor executor;
  EXPECT_TRUE(executor.SpawnMany(std::vector<Task<int>>()).empty());
  EXPECT_TRUE(executor.IsEmpty());
}

}  // namespace
}  // namespace weft
