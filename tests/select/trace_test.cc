// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// What a dump shows of futures that wait for several.
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "weft/executor/executor.h"
#include "weft/executor/task_dump.h"
#include "weft/select/cancellation_token.h"
#include "weft/select/join.h"
#include "weft/select/race.h"
#include "weft/select/scope.h"
#include "weft/select/select.h"
#include "weft/select/task_group.h"
#include "weft/stream/next.h"
#include "weft/task/await_trace.h"
#include "weft/task/context.h"
#include "weft/task/join_handle.h"
#include "weft/task/manual_executor.h"
#include "weft/task/ready.h"
#include "weft/task/task.h"
#include "weft/task/task_info.h"
#include "weft/task/waker.h"

namespace weft {
namespace {

using Strings = std::vector<std::string>;

Task<> First() { co_await Pending(); }
Task<> Second() { co_await Pending(); }
void Ignore() {}

// The type or function, with how far inside it is; leaves are left out.
void AddLine(const AwaitTrace::Line& line, Strings& lines) {
  if (line.what.find("Pending") != std::string::npos) return;
  lines.push_back(std::to_string(line.depth) + " " +
                  std::string(line.what.empty()
                                  ? ShortFunctionName(line.at.function_name())
                                  : line.what));
}

// Of what `future` waits for.
template <class F>
Strings LinesOf(F future) {
  Context cx(NoopWaker());
  EXPECT_TRUE(future.Poll(cx).IsPending());
  AwaitTrace trace;
  TraceFuture(future, trace);
  Strings lines;
  for (const AwaitTrace::Line& line : trace.lines()) AddLine(line, lines);
  return lines;
}

TEST(TraceTest, OfAJoin) {
  EXPECT_EQ(LinesOf(Join(First(), Second())),
            (Strings{"0 Join", "1 First", "1 Second"}));
}

TEST(TraceTest, OfAJoinWithoutWhatIsReady) {
  auto ready = Ready(1);
  EXPECT_EQ(LinesOf(Join(Ready(1), Second(), ready)),
            (Strings{"0 Join", "1 Second"}));
}

TEST(TraceTest, OfARace) {
  Task<> first = First();
  EXPECT_EQ(LinesOf(Race(first, Second())),
            (Strings{"0 Race", "1 First", "1 Second"}));
}

TEST(TraceTest, OfASelect) {
  EXPECT_EQ(LinesOf(Select(Biased(), First(), Second())),
            (Strings{"0 Select", "1 First", "1 Second"}));
}

TEST(TraceTest, OfASelectWithHandlersWithoutWhatIsDisabled) {
  EXPECT_EQ(LinesOf(Select(On(First(), &Ignore), OnIf(false, Second(), &Ignore),
                           Else(&Ignore))),
            (Strings{"0 Select", "1 First"}));
}

// A dump may come while the handler runs.
TEST(TraceTest, AHandlerMayDestroyWhatHasWon) {
  auto won = std::make_optional(Ready(1));
  std::optional<Task<>> lost = First();
  std::string text;
  const std::function<void()>* look = nullptr;
  auto handler = [&](int) {
    won.reset();
    lost.reset();
    (*look)();
  };
  auto select = Select(Biased(), On(*won, handler), On(*lost, &Ignore));
  const std::function<void()> trace_it = [&] {
    AwaitTrace trace;
    TraceFuture(select, trace);
    text = trace.ToString();
  };
  look = &trace_it;
  Context cx(NoopWaker());
  EXPECT_TRUE(select.Poll(cx).IsReady());
  EXPECT_EQ(text, "  Select\n");
}

TEST(TraceTest, OfAFutureThatMayBeCancelled) {
  const CancellationSource source;
  EXPECT_EQ(LinesOf(source.token().RunUntilCancelled(First())),
            (Strings{"0 RunUntilCancelled", "1 First"}));
}

Task<> TakeOne(TaskGroup<>* group) {
  auto result = co_await group->Next();
  static_cast<void>(result);
}
Task<> TakeTheOldest(TaskGroup<>* group) {
  auto result = co_await group->NextInOrder();
  static_cast<void>(result);
}
Task<> TakeFromAStream(TaskGroup<>* group) {
  auto result = co_await Next(*group);
  static_cast<void>(result);
}
Task<> JoinAll(TaskGroup<>* group) {
  static_cast<void>(co_await group->Join());
}
Task<> CollectAll(TaskGroup<>* group) {
  static_cast<void>(co_await group->Collect());
}
Task<> Leave(TaskGroup<>* group) { co_await group->Shutdown(); }
Task<> WaitForRoom(TaskGroup<>* group) {
  auto spawn = group->SpawnWhenRoom(Pending());
  static_cast<void>(co_await spawn);
}

TEST(TraceTest, OfWhoWaitsForATaskGroup) {
  ManualExecutor executor;
  TaskGroup<> group({.limit = 1, .spawner = &executor.spawner()});
  group.Spawn(Pending());
  executor.RunUntilIdle();

  EXPECT_EQ(LinesOf(TakeOne(&group)),
            (Strings{"0 TakeOne", "1 a task of a TaskGroup"}));
  EXPECT_EQ(LinesOf(TakeTheOldest(&group)),
            (Strings{"0 TakeTheOldest", "1 a task of a TaskGroup"}));
  EXPECT_EQ(LinesOf(JoinAll(&group)),
            (Strings{"0 JoinAll", "1 all tasks of a TaskGroup"}));
  EXPECT_EQ(LinesOf(CollectAll(&group)),
            (Strings{"0 CollectAll", "1 all tasks of a TaskGroup"}));
  EXPECT_EQ(LinesOf(WaitForRoom(&group)),
            (Strings{"0 WaitForRoom", "1 room in a TaskGroup"}));
  EXPECT_EQ(LinesOf(TakeFromAStream(&group)),
            (Strings{"0 TakeFromAStream", "1 a task of a TaskGroup"}));
  EXPECT_EQ(LinesOf(Leave(&group)),
            (Strings{"0 Leave", "1 all tasks of a TaskGroup"}));
}

// As LinesOf(), of all tasks of an executor.
Strings LinesOfAll(Executor& executor) {
  while (executor.TryTick()) {
  }
  Strings lines;
  for (const TaskInfo& task : executor.Dump().tasks) {
    for (const AwaitTrace::Line& line : task.awaits) AddLine(line, lines);
  }
  return lines;
}

TEST(TraceTest, OfATaskThatWaitsForItsTurn) {
  Executor executor;
  TaskGroup<> group({.limit = 1, .spawner = &executor.spawner()});
  group.Spawn(First());
  group.Spawn(Second());
  EXPECT_EQ(LinesOfAll(executor),
            (Strings{"0 First", "0 its turn in a TaskGroup"}));
}

TEST(TraceTest, OfATaskWhoseGroupIsItsOwn) {
  Executor executor;
  JoinHandle<> task = executor.Spawn([]() -> Task<> {
    TaskGroup<> group;
    group.Spawn(First());
    static_cast<void>(co_await group.Join());
  });
  EXPECT_EQ(LinesOfAll(executor).back(), "0 First");
  EXPECT_EQ(LinesOfAll(executor).at(1), "1 all tasks of a TaskGroup");
}

Task<> Body(Scope* scope) {
  ScopedHandle<void> first = scope->Start(First());
  scope->Start(Race(Second(), Pending()));
  co_await first;
}
Task<> WaitInAScope() {
  co_await InScope([](Scope& scope) { return Body(&scope); });
}

TEST(TraceTest, OfAScope) {
  EXPECT_EQ(LinesOf(WaitInAScope()),
            (Strings{"0 WaitInAScope", "1 InScope", "2 Body",
                     "3 a child of a Scope", "2 First", "2 Race", "3 Second"}));
}

TEST(TraceTest, OfOneInTheOther) {
  EXPECT_EQ(LinesOf(Join(Race(First(), Second()), Second())),
            (Strings{"0 Join", "1 Race", "2 First", "2 Second", "1 Second"}));
}

}  // namespace
}  // namespace weft
