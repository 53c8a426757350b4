// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/task/task.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "weft/task/context.h"
#include "weft/task/counting_waker.h"
#include "weft/task/drop_at_every_poll.h"
#include "weft/task/future.h"
#include "weft/task/live_counter.h"
#include "weft/task/polled.h"
#include "weft/task/ready.h"
#include "weft/task/status_matchers.h"
#include "weft/task/waker.h"
#include "weft/task/yield_now.h"
#include "weft/tests/kit/signal.h"

namespace weft {
namespace {

static_assert(Future<Task<>>);
static_assert(Future<Task<int&>>);
static_assert(kMovableAfterPoll<Task<>>);
static_assert(!std::is_copy_constructible_v<Task<>>);

// Polls once with a waker that does nothing.
template <class F>
auto PollOnceBare(F& future) {
  Context cx(NoopWaker());
  return future.Poll(cx);
}

Task<int> Return(int value) { co_return value; }
Task<int> WaitOn(Signal* signal) { co_return co_await signal->Wait(); }
Task<> Nothing() { co_return; }

TEST(TaskTest, StartsWhenFirstPolled) {
  bool started = false;
  auto run = [](bool* started) -> Task<> {
    *started = true;
    co_return;
  };
  Task<> task = run(&started);
  EXPECT_FALSE(started);

  EXPECT_TRUE(PollOnceBare(task).IsReady());
  EXPECT_TRUE(started);
}

TEST(TaskTest, GivesValuesOfEveryKind) {
  Task<int> value = Return(7);
  EXPECT_EQ(*PollOnceBare(value), 7);

  auto make_unique = []() -> Task<std::unique_ptr<int>> {
    co_return std::make_unique<int>(7);
  };
  Task<std::unique_ptr<int>> move_only = make_unique();
  EXPECT_EQ(**PollOnceBare(move_only), 7);

  int number = 1;
  auto refer = [](int* number) -> Task<int&> { co_return *number; };
  Task<int&> reference = refer(&number);
  EXPECT_EQ(&*PollOnceBare(reference), &number);

  auto convert = []() -> Task<std::string> { co_return "abc"; };
  Task<std::string> converted = convert();
  EXPECT_EQ(*PollOnceBare(converted), "abc");

  auto constant = [](const int* number) -> Task<const int&> {
    co_return *number;
  };
  Task<const int&> constant_reference = constant(&number);
  EXPECT_EQ(&*PollOnceBare(constant_reference), &number);
}

TEST(TaskTest, AwaitsValuesOfEveryKind) {
  int number = 1;
  static constexpr auto refer = [](int* number) -> Task<int&> {
    co_await YieldNow();
    co_return *number;
  };
  auto outer = [](int* number) -> Task<bool> {
    co_await Nothing();
    const int seven = co_await Return(7);
    int& same = co_await refer(number);
    std::unique_ptr<int> owned = co_await Ready(std::make_unique<int>(3));
    co_return seven == 7 && &same == number && *owned == 3;
  };
  Task<bool> task = outer(&number);

  EXPECT_TRUE(PollOnceBare(task).IsPending());
  EXPECT_TRUE(*PollOnceBare(task));
}

TEST(TaskTest, AReferenceOutputOfAFutureStaysAReference) {
  int number = 1;
  auto outer = [](int* number) -> Task<int*> {
    auto refer = PollFn([number](Context&) { return Polled<int&>(*number); });
    int& same = co_await refer;
    co_return &same;
  };
  Task<int*> task = outer(&number);

  EXPECT_EQ(*PollOnceBare(task), &number);
}

TEST(TaskTest, WaitsForALeafWithTheContextsWaker) {
  CountingWaker waker;
  Context cx(waker.waker());
  Signal signal;
  Task<int> task = WaitOn(&signal);

  EXPECT_TRUE(task.Poll(cx).IsPending());
  EXPECT_EQ(waker.outstanding(), 1);

  signal.Set(7);
  EXPECT_EQ(waker.wakes(), 1);
  EXPECT_EQ(*task.Poll(cx), 7);
  EXPECT_EQ(waker.outstanding(), 0);
}

TEST(TaskTest, SpuriousPollsAreHarmlessAndReplaceTheWaker) {
  CountingWaker a;
  CountingWaker b;
  Context first(a.waker());
  Context second(b.waker());
  Signal signal;
  Task<int> task = WaitOn(&signal);

  EXPECT_TRUE(task.Poll(first).IsPending());
  EXPECT_TRUE(task.Poll(first).IsPending());
  EXPECT_EQ(a.clones(), 1);
  EXPECT_TRUE(task.Poll(second).IsPending());
  EXPECT_EQ(a.outstanding(), 0);

  signal.Set();
  EXPECT_EQ(a.wakes(), 0);
  EXPECT_EQ(b.wakes(), 1);
}

TEST(TaskTest, MovesBetweenPolls) {
  Signal signal;
  Task<int> task = WaitOn(&signal);
  EXPECT_TRUE(PollOnceBare(task).IsPending());

  Task<int> moved = std::move(task);
  EXPECT_TRUE(PollOnceBare(moved).IsPending());
  signal.Set(7);

  EXPECT_EQ(*PollOnceBare(moved), 7);
}

TEST(TaskTest, LivesInContainers) {
  Signal signals[3];
  std::vector<Task<int>> tasks;
  for (Signal& signal : signals) {
    tasks.push_back(WaitOn(&signal));
    EXPECT_TRUE(PollOnceBare(tasks.back()).IsPending());
  }
  std::map<int, Task<int>> by_number;
  for (int i = 2; i >= 0; --i) {
    by_number.emplace(i, std::move(tasks.back()));
    tasks.pop_back();
  }
  by_number.erase(1);
  EXPECT_FALSE(signals[1].HasWaiter());

  signals[2].Set(2);
  signals[0].Set(0);

  EXPECT_EQ(*PollOnceBare(by_number.at(2)), 2);
  EXPECT_EQ(*PollOnceBare(by_number.at(0)), 0);
}

TEST(TaskTest, AssignmentDropsWhatWasThere) {
  LiveCounter counter;
  auto hold = [](LiveCounter::Object) -> Task<> { co_await Pending(); };
  Task<> task = hold(counter.Make());
  EXPECT_TRUE(PollOnceBare(task).IsPending());

  task = hold(counter.Make());

  EXPECT_EQ(counter.live(), 1);
  EXPECT_TRUE(PollOnceBare(task).IsPending());
}

// Every pending leaf of the chain is polled directly.
Task<int> Nest(int depth, Signal* signal) {
  if (depth == 0) {
    const int first = co_await signal->Wait();
    signal->Reset();
    co_return first + co_await signal->Wait();
  }
  co_return co_await Nest(depth - 1, signal);
}

class TaskDepthTest : public testing::TestWithParam<int> {};

TEST_P(TaskDepthTest, AWakeCostsOneLeafPoll) {
  CountingWaker waker;
  Context cx(waker.waker());
  Signal signal;
  Task<int> task = Nest(GetParam(), &signal);

  EXPECT_TRUE(task.Poll(cx).IsPending());
  EXPECT_EQ(signal.polls(), 1);
  EXPECT_TRUE(task.Poll(cx).IsPending());
  EXPECT_EQ(signal.polls(), 2);

  signal.Set(3);
  EXPECT_TRUE(task.Poll(cx).IsPending());
  EXPECT_EQ(signal.polls(), 2 + 2);  // ready, and the next wait

  signal.Set(4);
  EXPECT_EQ(*task.Poll(cx), 7);
  EXPECT_EQ(signal.polls(), 5);
  EXPECT_EQ(waker.wakes(), 2);
}

INSTANTIATE_TEST_SUITE_P(Depths, TaskDepthTest,
                         testing::Values(0, 1, 100, 10'000));

// The number of polls is the same whoever compiled this.
TEST(TaskTest, PollCountsAreExact) {
  Signal signal;
  static constexpr auto inner = [](Signal* signal) -> Task<int> {
    co_await YieldNow();
    co_await Ready();
    const int value = co_await signal->Wait();
    co_await YieldNow();
    co_return value;
  };
  auto outer = [](Signal* signal) -> Task<int> {
    Task<int> named = inner(signal);
    const int a = co_await named;
    const int b = co_await inner(signal);
    const bool both = a == 7 && b == 7;
    if (both) co_await YieldNow();
    co_return a + b;
  };
  CountingWaker waker;
  Context cx(waker.waker());
  Task<int> task = outer(&signal);
  int polls = 0;
  std::optional<int> result;
  while (!result.has_value()) {
    ++polls;
    Polled<int> polled = task.Poll(cx);
    if (polled.IsReady()) {
      result = *polled;
    } else if (waker.TakeWakes() == 0) {
      signal.Set(7);
    }
  }

  EXPECT_EQ(*result, 14);
  // yield, wait, yield for the first; yield, (set), yield for the second; one
  // more yield; the end.
  EXPECT_EQ(polls, 3 + 2 + 1 + 1);
  EXPECT_EQ(signal.polls(), 2 + 1);
}

// g++ awaits the operand of && even where it must not; a plain if does not.
TEST(TaskTest, ABranchNotTakenIsNotAwaited) {
  auto task = [](bool open, Signal* signal) -> Task<int> {
    if (open) co_await signal->Wait();
    co_return 1;
  };
  Signal signal;
  Task<int> closed = task(false, &signal);

  EXPECT_EQ(*PollOnceBare(closed), 1);
  EXPECT_EQ(signal.polls(), 0);
}

TEST(TaskTest, TheContextReachesTheLeaf) {
  Environment environment;
  Budget budget(5);
  Context cx(NoopWaker(), &budget, &environment);
  static constexpr auto inner =
      []() -> Task<std::pair<const Environment*, Budget*>> {
    auto look = PollFn([](Context& cx) {
      return Polled(std::pair<const Environment*, Budget*>(&cx.environment(),
                                                           cx.budget()));
    });
    co_return co_await look;
  };
  auto outer = []() -> Task<std::pair<const Environment*, Budget*>> {
    co_await YieldNow();
    co_return co_await inner();
  };
  auto task = outer();

  EXPECT_TRUE(task.Poll(cx).IsPending());
  const auto seen = *task.Poll(cx);
  EXPECT_EQ(seen.first, &environment);
  EXPECT_EQ(seen.second, &budget);
}

// ---- A task that is polled, left pending, and awaited later ----

// Polls `task` as a branch that loses would be: once, in a coroutine.
Task<bool> PollAsBranch(Task<int>* task) {
  const std::optional<int> early = co_await PollOnce(*task);
  co_return early.has_value();
}

TEST(TaskTest, PolledThenAwaitedAsAnLvalue) {
  CountingWaker waker;
  Context cx(waker.waker());
  Signal signal;
  auto outer = [](Signal* signal) -> Task<int> {
    Task<int> task = Nest(3, signal);
    const bool early = co_await PollAsBranch(&task);
    if (early) co_return -1;
    Task<int> moved = std::move(task);
    co_return co_await moved;
  };
  Task<int> root = outer(&signal);

  EXPECT_TRUE(root.Poll(cx).IsPending());
  EXPECT_EQ(signal.polls(), 2);  // as a branch, then awaited
  signal.Set(3);
  EXPECT_TRUE(root.Poll(cx).IsPending());
  signal.Set(4);
  EXPECT_EQ(*root.Poll(cx), 7);
  EXPECT_EQ(signal.polls(), 5);
}

TEST(TaskTest, PolledThenAwaitedAsAnRvalue) {
  CountingWaker waker;
  Context cx(waker.waker());
  Signal signal;
  auto outer = [](Signal* signal) -> Task<int> {
    Task<int> task = Nest(3, signal);
    const bool early = co_await PollAsBranch(&task);
    if (early) co_return -1;
    Task<int> moved = std::move(task);
    co_return co_await std::move(moved);
  };
  Task<int> root = outer(&signal);

  EXPECT_TRUE(root.Poll(cx).IsPending());
  EXPECT_EQ(signal.polls(), 2);
  signal.Set(3);
  EXPECT_TRUE(root.Poll(cx).IsPending());
  signal.Set(4);
  EXPECT_EQ(*root.Poll(cx), 7);
  EXPECT_EQ(signal.polls(), 5);
}

// The other task's waker is not used any more, whichever way it is awaited.
class TaskHandOverTest : public testing::TestWithParam<bool> {};

TEST_P(TaskHandOverTest, TheNewAwaiterIsWoken) {
  const bool as_rvalue = GetParam();
  CountingWaker a;
  CountingWaker b;
  Context in_a(a.waker());
  Context in_b(b.waker());
  Signal signal;
  std::optional<Task<int>> handed_over;
  auto first = [](Signal* signal, std::optional<Task<int>>* out) -> Task<> {
    Task<int> task = WaitOn(signal);
    co_await PollAsBranch(&task);
    out->emplace(std::move(task));
    co_await Pending();
  };
  auto second = [](std::optional<Task<int>>* in, bool as_rvalue) -> Task<int> {
    if (as_rvalue) co_return co_await *std::move(*in);
    co_return co_await **in;
  };
  Task<> task_a = first(&signal, &handed_over);
  EXPECT_TRUE(task_a.Poll(in_a).IsPending());
  EXPECT_EQ(a.outstanding(), 1);

  Task<int> task_b = second(&handed_over, as_rvalue);
  EXPECT_TRUE(task_b.Poll(in_b).IsPending());
  EXPECT_EQ(a.outstanding(), 0);
  signal.Set(7);

  EXPECT_EQ(a.wakes(), 0);
  EXPECT_EQ(b.wakes(), 1);
  EXPECT_EQ(*task_b.Poll(in_b), 7);
}

INSTANTIATE_TEST_SUITE_P(Ways, TaskHandOverTest, testing::Bool());

TEST(TaskTest, AnAdoptedTaskThatIsReadyAtOnceGoesOn) {
  Signal signal;
  auto outer = [](Signal* signal) -> Task<int> {
    Task<int> task = WaitOn(signal);
    co_await PollAsBranch(&task);
    signal->Set(7);  // nobody is told
    co_return co_await std::move(task);
  };
  Task<int> root = outer(&signal);

  EXPECT_EQ(*PollOnceBare(root), 7);
}

// Adopted twice: first into one chain, which is itself adopted into another.
TEST(TaskTest, AdoptionNests) {
  Signal signal;
  static constexpr auto middle = [](Signal* signal) -> Task<int> {
    Task<int> task = Nest(5, signal);
    co_await PollAsBranch(&task);
    co_return 1 + co_await std::move(task);
  };
  auto outer = [](Signal* signal) -> Task<int> {
    Task<int> task = middle(signal);
    co_await PollAsBranch(&task);
    co_return 1 + co_await std::move(task);
  };
  for (const bool to_the_end : {true, false}) {
    Task<int> root = outer(&signal);
    EXPECT_TRUE(PollOnceBare(root).IsPending());
    if (!to_the_end) continue;
    signal.Set(3);
    EXPECT_TRUE(PollOnceBare(root).IsPending());
    signal.Set(4);
    EXPECT_EQ(*PollOnceBare(root), 9);
    signal.Reset();
  }
  EXPECT_FALSE(signal.HasWaiter());
}

// ---- Dropping ----

Task<> Hold(LiveCounter::Object object, int depth, Signal* signal) {
  const LiveCounter::Object local = object;
  if (depth != 0) {
    co_await Hold(object, depth - 1, signal);
  } else {
    co_await signal->Wait();
  }
}

TEST(TaskTest, DroppedBeforeItStartsDestroysItsParameters) {
  LiveCounter counter;
  {
    const Task<> task = Hold(counter.Make(), 0, nullptr);
  }
  EXPECT_EQ(counter.live(), 0);
}

TEST(TaskTest, DroppedMidwayDestroysEveryFrame) {
  LiveCounter counter;
  Signal signal;
  {
    Task<> task = Hold(counter.Make(), 5, &signal);
    EXPECT_TRUE(PollOnceBare(task).IsPending());
    EXPECT_GE(counter.live(), 6 * 2);
  }
  EXPECT_EQ(counter.live(), 0);
  EXPECT_FALSE(signal.HasWaiter());
}

// Innermost first: a child's locals may refer to its parent's.
TEST(TaskTest, IsDestroyedInnermostFirst) {
  std::vector<int> log;
  struct Logs {
    ~Logs() { log->push_back(level); }
    std::vector<int>* log;
    int level;
  };
  // weft-lint: allow(R4): the function outlives its tasks
  std::function<Task<>(int)> nest = [&](int level) -> Task<> {
    const Logs logs{&log, level};
    if (level == 3) {
      co_await Pending();
    } else {
      co_await nest(level + 1);
    }
  };
  {
    Task<> task = nest(0);
    EXPECT_TRUE(PollOnceBare(task).IsPending());
  }
  EXPECT_EQ(log, (std::vector<int>{3, 2, 1, 0}));
}

TEST(TaskTest, DroppedAtEveryPollLeaksNothing) {
  LiveCounter counter;
  Signal signal;
  static constexpr auto leaf = [](LiveCounter::Object object,
                                  Signal* signal) -> Task<int> {
    const LiveCounter::Object copy = object;
    co_await YieldNow();
    co_return co_await signal->Wait();
  };
  auto outer = [](LiveCounter::Object object, Signal* signal) -> Task<int> {
    int sum = co_await leaf(object, signal);
    Task<int> polled_before = leaf(object, signal);
    co_await PollAsBranch(&polled_before);
    sum += co_await std::move(polled_before);
    Task<int> named = leaf(object, signal);
    co_await PollAsBranch(&named);
    sum += co_await named;
    co_return sum;
  };
  auto factory = [&] {
    signal.Reset();
    return outer(counter.Make(), &signal);
  };
  auto step = [&] {
    signal.Set(1);
    return true;
  };

  // yield, wait; then each of the others has one yield left.
  EXPECT_THAT(
      DropAtEveryPoll(factory,
                      {.step = step, .live = [&] { return counter.live(); }}),
      IsOkAndHolds(3));
}

// A destructor in the frame may poll and drop other tasks.
TEST(TaskTest, ADestructorMayRunAnotherTask) {
  Signal signal;
  int ran = 0;
  struct RunsATask {
    ~RunsATask() {
      auto child = [](int* ran) -> Task<> {
        ++*ran;
        co_await Pending();
      };
      Task<> task = child(ran);
      EXPECT_TRUE(PollOnceBare(task).IsPending());
    }
    int* ran;
  };
  auto outer = [](Signal* signal, int* ran) -> Task<> {
    const RunsATask at_end{ran};
    co_await signal->Wait();
  };
  {
    Task<> dropped = outer(&signal, &ran);
    EXPECT_TRUE(PollOnceBare(dropped).IsPending());
  }
  EXPECT_EQ(ran, 1);
  Task<> finished = outer(&signal, &ran);
  EXPECT_TRUE(PollOnceBare(finished).IsPending());
  signal.Set();
  EXPECT_TRUE(PollOnceBare(finished).IsReady());
  EXPECT_EQ(ran, 2);
}

// One task may poll another by hand, at any depth.
TEST(TaskTest, ATaskMayPollAnother) {
  Signal signal;
  static constexpr auto poller = [](Signal* signal) -> Task<int> {
    Task<int> inner = Nest(2, signal);
    auto by_hand = PollFn([&inner](Context& cx) { return inner.Poll(cx); });
    co_return co_await by_hand;
  };
  auto outer = [](Signal* signal) -> Task<int> {
    co_return co_await poller(signal);
  };
  Task<int> task = outer(&signal);

  EXPECT_TRUE(PollOnceBare(task).IsPending());
  signal.Set(3);
  EXPECT_TRUE(PollOnceBare(task).IsPending());
  signal.Set(4);
  EXPECT_EQ(*PollOnceBare(task), 7);
}

// A pending leaf that the task's own next step destroys.
TEST(TaskTest, ATaskMayHoldAndDropPolledTasks) {
  LiveCounter counter;
  Signal signal;
  auto outer = [](LiveCounter::Object object, Signal* signal) -> Task<> {
    std::vector<Task<>> tasks;
    for (int i = 0; i < 10; ++i) tasks.push_back(Hold(object, i, signal));
    for (Task<>& task : tasks) {
      co_await PollOnce(task);
    }
    tasks.clear();
    co_await YieldNow();
  };
  {
    Task<> task = outer(counter.Make(), &signal);
    EXPECT_TRUE(PollOnceBare(task).IsPending());
    EXPECT_EQ(counter.live(), 1);
    EXPECT_TRUE(PollOnceBare(task).IsReady());
  }
  EXPECT_EQ(counter.live(), 0);
}

// ---- A caller's mistakes ----

TEST(TaskDeathTest, IsNotPolledAfterItWasReady) {
  Task<int> task = Return(7);
  EXPECT_EQ(*PollOnceBare(task), 7);

  EXPECT_DEATH(static_cast<void>(PollOnceBare(task)),
               "polled after it was ready");
}

TEST(TaskDeathTest, IsNotAwaitedAfterItWasReady) {
  auto outer = []() -> Task<int> {
    Task<int> task = Return(7);
    static_cast<void>(co_await PollOnce(task));
    co_return co_await std::move(task);
  };
  Task<int> root = outer();

  EXPECT_DEATH(static_cast<void>(PollOnceBare(root)),
               "awaited after it was ready");
}

TEST(TaskDeathTest, IsNotPolledOrAwaitedAfterAMove) {
  Task<int> task = Return(7);
  const Task<int> moved = std::move(task);
  auto outer = [](Task<int>* task) -> Task<int> {
    co_return co_await std::move(*task);
  };
  Task<int> root = outer(&task);

  EXPECT_DEATH(static_cast<void>(PollOnceBare(task)), "was moved from");
  EXPECT_DEATH(static_cast<void>(PollOnceBare(root)), "was moved from");
}

TEST(TaskDeathTest, DoesNotPollItself) {
  std::optional<Task<int>> self;
  auto run = [](std::optional<Task<int>>* self) -> Task<int> {
    co_return co_await **self;
  };
  self.emplace(run(&self));

  EXPECT_DEATH(static_cast<void>(PollOnceBare(*self)),
               "polled from inside its own poll");
}

TEST(TaskDeathTest, DoesNotAwaitItselfAway) {
  std::optional<Task<int>> self;
  auto run = [](std::optional<Task<int>>* self) -> Task<int> {
    co_return co_await *std::move(*self);
  };
  self.emplace(run(&self));

  EXPECT_DEATH(static_cast<void>(PollOnceBare(*self)), "awaited itself");
}

TEST(TaskDeathTest, DoesNotDestroyItself) {
  std::optional<Task<int>> self;
  auto run = [](std::optional<Task<int>>* self) -> Task<int> {
    self->reset();
    co_return 1;
  };
  self.emplace(run(&self));

  EXPECT_DEATH(static_cast<void>(PollOnceBare(*self)),
               "destroyed from inside its own poll");
}

}  // namespace
}  // namespace weft
