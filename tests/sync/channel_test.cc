// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// weft-lint: allow-file(R22): the tests' tasks end before what they refer to.

#include "weft/sync/channel.h"

#include <poll.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "weft/stream/next.h"
#include "weft/sync/channel_receiver.h"
#include "weft/sync/channel_sender.h"
#include "weft/task/block_on.h"
#include "weft/task/budget.h"
#include "weft/task/context.h"
#include "weft/task/counting_waker.h"
#include "weft/task/drop_at_every_poll.h"
#include "weft/task/future.h"
#include "weft/task/live_counter.h"
#include "weft/task/manual_executor.h"
#include "weft/task/status_matchers.h"
#include "weft/task/task.h"
#include "weft/task/waker.h"
#include "weft/tests/sync/callback_waker.h"

namespace weft::sync {
namespace {

using testing::ElementsAre;

constexpr auto kClosed = absl::StatusCode::kFailedPrecondition;
constexpr auto kRefused = absl::StatusCode::kResourceExhausted;

static_assert(Future<SendFuture<int>>);
static_assert(Future<ReceiveFuture<int>>);
static_assert(Stream<Receiver<int>>);
static_assert(std::is_nothrow_move_constructible_v<Receiver<int>>);

// An lvalue is copied, so what cannot be copied is refused before it is tried.
template <class T>
concept SendsCopies =
    requires(const Sender<T>& sender, const T& value) { sender.Send(value); };
static_assert(SendsCopies<std::string>);
static_assert(!SendsCopies<std::unique_ptr<int>>);

// Many more rounds with WEFT_LONG=1.
int Rounds(int rounds) {
  return std::getenv("WEFT_LONG") != nullptr ? 100 * rounds : rounds;
}

// A context of who polls again once it was woken, as an executor does.
Context Prompt(const CountingWaker& waker) {
  return Context(waker.waker()).WithPromptness(true);
}

// ---- What both kinds do: a capacity, or none.

class ChannelTest : public testing::TestWithParam<size_t> {
 protected:
  template <class T>
  static std::pair<Sender<T>, Receiver<T>> Make() {
    return GetParam() == Sender<T>::kUnbounded ? UnboundedChannel<T>()
                                               : Channel<T>(GetParam());
  }
};

std::string NameOf(const testing::TestParamInfo<size_t>& info) {
  return info.param == Sender<int>::kUnbounded
             ? "Unbounded"
             : "Of" + std::to_string(info.param);
}

INSTANTIATE_TEST_SUITE_P(Capacities, ChannelTest,
                         testing::Values(1, 2, 3, 64, Sender<int>::kUnbounded),
                         NameOf);

// Also without places.
class AnyChannelTest : public ChannelTest {};

INSTANTIATE_TEST_SUITE_P(Capacities, AnyChannelTest,
                         testing::Values(0, 1, 2, 3, 64,
                                         Sender<int>::kUnbounded),
                         NameOf);

TEST_P(ChannelTest, GivesWhatWasSentInOrder) {
  auto [sender, receiver] = Make<int>();

  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(sender.TrySend(i).ok());
    ASSERT_THAT(receiver.TryReceive(), IsOkAndHolds(i));
  }
  EXPECT_THAT(receiver.TryReceive(), StatusIs(kRefused));
}

TEST_P(AnyChannelTest, WakesAReceiver) {
  auto [sender, receiver] = Make<std::string>();
  CountingWaker waker;
  Context cx(waker.waker());
  auto receive = receiver.Receive();
  EXPECT_TRUE(receive.Poll(cx).IsPending());
  EXPECT_TRUE(receive.Poll(cx).IsPending());  // a spurious one
  EXPECT_EQ(waker.wakes(), 0);

  EXPECT_TRUE(sender.TrySend("hello").ok());

  EXPECT_EQ(waker.wakes(), 1);
  EXPECT_THAT(*receive.Poll(cx), IsOkAndHolds("hello"));
  EXPECT_EQ(waker.outstanding(), 0);
}

TEST_P(AnyChannelTest, OneSendWakesOneReceiver) {
  auto [sender, receiver] = Make<int>();
  CountingWaker first_waker, second_waker;
  Context first_cx = Prompt(first_waker);
  Context second_cx = Prompt(second_waker);
  auto first = receiver.Receive();
  auto second = receiver.Receive();
  EXPECT_TRUE(first.Poll(first_cx).IsPending());
  EXPECT_TRUE(second.Poll(second_cx).IsPending());

  EXPECT_TRUE(sender.TrySend(1).ok());
  EXPECT_EQ(first_waker.wakes(), 1);
  EXPECT_EQ(second_waker.wakes(), 0);
  EXPECT_THAT(*first.Poll(first_cx), IsOkAndHolds(1));

  EXPECT_TRUE(sender.TrySend(2).ok());
  EXPECT_EQ(second_waker.wakes(), 1);
  EXPECT_THAT(*second.Poll(second_cx), IsOkAndHolds(2));
}

TEST_P(AnyChannelTest, ADroppedReceiverPassesItsWakeOn) {
  auto [sender, receiver] = Make<int>();
  CountingWaker first_waker, second_waker;
  Context first_cx = Prompt(first_waker);
  Context second_cx = Prompt(second_waker);
  auto second = receiver.Receive();
  {
    auto first = receiver.Receive();
    EXPECT_TRUE(first.Poll(first_cx).IsPending());
    EXPECT_TRUE(second.Poll(second_cx).IsPending());
    EXPECT_TRUE(sender.TrySend(1).ok());
    EXPECT_EQ(second_waker.wakes(), 0);
  }

  EXPECT_EQ(second_waker.wakes(), 1);
  EXPECT_THAT(*second.Poll(second_cx), IsOkAndHolds(1));
}

TEST_P(AnyChannelTest, TheLastPollsWakerIsWoken) {
  auto [sender, receiver] = Make<int>();
  CountingWaker before, now;
  Context before_cx(before.waker()), now_cx(now.waker());
  auto receive = receiver.Receive();
  EXPECT_TRUE(receive.Poll(before_cx).IsPending());
  EXPECT_TRUE(receive.Poll(now_cx).IsPending());
  EXPECT_EQ(before.outstanding(), 0);

  EXPECT_TRUE(sender.TrySend(1).ok());

  EXPECT_EQ(before.wakes(), 0);
  EXPECT_EQ(now.wakes(), 1);
}

TEST_P(ChannelTest, ClosesWhenTheLastSenderGoes) {
  auto [sender, receiver] = Make<int>();
  CountingWaker waker;
  Context cx(waker.waker());
  {
    Sender<int> gone = std::move(sender);
    Sender<int> copy = gone;
    EXPECT_EQ(receiver.sender_count(), 2u);
    EXPECT_TRUE(copy.TrySend(1).ok());
  }

  EXPECT_TRUE(receiver.IsClosed());
  EXPECT_THAT(receiver.TryReceive(), IsOkAndHolds(1));
  EXPECT_THAT(receiver.TryReceive(), StatusIs(kClosed));
  EXPECT_THAT(*receiver.Receive().Poll(cx), StatusIs(kClosed));
}

TEST_P(AnyChannelTest, TheEndWakesAllReceivers) {
  auto [sender, receiver] = Make<int>();
  CountingWaker waker;
  Context cx(waker.waker());
  std::vector<std::unique_ptr<ReceiveFuture<int>>> waits;
  for (int i = 0; i < 100; ++i) {
    waits.push_back(std::make_unique<ReceiveFuture<int>>(receiver.Receive()));
    EXPECT_TRUE(waits.back()->Poll(cx).IsPending());
  }

  EXPECT_TRUE(sender.Close());
  EXPECT_FALSE(sender.Close());

  EXPECT_EQ(waker.wakes(), 100);
  for (auto& wait : waits) EXPECT_THAT(*wait->Poll(cx), StatusIs(kClosed));
}

TEST_P(AnyChannelTest, WhatIsSentAfterTheEndComesBack) {
  auto [sender, receiver] = Make<std::unique_ptr<int>>();
  EXPECT_TRUE(receiver.Close());

  auto sent = sender.TrySend(std::make_unique<int>(5));

  EXPECT_FALSE(sent.ok());
  EXPECT_TRUE(sent.IsClosed());
  EXPECT_FALSE(sent.IsFull());
  EXPECT_THAT(sent.status(), StatusIs(kClosed));
  EXPECT_EQ(*std::move(sent).TakeValue(), 5);
  EXPECT_EQ(*BlockOn(sender.Send(std::make_unique<int>(6))).TakeValue(), 6);
}

TEST_P(ChannelTest, TheLastReceiverDestroysWhatNobodyReceives) {
  LiveCounter counter;
  auto [sender, receiver] = Make<LiveCounter::Object>();
  EXPECT_TRUE(sender.TrySend(counter.Make()).ok());
  EXPECT_EQ(counter.live(), 1);

  {
    Receiver<LiveCounter::Object> gone = std::move(receiver);
  }

  EXPECT_EQ(counter.live(), 0);
  EXPECT_TRUE(sender.IsClosed());
}

// Moves slowly where `gate` says so.
struct SlowToMove {
  enum Gate { kOpen, kShut, kStoppedAt };

  SlowToMove(std::atomic<Gate>* gate, std::shared_ptr<int> held)
      : gate(gate), held(std::move(held)) {}
  SlowToMove(SlowToMove&& other) noexcept
      : gate(other.gate), held(std::move(other.held)) {
    Gate shut = kShut;
    if (!gate->compare_exchange_strong(shut, kStoppedAt)) return;
    while (*gate == kStoppedAt) std::this_thread::yield();
  }

  std::atomic<Gate>* gate;
  std::shared_ptr<int> held;
};

// Also what comes behind one that is just being sent; its sender may live on.
TEST_P(ChannelTest, TheLastReceiverWaitsForAValueThatIsBeingSent) {
  auto [sender, receiver] = Make<SlowToMove>();
  std::atomic<SlowToMove::Gate> gate{SlowToMove::kOpen};
  auto held = std::make_shared<int>(0);
  std::thread slow_sender([&gate, &held, sender = sender] {
    auto send = sender.Send(SlowToMove(&gate, held));
    gate = SlowToMove::kShut;
    EXPECT_TRUE(BlockOn(std::move(send)).ok());
  });
  while (gate != SlowToMove::kStoppedAt) std::this_thread::yield();
  std::thread opener([&gate, sender = sender] {
    while (!sender.IsClosed()) std::this_thread::yield();
    ::poll(nullptr, 0, 10);  // so that the receiver has to wait
    gate = SlowToMove::kOpen;
  });
  // Of capacity 1 there is no room behind it.
  EXPECT_EQ(sender.TrySend(SlowToMove(&gate, held)).ok(), GetParam() != 1);

  {
    Receiver<SlowToMove> gone = std::move(receiver);
  }

  opener.join();
  slow_sender.join();
  EXPECT_EQ(held.use_count(), 1);
}

TEST_P(ChannelTest, WhatIsInsideDiesWithTheChannel) {
  LiveCounter counter;
  {
    auto [sender, receiver] = Make<LiveCounter::Object>();
    while (counter.live() < 100 && sender.TrySend(counter.Make()).ok()) {
    }
    EXPECT_GT(counter.live(), 0);
  }
  EXPECT_EQ(counter.live(), 0);
}

TEST_P(AnyChannelTest, TellsSendersThatItIsClosed) {
  auto [sender, receiver] = Make<int>();
  CountingWaker waker;
  Context cx(waker.waker());
  auto closed = sender.Closed();
  EXPECT_TRUE(closed.Poll(cx).IsPending());

  {
    Receiver<int> gone = std::move(receiver);
  }

  EXPECT_EQ(waker.wakes(), 1);
  EXPECT_TRUE(closed.Poll(cx).IsReady());
}

TEST_P(AnyChannelTest, WeakEndsDoNotKeepItOpen) {
  auto ends = std::make_optional(Make<int>());
  const WeakSender<int> weak_sender = ends->first.Downgrade();
  const WeakReceiver<int> weak_receiver = ends->second.Downgrade();
  {
    std::optional<Sender<int>> upgraded = weak_sender.Upgrade();
    ASSERT_TRUE(upgraded.has_value());
    EXPECT_TRUE(upgraded->IsSameChannel(ends->second));
    EXPECT_EQ(ends->first.sender_count(), 2u);
    EXPECT_TRUE(weak_receiver.Upgrade().has_value());
    EXPECT_EQ(ends->first.receiver_count(), 1u);
  }

  ends.reset();

  EXPECT_EQ(weak_sender.Upgrade(), std::nullopt);
  EXPECT_EQ(weak_receiver.Upgrade(), std::nullopt);
}

TEST_P(AnyChannelTest, IsAStream) {
  auto [sender, receiver] = Make<int>();
  CountingWaker waker;
  Context cx(waker.waker());
  EXPECT_TRUE(receiver.PollNext(cx).IsPending());
  EXPECT_TRUE(sender.TrySend(1).ok());
  EXPECT_EQ(waker.wakes(), 1);

  Receiver<int> moved = std::move(receiver);
  EXPECT_EQ(*moved.PollNext(cx), 1);
  EXPECT_TRUE(moved.PollNext(cx).IsPending());
  sender.Close();
  EXPECT_EQ(*moved.PollNext(cx), std::nullopt);
}

TEST_P(ChannelTest, GivesManyAtOnce) {
  auto [sender, receiver] = Make<std::string>();
  const size_t count = std::min<size_t>(sender.capacity(), 50);
  for (size_t i = 0; i < count; ++i) {
    EXPECT_TRUE(sender.TrySend(std::to_string(i)).ok());
  }
  std::vector<std::string> values{"before"};

  EXPECT_EQ(BlockOn(receiver.ReceiveMany(values, 40)),
            std::min<size_t>(count, 40));

  EXPECT_EQ(values.size(), 1 + std::min<size_t>(count, 40));
  EXPECT_EQ(values[0], "before");
  EXPECT_EQ(values.back(), std::to_string(values.size() - 2));
  sender.Close();
  BlockOn(receiver.ReceiveMany(values, 1000));
  if (count > 40) EXPECT_EQ(values.size(), 1 + count);
  EXPECT_EQ(BlockOn(receiver.ReceiveMany(values, 1000)), 0u);
}

// Not at each call: that would copy the values again and again.
TEST_P(ChannelTest, AppendingManyTimesGrowsTheVectorFewTimes) {
  auto [sender, receiver] = Make<int>();
  std::vector<int> values;
  size_t capacity = 0;
  int grown = 0;

  for (int i = 0; i < 1000; ++i) {
    EXPECT_TRUE(sender.TrySend(i).ok());
    EXPECT_EQ(BlockOn(receiver.ReceiveMany(values, 10)), 1u);
    if (values.capacity() != capacity) ++grown;
    capacity = values.capacity();
  }

  EXPECT_LT(grown, 20);
}

// So that who goes on sending, whatever becomes of it, lets others run.
TEST_P(AnyChannelTest, SendingAfterTheEndCostsBudget) {
  auto [sender, receiver] = Make<int>();
  receiver.Close();
  CountingWaker waker;
  Budget budget(1);
  Context cx(waker.waker(), &budget);
  auto first = sender.Send(1);
  auto second = sender.Send(2);

  EXPECT_TRUE(first.Poll(cx)->IsClosed());
  EXPECT_TRUE(second.Poll(cx).IsPending());

  EXPECT_EQ(waker.wakes(), 1);
}

TEST_P(ChannelTest, ASpentBudgetIsNotTheEnd) {
  auto [sender, receiver] = Make<int>();
  CountingWaker waker;
  Budget budget(1);
  Context cx(waker.waker(), &budget);
  EXPECT_TRUE(sender.Send(1).Poll(cx).IsReady());

  auto receive = receiver.Receive();
  EXPECT_TRUE(receive.Poll(cx).IsPending());
  EXPECT_EQ(waker.wakes(), 1);

  Budget more(1);
  Context more_cx(waker.waker(), &more);
  EXPECT_THAT(*receive.Poll(more_cx), IsOkAndHolds(1));
}

// C058: what is dropped with the channel sends into it.
TEST_P(ChannelTest, AValueMayUseTheChannelWhenItIsDestroyed) {
  struct Reenters {
    explicit Reenters(std::function<void()> fn) : fn(std::move(fn)) {}
    Reenters(Reenters&& other) noexcept
        : fn(std::exchange(other.fn, nullptr)) {}
    ~Reenters() {
      if (fn) fn();
    }
    std::function<void()> fn;
  };
  auto [sender, receiver] = Make<Reenters>();
  int calls = 0;
  EXPECT_TRUE(sender
                  .TrySend(Reenters([&calls, sender = sender] {
                    ++calls;
                    EXPECT_TRUE(sender.TrySend(Reenters(nullptr)).IsClosed());
                    EXPECT_EQ(sender.size(), 0u);
                  }))
                  .ok());

  {
    Receiver<Reenters> gone = std::move(receiver);
  }

  EXPECT_EQ(calls, 1);
}

// C058: a waker that is dropped, or woken, uses the channel.
TEST_P(AnyChannelTest, AWakerMayUseTheChannel) {
  auto [sender, receiver] = Make<int>();
  int woken = 0;
  int dropped = 0;
  const auto use = [&] { static_cast<void>(receiver.TryReceive()); };
  Waker waker =
      CallbackWaker([&] { ++woken, use(); }, [&] { ++dropped, use(); });
  Context cx(waker);
  CountingWaker other;
  Context other_cx(other.waker());
  {
    auto receive = receiver.Receive();
    EXPECT_TRUE(receive.Poll(cx).IsPending());
    EXPECT_TRUE(receive.Poll(other_cx).IsPending());  // drops the first one
    EXPECT_EQ(dropped, 1);
    EXPECT_TRUE(receive.Poll(cx).IsPending());
  }
  EXPECT_EQ(dropped, 2);
  auto receive = receiver.Receive();
  EXPECT_TRUE(receive.Poll(cx).IsPending());

  EXPECT_TRUE(sender.TrySend(1).ok());

  EXPECT_EQ(woken, 1);
  EXPECT_TRUE(receiver.empty());
}

// Closing has not ended when it wakes the first one, who may destroy all ends.
TEST_P(AnyChannelTest, WhoeverIsWokenByTheEndMayDestroyTheChannel) {
  auto ends = std::make_optional(Make<int>());
  CountingWaker other;
  Context other_cx(other.waker());
  int woken = 0;
  auto receive = std::make_optional(ends->second.Receive());
  auto closed = std::make_optional(ends->first.Closed());
  Waker waker = CallbackWaker([&] {
    ++woken;
    receive.reset();
    closed.reset();
    ends.reset();
  });
  Context cx(waker);
  EXPECT_TRUE(receive->Poll(cx).IsPending());
  EXPECT_TRUE(closed->Poll(other_cx).IsPending());

  EXPECT_TRUE(ends->first.Close());

  EXPECT_EQ(woken, 1);
}

Task<> SendAll(Sender<int> sender, int first, int count) {
  for (int i = first; i < first + count; ++i) {
    const SendResult<int> sent = co_await sender.Send(i);
    EXPECT_TRUE(sent.ok());
  }
}

Task<int64_t> ReceiveAll(Receiver<int> receiver) {
  int64_t sum = 0;
  while (std::optional<int> value = co_await Next(receiver)) sum += *value;
  co_return sum;
}

Task<> SendCounted(Sender<LiveCounter::Object> sender, LiveCounter* counter) {
  for (int i = 0; i < 4; ++i) {
    auto sent = co_await sender.Send(counter->Make());
    if (!sent.ok()) co_return;
  }
}

Task<> ExchangeCounted(
    std::pair<Sender<LiveCounter::Object>, Receiver<LiveCounter::Object>> ends,
    ManualExecutor* executor, LiveCounter* counter) {
  JoinHandle<> sending =
      executor->SpawnBorrowing(SendCounted(std::move(ends.first), counter));
  for (int i = 0; i < 4; ++i) {
    auto received = co_await ends.second.Receive();
    EXPECT_TRUE(received.ok());
  }
  co_await sending;
}

TEST_P(AnyChannelTest, CanBeDroppedAtEveryPoll) {
  ManualExecutor executor;
  LiveCounter counter;

  EXPECT_THAT(DropAtEveryPoll(
                  [&] {
                    return ExchangeCounted(Make<LiveCounter::Object>(),
                                           &executor, &counter);
                  },
                  {.step = [&] { return executor.RunOne(); },
                   .settle = [&] { executor.RunUntilIdle(); },
                   .live = [&] { return counter.live(); }}),
              IsOk());
}

TEST_P(AnyChannelTest, ReceiveManySurvivesADropAtEveryPoll) {
  LiveCounter counter;
  auto ends = Make<LiveCounter::Object>();
  auto& [sender, receiver] = ends;
  std::vector<LiveCounter::Object> values;
  EXPECT_THAT(DropAtEveryPoll(
                  [&] { return receiver.ReceiveMany(values, 2); },
                  {.step = [&] { return sender.TrySend(counter.Make()).ok(); },
                   .settle = [&] { values.clear(); },
                   .live = [&] { return counter.live(); }}),
              IsOkAndHolds(2));
}

TEST_P(AnyChannelTest, ClosedSurvivesADropAtEveryPoll) {
  std::optional<std::pair<Sender<int>, Receiver<int>>> ends;
  EXPECT_THAT(DropAtEveryPoll(
                  [&] {
                    ends.emplace(Make<int>());
                    return ends->first.Closed();
                  },
                  {.step = [&] { return ends->second.Close(); }}),
              IsOkAndHolds(2));
}

TEST_P(AnyChannelTest, ThreadsSendAndReceiveEachValueOnce) {
  const int count = Rounds(2'000);
  for (const int threads : {1, 2, 4}) {
    auto ends = std::make_optional(Make<int>());
    std::vector<std::thread> all;
    std::atomic<int64_t> sum{0};
    for (int t = 0; t < threads; ++t) {  // every other one runs a task
      all.emplace_back([t, &sum, receiver = ends->second]() mutable {
        if (t % 2 == 1) {
          sum += BlockOn(ReceiveAll(std::move(receiver)));
          return;
        }
        absl::StatusOr<int> value;
        while ((value = receiver.BlockingReceive()).ok()) sum += *value;
      });
      all.emplace_back([t, count, sender = ends->first]() mutable {
        if (t % 2 == 0) return BlockOn(SendAll(std::move(sender), 0, count));
        for (int i = 0; i < count; ++i) {
          ASSERT_TRUE(sender.BlockingSend(i).ok());
        }
      });
    }
    ends.reset();
    for (std::thread& thread : all) thread.join();

    EXPECT_EQ(sum, int64_t{threads} * count * (count - 1) / 2);
  }
}

TEST_P(AnyChannelTest, EachSendersValuesStayInOrder) {
  const int count = Rounds(2'000);
  auto ends = std::make_optional(Make<std::pair<int, int>>());
  std::vector<std::thread> senders;
  for (int t = 0; t < 3; ++t) {
    senders.emplace_back([t, count, sender = ends->first] {
      for (int i = 0; i < count; ++i) {
        ASSERT_TRUE(sender.BlockingSend({t, i}).ok());
      }
    });
  }
  const Receiver<std::pair<int, int>> receiver = ends->second;
  ends.reset();

  int next[3] = {};
  for (int i = 0; i < 3 * count; ++i) {
    auto value = receiver.BlockingReceive();
    ASSERT_TRUE(value.ok());
    ASSERT_EQ(value->second, next[value->first]++);
  }

  EXPECT_THAT(receiver.BlockingReceive(), StatusIs(kClosed));
  for (std::thread& thread : senders) thread.join();
}

// C047, C053: waits are given up at any moment, on both sides, and no value is lost
// or doubled.
TEST_P(AnyChannelTest, WaitsThatAreGivenUpLoseNothing) {
  const int count = Rounds(2'000);
  auto [sender, receiver] = Make<int>();
  const auto poll_twice = [](auto future, auto give_up) {
    CountingWaker waker;
    Context cx(waker.waker());
    auto polled = future.Poll(cx);
    for (int spins = 0; polled.IsPending() && spins < 50; ++spins) {
      if (waker.TakeWakes() > 0) polled = future.Poll(cx);
      std::this_thread::yield();
    }
    return give_up(future, std::move(polled));
  };
  std::vector<std::thread> threads;
  std::atomic<int> received{0};
  std::atomic<int64_t> sum{0};
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&, sender = sender] {
      for (int i = 1; i <= count;) {
        i += poll_twice(sender.Send(i), [&](auto& future, auto polled) {
          if (polled.IsReady()) return 1;
          const std::optional<int> kept = future.TakeValue();
          if (kept.has_value()) {
            EXPECT_EQ(*kept, i);
            return 0;
          }
          EXPECT_EQ(GetParam(), 0u);  // taken just before
          return 1;
        });
      }
    });
    threads.emplace_back([&, receiver = receiver] {
      while (received < 2 * count) {
        poll_twice(receiver.Receive(), [&](auto&, auto polled) {
          if (polled.IsPending()) return 0;
          sum += **polled;
          ++received;
          return 1;
        });
      }
    });
  }
  for (std::thread& thread : threads) thread.join();

  EXPECT_EQ(received, 2 * count);
  EXPECT_EQ(sum, int64_t{count} * (count + 1));
  EXPECT_TRUE(receiver.empty());
}

TEST_P(AnyChannelTest, TheEndMayComeAtAnyMoment) {
  for (int round = 0; round < Rounds(200); ++round) {
    LiveCounter counter;
    auto ends = std::make_optional(Make<LiveCounter::Object>());
    std::vector<std::thread> threads;
    for (int t = 0; t < 2; ++t) {
      threads.emplace_back([&counter, sender = ends->first] {
        // Bounded, for where nobody makes a sender wait.
        for (int i = 0; i < 100; ++i) {
          if (!sender.BlockingSend(counter.Make()).ok()) break;
        }
      });
      threads.emplace_back([t, receiver = ends->second] {
        for (int i = 0; i < 20 * t; ++i) {
          if (!receiver.BlockingReceive().ok()) break;
        }
      });
    }
    ends.reset();
    for (std::thread& thread : threads) thread.join();

    ASSERT_EQ(counter.live(), 0);
  }
}

// ---- What only a capacity brings.

TEST(BoundedChannelTest, HoldsItsCapacity) {
  for (const size_t capacity : {1, 2, 3, 5, 64}) {
    auto [sender, receiver] = Channel<size_t>(capacity);
    EXPECT_EQ(sender.capacity(), capacity);
    for (size_t round = 0; round < 3; ++round) {
      for (size_t i = 0; i < capacity; ++i) {
        EXPECT_FALSE(sender.IsFull());
        EXPECT_EQ(receiver.size(), i);
        EXPECT_TRUE(sender.TrySend(i).ok());
      }
      EXPECT_TRUE(sender.IsFull());
      auto refused = sender.TrySend(7);
      EXPECT_TRUE(refused.IsFull());
      EXPECT_EQ(std::move(refused).TakeValue(), 7u);
      for (size_t i = 0; i < capacity; ++i) {
        EXPECT_THAT(receiver.TryReceive(), IsOkAndHolds(i));
      }
    }
  }
}

TEST(BoundedChannelTest, ASenderWaitsForRoom) {
  auto [sender, receiver] = Channel<int>(1);
  CountingWaker waker;
  Context cx(waker.waker());
  EXPECT_TRUE(sender.TrySend(1).ok());
  auto send = sender.Send(2);
  EXPECT_TRUE(send.Poll(cx).IsPending());
  EXPECT_EQ(waker.wakes(), 0);

  EXPECT_THAT(receiver.TryReceive(), IsOkAndHolds(1));

  EXPECT_EQ(waker.wakes(), 1);
  EXPECT_TRUE(send.Poll(cx)->ok());
  EXPECT_THAT(receiver.TryReceive(), IsOkAndHolds(2));
  EXPECT_EQ(waker.outstanding(), 0);
}

// Who was woken but finds that another one was faster waits in its old place.
TEST(BoundedChannelTest, ASenderThatWasOvertakenIsStillTheFirst) {
  auto [sender, receiver] = Channel<int>(1);
  CountingWaker first_waker, second_waker;
  Context first_cx = Prompt(first_waker);
  Context second_cx = Prompt(second_waker);
  auto first = sender.Send(1);
  auto second = sender.Send(2);
  EXPECT_TRUE(sender.TrySend(0).ok());
  EXPECT_TRUE(first.Poll(first_cx).IsPending());
  EXPECT_TRUE(second.Poll(second_cx).IsPending());
  EXPECT_THAT(receiver.TryReceive(), IsOkAndHolds(0));
  EXPECT_EQ(first_waker.TakeWakes(), 1);
  EXPECT_TRUE(sender.TrySend(9).ok());
  EXPECT_TRUE(first.Poll(first_cx).IsPending());

  EXPECT_THAT(receiver.TryReceive(), IsOkAndHolds(9));

  EXPECT_EQ(first_waker.wakes(), 2);
  EXPECT_EQ(second_waker.wakes(), 0);
}

TEST(BoundedChannelTest, ADroppedSenderPassesItsWakeOn) {
  auto [sender, receiver] = Channel<int>(1);
  CountingWaker first_waker, second_waker;
  Context first_cx = Prompt(first_waker);
  Context second_cx = Prompt(second_waker);
  EXPECT_TRUE(sender.TrySend(1).ok());
  auto second = sender.Send(3);
  {
    auto first = sender.Send(2);
    EXPECT_TRUE(first.Poll(first_cx).IsPending());
    EXPECT_TRUE(second.Poll(second_cx).IsPending());
    EXPECT_THAT(receiver.TryReceive(), IsOkAndHolds(1));
    EXPECT_EQ(first_waker.wakes(), 1);
    EXPECT_EQ(second_waker.wakes(), 0);
    EXPECT_EQ(first.TakeValue(), 2);
  }

  EXPECT_EQ(second_waker.wakes(), 1);
  EXPECT_TRUE(second.Poll(second_cx)->ok());
}

TEST(BoundedChannelTest, ReceivingManyWakesAsManySenders) {
  auto [sender, receiver] = Channel<int>(4);
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(sender.TrySend(i).ok());
  CountingWaker waker;
  Context cx = Prompt(waker);
  std::vector<std::unique_ptr<SendFuture<int>>> sends;
  for (int i = 0; i < 6; ++i) {
    sends.push_back(std::make_unique<SendFuture<int>>(sender.Send(4 + i)));
    EXPECT_TRUE(sends.back()->Poll(cx).IsPending());
  }

  std::vector<int> values;
  EXPECT_EQ(BlockOn(receiver.ReceiveMany(values, 3)), 3u);

  EXPECT_EQ(waker.wakes(), 3);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(sends[i]->Poll(cx).IsReady());
  EXPECT_TRUE(sends[3]->Poll(cx).IsPending());
}

// Who was woken and is never polled again does not hold up the others.
TEST(BoundedChannelTest, AForgottenSenderHoldsUpNobody) {
  auto [sender, receiver] = Channel<int>(1);
  CountingWaker forgotten_waker, waker, third_waker;
  Context forgotten_cx(forgotten_waker.waker());
  Context cx = Prompt(waker), third_cx = Prompt(third_waker);
  EXPECT_TRUE(sender.TrySend(1).ok());
  auto forgotten = sender.Send(2);
  auto send = sender.Send(3);
  auto third = sender.Send(4);
  EXPECT_TRUE(forgotten.Poll(forgotten_cx).IsPending());
  EXPECT_TRUE(send.Poll(cx).IsPending());
  EXPECT_TRUE(third.Poll(third_cx).IsPending());

  EXPECT_THAT(receiver.TryReceive(), IsOkAndHolds(1));

  EXPECT_EQ(forgotten_waker.wakes(), 1);
  EXPECT_EQ(waker.wakes(), 1);
  EXPECT_EQ(third_waker.wakes(), 0);
  EXPECT_TRUE(send.Poll(cx)->ok());
  EXPECT_THAT(receiver.TryReceive(), IsOkAndHolds(3));
  EXPECT_EQ(third_waker.wakes(), 1);
}

TEST_P(AnyChannelTest, AForgottenReceiverHoldsUpNobody) {
  auto [sender, receiver] = Make<int>();
  CountingWaker forgotten_waker, waker, third_waker;
  Context forgotten_cx(forgotten_waker.waker());
  Context cx = Prompt(waker), third_cx = Prompt(third_waker);
  auto forgotten = receiver.Receive();
  auto receive = receiver.Receive();
  auto third = receiver.Receive();
  EXPECT_TRUE(forgotten.Poll(forgotten_cx).IsPending());
  EXPECT_TRUE(receive.Poll(cx).IsPending());
  EXPECT_TRUE(third.Poll(third_cx).IsPending());

  EXPECT_TRUE(sender.TrySend(1).ok());

  EXPECT_EQ(forgotten_waker.wakes(), 1);
  EXPECT_EQ(waker.wakes(), 1);
  EXPECT_EQ(third_waker.wakes(), 0);
  EXPECT_THAT(*receive.Poll(cx), IsOkAndHolds(1));
}

// The promise is that of the last poll.
TEST_P(AnyChannelTest, AReceiverMayBeForgottenLater) {
  auto [sender, receiver] = Make<int>();
  CountingWaker waker, other_waker;
  Context cx = Prompt(waker), other_cx = Prompt(other_waker);
  auto receive = receiver.Receive();
  auto other = receiver.Receive();
  EXPECT_TRUE(receive.Poll(cx).IsPending());
  EXPECT_TRUE(other.Poll(other_cx).IsPending());
  Context unsure(waker.waker());
  EXPECT_TRUE(receive.Poll(unsure).IsPending());

  EXPECT_TRUE(sender.TrySend(1).ok());

  EXPECT_EQ(waker.wakes(), 1);
  EXPECT_EQ(other_waker.wakes(), 1);
}

// All of them are woken once, also if each sleeps again at once.
TEST_P(AnyChannelTest, ForgottenReceiversAreWokenOnce) {
  auto [sender, receiver] = Make<int>();
  std::vector<std::unique_ptr<ReceiveFuture<int>>> waits;
  int wakes = 0;
  Waker waker;
  waker = CallbackWaker([&, &receiver = receiver] {
    if (++wakes == 1) EXPECT_THAT(receiver.TryReceive(), IsOkAndHolds(1));
    Context cx(waker);
    for (auto& wait : waits) EXPECT_TRUE(wait->Poll(cx).IsPending());
  });
  Context cx(waker);
  for (int i = 0; i < 10; ++i) {
    waits.push_back(std::make_unique<ReceiveFuture<int>>(receiver.Receive()));
    EXPECT_TRUE(waits.back()->Poll(cx).IsPending());
  }

  EXPECT_TRUE(sender.TrySend(1).ok());

  EXPECT_EQ(wakes, 10);
}

// Who goes to sleep wakes one of the other side only if that one has something to do:
// else two that wait for the owner of a permit would wake each other for ever.
TEST(BoundedChannelTest, WhoWaitsBesideAPermitWakesNobody) {
  auto [sender, receiver] = Channel<int>(1);
  CountingWaker send_waker, receive_waker;
  Context send_cx(send_waker.waker()), receive_cx(receive_waker.waker());
  absl::StatusOr<SendPermit<int>> permit = sender.TryReserve();
  auto receive = receiver.Receive();
  auto send = sender.Send(2);

  EXPECT_TRUE(receive.Poll(receive_cx).IsPending());
  EXPECT_TRUE(send.Poll(send_cx).IsPending());
  EXPECT_TRUE(receive.Poll(receive_cx).IsPending());
  EXPECT_TRUE(send.Poll(send_cx).IsPending());

  EXPECT_EQ(send_waker.wakes(), 0);
  EXPECT_EQ(receive_waker.wakes(), 0);
  EXPECT_TRUE(std::move(*permit).Send(1).ok());
  EXPECT_EQ(receive_waker.wakes(), 1);
  EXPECT_THAT(*receive.Poll(receive_cx), IsOkAndHolds(1));
  EXPECT_EQ(send_waker.wakes(), 1);
  EXPECT_TRUE(send.Poll(send_cx)->ok());
}

TEST(BoundedChannelTest, ForceSendDisplacesTheOldest) {
  auto [sender, receiver] = Channel<std::string>(2);
  std::optional<std::string> displaced;
  EXPECT_TRUE(sender.ForceSend("a", &displaced).ok());
  EXPECT_TRUE(sender.ForceSend("b", &displaced).ok());
  EXPECT_EQ(displaced, std::nullopt);

  EXPECT_TRUE(sender.ForceSend("c", &displaced).ok());

  EXPECT_EQ(displaced, "a");
  EXPECT_THAT(receiver.TryReceive(), IsOkAndHolds("b"));
  EXPECT_THAT(receiver.TryReceive(), IsOkAndHolds("c"));
  receiver.Close();
  EXPECT_TRUE(sender.ForceSend("d").IsClosed());
}

// Nothing can be taken out of a place that a permit has.
TEST(BoundedChannelTest, ForceSendDoesNotWaitForPermits) {
  auto [sender, receiver] = Channel<int>(2);
  std::vector<SendPermit<int>> permits;
  permits.push_back(*sender.TryReserve());
  std::optional<int> displaced;
  EXPECT_TRUE(sender.ForceSend(1, &displaced).ok());
  EXPECT_TRUE(sender.ForceSend(2, &displaced).ok());
  EXPECT_EQ(displaced, 1);
  EXPECT_THAT(receiver.TryReceive(), IsOkAndHolds(2));
  permits.push_back(*sender.TryReserve());

  SendResult<int> sent = sender.ForceSend(3);

  EXPECT_TRUE(sent.IsFull());
  EXPECT_EQ(std::move(sent).TakeValue(), 3);
}

TEST(BoundedChannelTest, APermitKeepsAPlace) {
  auto [sender, receiver] = Channel<int>(2);
  absl::StatusOr<SendPermit<int>> permit = sender.TryReserve();
  ASSERT_TRUE(permit.ok());
  EXPECT_EQ(receiver.size(), 0u);
  EXPECT_TRUE(sender.TrySend(1).ok());
  EXPECT_TRUE(sender.IsFull());
  EXPECT_TRUE(sender.TrySend(2).IsFull());
  EXPECT_THAT(sender.TryReserve(), StatusIs(kRefused));

  EXPECT_TRUE(std::move(*permit).Send(3).ok());

  EXPECT_THAT(receiver.TryReceive(), IsOkAndHolds(1));
  EXPECT_THAT(receiver.TryReceive(), IsOkAndHolds(3));
}

TEST(BoundedChannelTest, ADroppedPermitGivesItsPlaceBack) {
  auto [sender, receiver] = Channel<int>(1);
  CountingWaker waker;
  Context cx = Prompt(waker);
  auto send = sender.Send(1);
  auto reserve = sender.Reserve();
  {
    absl::StatusOr<SendPermit<int>> permit = sender.TryReserve();
    ASSERT_TRUE(permit.ok());
    EXPECT_TRUE(send.Poll(cx).IsPending());
    EXPECT_TRUE(reserve.Poll(cx).IsPending());
    SendPermit<int> moved = *std::move(permit);
  }
  EXPECT_EQ(waker.wakes(), 1);

  EXPECT_TRUE(send.Poll(cx)->ok());
  EXPECT_THAT(receiver.TryReceive(), IsOkAndHolds(1));
  EXPECT_EQ(waker.wakes(), 2);
  EXPECT_TRUE((*reserve.Poll(cx)).ok());
}

TEST(BoundedChannelTest, AnAssignedPermitGivesItsOldPlaceBack) {
  auto [sender, receiver] = Channel<int>(2);
  SendPermit<int> kept = *sender.TryReserve();
  SendPermit<int> moved = *sender.TryReserve();
  EXPECT_TRUE(sender.IsFull());

  kept = std::move(moved);

  EXPECT_FALSE(sender.IsFull());
  EXPECT_TRUE(std::move(kept).Send(1).ok());
}

TEST(BoundedChannelTest, APermitOfAClosedChannelGivesTheValueBack) {
  auto [sender, receiver] = Channel<int>(1);
  absl::StatusOr<SendPermit<int>> permit = sender.TryReserve();
  receiver.Close();

  EXPECT_EQ(std::move(*permit).Send(1).TakeValue(), 1);
  EXPECT_THAT(sender.TryReserve(), StatusIs(kClosed));
  EXPECT_THAT(BlockOn(sender.Reserve()), StatusIs(kClosed));
}

TEST(BoundedChannelTest, ReserveSurvivesADropAtEveryPoll) {
  auto ends = Channel<int>(1);
  auto& [sender, receiver] = ends;
  EXPECT_THAT(DropAtEveryPoll(
                  [&] {
                    static_cast<void>(sender.TrySend(1));
                    return sender.Reserve();
                  },
                  {.step = [&] { return receiver.TryReceive().ok(); }}),
              IsOkAndHolds(2));
}

TEST(UnboundedChannelTest, APermitIsAlwaysThere) {
  auto [sender, receiver] = UnboundedChannel<int>();
  absl::StatusOr<SendPermit<int>> permit = sender.TryReserve();
  ASSERT_TRUE(permit.ok());

  EXPECT_TRUE(std::move(*permit).Send(1).ok());
  EXPECT_THAT(receiver.TryReceive(), IsOkAndHolds(1));
}

TEST(UnboundedChannelTest, CountsWhatIsInside) {
  auto [sender, receiver] = UnboundedChannel<int>();
  EXPECT_FALSE(sender.IsFull());
  for (size_t i = 0; i < 200; ++i) {
    EXPECT_EQ(sender.size(), i);
    EXPECT_TRUE(sender.TrySend(0).ok());
  }
  for (size_t i = 200; i > 0; --i) {
    EXPECT_EQ(receiver.size(), i);
    EXPECT_TRUE(receiver.TryReceive().ok());
  }
  EXPECT_TRUE(receiver.empty());
}

// ---- Without places.

TEST(RendezvousTest, ASenderWaitsUntilItsValueIsReceived) {
  auto [sender, receiver] = Channel<std::unique_ptr<int>>(0);
  EXPECT_EQ(sender.capacity(), 0u);
  EXPECT_TRUE(sender.IsFull());
  CountingWaker waker;
  Context cx(waker.waker());
  auto send = sender.Send(std::make_unique<int>(1));
  EXPECT_TRUE(send.Poll(cx).IsPending());
  EXPECT_TRUE(send.Poll(cx).IsPending());
  EXPECT_EQ(waker.wakes(), 0);

  EXPECT_EQ(**receiver.TryReceive(), 1);

  EXPECT_EQ(waker.wakes(), 1);
  EXPECT_TRUE(send.Poll(cx)->ok());
  EXPECT_EQ(waker.outstanding(), 0);
}

TEST(RendezvousTest, AReceiverIsWokenByASender) {
  auto [sender, receiver] = Channel<int>(0);
  CountingWaker waker, receiver_waker;
  Context cx(waker.waker()), receiver_cx(receiver_waker.waker());
  auto receive = receiver.Receive();
  EXPECT_TRUE(receive.Poll(receiver_cx).IsPending());

  auto send = sender.Send(1);
  EXPECT_TRUE(send.Poll(cx).IsPending());

  EXPECT_EQ(receiver_waker.wakes(), 1);
  EXPECT_THAT(*receive.Poll(receiver_cx), IsOkAndHolds(1));
  EXPECT_TRUE(send.Poll(cx)->ok());
}

TEST(RendezvousTest, TrySendNeedsAReceiverThatWaits) {
  auto [sender, receiver] = Channel<int>(0);
  CountingWaker waker;
  Context cx(waker.waker());
  EXPECT_TRUE(sender.TrySend(1).IsFull());
  auto receive = receiver.Receive();
  EXPECT_TRUE(receive.Poll(cx).IsPending());

  EXPECT_TRUE(sender.TrySend(2).ok());
  EXPECT_TRUE(sender.TrySend(3).IsFull());

  EXPECT_EQ(waker.wakes(), 1);
  EXPECT_THAT(*receive.Poll(cx), IsOkAndHolds(2));
}

TEST(RendezvousTest, AForgottenReceiverHoldsUpNoSender) {
  auto [sender, receiver] = Channel<int>(0);
  CountingWaker forgotten_waker, waker, sender_waker;
  Context forgotten_cx(forgotten_waker.waker());
  Context cx = Prompt(waker), sender_cx = Prompt(sender_waker);
  auto forgotten = receiver.Receive();
  auto receive = receiver.Receive();
  EXPECT_TRUE(forgotten.Poll(forgotten_cx).IsPending());
  EXPECT_TRUE(receive.Poll(cx).IsPending());
  auto send = sender.Send(1);

  EXPECT_TRUE(send.Poll(sender_cx).IsPending());

  EXPECT_EQ(waker.wakes(), 1);
  EXPECT_THAT(*receive.Poll(cx), IsOkAndHolds(1));
  EXPECT_TRUE(send.Poll(sender_cx)->ok());
}

// C047: what was handed to a receiver that gives up is the next one's.
TEST(RendezvousTest, AReceiverThatGivesUpLosesNothing) {
  auto [sender, receiver] = Channel<int>(0);
  CountingWaker waker, other_waker;
  Context cx = Prompt(waker);
  Context other_cx = Prompt(other_waker);
  auto other = receiver.Receive();
  {
    auto receive = receiver.Receive();
    EXPECT_TRUE(receive.Poll(cx).IsPending());
    EXPECT_TRUE(other.Poll(other_cx).IsPending());
    EXPECT_TRUE(sender.TrySend(1).ok());
    EXPECT_EQ(other_waker.wakes(), 0);
  }

  EXPECT_EQ(other_waker.wakes(), 1);
  EXPECT_THAT(*other.Poll(other_cx), IsOkAndHolds(1));
}

TEST(RendezvousTest, ASenderThatGivesUpKeepsItsValue) {
  auto [sender, receiver] = Channel<std::string>(0);
  CountingWaker waker;
  Context cx(waker.waker());
  auto send = sender.Send("mine");
  EXPECT_TRUE(send.Poll(cx).IsPending());

  EXPECT_EQ(send.TakeValue(), "mine");

  EXPECT_THAT(receiver.TryReceive(), StatusIs(kRefused));
  auto taken = sender.Send("theirs");
  EXPECT_TRUE(taken.Poll(cx).IsPending());
  EXPECT_THAT(receiver.TryReceive(), IsOkAndHolds("theirs"));
  EXPECT_EQ(taken.TakeValue(), std::nullopt);
}

TEST(RendezvousTest, TheEndGivesTheValueBack) {
  auto [sender, receiver] = Channel<std::string>(0);
  CountingWaker waker;
  Context cx(waker.waker());
  auto send = sender.Send("mine");
  EXPECT_TRUE(send.Poll(cx).IsPending());

  {
    Receiver<std::string> gone = std::move(receiver);
  }

  EXPECT_EQ(waker.wakes(), 1);
  auto sent = send.Poll(cx);
  EXPECT_TRUE(sent->IsClosed());
  EXPECT_EQ((*std::move(sent)).TakeValue(), "mine");
}

TEST(RendezvousTest, AGiftNobodyCameForDiesWithTheChannel) {
  LiveCounter counter;
  {
    auto [sender, receiver] = Channel<LiveCounter::Object>(0);
    CountingWaker waker;
    Context cx(waker.waker());
    {
      auto receive = receiver.Receive();
      EXPECT_TRUE(receive.Poll(cx).IsPending());
      EXPECT_TRUE(sender.TrySend(counter.Make()).ok());
    }
    EXPECT_EQ(counter.live(), 1);
  }
  EXPECT_EQ(counter.live(), 0);
}

TEST(RendezvousDeathTest, HasNoPlaceToReserve) {
  auto [sender, receiver] = Channel<int>(0);
  EXPECT_DEATH(static_cast<void>(sender.TryReserve()), "no place to reserve");
  EXPECT_DEATH(static_cast<void>(sender.ForceSend(1)), "a capacity above 0");
}

TEST(ChannelDeathTest, AnEndThatWasMovedFromSaysSo) {
  auto [sender, receiver] = Channel<int>(1);
  const Sender<int> moved = std::move(sender);
  EXPECT_DEATH(static_cast<void>(sender.TrySend(1)), "moved from");
}

}  // namespace
}  // namespace weft::sync
