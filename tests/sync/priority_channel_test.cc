// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// weft-lint: allow-file(R22): the tests' tasks end before what they refer to.

#include "weft/sync/priority_channel.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "weft/stream/next.h"
#include "weft/sync/priority_receiver.h"
#include "weft/sync/priority_sender.h"
#include "weft/sync/send_result.h"
#include "weft/task/block_on.h"
#include "weft/task/budget.h"
#include "weft/task/context.h"
#include "weft/task/counting_waker.h"
#include "weft/task/drop_at_every_poll.h"
#include "weft/task/future.h"
#include "weft/task/live_counter.h"
#include "weft/task/random.h"
#include "weft/task/status_matchers.h"
#include "weft/task/task.h"
#include "weft/task/waker.h"
#include "weft/tests/sync/callback_waker.h"
#include "weft/tests/sync/wait_by_hand.h"

namespace weft::sync {
namespace {

constexpr auto kClosed = absl::StatusCode::kFailedPrecondition;
constexpr auto kRefused = absl::StatusCode::kResourceExhausted;

static_assert(Future<PrioritySendFuture<int>>);
static_assert(Future<PriorityReceiveFuture<int>>);
static_assert(Future<PriorityReceiveManyFuture<int>>);
static_assert(Future<PriorityClosedFuture>);
static_assert(Stream<PriorityReceiver<int>>);
static_assert(std::is_nothrow_move_constructible_v<PriorityReceiver<int>>);

// An lvalue is copied, so what cannot be copied is refused before it is tried.
template <class T>
concept SendsCopies = requires(const PrioritySender<T>& sender,
                               const T& value) { sender.Send(value, 0); };
static_assert(SendsCopies<std::string>);
static_assert(!SendsCopies<std::unique_ptr<int>>);

// Many more rounds with WEFT_LONG=1.
int Rounds(int rounds) {
  return std::getenv("WEFT_LONG") != nullptr ? 100 * rounds : rounds;
}

// Polls `future` with a waker that calls `fn` when it is cloned: after the future has
// seen that it must wait, and before it sleeps.
template <class F>
auto PollMeanwhile(F& future, std::function<void()> fn) {
  static constexpr WakerVTable kVTable = {
      .clone =
          [](void* data) {
            auto& fn = *static_cast<std::function<void()>*>(data);
            if (fn) std::exchange(fn, nullptr)();
            return Waker();
          },
      .wake = [](void*) {},
      .wake_by_ref = [](void*) {},
      .drop = [](void*) {},
  };
  const Waker waker(&kVTable, &fn);
  Context cx(waker);
  return future.Poll(cx);
}

// ---- With a limit, and without.

class PriorityChannelTest : public testing::TestWithParam<size_t> {
 protected:
  template <class T>
  static std::pair<PrioritySender<T>, PriorityReceiver<T>> Make() {
    return GetParam() == PrioritySender<T>::kUnbounded
               ? UnboundedPriorityChannel<T>()
               : PriorityChannel<T>(GetParam());
  }
  // How many values fit, or `most` if that is less.
  static size_t Room(size_t most) { return std::min(most, GetParam()); }
};

INSTANTIATE_TEST_SUITE_P(Capacities, PriorityChannelTest,
                         testing::Values(1, 2, 64,
                                         PrioritySender<int>::kUnbounded),
                         [](const testing::TestParamInfo<size_t>& info) {
                           return info.param == PrioritySender<int>::kUnbounded
                                      ? "Unbounded"
                                      : "Of" + std::to_string(info.param);
                         });

TEST_P(PriorityChannelTest, WakesAReceiver) {
  auto [sender, receiver] = Make<std::string>();
  WaitByHand receive(receiver.Receive());
  EXPECT_FALSE(receive.Poll());
  EXPECT_FALSE(receive.Poll());  // a spurious one
  EXPECT_EQ(receive.TakeWakes(), 0);

  EXPECT_TRUE(sender.TrySend("hello", 1).ok());

  EXPECT_EQ(receive.TakeWakes(), 1);
  ASSERT_TRUE(receive.Poll());
  EXPECT_THAT(receive.output(), IsOkAndHolds("hello"));
}

TEST_P(PriorityChannelTest, OneSendWakesOneReceiver) {
  auto [sender, receiver] = Make<int>();
  WaitByHand first(receiver.Receive());
  WaitByHand second(receiver.Receive());
  EXPECT_FALSE(first.Poll());
  EXPECT_FALSE(second.Poll());

  EXPECT_TRUE(sender.TrySend(1, 0).ok());

  EXPECT_EQ(first.TakeWakes(), 1);
  EXPECT_EQ(second.TakeWakes(), 0);
  ASSERT_TRUE(first.Poll());
  EXPECT_FALSE(second.Poll());
}

TEST_P(PriorityChannelTest, ADroppedReceiverPassesItsWakeOn) {
  auto [sender, receiver] = Make<int>();
  WaitByHand first(receiver.Receive());
  WaitByHand second(receiver.Receive());
  EXPECT_FALSE(first.Poll());
  EXPECT_FALSE(second.Poll());
  EXPECT_TRUE(sender.TrySend(1, 0).ok());
  EXPECT_EQ(second.TakeWakes(), 0);

  first.Drop();

  EXPECT_EQ(second.TakeWakes(), 1);
  ASSERT_TRUE(second.Poll());
  EXPECT_THAT(second.output(), IsOkAndHolds(1));
}

// C057
TEST_P(PriorityChannelTest, AWaitThatMovedToAnotherTaskWakesThatOne) {
  auto [sender, receiver] = Make<int>();
  CountingWaker before, now;
  Context before_cx(before.waker()), now_cx(now.waker());
  auto receive = receiver.Receive();
  EXPECT_TRUE(receive.Poll(before_cx).IsPending());
  EXPECT_TRUE(receive.Poll(now_cx).IsPending());
  EXPECT_EQ(before.outstanding(), 0);

  EXPECT_TRUE(sender.TrySend(1, 0).ok());

  EXPECT_EQ(before.wakes(), 0);
  EXPECT_EQ(now.wakes(), 1);
}

TEST_P(PriorityChannelTest, ClosesWhenTheLastSenderGoes) {
  auto [sender, receiver] = Make<int>();
  {
    PrioritySender<int> gone = std::move(sender);
    PrioritySender<int> copy = gone;
    EXPECT_EQ(receiver.sender_count(), 2u);
    EXPECT_TRUE(copy.TrySend(1, 0).ok());
    EXPECT_FALSE(receiver.IsClosed());
  }

  EXPECT_TRUE(receiver.IsClosed());
  EXPECT_THAT(receiver.TryReceive(), IsOkAndHolds(1));
  EXPECT_THAT(receiver.TryReceive(), StatusIs(kClosed));
  EXPECT_THAT(BlockOn(receiver.Receive()), StatusIs(kClosed));
}

TEST_P(PriorityChannelTest, TheEndWakesAllReceivers) {
  auto [sender, receiver] = Make<int>();
  std::vector<std::unique_ptr<WaitByHand<PriorityReceiveFuture<int>>>> waits;
  for (int i = 0; i < 100; ++i) {
    waits.push_back(std::make_unique<WaitByHand<PriorityReceiveFuture<int>>>(
        receiver.Receive()));
    EXPECT_FALSE(waits.back()->Poll());
  }

  EXPECT_TRUE(sender.Close());
  EXPECT_FALSE(receiver.Close());

  for (auto& wait : waits) {
    EXPECT_EQ(wait->TakeWakes(), 1);
    ASSERT_TRUE(wait->Poll());
    EXPECT_THAT(wait->output(), StatusIs(kClosed));
  }
}

TEST_P(PriorityChannelTest, WhatIsSentAfterTheEndComesBack) {
  auto [sender, receiver] = Make<std::unique_ptr<int>>();
  EXPECT_TRUE(receiver.Close());

  auto sent = sender.TrySend(std::make_unique<int>(5), 0);

  EXPECT_TRUE(sent.IsClosed());
  EXPECT_EQ(*std::move(sent).TakeValue(), 5);
  EXPECT_EQ(*BlockOn(sender.Send(std::make_unique<int>(6), 0)).TakeValue(), 6);
  EXPECT_EQ(*sender.ForceSend(std::make_unique<int>(7), 0).TakeValue(), 7);
}

TEST_P(PriorityChannelTest, TheLastReceiverDestroysWhatNobodyReceives) {
  LiveCounter counter;
  auto [sender, receiver] = Make<LiveCounter::Object>();
  for (size_t i = 0; i < Room(10); ++i) {
    EXPECT_TRUE(sender.TrySend(counter.Make(), static_cast<int>(i % 3)).ok());
  }
  EXPECT_EQ(counter.live(), static_cast<int64_t>(Room(10)));

  {
    PriorityReceiver<LiveCounter::Object> gone = std::move(receiver);
  }

  EXPECT_EQ(counter.live(), 0);
  EXPECT_TRUE(sender.IsClosed());
  EXPECT_EQ(sender.receiver_count(), 0u);
}

TEST_P(PriorityChannelTest, TellsSendersThatItIsClosed) {
  auto [sender, receiver] = Make<int>();
  CountingWaker waker;
  Context cx(waker.waker());
  auto closed = sender.Closed();
  EXPECT_TRUE(closed.Poll(cx).IsPending());

  {
    PriorityReceiver<int> gone = std::move(receiver);
  }

  EXPECT_EQ(waker.wakes(), 1);
  EXPECT_TRUE(closed.Poll(cx).IsReady());
}

TEST_P(PriorityChannelTest, IsAStream) {
  auto [sender, receiver] = Make<int>();
  CountingWaker waker;
  Context cx(waker.waker());
  EXPECT_TRUE(receiver.PollNext(cx).IsPending());
  EXPECT_TRUE(sender.TrySend(1, 0).ok());
  EXPECT_EQ(waker.wakes(), 1);

  PriorityReceiver<int> moved = std::move(receiver);
  EXPECT_EQ(*moved.PollNext(cx), 1);
  EXPECT_TRUE(moved.PollNext(cx).IsPending());
  sender.Close();
  EXPECT_EQ(*moved.PollNext(cx), std::nullopt);
}

TEST_P(PriorityChannelTest, WhatComesAsAReceiverGoesToSleepIsSeen) {
  auto [sender, receiver] = Make<int>();
  auto receive = receiver.Receive();
  auto last = receiver.Receive();
  auto closed = sender.Closed();

  auto received =
      PollMeanwhile(receive, [&] { EXPECT_TRUE(sender.TrySend(1, 0).ok()); });
  auto end = PollMeanwhile(last, [&] { sender.Close(); });

  ASSERT_TRUE(received.IsReady());
  EXPECT_THAT(*received, IsOkAndHolds(1));
  ASSERT_TRUE(end.IsReady());
  EXPECT_THAT(*end, StatusIs(kClosed));
  EXPECT_TRUE(PollMeanwhile(closed, nullptr).IsReady());
}

TEST_P(PriorityChannelTest, ASpentBudgetIsNotTheEnd) {
  auto [sender, receiver] = Make<int>();
  WaitByHand send(sender.Send(1, 0));
  WaitByHand receive(receiver.Receive());
  Budget budget(1);
  EXPECT_TRUE(send.Poll(&budget));

  EXPECT_FALSE(receive.Poll(&budget));
  EXPECT_EQ(receive.TakeWakes(), 1);

  Budget more(1);
  EXPECT_TRUE(receive.Poll(&more));
  EXPECT_TRUE(more.IsSpent());
}

TEST_P(PriorityChannelTest, GivesManyAtOnce) {
  auto [sender, receiver] = Make<std::unique_ptr<int>>();
  const size_t count = Room(10);
  for (size_t i = 0; i < count; ++i) {
    const int value = static_cast<int>(i);
    EXPECT_TRUE(sender.TrySend(std::make_unique<int>(value), value).ok());
  }
  std::vector<std::unique_ptr<int>> values;

  EXPECT_EQ(BlockOn(receiver.ReceiveMany(values, 7)),
            std::min<size_t>(count, 7));
  sender.Close();
  BlockOn(receiver.ReceiveMany(values, 7));

  ASSERT_EQ(values.size(), count);
  for (size_t i = 0; i < count; ++i) {
    EXPECT_EQ(*values[i], static_cast<int>(count - 1 - i));
  }
  EXPECT_EQ(BlockOn(receiver.ReceiveMany(values, 7)), 0u);
}

// C058: what is dropped with the channel sends into it.
TEST_P(PriorityChannelTest, AValueMayUseTheChannelWhenItIsDestroyed) {
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
  for (size_t i = 0; i < Room(2); ++i) {
    EXPECT_TRUE(
        sender
            .TrySend(Reenters([&calls, sender = sender] {
                       ++calls;
                       EXPECT_TRUE(
                           sender.ForceSend(Reenters(nullptr), 1).IsClosed());
                       static_cast<void>(sender.size());
                     }),
                     0)
            .ok());
  }

  {
    PriorityReceiver<Reenters> gone = std::move(receiver);
  }

  EXPECT_EQ(calls, static_cast<int>(Room(2)));
}

// C058: a waker that is dropped, or woken, uses the channel.
TEST_P(PriorityChannelTest, AWakerMayUseTheChannel) {
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

  EXPECT_TRUE(sender.TrySend(1, 0).ok());

  EXPECT_EQ(woken, 1);
  EXPECT_TRUE(receiver.empty());
}

TEST_P(PriorityChannelTest, ReceiveSurvivesADropAtEveryPoll) {
  LiveCounter counter;
  auto ends = Make<LiveCounter::Object>();
  auto& [sender, receiver] = ends;
  EXPECT_THAT(
      DropAtEveryPoll(
          [&] { return receiver.Receive(); },
          {.step = [&] { return sender.TrySend(counter.Make(), 0).ok(); },
           .live = [&] { return counter.live(); }}),
      IsOkAndHolds(2));
}

TEST_P(PriorityChannelTest, ReceiveManySurvivesADropAtEveryPoll) {
  LiveCounter counter;
  auto ends = Make<LiveCounter::Object>();
  auto& [sender, receiver] = ends;
  std::vector<LiveCounter::Object> values;
  EXPECT_THAT(
      DropAtEveryPoll(
          [&] { return receiver.ReceiveMany(values, 2); },
          {.step = [&] { return sender.TrySend(counter.Make(), 0).ok(); },
           .settle = [&] { values.clear(); },
           .live = [&] { return counter.live(); }}),
      IsOkAndHolds(2));
}

TEST_P(PriorityChannelTest, ClosedSurvivesADropAtEveryPoll) {
  std::optional<std::pair<PrioritySender<int>, PriorityReceiver<int>>> ends;
  EXPECT_THAT(DropAtEveryPoll(
                  [&] {
                    ends.emplace(Make<int>());
                    return ends->first.Closed();
                  },
                  {.step = [&] { return ends->second.Close(); }}),
              IsOkAndHolds(2));
}

// ---- The order.

TEST(PriorityOrderTest, TheGreatestComesFirstAndEqualsInTurn) {
  auto [sender, receiver] = UnboundedPriorityChannel<std::string>();
  for (const auto& [value, priority] : std::vector<std::pair<const char*, int>>{
           {"a", 0}, {"b", -5}, {"c", 7}, {"d", 0}, {"e", 7}, {"f", -5}}) {
    EXPECT_TRUE(sender.TrySend(value, priority).ok());
  }
  sender.Close();

  std::string order;
  for (auto value = receiver.TryReceive(); value.ok();
       value = receiver.TryReceive()) {
    order += *value;
  }

  EXPECT_EQ(order, "ceadbf");
}

TEST(PriorityOrderTest, APriorityMayBeAnEnumOrAnyInteger) {
  enum class Urgency : int8_t { kLater = -1, kSoon, kNow };
  auto [sender, receiver] = PriorityChannel<int, Urgency>(2);
  auto [times, earliest] = PriorityChannel<int, int64_t>(2);

  EXPECT_TRUE(sender.TrySend(1, Urgency::kLater).ok());
  EXPECT_TRUE(sender.TrySend(2, Urgency::kNow).ok());
  EXPECT_TRUE(times.TrySend(1, -INT64_MAX).ok());
  EXPECT_TRUE(times.TrySend(2, -1).ok());

  EXPECT_THAT(receiver.TryReceive(), IsOkAndHolds(2));
  EXPECT_THAT(earliest.TryReceive(), IsOkAndHolds(2));
}

// Random operations by one thread, against a map in which equals stay in the order
// of their insertion.
TEST(PriorityOrderTest, DoesAsAMultimap) {
  for (const size_t capacity :
       {size_t{1}, size_t{2}, size_t{9}, size_t{1000}}) {
    Random random(capacity);
    auto [sender, receiver] = PriorityChannel<std::unique_ptr<int>>(capacity);
    std::multimap<int, int, std::greater<>> model;
    for (int i = 0; i < Rounds(5'000); ++i) {
      const int priority = static_cast<int>(random.Below(9)) - 4;
      const uint32_t what = random.Below(5);
      auto value = std::make_unique<int>(i);
      if (what < 2) {
        auto sent = sender.TrySend(std::move(value), priority);
        ASSERT_EQ(sent.IsFull(), model.size() == capacity);
        if (sent.ok()) {
          model.emplace(priority, i);
        } else {
          ASSERT_EQ(*std::move(sent).TakeValue(), i);
        }
      } else if (what == 2) {
        std::optional<std::unique_ptr<int>> displaced;
        auto sent = sender.ForceSend(std::move(value), priority, &displaced);
        const bool full = model.size() == capacity;
        model.emplace(priority, i);
        if (!full) {
          ASSERT_TRUE(sent.ok());
          ASSERT_FALSE(displaced.has_value());
          continue;
        }
        const auto last = std::prev(model.end());
        ASSERT_EQ(sent.IsFull(), last->second == i);
        ASSERT_EQ(displaced.has_value(), sent.ok());
        const auto out =
            sent.ok() ? *std::move(displaced) : std::move(sent).TakeValue();
        ASSERT_EQ(*out, last->second);
        model.erase(last);
      } else {
        auto received = receiver.TryReceive();
        ASSERT_EQ(received.ok(), !model.empty());
        if (!received.ok()) continue;
        ASSERT_EQ(**received, model.begin()->second);
        model.erase(model.begin());
      }
      ASSERT_EQ(receiver.size(), model.size());
    }
  }
}

// ---- Room.

TEST(BoundedPriorityChannelTest, HoldsItsCapacity) {
  auto [sender, receiver] = PriorityChannel<int>(2);
  EXPECT_EQ(receiver.capacity(), 2u);
  EXPECT_TRUE(sender.TrySend(1, 0).ok());
  EXPECT_FALSE(sender.IsFull());
  EXPECT_TRUE(sender.TrySend(2, 0).ok());
  EXPECT_TRUE(receiver.IsFull());

  auto refused = sender.TrySend(3, 9);

  EXPECT_THAT(refused.status(), StatusIs(kRefused));
  EXPECT_EQ(std::move(refused).TakeValue(), 3);
}

TEST(BoundedPriorityChannelTest, ForceSendPutsOutTheLast) {
  auto [sender, receiver] = PriorityChannel<std::string>(2);
  EXPECT_TRUE(sender.TrySend("low", 1).ok());
  EXPECT_TRUE(sender.TrySend("low too", 1).ok());
  std::optional<std::string> displaced;

  EXPECT_TRUE(sender.ForceSend("high", 2, &displaced).ok());
  EXPECT_EQ(displaced, "low too");

  displaced.reset();
  auto itself = sender.ForceSend("no higher", 1, &displaced);
  EXPECT_TRUE(itself.IsFull());
  EXPECT_EQ(std::move(itself).TakeValue(), "no higher");
  EXPECT_EQ(displaced, std::nullopt);
  EXPECT_TRUE(sender.ForceSend("higher", 3).ok());  // "low" is destroyed
  EXPECT_THAT(receiver.TryReceive(), IsOkAndHolds("higher"));
  EXPECT_THAT(receiver.TryReceive(), IsOkAndHolds("high"));
  EXPECT_TRUE(receiver.empty());
}

TEST(BoundedPriorityChannelTest, SendersWaitForRoomInTurn) {
  auto [sender, receiver] = PriorityChannel<int>(1);
  EXPECT_TRUE(sender.TrySend(1, 0).ok());
  WaitByHand second(sender.Send(2, 0));
  WaitByHand third(sender.Send(3, 9));
  EXPECT_FALSE(second.Poll());
  EXPECT_FALSE(third.Poll());

  EXPECT_THAT(receiver.TryReceive(), IsOkAndHolds(1));

  EXPECT_EQ(second.TakeWakes(), 1);
  EXPECT_EQ(third.TakeWakes(), 0);
  ASSERT_TRUE(second.Poll());
  EXPECT_TRUE(second.output().ok());
  EXPECT_THAT(receiver.TryReceive(), IsOkAndHolds(2));
  EXPECT_EQ(third.TakeWakes(), 1);
  EXPECT_TRUE(third.Poll());
}

TEST(BoundedPriorityChannelTest,
     ADroppedSenderPassesItsWakeOnAndKeepsItsValue) {
  auto [sender, receiver] = PriorityChannel<std::string>(1);
  EXPECT_TRUE(sender.TrySend("1", 0).ok());
  CountingWaker waker;
  Context cx(waker.waker());
  auto first = sender.Send("2", 0);
  WaitByHand second(sender.Send("3", 0));
  EXPECT_TRUE(first.Poll(cx).IsPending());
  EXPECT_FALSE(second.Poll());
  EXPECT_TRUE(receiver.TryReceive().ok());
  EXPECT_EQ(waker.wakes(), 1);

  EXPECT_EQ(first.TakeValue(), "2");

  EXPECT_EQ(first.TakeValue(), std::nullopt);
  EXPECT_EQ(second.TakeWakes(), 1);
  EXPECT_TRUE(second.Poll());
  EXPECT_THAT(receiver.TryReceive(), IsOkAndHolds("3"));
}

TEST(BoundedPriorityChannelTest, AWaitingSenderGetsItsValueBackAtTheEnd) {
  auto [sender, receiver] = PriorityChannel<std::string>(1);
  EXPECT_TRUE(sender.TrySend("1", 0).ok());
  WaitByHand send(sender.Send("2", 0));
  EXPECT_FALSE(send.Poll());

  {
    PriorityReceiver<std::string> gone = std::move(receiver);
  }

  EXPECT_EQ(send.TakeWakes(), 1);
  ASSERT_TRUE(send.Poll());
  EXPECT_TRUE(send.output().IsClosed());
  EXPECT_EQ(send.Take().TakeValue(), "2");
}

TEST(BoundedPriorityChannelTest, WhatComesAsASenderGoesToSleepIsSeen) {
  auto [sender, receiver] = PriorityChannel<int>(1);
  EXPECT_TRUE(sender.TrySend(1, 0).ok());
  auto second = sender.Send(2, 0);
  auto third = sender.Send(3, 0);

  auto sent = PollMeanwhile(
      second, [&] { EXPECT_THAT(receiver.TryReceive(), IsOkAndHolds(1)); });
  auto refused = PollMeanwhile(third, [&] { receiver.Close(); });

  ASSERT_TRUE(sent.IsReady());
  EXPECT_TRUE(sent->ok());
  ASSERT_TRUE(refused.IsReady());
  EXPECT_EQ((*std::move(refused)).TakeValue(), 3);
}

TEST(BoundedPriorityChannelTest, AForgottenSenderDoesNotKeepTheOthersOut) {
  auto [sender, receiver] = PriorityChannel<int>(1);
  EXPECT_TRUE(sender.TrySend(1, 0).ok());
  WaitByHand forgotten(sender.Send(2, 0));
  WaitByHand other(sender.Send(3, 0));
  WaitByHand third(sender.Send(4, 0));
  EXPECT_FALSE(forgotten.PollUnsurely());
  EXPECT_FALSE(other.Poll());
  EXPECT_FALSE(third.Poll());

  EXPECT_TRUE(receiver.TryReceive().ok());

  EXPECT_EQ(forgotten.TakeWakes(), 1);
  EXPECT_EQ(other.TakeWakes(), 1);
  EXPECT_EQ(third.TakeWakes(), 0);
  EXPECT_TRUE(other.Poll());
}

TEST(BoundedPriorityChannelTest, AForgottenReceiverDoesNotKeepTheOthersAsleep) {
  auto [sender, receiver] = PriorityChannel<int>(1);
  WaitByHand forgotten(receiver.Receive());
  WaitByHand other(receiver.Receive());
  EXPECT_FALSE(forgotten.PollUnsurely());
  EXPECT_FALSE(other.Poll());

  EXPECT_TRUE(sender.TrySend(1, 0).ok());

  EXPECT_EQ(forgotten.TakeWakes(), 1);
  EXPECT_EQ(other.TakeWakes(), 1);
  EXPECT_TRUE(other.Poll());
}

TEST(BoundedPriorityChannelTest, SendSurvivesADropAtEveryPoll) {
  LiveCounter counter;
  std::optional<std::pair<PrioritySender<LiveCounter::Object>,
                          PriorityReceiver<LiveCounter::Object>>>
      ends;
  EXPECT_THAT(DropAtEveryPoll(
                  [&] {
                    ends.emplace(PriorityChannel<LiveCounter::Object>(1));
                    EXPECT_TRUE(ends->first.TrySend(counter.Make(), 0).ok());
                    return ends->first.Send(counter.Make(), 1);
                  },
                  {.step = [&] { return ends->second.TryReceive().ok(); },
                   .settle = [&] { ends.reset(); },
                   .live = [&] { return counter.live(); }}),
              IsOkAndHolds(2));
}

// ---- Threads.

Task<> SendAll(PrioritySender<int> sender, int count) {
  for (int i = 0; i < count; ++i) {
    const SendResult<int> sent = co_await sender.Send(i, i % 3);
    EXPECT_TRUE(sent.ok());
  }
}

Task<int64_t> ReceiveAll(PriorityReceiver<int> receiver) {
  int64_t sum = 0;
  while (std::optional<int> value = co_await Next(receiver)) sum += *value;
  co_return sum;
}

TEST_P(PriorityChannelTest, ThreadsSendAndReceiveEachValueOnce) {
  constexpr int kThreads = 4;
  const int count = Rounds(2'000);
  auto ends = std::make_optional(Make<int>());
  std::vector<std::thread> all;
  std::atomic<int64_t> sum{0};
  for (int t = 0; t < kThreads; ++t) {  // every other one runs a task
    all.emplace_back([t, &sum, receiver = ends->second]() mutable {
      if (t % 2 == 1) {
        sum += BlockOn(ReceiveAll(std::move(receiver)));
        return;
      }
      absl::StatusOr<int> value;
      while ((value = receiver.BlockingReceive()).ok()) sum += *value;
    });
    all.emplace_back([t, count, sender = ends->first]() mutable {
      if (t % 2 == 0) return BlockOn(SendAll(std::move(sender), count));
      for (int i = 0; i < count; ++i) {
        ASSERT_TRUE(sender.BlockingSend(i, i % 3).ok());
      }
    });
  }
  ends.reset();
  for (std::thread& thread : all) thread.join();

  EXPECT_EQ(sum, int64_t{kThreads} * count * (count - 1) / 2);
}

TEST_P(PriorityChannelTest, OneSendersEqualsStayInOrderBetweenThreads) {
  const int count = Rounds(2'000);
  auto ends = std::make_optional(Make<std::pair<int, int>>());
  std::vector<std::thread> senders;
  for (int t = 0; t < 3; ++t) {
    senders.emplace_back([t, count, sender = ends->first] {
      for (int i = 0; i < count; ++i) {
        ASSERT_TRUE(sender.BlockingSend({2 * t + i % 2, i}, i % 2).ok());
      }
    });
  }
  const PriorityReceiver<std::pair<int, int>> receiver = ends->second;
  ends.reset();

  int last[6] = {-1, -1, -1, -1, -1, -1};
  for (int i = 0; i < 3 * count; ++i) {
    auto value = receiver.BlockingReceive();
    ASSERT_TRUE(value.ok());
    ASSERT_GT(value->second, last[value->first]);
    last[value->first] = value->second;
  }

  EXPECT_THAT(receiver.BlockingReceive(), StatusIs(kClosed));
  for (std::thread& thread : senders) thread.join();
}

// C047, C053: waits are given up at any moment, on both sides, and values are put
// out; no value is lost or doubled.
TEST_P(PriorityChannelTest, WaitsThatAreGivenUpLoseNothing) {
  const int count = Rounds(500);
  auto [sender, receiver] = Make<int>();
  const auto poll_twice = [](auto& future) {
    CountingWaker waker;
    Context cx(waker.waker());
    auto polled = future.Poll(cx);
    for (int spins = 0; polled.IsPending() && spins < 50; ++spins) {
      if (waker.TakeWakes() > 0) polled = future.Poll(cx);
      std::this_thread::yield();
    }
    return polled;
  };
  std::vector<std::thread> threads;
  std::atomic<int> received{0};
  std::atomic<int64_t> sum{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, sender = sender] {
      for (int i = 1; i <= count;) {
        if (i % 7 == 0) {
          std::optional<int> displaced;
          if (sender.ForceSend(i, i % 3, &displaced).ok()) ++i;
          if (displaced.has_value()) {
            sum += *displaced;
            ++received;
          }
          continue;
        }
        auto send = sender.Send(i, i % 3);
        if (poll_twice(send).IsReady()) {
          ++i;
        } else {
          ASSERT_EQ(send.TakeValue(), i);
        }
      }
    });
    threads.emplace_back([&, receiver = receiver] {
      while (received < 4 * count) {
        auto receive = receiver.Receive();
        auto polled = poll_twice(receive);
        if (polled.IsPending()) continue;
        sum += **polled;
        ++received;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();

  EXPECT_EQ(received, 4 * count);
  EXPECT_EQ(sum, int64_t{2} * count * (count + 1));
  EXPECT_TRUE(receiver.empty());
}

TEST_P(PriorityChannelTest, TheEndMayComeAtAnyMoment) {
  for (int round = 0; round < Rounds(200); ++round) {
    LiveCounter counter;
    auto ends = std::make_optional(Make<LiveCounter::Object>());
    std::vector<std::thread> threads;
    for (int t = 0; t < 2; ++t) {
      threads.emplace_back([&counter, sender = ends->first] {
        // Bounded, for where nobody makes a sender wait.
        for (int i = 0; i < 100; ++i) {
          if (!sender.BlockingSend(counter.Make(), i % 3).ok()) break;
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

// ---- Deaths.

TEST(PriorityChannelDeathTest, ACapacityOfNothingIsRefused) {
  EXPECT_DEATH(static_cast<void>(PriorityChannel<int>(0)), "needs room");
}

TEST(PriorityChannelDeathTest, AnEndThatWasMovedFromSaysSo) {
  auto [sender, receiver] = PriorityChannel<int>(1);
  const PrioritySender<int> moved = std::move(sender);
  EXPECT_DEATH(static_cast<void>(sender.TrySend(1, 0)), "moved from");
}

}  // namespace
}  // namespace weft::sync
