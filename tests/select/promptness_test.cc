// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Who passes the promise of a prompt poll on (task/context.h), and who takes it
// back.

#include <optional>
#include <tuple>
#include <utility>
#include <variant>

#include "gtest/gtest.h"
#include "weft/executor/deterministic_executor.h"
#include "weft/executor/executor.h"
#include "weft/executor/local_executor.h"
#include "weft/select/any_future.h"
#include "weft/select/futures_unordered.h"
#include "weft/select/join.h"
#include "weft/select/map.h"
#include "weft/select/race.h"
#include "weft/select/scope.h"
#include "weft/select/select.h"
#include "weft/select/shared.h"
#include "weft/stream/next.h"
#include "weft/sync/channel.h"
#include "weft/sync/channel_receiver.h"
#include "weft/sync/channel_sender.h"
#include "weft/task/block_on.h"
#include "weft/task/context.h"
#include "weft/task/counting_waker.h"
#include "weft/task/instrument.h"
#include "weft/task/polled.h"
#include "weft/task/ready.h"
#include "weft/task/task.h"
#include "weft/task/task_monitor.h"

namespace weft {
namespace {

// Gives whether it was polled promptly.
struct Promptness {
  using Output = bool;

  Polled<bool> Poll(Context& cx) { return cx.IsPrompt(); }
};

struct PromptnessStream {
  using Item = bool;

  Polled<std::optional<bool>> PollNext(Context& cx) {
    return std::optional<bool>(cx.IsPrompt());
  }
};

Task<bool> Await() { co_return co_await Promptness(); }

Task<bool> AwaitLvalue() {
  Promptness future;
  co_return co_await future;
}

Task<bool> AwaitLvalueTask() {
  Task<bool> task = Await();
  co_return co_await task;
}

TEST(PromptnessTest, ExecutorsAndThreadsPromiseIt) {
  Executor executor;
  EXPECT_TRUE(executor.Run(Promptness()));
  EXPECT_TRUE(executor.Run(executor.Spawn(Promptness())));
  EXPECT_TRUE(executor.Run(executor.Spawn(Await())));
  LocalExecutor local;
  EXPECT_TRUE(local.Run(Promptness()));
  EXPECT_TRUE(local.Run(local.Spawn(Promptness())));
  DeterministicExecutor deterministic({.seed = 1});
  EXPECT_EQ(*deterministic.Run(Promptness()), true);
  EXPECT_TRUE(BlockOn(Promptness()));
}

TEST(PromptnessTest, ADrivenExecutorHasThatOfItsDriver) {
  LocalExecutor local;
  EXPECT_TRUE(BlockOn(local.Drive(Promptness())));
  CountingWaker waker;
  Context cx(waker.waker());
  EXPECT_FALSE(*local.Drive(Promptness()).Poll(cx));
}

TEST(PromptnessTest, HoldersPassItOn) {
  EXPECT_TRUE(std::get<0>(BlockOn(Select(Promptness()))).value);
  EXPECT_TRUE(BlockOn(Race(Promptness())));
  EXPECT_TRUE(std::get<0>(BlockOn(Join(Promptness(), Ready(1)))));
  EXPECT_TRUE(BlockOn(Map(Promptness(), [](bool prompt) { return prompt; })));
  EXPECT_TRUE(BlockOn(AnyFuture<bool>(Promptness())));
  EXPECT_TRUE(BlockOn(InScope([](Scope&) { return Promptness(); })));
  TaskMonitor monitor;
  EXPECT_TRUE(BlockOn(Instrument(monitor, Promptness())));
  EXPECT_TRUE(BlockOn(Await()));
}

TEST(PromptnessTest, WhoMayLeaveAFutureAloneTakesItBack) {
  Promptness future;
  EXPECT_FALSE(std::get<0>(BlockOn(Select(future))).value);
  EXPECT_FALSE(BlockOn(Race(future)));
  EXPECT_FALSE(std::get<0>(BlockOn(Join(future, Ready(1)))));
  EXPECT_FALSE(BlockOn(AwaitLvalue()));
  EXPECT_FALSE(BlockOn(AwaitLvalueTask()));
  EXPECT_FALSE(BlockOn(Shared(Promptness())));
  FuturesUnordered<Promptness> set;
  set.Push(Promptness());
  EXPECT_EQ(BlockOn(set.Next()), false);
  PromptnessStream stream;
  EXPECT_EQ(BlockOn(Next(stream)), false);
}

// A receiver's Next leaves nothing waiting behind.
TEST(PromptnessTest, TheNextOfAReceiverIsPrompt) {
  auto [sender, receiver] = sync::Channel<int>(2);
  sync::Receiver<int> other = receiver;
  CountingWaker waker, other_waker;
  Context cx = Context(waker.waker()).WithPromptness(true);
  Context other_cx = Context(other_waker.waker()).WithPromptness(true);
  {
    auto next = Next(receiver);
    auto other_next = Next(other);
    EXPECT_TRUE(next.Poll(cx).IsPending());
    EXPECT_TRUE(other_next.Poll(other_cx).IsPending());
    EXPECT_TRUE(sender.TrySend(1).ok());
    EXPECT_EQ(waker.wakes(), 1);
    EXPECT_EQ(other_waker.wakes(), 0);
    auto moved = std::move(next);
    EXPECT_EQ(*moved.Poll(cx), 1);
  }
  EXPECT_EQ(waker.outstanding(), 0);
  EXPECT_EQ(other_waker.outstanding(), 0);
}

}  // namespace
}  // namespace weft
