// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// weft-lint: allow-file(R22): the tests' tasks end before what they refer to.

#include "weft/sync/broadcast.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "weft/executor/deterministic_executor.h"
#include "weft/stream/next.h"
#include "weft/sync/broadcast_options.h"
#include "weft/sync/broadcast_receiver.h"
#include "weft/sync/broadcast_sender.h"
#include "weft/sync/broadcast_stream.h"
#include "weft/task/context.h"
#include "weft/task/counting_waker.h"
#include "weft/task/drop_at_every_poll.h"
#include "weft/task/join_handle.h"
#include "weft/task/live_counter.h"
#include "weft/task/random.h"
#include "weft/task/status.h"
#include "weft/task/status_matchers.h"
#include "weft/task/task.h"
#include "weft/task/waker.h"
#include "weft/task/yield_now.h"
#include "weft/tests/kit/explore_schedules.h"
#include "weft/tests/sync/callback_waker.h"

namespace weft::sync {
namespace {

constexpr BroadcastOptions kWaits{.overflow = BroadcastOptions::Overflow::kWait,
                                  .await_active = true};

// Many more rounds with WEFT_LONG=1.
int Rounds(int rounds) {
  return std::getenv("WEFT_LONG") != nullptr ? 100 * rounds : rounds;
}

// What a receiver has now: a message, or -1 for a lag, -2 for closed, -3 for
// nothing.
int Now(BroadcastReceiver<int>& receiver) {
  auto received = receiver.TryReceive();
  if (!received.has_value()) return -3;
  if (received->ok()) return ***received;
  return absl::IsDataLoss(received->status()) ? -1 : -2;
}

absl::Status DataLoss() {
  return absl::Status(absl::StatusCode::kDataLoss, "");
}

TEST(BroadcastTest, EachReceiverGetsEachMessage) {
  auto [sender, receiver] = Broadcast<int>(4);
  auto other = sender.NewReceiver();
  EXPECT_EQ(Now(receiver), -3);

  EXPECT_EQ(sender.TrySend(1), absl::OkStatus());
  EXPECT_EQ(sender.BlockingSend(2), absl::OkStatus());
  EXPECT_EQ(sender.length(), 2u);

  EXPECT_EQ(Now(receiver), 1);
  EXPECT_EQ(sender.length(), 2u);
  EXPECT_EQ(receiver.length(), 1u);
  EXPECT_EQ(other.length(), 2u);
  EXPECT_EQ(Now(other), 1);
  EXPECT_EQ(sender.length(), 1u);
  EXPECT_EQ(Now(other), 2);
  EXPECT_EQ(Now(other), -3);
  EXPECT_EQ(**receiver.BlockingReceive(), 2);
  EXPECT_EQ(sender.length(), 0u);
}

TEST(BroadcastTest, AllGetTheSameObjectAndItGoesWithTheLast) {
  LiveCounter counter;
  auto [sender, receiver] = Broadcast<LiveCounter::Object>(4);
  auto other = receiver;
  EXPECT_TRUE(sender.TrySend(counter.Make()).ok());
  {
    const auto a = receiver.BlockingReceive();
    const auto b = other.BlockingReceive();

    EXPECT_EQ(*a, *b);
    EXPECT_EQ(counter.made(), 1);
    EXPECT_EQ(counter.live(), 1);
  }
  EXPECT_EQ(counter.live(), 0);
}

TEST(BroadcastTest, WakesAllWhoWaitOnceEach) {
  auto [sender, receiver] = Broadcast<int>(4);
  CountingWaker waker;
  Context cx(waker.waker());
  std::vector<BroadcastReceiver<int>> receivers(100, receiver);
  std::vector<BroadcastReceiveFuture<int>> waits;
  for (auto& r : receivers) waits.push_back(r.Receive());
  for (auto& wait : waits) EXPECT_TRUE(wait.Poll(cx).IsPending());

  EXPECT_EQ(sender.TrySend(7), absl::OkStatus());

  EXPECT_EQ(waker.TakeWakes(), 100);
  for (auto& wait : waits) {
    auto received = wait.Poll(cx);
    ASSERT_TRUE(received.IsReady());
    EXPECT_EQ(***received, 7);
  }
  EXPECT_EQ(waker.outstanding(), 0);
}

TEST(BroadcastTest, WhoIsTooSlowIsToldHowManyAreLost) {
  auto [sender, receiver] = Broadcast<int>(3);
  auto fast = receiver;
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(sender.TrySend(i), absl::OkStatus());
    EXPECT_EQ(Now(fast), i);
  }

  EXPECT_EQ(receiver.length(), 3u);
  EXPECT_EQ(receiver.BlockingReceive().status(), DataLoss());
  EXPECT_EQ(receiver.lag(), 5u);
  EXPECT_EQ(Now(receiver), 5);
  EXPECT_EQ(Now(receiver), 6);
  EXPECT_EQ(Now(receiver), 7);
  EXPECT_EQ(Now(receiver), -3);
  EXPECT_EQ(fast.lag(), 0u);
}

TEST(BroadcastTest, ACopyHasStillToReceiveTheSame) {
  auto [sender, receiver] = Broadcast<int>(2);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(sender.TrySend(i), absl::OkStatus());
  auto copy = receiver;
  auto late = receiver.Resubscribe();
  EXPECT_EQ(sender.ReceiverCount(), 3u);

  for (BroadcastReceiver<int>* r : {&receiver, &copy}) {
    EXPECT_EQ(Now(*r), -1);
    EXPECT_EQ(r->lag(), 1u);
    EXPECT_EQ(Now(*r), 1);
    EXPECT_EQ(Now(*r), 2);
  }
  EXPECT_EQ(sender.length(), 0u);
  EXPECT_EQ(Now(late), -3);
}

TEST(BroadcastTest, WhereSendersWaitTheSlowestReceiverDecides) {
  CountingWaker waker;
  CountingWaker receiving;
  Context cx(waker.waker());
  Context in_receiving(receiving.waker());
  auto [sender, receiver] = Broadcast<int>(2, kWaits);
  auto fast = receiver;
  EXPECT_EQ(sender.TrySend(0), absl::OkStatus());
  EXPECT_EQ(sender.TrySend(1), absl::OkStatus());
  EXPECT_EQ(sender.TrySend(9), RefusedStatus());
  auto a = sender.Send(2);
  auto b = sender.Send(3);
  EXPECT_TRUE(a.Poll(cx).IsPending());
  EXPECT_TRUE(b.Poll(cx).IsPending());
  EXPECT_EQ(Now(fast), 0);
  EXPECT_EQ(Now(fast), 1);
  auto wait = fast.Receive();
  EXPECT_TRUE(wait.Poll(in_receiving).IsPending());
  EXPECT_EQ(waker.TakeWakes(), 0);

  EXPECT_EQ(Now(receiver), 0);

  EXPECT_EQ(waker.TakeWakes(), 1);
  EXPECT_EQ(receiving.TakeWakes(), 1);
  EXPECT_EQ(sender.TrySend(9), RefusedStatus());  // `b` was there before
  auto received = wait.Poll(in_receiving);
  ASSERT_TRUE(received.IsReady());
  EXPECT_EQ(***received, 2);
  EXPECT_TRUE(b.Poll(cx).IsPending());
  const Polled<absl::Status> sent = a.Poll(cx);
  ASSERT_TRUE(sent.IsReady());
  EXPECT_EQ(*sent, absl::OkStatus());
  EXPECT_EQ(Now(receiver), 1);
  EXPECT_TRUE(b.Poll(cx).IsReady());
  EXPECT_EQ(Now(receiver), 2);
  EXPECT_EQ(Now(receiver), 3);
  EXPECT_EQ(receiver.lag(), 0u);
}

TEST(BroadcastTest, ASendThatIsDroppedIsNotSent) {
  CountingWaker waker;
  Context cx(waker.waker());
  auto [sender, receiver] = Broadcast<int>(1, kWaits);
  EXPECT_EQ(sender.TrySend(0), absl::OkStatus());
  auto second = sender.Send(2);
  {
    auto first = sender.Send(1);
    EXPECT_TRUE(first.Poll(cx).IsPending());
    EXPECT_TRUE(second.Poll(cx).IsPending());
  }

  EXPECT_EQ(Now(receiver), 0);
  EXPECT_EQ(Now(receiver), 2);
  EXPECT_EQ(Now(receiver), -3);
  EXPECT_TRUE(second.Poll(cx).IsReady());
}

TEST(BroadcastTest, AReceiverThatGoesHoldsUpNobody) {
  CountingWaker waker;
  Context cx(waker.waker());
  LiveCounter counter;
  auto [sender, receiver] = Broadcast<LiveCounter::Object>(2, kWaits);
  std::optional<BroadcastReceiver<LiveCounter::Object>> slow(receiver);
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(sender.TrySend(counter.Make()).ok());
    EXPECT_TRUE(receiver.BlockingReceive().ok());
  }
  EXPECT_EQ(counter.live(), 2);
  auto send = sender.Send(counter.Make());
  EXPECT_TRUE(send.Poll(cx).IsPending());

  slow.reset();

  EXPECT_EQ(waker.TakeWakes(), 1);
  EXPECT_TRUE(send.Poll(cx).IsReady());
  EXPECT_EQ(counter.live(), 1);
  EXPECT_TRUE(receiver.BlockingReceive().ok());
  EXPECT_EQ(counter.live(), 0);
}

TEST(BroadcastTest, AnInactiveReceiverGetsNothingAndKeepsItOpen) {
  auto ends = Broadcast<int>(1);
  auto& sender = ends.first;
  auto inactive = std::move(ends.second).Deactivate();
  EXPECT_EQ(sender.ReceiverCount(), 0u);
  EXPECT_EQ(sender.InactiveReceiverCount(), 1u);
  EXPECT_FALSE(sender.IsClosed());

  EXPECT_EQ(sender.TrySend(1), absl::OkStatus());  // to nobody
  EXPECT_EQ(sender.length(), 0u);
  auto receiver = std::move(inactive).Activate();
  EXPECT_EQ(sender.TrySend(2), absl::OkStatus());

  EXPECT_EQ(Now(receiver), 2);
  EXPECT_EQ(sender.InactiveReceiverCount(), 0u);
}

TEST(BroadcastTest, WithAwaitActiveMessagesWaitForAReceiver) {
  CountingWaker waker;
  Context cx(waker.waker());
  auto ends = Broadcast<int>(2, kWaits);
  auto& sender = ends.first;
  auto inactive = std::move(ends.second).Deactivate();
  EXPECT_EQ(sender.TrySend(0), RefusedStatus());
  auto send = sender.Send(1);
  EXPECT_TRUE(send.Poll(cx).IsPending());

  auto receiver = std::move(inactive).Activate();

  EXPECT_EQ(waker.TakeWakes(), 1);
  EXPECT_TRUE(send.Poll(cx).IsReady());
  EXPECT_EQ(Now(receiver), 1);
}

TEST(BroadcastTest, SendingToNobodyIsRefusedUntilSomebodyComes) {
  CountingWaker waker;
  Context cx(waker.waker());
  auto ends = Broadcast<int>(1, kWaits);
  auto sender = std::move(ends.first);
  auto closed = sender.Closed();
  std::optional<BroadcastReceiver<int>> receiver(std::move(ends.second));
  EXPECT_TRUE(closed.Poll(cx).IsPending());
  EXPECT_EQ(sender.TrySend(0), absl::OkStatus());
  auto send = sender.Send(1);
  EXPECT_TRUE(send.Poll(cx).IsPending());

  receiver.reset();

  EXPECT_EQ(waker.TakeWakes(), 2);
  EXPECT_TRUE(closed.Poll(cx).IsReady());
  EXPECT_TRUE(sender.IsClosed());
  const Polled<absl::Status> sent = send.Poll(cx);
  ASSERT_TRUE(sent.IsReady());
  // It had been given room that went with the receiver, or it was refused.
  EXPECT_EQ(*sent, ClosedStatus());
  EXPECT_EQ(sender.BlockingSend(2), ClosedStatus());
  auto late = sender.NewReceiver();
  EXPECT_EQ(sender.TrySend(3), absl::OkStatus());
  EXPECT_EQ(Now(late), 3);
}

TEST(BroadcastTest, WhatWasSentIsReceivedAfterClosing) {
  CountingWaker waker;
  Context cx(waker.waker());
  auto ends = Broadcast<int>(2);
  auto receiver = std::move(ends.second);
  auto waiting = receiver.Resubscribe();
  {
    const auto sender = std::move(ends.first);
    const auto copy = sender;
    EXPECT_EQ(copy.SenderCount(), 2u);
    EXPECT_EQ(sender.TrySend(1), absl::OkStatus());
    EXPECT_EQ(Now(waiting), 1);
    EXPECT_FALSE(receiver.IsClosed());
  }
  EXPECT_TRUE(receiver.IsClosed());

  EXPECT_EQ(Now(receiver), 1);
  EXPECT_EQ(receiver.BlockingReceive().status(), ClosedStatus());
  EXPECT_EQ(Now(waiting), -2);
}

TEST(BroadcastTest, ClosingWakesWhoeverWaits) {
  CountingWaker waker;
  Context cx(waker.waker());
  auto [sender, receiver] = Broadcast<int>(1, kWaits);
  auto other = receiver;
  auto receive = receiver.Receive();
  auto closed = sender.Closed();
  EXPECT_TRUE(receive.Poll(cx).IsPending());
  EXPECT_TRUE(closed.Poll(cx).IsPending());

  other.Close();

  EXPECT_EQ(waker.TakeWakes(), 2);
  auto received = receive.Poll(cx);
  ASSERT_TRUE(received.IsReady());
  EXPECT_EQ(received->status(), ClosedStatus());
  EXPECT_TRUE(closed.Poll(cx).IsReady());
  EXPECT_EQ(sender.TrySend(1), ClosedStatus());
  EXPECT_FALSE(sender.Downgrade().Upgrade().has_value());
}

TEST(BroadcastTest, AWeakSenderKeepsNothingOpen) {
  auto ends = Broadcast<int>(1);
  std::optional<BroadcastSender<int>> sender(std::move(ends.first));
  const BroadcastWeakSender<int> weak = sender->Downgrade();
  {
    auto upgraded = weak.Upgrade();
    ASSERT_TRUE(upgraded.has_value());
    EXPECT_EQ(upgraded->TrySend(1), absl::OkStatus());
  }

  sender.reset();

  EXPECT_EQ(Now(ends.second), 1);
  EXPECT_EQ(Now(ends.second), -2);
  EXPECT_FALSE(weak.Upgrade().has_value());
}

TEST(BroadcastTest, MoreCapacityLetsSendersGoOn) {
  CountingWaker waker;
  Context cx(waker.waker());
  auto [sender, receiver] = Broadcast<int>(1, kWaits);
  EXPECT_EQ(sender.TrySend(0), absl::OkStatus());
  auto a = sender.Send(1);
  auto b = sender.Send(2);
  auto c = sender.Send(3);
  for (auto* send : {&a, &b, &c}) EXPECT_TRUE(send->Poll(cx).IsPending());

  sender.SetCapacity(3);

  EXPECT_EQ(waker.TakeWakes(), 2);
  EXPECT_TRUE(a.Poll(cx).IsReady());
  EXPECT_TRUE(b.Poll(cx).IsReady());
  EXPECT_EQ(sender.capacity(), 3u);
  sender.SetCapacity(1);
  EXPECT_EQ(sender.length(), 3u);  // nothing is lost
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Now(receiver), i);
  EXPECT_TRUE(c.Poll(cx).IsReady());
  EXPECT_EQ(Now(receiver), 3);
}

TEST(BroadcastTest, LessCapacityDropsTheOldest) {
  LiveCounter counter;
  auto [sender, receiver] = Broadcast<LiveCounter::Object>(5);
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(sender.TrySend(counter.Make()).ok());
  }

  sender.SetCapacity(2);

  EXPECT_EQ(counter.live(), 2);
  EXPECT_EQ(receiver.BlockingReceive().status(), DataLoss());
  EXPECT_EQ(receiver.lag(), 3u);
  EXPECT_TRUE(sender.TrySend(counter.Make()).ok());
  EXPECT_EQ(receiver.BlockingReceive().status(), DataLoss());
  EXPECT_EQ(receiver.lag(), 1u);
}

TEST(BroadcastTest, AMessageForAWaitThatIsDroppedIsThereForTheNext) {
  CountingWaker waker;
  Context cx(waker.waker());
  auto [sender, receiver] = Broadcast<int>(1, kWaits);
  {
    auto limited = receiver.Receive();
    EXPECT_TRUE(limited.Poll(cx).IsPending());
    EXPECT_EQ(sender.TrySend(1), absl::OkStatus());
    EXPECT_EQ(waker.TakeWakes(), 1);
  }

  EXPECT_EQ(Now(receiver), 1);
  EXPECT_EQ(waker.outstanding(), 0);
}

TEST(BroadcastTest, WakesWhoeverPolledLast) {
  CountingWaker a;
  CountingWaker b;
  Context in_a(a.waker());
  Context in_b(b.waker());
  auto [sender, receiver] = Broadcast<int>(1, kWaits);
  auto receive = receiver.Receive();
  EXPECT_TRUE(receive.Poll(in_a).IsPending());
  EXPECT_TRUE(receive.Poll(in_b).IsPending());
  EXPECT_EQ(sender.TrySend(1), absl::OkStatus());
  EXPECT_EQ(b.TakeWakes(), 1);
  auto send = sender.Send(2);
  EXPECT_TRUE(send.Poll(in_a).IsPending());
  EXPECT_TRUE(send.Poll(in_b).IsPending());

  EXPECT_TRUE(receive.Poll(in_b).IsReady());

  EXPECT_EQ(b.TakeWakes(), 1);
  EXPECT_TRUE(send.Poll(in_b).IsReady());
  EXPECT_EQ(a.wakes(), 0);
  EXPECT_EQ(a.outstanding(), 0);
}

TEST(BroadcastTest, ASpentBudgetLosesNoMessage) {
  CountingWaker waker;
  Budget budget(0);
  Context cx(waker.waker(), &budget);
  auto [sender, receiver] = Broadcast<int>(1, kWaits);
  {
    auto send = sender.Send(1);
    EXPECT_TRUE(send.Poll(cx).IsPending());
    EXPECT_GE(waker.TakeWakes(), 1);
    EXPECT_EQ(receiver.length(), 1u);  // its turn had come
    auto receive = receiver.Receive();
    EXPECT_TRUE(receive.Poll(cx).IsPending());
    EXPECT_EQ(waker.TakeWakes(), 1);
  }
  EXPECT_EQ(receiver.length(), 1u);
  budget = Budget(2);
  auto receive = receiver.Receive();

  auto received = receive.Poll(cx);

  ASSERT_TRUE(received.IsReady());
  EXPECT_EQ(***received, 1);
  EXPECT_EQ(budget.units(), 1u);
}

TEST(BroadcastTest, MessagesAndWakersMayUseItWhenTheyAreDestroyed) {
  struct Curious {
    Curious(BroadcastSender<Curious>* sender, int* destroyed)
        : sender(sender), destroyed(destroyed) {}
    Curious(Curious&& other) noexcept
        : sender(std::exchange(other.sender, nullptr)),
          destroyed(other.destroyed) {}
    ~Curious() {
      if (sender == nullptr) return;
      ++*destroyed;
      static_cast<void>(sender->TrySend(Curious(nullptr, destroyed)).ok());
    }
    BroadcastSender<Curious>* sender;
    int* destroyed;
  };
  int destroyed = 0;
  auto ends = Broadcast<Curious>(2);
  auto& sender = ends.first;
  auto send = [&] {
    EXPECT_TRUE(sender.TrySend(Curious(&sender, &destroyed)).ok());
  };
  send();
  send();
  send();  // displaces the first, which sends, which displaces the second, ...
  EXPECT_EQ(destroyed, 3);
  send();
  sender.SetCapacity(1);
  {
    auto last = ends.second.BlockingReceive();
  }
  {
    auto last = ends.second.BlockingReceive();
  }
  send();
  {
    const auto gone = std::move(ends.second);
  }
  EXPECT_EQ(destroyed, 5);
  const auto again = sender.NewReceiver();
  send();
  sender.Close();

  int wakes = 0;
  auto waking = Broadcast<int>(2);
  auto use = [&] {
    ++wakes;
    EXPECT_EQ(waking.first.TrySend(wakes), absl::OkStatus());
  };
  const Waker waker = CallbackWaker(use, use);
  Context cx(waker);
  auto other = waking.second;
  auto a = waking.second.Receive();
  auto b = std::make_unique<BroadcastReceiveFuture<int>>(other.Receive());
  EXPECT_TRUE(a.Poll(cx).IsPending());
  EXPECT_TRUE(b->Poll(cx).IsPending());
  b.reset();
  EXPECT_EQ(wakes, 2);
}

TEST(BroadcastTest, IsAStreamOfMessagesAndLags) {
  CountingWaker waker;
  Context cx(waker.waker());
  auto ends = Broadcast<int>(1);
  std::optional<BroadcastSender<int>> sender(std::move(ends.first));
  BroadcastStream<int> stream(std::move(ends.second));
  auto next = [&] { return Next(stream).Poll(cx); };
  EXPECT_TRUE(next().IsPending());

  EXPECT_EQ(sender->TrySend(1), absl::OkStatus());
  EXPECT_EQ(sender->TrySend(2), absl::OkStatus());
  EXPECT_EQ(waker.TakeWakes(), 1);
  auto item = next();
  ASSERT_TRUE(item.IsReady());
  EXPECT_EQ((*item)->status(), DataLoss());
  EXPECT_EQ(stream.lag(), 1u);
  item = next();
  ASSERT_TRUE(item.IsReady());
  EXPECT_EQ(****item, 2);
  sender.reset();

  item = next();
  ASSERT_TRUE(item.IsReady());
  EXPECT_FALSE(item->has_value());
}

TEST(BroadcastTest, WaitsSurviveADropAtEveryPoll) {
  LiveCounter counter;
  std::optional<std::pair<BroadcastSender<int>, BroadcastReceiver<int>>> ends;
  auto task = [](BroadcastSender<int> sender, BroadcastReceiver<int> receiver,
                 LiveCounter::Object) -> Task<> {
    auto first = co_await receiver.Receive();
    EXPECT_TRUE(first.ok());
    {
      const auto gone = std::move(receiver);
    }
    const absl::Status room = co_await sender.Send(7);
    EXPECT_EQ(room, absl::OkStatus());
    const absl::Status sent = co_await sender.Send(8);
    EXPECT_EQ(sent, absl::OkStatus());
  };

  EXPECT_THAT(DropAtEveryPoll(
                  [&] {
                    ends.emplace(Broadcast<int>(1, kWaits));
                    return task(ends->first, ends->second, counter.Make());
                  },
                  {.step =
                       [&] {
                         if (Now(ends->second) != -3) return true;
                         return ends->first.TrySend(1).ok();
                       },
                   .settle =
                       [&] {
                         EXPECT_EQ(ends->first.ReceiverCount(), 1u);
                         EXPECT_EQ(ends->first.SenderCount(), 1u);
                         while (Now(ends->second) >= 0) {
                         }
                         EXPECT_EQ(ends->first.TrySend(1), absl::OkStatus());
                       },
                   .live = [&] { return counter.live(); }}),
              IsOkAndHolds(4));
}

// Where the oldest message makes room nobody waits for more than a receiver.
TEST(BroadcastTest, WhoWaitedForAnActiveReceiverMakesRoomAsOthersDo) {
  auto [sender, receiver] = Broadcast<int>(1, {.await_active = true});
  InactiveBroadcastReceiver<int> idle = std::move(receiver).Deactivate();
  CountingWaker waker;
  Context cx(waker.waker());
  BroadcastSendFuture first = sender.Send(1);
  BroadcastSendFuture second = sender.Send(2);
  EXPECT_TRUE(first.Poll(cx).IsPending());
  EXPECT_TRUE(second.Poll(cx).IsPending());

  BroadcastReceiver<int> active = std::move(idle).Activate();

  EXPECT_TRUE(first.Poll(cx)->ok());
  EXPECT_TRUE(second.Poll(cx)->ok());
  EXPECT_EQ(Now(active), -1);
  EXPECT_EQ(active.lag(), 1u);
  EXPECT_EQ(Now(active), 2);
  EXPECT_TRUE(sender.TrySend(3).ok());
}

TEST(BroadcastTest, ClosedSurvivesADropAtEveryPoll) {
  auto ends = Broadcast<int>(1);
  std::optional<BroadcastReceiver<int>> receiver;
  {
    const auto only_by_steps = std::move(ends.second);
  }
  LiveCounter counter;
  auto task = [](BroadcastSender<int> sender, LiveCounter::Object) -> Task<> {
    co_await sender.Closed();
  };

  EXPECT_THAT(DropAtEveryPoll(
                  [&] {
                    receiver.emplace(ends.first.NewReceiver());
                    return task(ends.first, counter.Make());
                  },
                  {.step =
                       [&] {
                         receiver.reset();
                         return true;
                       },
                   .live = [&] { return counter.live(); }}),
              IsOkAndHolds(2));
}

// Random steps, against a queue for each receiver.
TEST(BroadcastTest, IsAQueueForEachReceiver) {
  struct Modelled {
    BroadcastReceiver<int> receiver;
    std::deque<int> unread;
    uint64_t lag = 0;
  };
  for (uint64_t seed = 1; seed <= uint64_t(Rounds(50)); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const bool waits = random.Below(2) == 0;
    size_t capacity = 1 + random.Below(5);
    auto ends = Broadcast<int>(capacity, waits ? kWaits : BroadcastOptions());
    auto& sender = ends.first;
    std::vector<Modelled> receivers;
    receivers.push_back({std::move(ends.second), {}});
    auto length = [&] {
      size_t most = 0;
      for (auto& r : receivers) most = std::max(most, r.unread.size());
      return most;
    };
    auto trim = [&] {
      for (auto& r : receivers) {
        for (; r.unread.size() > capacity; r.unread.pop_front()) ++r.lag;
      }
    };
    int number = 0;
    for (int step = 0; step < 300; ++step) {
      Modelled& r =
          receivers[random.Below(static_cast<uint32_t>(receivers.size()))];
      switch (random.Below(8)) {
        case 0:
        case 1:
        case 2: {
          const bool refused = waits && length() >= capacity;
          EXPECT_EQ(sender.TrySend(number),
                    refused ? RefusedStatus() : absl::OkStatus());
          if (refused) break;
          for (auto& each : receivers) each.unread.push_back(number);
          trim();
          ++number;
          break;
        }
        case 3:
          if (receivers.size() < 5) {
            receivers.push_back({r.receiver.Resubscribe(), {}});
          }
          break;
        case 4:
          if (receivers.size() < 5) {
            Modelled copy = r;
            receivers.push_back(std::move(copy));
          }
          break;
        case 5:
          if (receivers.size() > 1) {
            std::swap(r, receivers.back());
            receivers.pop_back();
          }
          break;
        case 6:
          capacity = 1 + random.Below(5);
          sender.SetCapacity(capacity);
          if (!waits) trim();
          break;
        default:
          if (r.lag != 0) {
            EXPECT_EQ(Now(r.receiver), -1);
            EXPECT_EQ(r.receiver.lag(), std::exchange(r.lag, 0));
          } else if (r.unread.empty()) {
            EXPECT_EQ(Now(r.receiver), -3);
          } else {
            EXPECT_EQ(Now(r.receiver), r.unread.front());
            r.unread.pop_front();
          }
          break;
      }
      EXPECT_EQ(sender.length(), length());
    }
  }
}

// Threads send, with backpressure; each receiver, one of which gives up many of
// its waits, gets the messages of each sender in order and without a gap.
TEST(BroadcastTest, ThreadsReceiveAllInOrder) {
  constexpr int kSenders = 2;
  constexpr int kReceivers = 3;
  const int rounds = Rounds(1'000);
  auto ends = Broadcast<int>(4, kWaits);
  std::vector<std::thread> threads;
  for (int i = 0; i < kReceivers; ++i) {
    threads.emplace_back([i, rounds, receiver = ends.second]() mutable {
      CountingWaker waker;
      Context cx(waker.waker());
      int next[kSenders] = {};
      auto check = [&](const absl::StatusOr<std::shared_ptr<const int>>& m) {
        if (!m.ok()) {
          EXPECT_EQ(m.status(), ClosedStatus());
          return false;
        }
        EXPECT_EQ(**m / kSenders, next[**m % kSenders]++);
        return true;
      };
      for (;;) {
        if (i == 0) {
          auto dropped = receiver.Receive();
          auto polled = dropped.Poll(cx);
          if (polled.IsReady()) {
            if (!check(*polled)) break;
          }
        }
        if (!check(receiver.BlockingReceive())) break;
      }
      for (int n : next) EXPECT_EQ(n, rounds);
    });
  }
  {
    const auto gone = std::move(ends.second);
  }
  for (int i = 0; i < kSenders; ++i) {
    threads.emplace_back([i, rounds, sender = ends.first] {
      for (int n = 0; n < rounds; ++n) {
        EXPECT_EQ(sender.BlockingSend(n * kSenders + i), absl::OkStatus());
      }
    });
  }
  {
    const auto gone = std::move(ends.first);
  }

  for (auto& thread : threads) thread.join();
}

// Backpressure in any order: each receiver that stays gets all, whoever else comes
// and goes.
TEST(BroadcastTest, NothingIsLostAndNobodySleepsInAnyOrder) {
  auto receives = [](BroadcastReceiver<int> receiver,
                     std::shared_ptr<int> done) -> Task<> {
    int sum = 0;
    for (;;) {
      auto message = co_await receiver.Receive();
      if (!message.ok()) break;
      sum += **message;
    }
    *done += sum == 2 * (1 + 2 + 3);
  };
  auto leaves = [](BroadcastReceiver<int> receiver) -> Task<> {
    auto message = co_await receiver.Receive();
    CountingWaker waker;
    Context cx(waker.waker());
    auto dropped = receiver.Receive();
    static_cast<void>(dropped.Poll(cx).IsReady());
    co_await YieldNow();
  };
  auto sends = [](BroadcastSender<int> sender) -> Task<> {
    for (int i = 1; i <= 3; ++i) {
      const absl::Status sent = co_await sender.Send(i);
      EXPECT_EQ(sent, absl::OkStatus());
    }
  };
  auto gives_up = [](BroadcastSender<int> sender) -> Task<> {
    CountingWaker waker;
    Context cx(waker.waker());
    auto send = sender.Send(0);
    static_cast<void>(send.Poll(cx).IsReady());
    co_await YieldNow();
  };
  auto scenario = [&](DeterministicExecutor& executor) -> absl::Status {
    auto done = std::make_shared<int>(0);
    {
      auto ends = Broadcast<int>(1, kWaits);
      executor.Spawn(receives(ends.second, done)).Detach();
      executor.Spawn(receives(ends.second, done)).Detach();
      executor.Spawn(leaves(ends.second)).Detach();
      executor.Spawn(sends(ends.first)).Detach();
      executor.Spawn(sends(ends.first)).Detach();
      executor.Spawn(gives_up(ends.first)).Detach();
    }
    const absl::Status status = executor.RunUntilIdle();
    if (!status.ok()) return status;
    if (executor.live() != 0) return absl::InternalError("some wait on");
    return *done == 2 ? absl::OkStatus()
                      : absl::InternalError("a message is lost");
  };

  EXPECT_GT(ExploreSchedules(Rounds(100), scenario), 50u);
}

}  // namespace
}  // namespace weft::sync
