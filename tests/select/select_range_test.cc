// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/select/select_range.h"

#include <cstdint>
#include <cstdlib>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "weft/executor/deterministic_executor.h"
#include "weft/sync/event.h"
#include "weft/sync/oneshot.h"
#include "weft/task/await_trace.h"
#include "weft/task/block_on.h"
#include "weft/task/context.h"
#include "weft/task/counting_waker.h"
#include "weft/task/drop_at_every_poll.h"
#include "weft/task/join_handle.h"
#include "weft/task/live_counter.h"
#include "weft/task/polled.h"
#include "weft/task/spawner.h"
#include "weft/task/status_matchers.h"
#include "weft/task/task.h"
#include "weft/task/yield_now.h"
#include "weft/tests/kit/explore_schedules.h"
#include "weft/tests/kit/signal.h"

namespace weft {
namespace {

bool IsLong() { return std::getenv("WEFT_LONG") != nullptr; }

using Receivers = std::vector<sync::OneshotReceiver<int>>;
using Senders = std::vector<sync::OneshotSender<int>>;

std::pair<Senders, Receivers> Channels(int count) {
  std::pair<Senders, Receivers> ends;
  for (int i = 0; i < count; ++i) {
    auto [sender, receiver] = sync::Oneshot<int>();
    ends.first.push_back(std::move(sender));
    ends.second.push_back(std::move(receiver));
  }
  return ends;
}

// Receives all values, and leaves an empty vector; their sum.
Task<int> ReceiveEach(Receivers receivers) {
  int sum = 0;
  while (!receivers.empty()) {
    auto first = co_await Select(receivers);
    sum += *first.value;
    receivers.erase(receivers.begin() + static_cast<int64_t>(first.index));
  }
  co_return sum;
}

TEST(SelectRangeTest, GivesIndexAndOutput) {
  for (const int size : {1, 8, 9, 100}) {
    std::vector<Signal> signals(size);
    std::vector<Signal::WaitFuture> waits;
    for (Signal& signal : signals) waits.push_back(signal.Wait());
    auto select = Select(std::move(waits));
    CountingWaker waker;
    Context cx(waker.waker());
    EXPECT_TRUE(select.Poll(cx).IsPending());
    signals[size / 2].Set(7);

    auto first = select.Poll(cx);

    ASSERT_TRUE(first.IsReady());
    EXPECT_EQ(first->index, static_cast<size_t>(size / 2));
    EXPECT_EQ(first->value, 7);
    for (Signal& signal : signals) EXPECT_FALSE(signal.HasWaiter());
  }
}

TEST(SelectRangeTest, VoidIsUnit) {
  std::vector<YieldNow> yields(3);

  EXPECT_EQ(BlockOn(Select(Biased(), yields)).value, Unit());
}

TEST(SelectRangeTest, ANamedLoserLosesNothing) {
  for (const int size : {3, 30}) {
    auto ends = Channels(size);
    for (int i = 0; i < size; ++i) {
      static_cast<void>(std::move(ends.first[i]).Send(1));
    }

    EXPECT_EQ(BlockOn(ReceiveEach(std::move(ends.second))), size);
  }
}

TEST(SelectRangeTest, CanBeDroppedAtEveryPoll) {
  auto branch = [](sync::Event* event, LiveCounter::Object) -> Task<> {
    co_await event->Wait();
  };
  for (const int size : {3, 12}) {
    LiveCounter counter;
    sync::Event event;
    EXPECT_THAT(DropAtEveryPoll(
                    [&] {
                      std::vector<Task<>> tasks;
                      for (int i = 0; i < size; ++i) {
                        tasks.push_back(branch(&event, counter.Make()));
                      }
                      return Select(std::move(tasks));
                    },
                    {.step =
                         [&] {
                           event.Notify();
                           return true;
                         },
                     .live = [&] { return counter.live(); }}),
                IsOkAndHolds(2));
  }
}

TEST(SelectRangeTest, IsTraced) {
  std::vector<YieldNow> yields(2);
  auto select = Select(std::move(yields));
  AwaitTrace trace;

  TraceFuture(select, trace);

  ASSERT_EQ(trace.lines().size(), 3u);
  EXPECT_EQ(trace.lines()[0].what, "Select");
}

TEST(SelectRangeTest, OfNothingDies) {
  EXPECT_DEATH(static_cast<void>(Select(std::vector<Task<>>())),
               "a Select of nothing is never ready");
}

TEST(SelectRangeTest, LosesNoValueInAnyOrder) {
  const auto scenario = [](DeterministicExecutor& executor) {
    constexpr int kValues = 12;
    const auto sum = executor.Run([]() -> Task<int> {
      auto ends = Channels(kValues);
      std::vector<JoinHandle<>> senders;
      for (auto& sender : ends.first) {
        senders.push_back(Spawn([](sync::OneshotSender<int> sender) -> Task<> {
          co_await YieldNow();
          static_cast<void>(std::move(sender).Send(1));
        }(std::move(sender))));
      }
      co_return co_await ReceiveEach(std::move(ends.second));
    }());
    if (!sum.ok()) return sum.status();
    return *sum == kValues ? absl::OkStatus()
                           : absl::InternalError("a value is lost");
  };

  EXPECT_GT(ExploreSchedules(IsLong() ? 10'000 : 500, scenario), 400u);
}

TEST(SelectRangeTest, ThreadsMaySendWhileItIsPolled) {
  const int rounds = IsLong() ? 10'000 : 100;
  for (int round = 0; round < rounds; ++round) {
    auto [senders, receivers] = Channels(16);
    std::vector<std::thread> threads;
    for (size_t start = 0; start < 2; ++start) {
      threads.emplace_back([&ends = senders, start] {
        for (size_t i = start; i < ends.size(); i += 2) {
          static_cast<void>(std::move(ends[i]).Send(1));
        }
      });
    }

    EXPECT_EQ(BlockOn(ReceiveEach(std::move(receivers))), 16);

    for (std::thread& thread : threads) thread.join();
  }
}

}  // namespace
}  // namespace weft
