// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/task/await_trace.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "weft/task/budget.h"
#include "weft/task/context.h"
#include "weft/task/instrument.h"
#include "weft/task/invoke.h"
#include "weft/task/polled.h"
#include "weft/task/ready.h"
#include "weft/task/task.h"
#include "weft/task/task_local.h"
#include "weft/task/task_monitor.h"
#include "weft/task/waker.h"

namespace weft {
namespace {

using Strings = std::vector<std::string>;

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// Each line as DEPTH FUNCTION:LINE-WITHIN or DEPTH TYPE.
Strings Lines(const AwaitTrace& trace, uint32_t base) {
  Strings lines;
  for (const AwaitTrace::Line& line : trace.lines()) {
    if (!line.what.empty()) {
      lines.push_back(absl::StrCat(line.depth, " ", std::string(line.what)));
    } else if (line.at.line() == 0) {
      lines.push_back(absl::StrCat(line.depth, " not started"));
    } else {
      lines.push_back(
          absl::StrCat(line.depth, " ",
                       std::string(ShortFunctionName(line.at.function_name())),
                       ":", line.at.line() - base, line.runs ? " runs" : ""));
    }
  }
  return lines;
}
template <class F>
Strings LinesOf(const F& future, uint32_t base = 0) {
  AwaitTrace trace;
  TraceFuture(future, trace);
  return Lines(trace, base);
}

template <class F>
void Start(F& future) {
  Context cx(NoopWaker());
  EXPECT_TRUE(future.Poll(cx).IsPending());
}

constexpr uint32_t kBase = __LINE__;
Task<> Inner() { co_await Pending(); }
Task<> Middle() {
  co_await Ready(1);
  co_await Inner();
}
Task<> Outer() {
  //
  co_await Middle();
}

TEST(AwaitTraceTest, NamesEachAwaitOutermostFirst) {
  Task<> task = Outer();
  Start(task);
  const Strings lines = LinesOf(task, kBase);
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[0], "0 Outer:8");
  EXPECT_EQ(lines[1], "1 Middle:4");
  EXPECT_EQ(lines[2], "2 Inner:1");
  EXPECT_TRUE(Contains(lines[3], "3 weft::PendingFuture")) << lines[3];
}

TEST(AwaitTraceTest, ATaskThatHasNotStartedSaysSo) {
  EXPECT_EQ(LinesOf(Outer()), Strings{"0 not started"});
}

TEST(AwaitTraceTest, AFutureWithoutTraceIsItsType) {
  EXPECT_EQ(LinesOf(Pending()).size(), 1u);
}

// An lvalue is a root of its own, inside.
Task<> AwaitsLvalue(Task<>& task) { co_await task; }

TEST(AwaitTraceTest, GoesOnInAnAwaitedLvalue) {
  Task<> inner = Middle();
  Task<> task = AwaitsLvalue(inner);
  Start(task);
  const Strings lines = LinesOf(task, kBase);
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[1], "1 Middle:4");
}

TEST(AwaitTraceTest, FollowsATaskThatIsAdopted) {
  static constexpr auto adopts = [](Task<> task) -> Task<> {
    co_await std::move(task);
  };
  Task<> inner = Middle();
  Start(inner);
  Task<> task = adopts(std::move(inner));
  Start(task);
  const Strings lines = LinesOf(task, kBase);
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[2], "2 Inner:1");
}

TEST(AwaitTraceTest, GoesOnInAFunctionThatWasInvoked) {
  auto invoked = Invoke([] { return Middle(); });
  EXPECT_EQ(LinesOf(invoked), Strings{"0 a function that was not called yet"});
  Start(invoked);
  EXPECT_EQ(LinesOf(invoked, kBase)[0], "0 Middle:4");
}

TEST(AwaitTraceTest, GoesOnInWhatWrapsOneFuture) {
  static constexpr TaskLocal<int> kLocal;
  const TaskMonitor monitor;
  auto wrapped = kLocal.Scope(1, Unconstrained(Instrument(monitor, Middle())));
  Start(wrapped);
  EXPECT_EQ(LinesOf(wrapped, kBase)[0], "0 Middle:4");
}

TEST(AwaitTraceTest, SaysOfARunningCoroutineThatItHasNotComeToAnAwait) {
  static const Task<>* running = nullptr;
  static std::string text;
  static constexpr auto runs = []() -> Task<> {
    AwaitTrace trace;
    TraceFuture(*running, trace);
    text = trace.ToString();
    co_return;
  };
  Task<> task = runs();
  running = &task;
  Context cx(NoopWaker());
  EXPECT_TRUE(task.Poll(cx).IsReady());
  EXPECT_EQ(text, "  a coroutine that runs, and has come to no co_await yet\n");
}

// ---- While it is polled ----

// What the innermost coroutine sees of the whole.
const Task<>* traced = nullptr;
Strings seen;
void See() { seen = LinesOf(*traced, kBase); }

constexpr uint32_t kRunning = __LINE__ - kBase;
Task<> RunsThenReturns() {
  See();
  co_await Ready(0);
  See();
}
Task<> AwaitsARunning() {
  co_await RunsThenReturns();
  See();
}

TEST(AwaitTraceTest, OfARunningTaskEndsInTheCoroutineThatRuns) {
  Task<> task = AwaitsARunning();
  traced = &task;
  Context cx(NoopWaker());
  EXPECT_TRUE(task.Poll(cx).IsReady());
  EXPECT_EQ(seen,
            Strings{absl::StrCat("0 AwaitsARunning:", kRunning + 7, " runs")});
}

Task<> SeesFromTheInnermost() {
  co_await Ready(0);
  See();
}
Task<> AwaitsTheInnermost() { co_await SeesFromTheInnermost(); }

TEST(AwaitTraceTest, NamesTheAwaitsAroundTheCoroutineThatRuns) {
  Task<> task = AwaitsTheInnermost();
  traced = &task;
  Context cx(NoopWaker());
  EXPECT_TRUE(task.Poll(cx).IsReady());
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_TRUE(Contains(seen[0], "0 AwaitsTheInnermost"));
  EXPECT_TRUE(Contains(seen[1], "1 SeesFromTheInnermost"));
  EXPECT_TRUE(Contains(seen[1], "runs"));
}

// Some lines of each end.
Task<> Deep(int depth) {
  if (depth > 0) {
    co_await Deep(depth - 1);
  } else {
    co_await Pending();
  }
}

TEST(AwaitTraceTest, OfADeepChainShowsBothEnds) {
  Task<> task = Deep(100'000);
  Start(task);
  const Strings lines = LinesOf(task);
  ASSERT_LE(lines.size(), static_cast<size_t>(AwaitTrace::kMaxLines));
  EXPECT_EQ(lines.front().substr(0, 6), "0 Deep");
  AwaitTrace trace;
  TraceFuture(task, trace);
  // Of 100,001 coroutines 48 are shown.
  EXPECT_TRUE(Contains(trace.ToString(), "left out here: 99953\n"));
  EXPECT_TRUE(Contains(lines.back(), "PendingFuture"));
}

// ---- The trace itself ----

TEST(AwaitTraceTest, CountsWhatDoesNotFit) {
  AwaitTrace trace;
  for (int i = 0; i < AwaitTrace::kMaxLines + 3; ++i) trace.AddFuture("x");
  EXPECT_EQ(trace.lines().size(), static_cast<size_t>(AwaitTrace::kMaxLines));
  EXPECT_EQ(trace.left_out(), 3);
  EXPECT_TRUE(Contains(trace.ToString(), "lines that are left out: 3\n"));
}

TEST(AwaitTraceTest, IndentsByDepth) {
  AwaitTrace trace;
  trace.AddFuture("Select");
  {
    const AwaitTrace::Scope scope(trace);
    trace.AddFuture("task", 7);
  }
  trace.AddFuture("z");
  EXPECT_EQ(trace.ToString("> "), "> Select\n>   task 7\n> z\n");
}

TEST(AwaitTraceTest, FindsTheTypeInWhatCompilersCallAFunction) {
  using task_internal::TypeIn;
  EXPECT_EQ(TypeIn("std::string_view f() [F = weft::Sleep]"), "weft::Sleep");
  EXPECT_EQ(TypeIn("f() [with F = weft::Sleep; std::string_view = x]"),
            "weft::Sleep");
  EXPECT_EQ(TypeIn("f() [F = Odd<int[3]>]"), "Odd<int[3]>");
  EXPECT_EQ(TypeIn("f() [with F = Odd<int(char[2])>; X = y]"),
            "Odd<int(char[2])>");
}

TEST(AwaitTraceTest, ShortensWhatCompilersCallAFunction) {
  EXPECT_EQ(ShortFunctionName("weft::Task<int> Serve(std::string)"), "Serve");
  EXPECT_EQ(ShortFunctionName("Task<std::map<int, int> > a::B<int, char>::Run("
                              "a::B<int, char>::_ZN1a.Frame*)"),
            "a::B<int, char>::Run");
  EXPECT_EQ(ShortFunctionName("auto main()::(anonymous class)::operator()(int) "
                              "const"),
            "main");
  EXPECT_EQ(ShortFunctionName("Task<(anonymous namespace)::A *> "
                              "a::(anonymous namespace)::B::Run(int)"),
            "B::Run");
  EXPECT_EQ(ShortFunctionName("a::Task<{anonymous}::A> a::{anonymous}::Run("
                              "a::{anonymous}::_ZN1a.Frame*)"),
            "Run");
  EXPECT_EQ(ShortFunctionName("Name"), "Name");
  EXPECT_EQ(ShortFunctionName(""), "");
}

}  // namespace
}  // namespace weft
