// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// weft-lint: allow-file(R22): the tests' tasks end before what they refer to.

#include "weft/executor/executor_hooks.h"

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "weft/executor/executor.h"
#include "weft/executor/local_executor.h"
#include "weft/sync/event.h"
#include "weft/task/abort_handle.h"
#include "weft/task/await_trace.h"
#include "weft/task/block_on.h"
#include "weft/task/context.h"
#include "weft/task/current_task.h"
#include "weft/task/join_handle.h"
#include "weft/task/polled.h"
#include "weft/task/ready.h"
#include "weft/task/spawn_builder.h"
#include "weft/task/spawner.h"
#include "weft/task/task.h"
#include "weft/task/task_cell.h"
#include "weft/task/task_id.h"
#include "weft/task/task_info.h"
#include "weft/task/waker.h"
#include "weft/task/yield_now.h"
#include "weft/tests/kit/signal.h"

namespace weft {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Writes down what it is told of.
class Log {
 public:
  ExecutorHooks Hooks() {
    return {
        .on_spawn = [this](const HookedTask& t) { Add("spawn", t); },
        .before_poll = [this](const HookedTask& t) { Add("before", t); },
        .after_poll = [this](const HookedTask& t) { Add("after", t); },
        .on_end =
            [this](const HookedTask& t, TaskEnd end) {
              Add("end " + std::string(TaskEndName(end)), t);
            },
        .on_forgotten =
            [this](const TaskInfo& t) {
              const std::string_view at =
                  ShortFunctionName(t.awaits.at(0).at.function_name());
              AddLine("forgotten " + t.name + " in " + std::string(at));
            },
    };
  }

  // What was written since the last call.
  std::vector<std::string> Take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(lines_, {});
  }

  void Add(std::string what, const HookedTask& task) {
    AddLine(std::move(what.append(" ").append(task.name)));
  }
  void AddLine(std::string line) {
    const std::lock_guard lock(mutex_);
    lines_.push_back(std::move(line));
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> lines_;
};

Task<> YieldOnce() { co_await YieldNow(); }
Task<> WaitForever() { co_await Pending(); }
Task<> WaitWith(std::shared_ptr<Waker> waker) {
  auto poll = [waker](Context& cx) -> Polled<void> {
    *waker = cx.waker();
    return kPending;
  };
  co_await PollFn(std::move(poll));
}

template <class AnyExecutor>
class ExecutorHooksTest : public testing::Test {
 protected:
  ExecutorHooksTest() { executor_->SetHooks(log_.Hooks()); }

  template <class F>
  auto Spawn(const char* name, F future_or_fn) {
    return SpawnBuilder()
        .Name(name)
        .On(executor_->spawner())
        .Spawn(std::move(future_or_fn));
  }
  void RunUntilIdle() {
    while (executor_->TryTick()) {
    }
  }

  Log log_;
  std::optional<AnyExecutor> executor_{std::in_place};
};

using Executors = testing::Types<Executor, LocalExecutor>;
TYPED_TEST_SUITE(ExecutorHooksTest, Executors);

TYPED_TEST(ExecutorHooksTest, ATaskIsToldOfFromItsSpawnToItsEnd) {
  auto handle = this->Spawn("a", YieldOnce());
  EXPECT_THAT(this->log_.Take(), ElementsAre("spawn a"));
  this->executor_->Run(std::move(handle));
  EXPECT_THAT(this->log_.Take(), ElementsAre("before a", "after a", "before a",
                                             "after a", "end finished a"));
}

TYPED_TEST(ExecutorHooksTest, OneThatNeverSuspendsEndsAfterItsPoll) {
  auto handle = this->Spawn("a", Ready(7));
  EXPECT_EQ(this->executor_->Run(std::move(handle)), 7);
  EXPECT_THAT(this->log_.Take(),
              ElementsAre("spawn a", "before a", "after a", "end finished a"));
}

TYPED_TEST(ExecutorHooksTest, ADetachedOneIsToldOfLikeAnyOther) {
  this->Spawn("a", YieldOnce()).Detach();
  this->RunUntilIdle();
  EXPECT_THAT(this->log_.Take(),
              ElementsAre("spawn a", "before a", "after a", "before a",
                          "after a", "end finished a"));
}

TYPED_TEST(ExecutorHooksTest, OneWhoseHandleIsDroppedEndsWithoutAPoll) {
  auto handle = std::make_optional(this->Spawn("a", WaitForever()));
  this->RunUntilIdle();
  EXPECT_THAT(this->log_.Take(), ElementsAre("spawn a", "before a", "after a"));
  handle.reset();
  this->RunUntilIdle();
  EXPECT_THAT(this->log_.Take(), ElementsAre("end cancelled a"));
}

TYPED_TEST(ExecutorHooksTest, AnAbortedOneIsCancelled) {
  auto handle = this->Spawn("a", WaitForever());
  this->RunUntilIdle();
  handle.MakeAbortHandle().Abort();
  this->RunUntilIdle();
  EXPECT_THAT(this->log_.Take(),
              ElementsAre("spawn a", "before a", "after a", "end cancelled a"));
}

TYPED_TEST(ExecutorHooksTest, OneThatIsCancelledInItsPollEndsAfterIt) {
  std::optional<JoinHandle<>> handle;
  auto cancel = [&handle](Context&) -> Polled<void> {
    handle.reset();
    return kPending;
  };
  handle = this->Spawn("a", PollFn(cancel));
  this->RunUntilIdle();
  EXPECT_THAT(this->log_.Take(),
              ElementsAre("spawn a", "before a", "after a", "end cancelled a"));
}

TYPED_TEST(ExecutorHooksTest, OneThatWasNeverPolledEndsAllTheSame) {
  {
    auto dropped = this->Spawn("a", YieldOnce());
  }
  this->RunUntilIdle();
  EXPECT_THAT(this->log_.Take(), ElementsAre("spawn a", "end cancelled a"));
  auto closed = this->Spawn("b", YieldOnce());
  EXPECT_EQ(this->executor_->Close(), 1u);
  EXPECT_THAT(this->log_.Take(), ElementsAre("spawn b", "end cancelled b"));
}

// Nobody has its waker when it suspends; nobody has it any more; nobody has the
// handle of one that has been so for long.
TYPED_TEST(ExecutorHooksTest, OneThatNobodyCanWakeIsForgotten) {
  this->Spawn("a", WaitForever()).Detach();
  this->RunUntilIdle();
  EXPECT_THAT(this->log_.Take(),
              ElementsAre("spawn a", "before a", "after a",
                          "forgotten a in WaitForever", "end forgotten a"));
  auto waker = std::make_shared<Waker>();
  this->Spawn("b", WaitWith(waker)).Detach();
  this->RunUntilIdle();
  EXPECT_THAT(this->log_.Take(), ElementsAre("spawn b", "before b", "after b"));
  *waker = Waker();
  this->RunUntilIdle();
  EXPECT_THAT(this->log_.Take(),
              ElementsAre("forgotten b in WaitWith", "end forgotten b"));
  auto handle = this->Spawn("c", WaitForever());
  this->RunUntilIdle();
  EXPECT_THAT(this->log_.Take(), ElementsAre("spawn c", "before c", "after c"));
  std::move(handle).Detach();
  this->RunUntilIdle();
  EXPECT_THAT(this->log_.Take(),
              ElementsAre("forgotten c in WaitForever", "end forgotten c"));
}

TYPED_TEST(ExecutorHooksTest, OneThatWasCancelledIsNotForgotten) {
  auto handle = this->Spawn("a", WaitForever());
  this->RunUntilIdle();
  AbortHandle abort = handle.MakeAbortHandle();
  abort.Abort();
  std::move(handle).Detach();
  this->RunUntilIdle();
  EXPECT_THAT(this->log_.Take(),
              ElementsAre("spawn a", "before a", "after a", "end cancelled a"));
}

TYPED_TEST(ExecutorHooksTest, TheEndOfTheExecutorEndsItsTasks) {
  Signal signal;  // keeps the task
  this->Spawn("a", signal.Wait()).Detach();
  this->RunUntilIdle();
  EXPECT_THAT(this->log_.Take(), ElementsAre("spawn a", "before a", "after a"));
  this->executor_.reset();
  EXPECT_THAT(this->log_.Take(), ElementsAre("end cancelled a"));
}

TYPED_TEST(ExecutorHooksTest, WhatIsSpawnedOnAClosedOneEndsAtOnce) {
  this->executor_->Close();
  auto handle = this->Spawn("a", YieldOnce());
  EXPECT_THAT(this->log_.Take(), ElementsAre("spawn a", "end cancelled a"));
}

TYPED_TEST(ExecutorHooksTest, EachOfManyIsToldOf) {
  std::vector<Task<>> tasks;
  for (int i = 0; i < 3; ++i) tasks.push_back(YieldOnce());
  auto handles = this->executor_->SpawnMany(std::move(tasks));
  EXPECT_THAT(this->log_.Take(), ElementsAre("spawn ", "spawn ", "spawn "));
  this->RunUntilIdle();
  EXPECT_EQ(this->log_.Take().size(), 3u * 5);
}

TYPED_TEST(ExecutorHooksTest, NothingIsLeftForTheNextExecutor) {
  this->executor_.reset();
  TypeParam next;  // may have the same core
  auto handle = next.Spawn(YieldOnce());
  next.Run(std::move(handle));
  EXPECT_THAT(this->log_.Take(), IsEmpty());
}

// ---- Ids, names, and the current task ----

TYPED_TEST(ExecutorHooksTest, EveryHookKnowsWhereTheTaskWasSpawned) {
  std::vector<uint32_t> lines;
  const auto note = [&lines](const HookedTask& task) {
    lines.push_back(task.spawned_at.line());
  };
  TypeParam executor;
  executor.SetHooks(
      {.on_spawn = note,
       .before_poll = note,
       .after_poll = note,
       .on_end = [note](const HookedTask& task, TaskEnd) { note(task); }});
  const uint32_t line = __LINE__ + 1;
  auto handle = executor.Spawn(Ready(1));
  executor.Run(std::move(handle));
  EXPECT_THAT(lines, ElementsAre(line, line, line, line));
}

TYPED_TEST(ExecutorHooksTest, EveryHookKnowsTheId) {
  std::vector<TaskId> ids;
  const auto note = [&ids](const HookedTask& task) { ids.push_back(task.id); };
  TypeParam executor;
  executor.SetHooks(
      {.on_spawn = note,
       .before_poll = note,
       .after_poll = note,
       .on_end = [note](const HookedTask& task, TaskEnd) { note(task); }});
  auto handle = executor.Spawn(Ready(1));
  const TaskId id = handle.id();
  executor.Run(std::move(handle));
  EXPECT_THAT(ids, ElementsAre(id, id, id, id));
}

TYPED_TEST(ExecutorHooksTest, TheTaskIsTheCurrentOneExceptWhereItIsSpawned) {
  std::vector<std::string> current;
  const auto note = [&current](const HookedTask&) {
    current.emplace_back(CurrentTaskName());
  };
  TypeParam executor;
  executor.SetHooks(
      {.on_spawn = note,
       .before_poll = note,
       .after_poll = note,
       .on_end = [note](const HookedTask& task, TaskEnd) { note(task); }});
  auto child = []() -> Task<> { co_return; };
  auto parent = [child]() -> Task<> {
    JoinHandle<> handle = SpawnBuilder().Name("child").Spawn(child());
    co_await handle;
  };
  auto handle =
      SpawnBuilder().Name("parent").On(executor.spawner()).Spawn(parent);
  executor.Run(std::move(handle));
  EXPECT_THAT(current, ElementsAre("", "parent",  // until it spawns
                                   "parent",      // where the child is spawned
                                   "parent",      // which it then awaits
                                   "child", "child", "child",  //
                                   "parent", "parent", "parent"));
}

// ---- What is set, and when ----

TYPED_TEST(ExecutorHooksTest, OneThatWasSpawnedBeforeIsToldOfByNone) {
  Log log;
  TypeParam executor;
  auto before =
      SpawnBuilder().Name("before").On(executor.spawner()).Spawn(YieldOnce());
  executor.SetHooks(log.Hooks());
  auto after =
      SpawnBuilder().Name("after").On(executor.spawner()).Spawn(Ready(1));
  while (executor.TryTick()) {
  }
  EXPECT_TRUE(before.IsFinished());
  EXPECT_THAT(log.Take(), ElementsAre("spawn after", "before after",
                                      "after after", "end finished after"));
}

TYPED_TEST(ExecutorHooksTest, AnyOfThemMayBeMissing) {
  for (const bool polls : {false, true}) {
    Log log;
    ExecutorHooks hooks = log.Hooks();
    if (polls) {
      hooks.on_spawn = nullptr;
      hooks.on_end = nullptr;
      hooks.after_poll = nullptr;
    } else {
      hooks.before_poll = nullptr;
      hooks.after_poll = nullptr;
    }
    TypeParam executor;
    executor.SetHooks(std::move(hooks));
    auto handle =
        SpawnBuilder().Name("a").On(executor.spawner()).Spawn(YieldOnce());
    executor.Run(std::move(handle));
    if (polls) {
      EXPECT_THAT(log.Take(), ElementsAre("before a", "before a"));
    } else {
      EXPECT_THAT(log.Take(), ElementsAre("spawn a", "end finished a"));
    }
  }
}

TYPED_TEST(ExecutorHooksTest, SeveralExecutorsMayShareThem) {
  Log log;
  const auto hooks = std::make_shared<const ExecutorHooks>(log.Hooks());
  TypeParam first;
  TypeParam second;
  first.SetHooks(hooks);
  second.SetHooks(hooks);
  auto handle = first.Spawn(Ready(1));
  auto other = second.Spawn(Ready(2));
  EXPECT_THAT(log.Take(), ElementsAre("spawn ", "spawn "));
}

TYPED_TEST(ExecutorHooksTest, TheFutureIsGoneBeforeTheEnd) {
  std::atomic<bool> gone{false};
  bool gone_at_end = false;
  struct Guard {
    std::atomic<bool>* gone;
    ~Guard() { *gone = true; }
  };
  TypeParam executor;
  executor.SetHooks({.on_end = [&](const HookedTask&, TaskEnd) {
    gone_at_end = gone.load();
  }});
  auto work = [&gone]() -> Task<> {
    const Guard guard{&gone};
    co_await YieldNow();
  };
  executor.Run(executor.Spawn(work));
  EXPECT_TRUE(gone_at_end);
}

// ---- Threads ----

TEST(ExecutorHooksThreadTest, ALocalTaskSpawnedElsewhereIsToldOfThere) {
  std::vector<std::thread::id> spawned;
  std::vector<std::thread::id> polled;
  LocalExecutor executor;
  executor.SetHooks({
      .on_spawn =
          [&](const HookedTask&) {
            spawned.push_back(std::this_thread::get_id());
          },
      .before_poll =
          [&](const HookedTask&) {
            polled.push_back(std::this_thread::get_id());
          },
  });
  std::optional<JoinHandle<int>> handle;
  std::thread thread([&] { handle = executor.spawner().Spawn(Ready(7)); });
  const std::thread::id other = thread.get_id();
  thread.join();
  EXPECT_EQ(executor.Run(*std::move(handle)), 7);
  EXPECT_THAT(spawned, ElementsAre(other));
  EXPECT_THAT(polled, ElementsAre(std::this_thread::get_id()));
}

// What a task was told of, in order, must be one spawn, pairs of before and after,
// one end.
class OrderCheck {
 public:
  ExecutorHooks Hooks() {
    return {
        .on_spawn = [this](const HookedTask& t) { Step(t, 'n', 's'); },
        .before_poll =
            [this](const HookedTask& t) {
              Step(t, 's', 'b');
              EXPECT_EQ(CurrentTaskId(), t.id);
            },
        .after_poll = [this](const HookedTask& t) { Step(t, 'b', 's'); },
        .on_end = [this](const HookedTask& t, TaskEnd) { Step(t, 's', 'e'); },
    };
  }
  // How many tasks are over; all others are none.
  size_t CountEnded() {
    const std::lock_guard lock(mutex_);
    size_t ended = 0;
    for (const auto& [id, state] : states_) {
      EXPECT_EQ(state, 'e');
      ended += state == 'e';
    }
    return ended;
  }

 private:
  void Step(const HookedTask& task, char from, char to) {
    const std::lock_guard lock(mutex_);
    const auto [state, is_new] = states_.emplace(task.id, 'n');
    EXPECT_EQ(state->second, from);
    state->second = to;
  }

  std::mutex mutex_;
  std::map<TaskId, char> states_;
};

TEST(ExecutorHooksThreadTest, OnSeveralThreadsEachTaskIsToldOfInOrder) {
  constexpr int kRunners = 4;
  constexpr int kTasks = 500;
  OrderCheck check;
  {
    Executor executor;
    executor.SetHooks(check.Hooks());
    sync::Event stop;
    std::vector<std::thread> threads;
    for (int i = 0; i < kRunners; ++i) {
      threads.emplace_back([&] { executor.Run(stop.Wait()); });
    }
    auto work = []() -> Task<> {
      for (int i = 0; i < 3; ++i) co_await YieldNow();
    };
    std::vector<JoinHandle<>> handles;
    for (int i = 0; i < kTasks; ++i) handles.push_back(executor.Spawn(work()));
    handles.clear();  // some are cancelled, wherever they are
    for (int i = 0; i < kTasks; ++i) handles.push_back(executor.Spawn(work()));
    for (JoinHandle<>& handle : handles) BlockOn(std::move(handle));
    stop.Set();
    for (std::thread& thread : threads) thread.join();
  }
  EXPECT_EQ(check.CountEnded(), size_t{2 * kTasks});
}

// ---- Park hooks ----

template <class AnyExecutor>
class ExecutorParkHooksTest : public testing::Test {};
TYPED_TEST_SUITE(ExecutorParkHooksTest, Executors);

TYPED_TEST(ExecutorParkHooksTest, AWaitIsBetweenTheParkHooks) {
  std::atomic<int> parks{0};
  std::atomic<int> unparks{0};
  TypeParam executor;
  executor.SetHooks({.on_park =
                         [&] {
                           EXPECT_EQ(parks.load(), unparks.load());
                           ++parks;
                           parks.notify_all();
                         },
                     .on_unpark =
                         [&] {
                           ++unparks;
                           EXPECT_EQ(parks.load(), unparks.load());
                         }});
  Signal signal;
  std::thread thread([&] {
    parks.wait(0);
    signal.Set(7);
  });
  EXPECT_EQ(executor.Run(signal.Wait()), 7);
  thread.join();
  EXPECT_GE(parks.load(), 1);
  EXPECT_EQ(parks.load(), unparks.load());
}

TYPED_TEST(ExecutorParkHooksTest, ALookIsNoWait) {
  int parks = 0;
  TypeParam executor;
  executor.SetHooks({.on_park = [&parks] { ++parks; }});
  auto yield_often = []() -> Task<> {
    for (int i = 0; i < 1'000; ++i) co_await YieldNow();
  };
  executor.Run(executor.Spawn(yield_often()));
  EXPECT_EQ(parks, 0);
}

// ---- Deaths ----

TYPED_TEST(ExecutorHooksTest, AreSetOnceDeathTest) {
  EXPECT_DEATH(this->executor_->SetHooks(ExecutorHooks()), "called twice");
}

TEST(ExecutorHooksDeathTest, AreNotSetInsideARun) {
  const auto set_inside = [](auto& executor) {
    executor.Run(PollFn([&executor](Context&) -> Polled<void> {
      executor.SetHooks(ExecutorHooks());
      return Unit();
    }));
  };
  Executor executor;
  LocalExecutor local;
  EXPECT_DEATH(set_inside(executor), "call it before");
  EXPECT_DEATH(set_inside(local), "call it before");
}

}  // namespace
}  // namespace weft
