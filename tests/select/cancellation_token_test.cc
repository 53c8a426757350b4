// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/select/cancellation_token.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "weft/task/block_on.h"
#include "weft/task/context.h"
#include "weft/task/counting_waker.h"
#include "weft/task/drop_at_every_poll.h"
#include "weft/task/polled.h"
#include "weft/task/random.h"
#include "weft/task/ready.h"
#include "weft/task/status_matchers.h"
#include "weft/task/task.h"
#include "weft/task/waker.h"
#include "weft/tests/select/allocation_counter.h"
#include "weft/tests/select/script.h"
#include "weft/tests/sync/callback_waker.h"

namespace weft {
namespace {

// Many more rounds with WEFT_LONG=1.
int Rounds(int rounds) {
  return std::getenv("WEFT_LONG") != nullptr ? 100 * rounds : rounds;
}

TEST(CancellationTokenTest, WithoutASourceIsNeverCancelled) {
  const CancellationToken token;
  Context cx(NoopWaker());
  auto cancelled = token.Cancelled();

  EXPECT_FALSE(token.IsCancelled());
  EXPECT_TRUE(cancelled.Poll(cx).IsPending());
  EXPECT_EQ(BlockOn(token.RunUntilCancelled(Ready(1))), 1);
  EXPECT_FALSE(CancellationSource(token).IsCancelled());
}

TEST(CancellationTokenTest, ItsSourceCancelsIt) {
  CancellationSource source;
  const CancellationToken token = source.token();
  EXPECT_FALSE(token.IsCancelled());

  source.Cancel();
  source.Cancel();

  EXPECT_TRUE(token.IsCancelled());
  EXPECT_TRUE(source.IsCancelled());
  EXPECT_TRUE(source.token().IsCancelled());
}

TEST(CancellationTokenTest, TheFirstReasonStays) {
  CancellationSource source;
  const CancellationToken token = source.token();
  EXPECT_EQ(token.reason(), absl::OkStatus());

  source.Cancel(absl::AbortedError("first"));
  source.Cancel(absl::InternalError("second"));
  source.Cancel();

  EXPECT_EQ(token.reason(), absl::AbortedError("first"));
}

TEST(CancellationTokenTest, TheReasonIsCancelledIfNoneIsGiven) {
  CancellationSource source;

  source.Cancel();

  EXPECT_TRUE(absl::IsCancelled(source.token().reason()));
  EXPECT_EQ(CancellationToken().reason(), absl::OkStatus());
}

TEST(CancellationTokenTest, ChildrenHaveTheReasonFromTheirParents) {
  CancellationSource parent;
  CancellationSource child(parent.token());
  CancellationSource grandchild(child.token());
  CancellationSource stopped(parent.token());
  stopped.Cancel(absl::NotFoundError("its own"));

  parent.Cancel(absl::DeadlineExceededError("too late"));

  EXPECT_EQ(child.token().reason(), absl::DeadlineExceededError("too late"));
  EXPECT_EQ(grandchild.token().reason(),
            absl::DeadlineExceededError("too late"));
  EXPECT_EQ(CancellationSource(grandchild.token()).token().reason(),
            absl::DeadlineExceededError("too late"));
  EXPECT_EQ(stopped.token().reason(), absl::NotFoundError("its own"));
}

TEST(CancellationTokenDeathTest, AReasonIsNotOk) {
  CancellationSource source;

  EXPECT_DEATH(source.Cancel(absl::OkStatus()), "give the status");
}

// Its token would never be cancelled, and nobody would know.
TEST(CancellationTokenDeathTest, ASourceThatWasMovedFromDies) {
  CancellationSource source;
  const CancellationSource other = std::move(source);

  EXPECT_DEATH(static_cast<void>(source.token()), "was moved from");
  EXPECT_DEATH(source.Cancel(), "was moved from");
  source = other;
  EXPECT_FALSE(source.IsCancelled());
}

TEST(CancellationTokenTest, CopiesMeanTheSame) {
  CancellationSource source;
  CancellationSource copy = source;
  const CancellationToken token = source.token();
  const CancellationToken token_copy = token;

  copy.Cancel();

  EXPECT_TRUE(source.IsCancelled());
  EXPECT_TRUE(token_copy.IsCancelled());
}

TEST(CancellationTokenTest, OutlivesItsSource) {
  auto source = std::make_unique<CancellationSource>();
  const CancellationToken token = source->token();
  const CancellationToken cancelled = [] {
    CancellationSource source;
    source.Cancel();
    return source.token();
  }();

  source.reset();

  EXPECT_FALSE(token.IsCancelled());
  EXPECT_TRUE(cancelled.IsCancelled());
}

TEST(CancellationTokenTest, AChildIsCancelledWithItsParentAndNotTheOtherWay) {
  CancellationSource parent;
  CancellationSource first(parent.token());
  CancellationSource second(parent.token());
  CancellationSource grandchild(first.token());

  first.Cancel();
  EXPECT_TRUE(grandchild.IsCancelled());
  EXPECT_FALSE(parent.IsCancelled());
  EXPECT_FALSE(second.IsCancelled());
  parent.Cancel();

  EXPECT_TRUE(second.IsCancelled());
  EXPECT_TRUE(CancellationSource(parent.token()).IsCancelled());
}

TEST(CancellationTokenTest, GuardsCancel) {
  CancellationSource dropped;
  CancellationSource disarmed;
  CancellationSource moved;
  {
    auto guard = dropped.CancelOnDrop();
    auto disarmed_guard = disarmed.CancelOnDrop();
    disarmed_guard.Disarm();
    auto outer = [&] {
      auto inner = moved.CancelOnDrop();
      return inner;
    }();
    EXPECT_FALSE(dropped.IsCancelled());
    EXPECT_FALSE(moved.IsCancelled());
  }

  EXPECT_TRUE(dropped.IsCancelled());
  EXPECT_FALSE(disarmed.IsCancelled());
  EXPECT_TRUE(moved.IsCancelled());
}

TEST(CancellationTokenTest, CancelWakesWhoeverWaitsInTheTree) {
  CancellationSource parent;
  CancellationSource child(parent.token());
  CountingWaker waker;
  Context cx(waker.waker());
  std::vector<CancelledFuture> waits;
  for (int i = 0; i < 50; ++i) {
    waits.push_back(parent.token().Cancelled());
    waits.push_back(child.token().Cancelled());
  }
  for (auto& wait : waits) EXPECT_TRUE(wait.Poll(cx).IsPending());

  parent.Cancel();

  EXPECT_EQ(waker.wakes(), 100);
  for (auto& wait : waits) EXPECT_TRUE(wait.Poll(cx).IsReady());
  EXPECT_EQ(waker.outstanding(), 0);
}

TEST(CancellationTokenTest, ADroppedWaitLeavesNoWaker) {
  CancellationSource source;
  CountingWaker waker;
  Context cx(waker.waker());
  {
    auto wait = source.token().Cancelled();
    EXPECT_TRUE(wait.Poll(cx).IsPending());
    EXPECT_EQ(waker.outstanding(), 1);
  }

  EXPECT_EQ(waker.outstanding(), 0);
  source.Cancel();
  EXPECT_EQ(waker.wakes(), 0);
}

TEST(CancellationTokenTest, WakesWhoeverPolledLast) {
  CancellationSource source;
  CountingWaker a;
  CountingWaker b;
  Context in_a(a.waker());
  Context in_b(b.waker());
  auto body = [](CancellationToken token) -> Task<> {
    co_await token.Cancelled();
  };
  Task<> first = body(source.token());
  EXPECT_TRUE(first.Poll(in_a).IsPending());

  Task<> second = [](Task<> inner) -> Task<> {
    co_await std::move(inner);
  }(std::move(first));
  EXPECT_TRUE(second.Poll(in_b).IsPending());
  source.Cancel();

  EXPECT_EQ(a.wakes(), 0);
  EXPECT_EQ(b.wakes(), 1);
  EXPECT_TRUE(second.Poll(in_b).IsReady());
}

TEST(CancellationTokenTest, ASpentBudgetIsNotCancelled) {
  CancellationSource source;
  source.Cancel();
  CountingWaker waker;
  Budget budget(0);
  Context cx(waker.waker(), &budget);
  auto wait = source.token().Cancelled();

  EXPECT_TRUE(wait.Poll(cx).IsPending());
  EXPECT_EQ(waker.wakes(), 1);
  budget = Budget(1);

  EXPECT_TRUE(wait.Poll(cx).IsReady());
}

// --- Memory.

// Parent, child and grandchild: in every order one may be dropped, cancelled,
// or both, and nothing is left in the end. Live nodes are told as long as
// anything above them is cancelled.
TEST(CancellationTokenTest, NothingIsLeftInWhateverOrderTheTreeGoes) {
  const int64_t before = LiveAllocations();
  std::array<int, 6> order = {0, 1, 2, 3, 4, 5};  // drop i; cancel i - 3
  do {
    std::array<std::optional<CancellationSource>, 3> sources;
    sources[0].emplace();
    sources[1].emplace(sources[0]->token());
    sources[2].emplace(sources[1]->token());
    std::array<bool, 3> cancelled = {};
    for (int action : order) {
      if (action < 3) {
        sources[action].reset();
        continue;
      }
      if (!sources[action - 3].has_value()) continue;
      sources[action - 3]->Cancel();
      for (int i = action - 3; i < 3; ++i) cancelled[i] = true;
      for (int i = 0; i < 3; ++i) {
        if (sources[i].has_value()) {
          ASSERT_EQ(sources[i]->IsCancelled(), cancelled[i]);
        }
      }
    }
  } while (std::next_permutation(order.begin(), order.end()));

  EXPECT_EQ(LiveAllocations(), before);
}

TEST(CancellationTokenTest, AGrandchildIsItsGrandparentsWhenItsParentIsGone) {
  CancellationSource parent;
  auto child = std::make_unique<CancellationSource>(parent.token());
  CancellationSource grandchild(child->token());
  CancellationSource other(child->token());

  child.reset();
  EXPECT_FALSE(grandchild.IsCancelled());
  parent.Cancel();

  EXPECT_TRUE(grandchild.IsCancelled());
  EXPECT_TRUE(other.IsCancelled());
}

TEST(CancellationTokenTest, ShortLivedChildrenLeaveNothing) {
  CancellationSource parent;
  const CancellationToken token = parent.token();
  const int64_t before = LiveAllocations();
  int64_t most = 0;

  const int children = CountsAllocations() ? 1'000'000 : 50'000;
  for (int i = 0; i < children; ++i) {
    CancellationSource child(token);
    if (i % 1'000 == 0) child.Cancel();
    most = std::max(most, LiveAllocations() - before);
  }

  EXPECT_LE(most, 2);
  EXPECT_EQ(LiveAllocations(), before);
}

// Each generation holds only the one before it, which it drops.
TEST(CancellationTokenTest, ALineOfDescendantsKeepsOnlyItsEnds) {
  CancellationSource root;
  const int64_t before = LiveAllocations();
  CancellationSource last(root.token());
  for (int i = 0; i < 100'000; ++i) last = CancellationSource(last.token());

  EXPECT_LE(LiveAllocations() - before, 2);
  root.Cancel();
  EXPECT_TRUE(last.IsCancelled());
}

TEST(CancellationTokenTest, DepthIsFree) {
  std::vector<CancellationSource> line(1);
  for (int i = 0; i < 50'000; ++i) {
    line.emplace_back(line.back().token());
  }
  CountingWaker waker;
  Context cx(waker.waker());
  auto wait = line.back().token().Cancelled();
  EXPECT_TRUE(wait.Poll(cx).IsPending());

  line.front().Cancel();

  EXPECT_EQ(waker.wakes(), 1);
  EXPECT_TRUE(line.back().IsCancelled());
}

// A tree of 100,000 nodes, deep and wide, of which a tenth has a waiter.
TEST(CancellationTokenTest, ALargeTreeIsCancelledAtOnce) {
  constexpr int kNodes = 100'000;
  Random random(1);
  std::vector<CancellationSource> nodes(1);
  CountingWaker waker;
  Context cx(waker.waker());
  std::vector<CancelledFuture> waits;
  waits.reserve(kNodes);
  for (int i = 1; i < kNodes; ++i) {
    const auto parent = static_cast<int>(random.Below(nodes.size()));
    nodes.emplace_back(nodes[i % 2 == 0 ? parent : i - 1].token());
    if (i % 10 != 0) continue;
    waits.push_back(nodes.back().token().Cancelled());
    EXPECT_TRUE(waits.back().Poll(cx).IsPending());
  }

  const absl::Time start = absl::Now();
  nodes.front().Cancel(absl::AbortedError("a reason with a message"));
  const absl::Duration took = absl::Now() - start;

  EXPECT_EQ(waker.wakes(), kNodes / 10 - 1);
  for (const CancellationSource& node : nodes) {
    ASSERT_EQ(node.token().reason(),
              absl::AbortedError("a reason with a message"));
  }
  RecordProperty("microseconds", absl::FormatDuration(took));
  std::printf("cancelling %d nodes took %s\n", kNodes,
              absl::FormatDuration(took).c_str());
}

// Random trees against a model that walks up to the root.
void CompareWithModel(Random random) {
  struct Model {
    std::optional<CancellationSource> source;
    int parent;
    bool cancelled = false;
  };
  std::vector<Model> nodes;
  nodes.push_back({CancellationSource(), -1});
  for (int step = 0; step < 300; ++step) {
    const int at = static_cast<int>(random.Below(nodes.size()));
    if (!nodes[at].source.has_value()) continue;
    switch (random.Below(8)) {
      case 0:
        nodes[at].source->Cancel();
        nodes[at].cancelled = true;
        break;
      case 1:
      case 2:
        nodes[at].source.reset();
        break;
      default:
        nodes.push_back({CancellationSource(nodes[at].source->token()), at});
    }
    for (Model& node : nodes) {
      if (node.parent >= 0 && nodes[node.parent].cancelled) {
        node.cancelled = true;
      }
      if (node.source.has_value()) {
        ASSERT_EQ(node.source->IsCancelled(), node.cancelled);
      }
    }
  }
}

TEST(CancellationTokenTest, DoesWhatASimpleModelDoes) {
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE(seed);
    const int64_t before = LiveAllocations();
    CompareWithModel(Random(seed));
    EXPECT_EQ(LiveAllocations(), before);
  }
}

// --- User code in wakers.

TEST(CancellationTokenTest, WakersMayUseTheTree) {
  auto parent = std::make_unique<CancellationSource>();
  auto child = std::make_unique<CancellationSource>(parent->token());
  CancellationSource fresh;
  const auto use = [&] {
    if (child != nullptr) {
      EXPECT_TRUE(child->IsCancelled());
      child->Cancel();
      fresh = CancellationSource(child->token());
    }
    if (parent != nullptr) parent->Cancel();
    child.reset();
    parent.reset();
  };
  const Waker waker = CallbackWaker(use, use);
  Context cx(waker);
  auto on_child = child->token().Cancelled();
  auto on_parent = parent->token().Cancelled();
  EXPECT_TRUE(on_child.Poll(cx).IsPending());
  EXPECT_TRUE(on_parent.Poll(cx).IsPending());

  CancellationSource(*parent).Cancel();

  EXPECT_EQ(parent, nullptr);
  EXPECT_TRUE(fresh.IsCancelled());
}

// --- RunUntilCancelled.

TEST(CancellationTokenTest, RunUntilCancelledGivesTheOutput) {
  CancellationSource source;
  int n = 0;
  auto reference = PollFn([&](Context&) -> Polled<int&> { return n; });

  EXPECT_EQ(BlockOn(source.token().RunUntilCancelled(Ready(4))), 4);
  EXPECT_EQ(BlockOn(source.token().RunUntilCancelled(Ready())), Unit());
  EXPECT_EQ(&BlockOn(source.token().RunUntilCancelled(reference))->get(), &n);
}

TEST(CancellationTokenTest, RunUntilCancelledOutlivesItsToken) {
  std::optional<CancellationSource> source(std::in_place);
  CancellationSource child(source->token());
  CountingWaker waker;
  Context cx(waker.waker());
  auto run = std::make_unique<CancellationToken>(child.token())
                 ->RunUntilCancelled(Pending());
  child = CancellationSource();
  EXPECT_TRUE(run.Poll(cx).IsPending());

  source->Cancel();
  source.reset();

  EXPECT_EQ(waker.wakes(), 1);
  EXPECT_EQ(*run.Poll(cx), std::nullopt);
}

TEST(CancellationTokenTest, RunUntilCancelledDropsTheFutureAtOnce) {
  CancellationSource source;
  Script script{.pending = Script::kForever};
  CountingWaker waker;
  Context cx(waker.waker());
  auto run = source.token().RunUntilCancelled(script.Make());
  EXPECT_TRUE(run.Poll(cx).IsPending());
  EXPECT_EQ(script.live, 1);

  source.Cancel();
  EXPECT_EQ(waker.wakes(), 1);
  EXPECT_EQ(*run.Poll(cx), std::nullopt);

  EXPECT_EQ(script.live, 0);
  EXPECT_EQ(script.polls, 1);
  EXPECT_EQ(waker.outstanding(), 0);
}

TEST(CancellationTokenTest, RunUntilCancelledLooksAtTheTokenFirst) {
  CancellationSource source;
  source.Cancel();
  Script script;

  EXPECT_EQ(BlockOn(source.token().RunUntilCancelled(script.Make())),
            std::nullopt);

  EXPECT_EQ(script.polls, 0);
}

TEST(CancellationTokenTest, RunUntilCancelledLeavesANamedFuturePending) {
  CancellationSource source;
  source.Cancel();
  Script script{.value = 6};
  auto future = script.Make();

  EXPECT_EQ(BlockOn(source.token().RunUntilCancelled(future)), std::nullopt);

  EXPECT_EQ(BlockOn(future), 6);
}

TEST(CancellationTokenTest, RunUntilCancelledLeavesTheQueueWhenItIsReady) {
  CancellationSource source;
  Script script{.pending = 1};
  CountingWaker waker;
  Context cx(waker.waker());
  auto run = source.token().RunUntilCancelled(script.Make());
  EXPECT_TRUE(run.Poll(cx).IsPending());

  EXPECT_TRUE(run.Poll(cx).IsReady());

  EXPECT_EQ(waker.outstanding(), 0);
}

TEST(CancellationTokenTest, SurvivesADropAtEveryPoll) {
  std::optional<CancellationSource> source;
  auto task = [](CancellationToken token) -> Task<> {
    auto run = co_await token.RunUntilCancelled(Pending());
    EXPECT_FALSE(run.has_value());
    co_await token.Cancelled();
  };

  EXPECT_THAT(DropAtEveryPoll(
                  [&] {
                    source.emplace();
                    return task(source->token());
                  },
                  {.step =
                       [&] {
                         source->Cancel();
                         return true;
                       }}),
              IsOkAndHolds(2));
}

// --- Threads.

TEST(CancellationTokenTest, CancelReachesThreadsThatWait) {
  CancellationSource root;
  int before = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&before, token = root.token()] {
      CancellationSource child(token);
      BlockOn(child.token().Cancelled());
      EXPECT_EQ(before, 1);
    });
  }

  before = 1;
  root.Cancel();

  for (auto& thread : threads) thread.join();
}

// Makes, cancels, waits for and drops nodes below `token` until it is
// cancelled.
void GrowAndPrune(CancellationToken token, uint64_t seed,
                  std::atomic<int>* ready) {
  CountingWaker waker;
  Context cx(waker.waker());
  Random random(seed);
  CancellationSource mine(token);
  ++*ready;
  for (int step = 0; step < 50 || !token.IsCancelled(); ++step) {
    CancellationSource child(mine.token());
    auto wait = child.token().Cancelled();
    static_cast<void>(wait.Poll(cx).IsReady());
    switch (random.Below(3)) {
      case 0:
        child.Cancel();
        EXPECT_TRUE(wait.Poll(cx).IsReady());
        break;
      case 1:
        mine = CancellationSource(child.token());
        break;
      default:
        mine = CancellationSource(token);
    }
  }
  EXPECT_TRUE(CancellationSource(token).IsCancelled());
}

TEST(CancellationTokenTest, TheTreeIsRightUnderThreads) {
  const int64_t before = LiveAllocations();
  const int rounds = Rounds(20);
  for (int round = 0; round < rounds; ++round) {
    CancellationSource root;
    std::atomic<int> ready{0};
    std::vector<std::thread> threads;
    for (uint64_t seed = 1; seed <= 3; ++seed) {
      threads.emplace_back(&GrowAndPrune, root.token(), seed, &ready);
    }
    while (ready < 3) std::this_thread::yield();
    root.Cancel();
    for (auto& thread : threads) thread.join();
  }

  EXPECT_EQ(LiveAllocations(), before);
}

}  // namespace
}  // namespace weft
