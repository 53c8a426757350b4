// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// What a dump shows of futures that wait for several.
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "weft/select/cancellation_token.h"
#include "weft/select/join.h"
#include "weft/select/race.h"
#include "weft/select/select.h"
#include "weft/task/await_trace.h"
#include "weft/task/context.h"
#include "weft/task/ready.h"
#include "weft/task/task.h"
#include "weft/task/waker.h"

namespace weft {
namespace {

using Strings = std::vector<std::string>;

Task<> First() { co_await Pending(); }
Task<> Second() { co_await Pending(); }
void Ignore() {}

// Types and functions, with how far inside they are; the leaves left out.
template <class F>
Strings LinesOf(F future) {
  Context cx(NoopWaker());
  EXPECT_TRUE(future.Poll(cx).IsPending());
  AwaitTrace trace;
  TraceFuture(future, trace);
  Strings lines;
  for (const AwaitTrace::Line& line : trace.lines()) {
    if (line.what.find("Pending") != std::string::npos) continue;
    lines.push_back(std::to_string(line.depth) + " " +
                    std::string(line.what.empty()
                                    ? ShortFunctionName(line.at.function_name())
                                    : line.what));
  }
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

TEST(TraceTest, OfOneInTheOther) {
  EXPECT_EQ(LinesOf(Join(Race(First(), Second()), Second())),
            (Strings{"0 Join", "1 Race", "2 First", "2 Second", "1 Second"}));
}

}  // namespace
}  // namespace weft
