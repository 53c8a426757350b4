// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/select/cancellation_callback.h"

#include <poll.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "weft/select/cancellation_token.h"
#include "weft/task/context.h"
#include "weft/task/live_counter.h"
#include "weft/task/waker.h"
#include "weft/tests/select/allocation_counter.h"
#include "weft/tests/sync/callback_waker.h"

namespace weft {
namespace {

using testing::ElementsAre;

// Many more rounds with WEFT_LONG=1.
int Rounds(int rounds) {
  return std::getenv("WEFT_LONG") != nullptr ? 100 * rounds : rounds;
}

// One that its own function can name.
using Callback = CancellationCallback<std::function<void()>>;
std::unique_ptr<Callback> MakeCallback(const CancellationToken& token,
                                       std::function<void()> fn) {
  // Not make_unique, which would have to move it.
  return std::unique_ptr<Callback>(new Callback(token.OnCancel(std::move(fn))));
}

TEST(CancellationCallbackTest, IsCalledOnceInTurn) {
  CancellationSource source;
  std::vector<int> calls;
  const auto first = source.token().OnCancel([&] { calls.push_back(1); });
  const auto second = source.token().OnCancel([&] { calls.push_back(2); });
  EXPECT_THAT(calls, ElementsAre());

  source.Cancel();
  EXPECT_THAT(calls, ElementsAre(1, 2));
  source.Cancel();

  EXPECT_THAT(calls, ElementsAre(1, 2));
}

TEST(CancellationCallbackTest, IsCalledAtOnceByACancelledToken) {
  CancellationSource source;
  source.Cancel();
  int calls = 0;

  const auto late = source.token().OnCancel([&] { ++calls; });

  EXPECT_EQ(calls, 1);
}

TEST(CancellationCallbackTest, IsNeverCalledByATokenWithoutASource) {
  int calls = 0;
  {
    const auto callback = CancellationToken().OnCancel([&] { ++calls; });
  }

  EXPECT_EQ(calls, 0);
}

TEST(CancellationCallbackTest, ADroppedOneIsNotCalled) {
  CancellationSource source;
  std::vector<int> calls;
  auto first = MakeCallback(source.token(), [&] { calls.push_back(1); });
  auto second = MakeCallback(source.token(), [&] { calls.push_back(2); });
  auto third = MakeCallback(source.token(), [&] { calls.push_back(3); });

  second.reset();
  source.Cancel();
  EXPECT_THAT(calls, ElementsAre(1, 3));
  third.reset();
  first.reset();

  EXPECT_THAT(calls, ElementsAre(1, 3));
}

TEST(CancellationCallbackTest, IsCalledWithTheParentAndKnowsTheReason) {
  CancellationSource parent;
  CancellationSource child(parent.token());
  absl::Status reason;
  const auto callback = child.token().OnCancel(
      [&, token = child.token()] { reason = token.reason(); });

  parent.Cancel(absl::UnavailableError("going down"));

  EXPECT_EQ(reason, absl::UnavailableError("going down"));
}

TEST(CancellationCallbackTest, RunsBeforeWaitersAreWoken) {
  CancellationSource source;
  bool called = false;
  bool called_before_wake = false;
  const Waker waker = CallbackWaker([&] { called_before_wake = called; });
  Context cx(waker);
  auto wait = source.token().Cancelled();
  EXPECT_TRUE(wait.Poll(cx).IsPending());
  const auto callback = source.token().OnCancel([&] { called = true; });

  source.Cancel();

  EXPECT_TRUE(called_before_wake);
}

TEST(CancellationCallbackTest, MayBeDestroyedByItsOwnFunction) {
  CancellationSource source;
  LiveCounter counter;
  std::unique_ptr<Callback> callback;
  int calls = 0;
  callback = MakeCallback(source.token(), [&, object = counter.Make()] {
    ++calls;
    callback.reset();
  });
  int others = 0;
  const auto other = source.token().OnCancel([&] { ++others; });

  source.Cancel();

  EXPECT_EQ(callback, nullptr);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(others, 1);
  EXPECT_EQ(counter.live(), 0);
}

TEST(CancellationCallbackTest, MayDestroyOthersAndUseTheTree) {
  auto source = std::make_unique<CancellationSource>();
  std::unique_ptr<Callback> later;
  int later_calls = 0;
  int nested_calls = 0;
  const auto first = source->token().OnCancel([&] {
    later.reset();
    source->Cancel();
    const auto nested = source->token().OnCancel([&] { ++nested_calls; });
    CancellationSource child(source->token());
    EXPECT_TRUE(child.IsCancelled());
    source.reset();
  });
  later = MakeCallback(source->token(), [&] { ++later_calls; });

  CancellationSource(*source).Cancel();

  EXPECT_EQ(source, nullptr);
  EXPECT_EQ(nested_calls, 1);
  EXPECT_EQ(later_calls, 0);
}

TEST(CancellationCallbackTest, AllocatesNothing) {
  CancellationSource source;
  const CancellationToken token = source.token();
  const int64_t before = LiveAllocations();
  int calls = 0;

  const auto callback = token.OnCancel([&] { ++calls; });

  EXPECT_EQ(LiveAllocations(), before);
}

TEST(CancellationCallbackTest, OutlivesEverythingElse) {
  std::optional<CancellationSource> source(std::in_place);
  int calls = 0;
  const auto callback = source->token().OnCancel([&] { ++calls; });

  source.reset();

  EXPECT_EQ(calls, 0);
}

// --- Threads.

TEST(CancellationCallbackTest, DroppingItWaitsForItsFunction) {
  CancellationSource source;
  std::atomic<bool> entered{false};
  std::atomic<bool> may_return{false};
  std::atomic<bool> dropped{false};
  auto callback = MakeCallback(source.token(), [&] {
    entered = true;
    entered.notify_all();
    may_return.wait(false);
    EXPECT_FALSE(dropped);
  });
  std::thread canceller([&] { source.Cancel(); });
  entered.wait(false);

  std::thread dropper([&] {
    callback.reset();
    dropped = true;
  });
  ::poll(nullptr, 0, 20);  // for a drop that does not wait
  EXPECT_FALSE(dropped);
  may_return = true;
  may_return.notify_all();

  canceller.join();
  dropper.join();
  EXPECT_TRUE(dropped);
}

TEST(CancellationCallbackTest, DroppingADoneOneDoesNotWaitForTheNext) {
  CancellationSource source;
  std::atomic<bool> entered{false};
  std::atomic<bool> may_return{false};
  auto done = MakeCallback(source.token(), [] {});
  auto running = MakeCallback(source.token(), [&] {
    entered = true;
    entered.notify_all();
    may_return.wait(false);
  });
  auto later = MakeCallback(source.token(), [] { ADD_FAILURE(); });
  std::thread canceller([&] { source.Cancel(); });
  entered.wait(false);

  done.reset();
  later.reset();

  may_return = true;
  may_return.notify_all();
  canceller.join();
}

// Whatever comes first: the function is called once or never, and not once the
// callback is gone. What it touches is no atomic, for ThreadSanitizer to see.
TEST(CancellationCallbackTest, IsNotCalledOnceItIsGone) {
  const int rounds = Rounds(500);
  int called = 0;
  for (int round = 0; round < rounds; ++round) {
    CancellationSource source;
    std::atomic<int> ready{0};
    const auto meet = [&ready] {
      ++ready;
      while (ready < 2) std::this_thread::yield();
    };
    int calls = 0;
    std::thread canceller([&] {
      meet();
      source.Cancel();
    });
    {
      const auto callback = source.token().OnCancel([&] { ++calls; });
      meet();
      if (round % 2 == 0) std::this_thread::yield();
    }
    EXPECT_LE(calls, 1);
    called += calls;
    calls = -1;
    canceller.join();
    EXPECT_EQ(calls, -1);
  }

  RecordProperty("called", called);
}

TEST(CancellationCallbackTest, NoneIsMissedAmongThreads) {
  constexpr int kThreads = 3;
  const int rounds = Rounds(150);
  for (int round = 0; round < rounds; ++round) {
    CancellationSource source;
    std::atomic<int> ready{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        ++ready;
        std::atomic<int> calls{0};
        CancellationSource child(source.token());
        const auto own = source.token().OnCancel([&] {
          ++calls;
          calls.notify_all();
        });
        const auto childs = child.token().OnCancel([&] {
          ++calls;
          calls.notify_all();
        });
        for (int n = calls; n < 2; n = calls) calls.wait(n);
      });
    }
    while (ready < kThreads) std::this_thread::yield();
    source.Cancel();
    for (auto& thread : threads) thread.join();
  }
}

}  // namespace
}  // namespace weft
