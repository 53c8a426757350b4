// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/sync/oneshot.h"

#include <atomic>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "weft/task/block_on.h"
#include "weft/task/context.h"
#include "weft/task/counting_waker.h"
#include "weft/task/drop_at_every_poll.h"
#include "weft/task/live_counter.h"
#include "weft/task/status_matchers.h"
#include "weft/task/task.h"
#include "weft/task/waker.h"
#include "weft/tests/sync/callback_waker.h"

namespace weft::sync {
namespace {

using testing::Optional;

// Many more rounds with WEFT_LONG=1.
int Rounds(int rounds) {
  return std::getenv("WEFT_LONG") != nullptr ? 100 * rounds : rounds;
}

TEST(OneshotTest, ReceivesWhatWasSentBefore) {
  auto [sender, receiver] = Oneshot<std::string>();
  EXPECT_EQ(std::move(sender).Send("hello"), std::nullopt);

  EXPECT_THAT(BlockOn(receiver), IsOkAndHolds("hello"));
}

TEST(OneshotTest, WakesTheReceiver) {
  auto [sender, receiver] = Oneshot<int>();
  CountingWaker waker;
  Context cx(waker.waker());
  EXPECT_TRUE(receiver.Poll(cx).IsPending());
  EXPECT_TRUE(receiver.Poll(cx).IsPending());
  EXPECT_EQ(waker.clones(), 1);

  std::move(sender).Send(7);

  EXPECT_EQ(waker.wakes(), 1);
  EXPECT_THAT(*receiver.Poll(cx), IsOkAndHolds(7));
  EXPECT_EQ(waker.outstanding(), 0);
}

TEST(OneshotTest, CarriesWhatOnlyMoves) {
  auto [sender, receiver] = Oneshot<std::unique_ptr<int>>();
  std::move(sender).Send(std::make_unique<int>(3));

  EXPECT_EQ(**BlockOn(receiver), 3);
}

TEST(OneshotTest, CarriesTheNewsAlone) {
  auto [sender, receiver] = Oneshot<void>();
  EXPECT_EQ(receiver.TryReceive(), std::nullopt);

  EXPECT_FALSE(std::move(sender).Send().has_value());

  EXPECT_THAT(receiver.TryReceive(), Optional(absl::OkStatus()));
}

TEST(OneshotTest, StatusesFlatten) {
  auto [sender, receiver] = Oneshot<absl::StatusOr<int>>();
  std::move(sender).Send(absl::NotFoundError("no such page"));

  absl::StatusOr<int> received = BlockOn(receiver);

  EXPECT_THAT(received, StatusIs(absl::StatusCode::kNotFound, "no such page"));
}

TEST(OneshotTest, ADroppedSenderCloses) {
  auto [sender, receiver] = Oneshot<int>();
  CountingWaker waker;
  Context cx(waker.waker());
  EXPECT_TRUE(receiver.Poll(cx).IsPending());
  EXPECT_EQ(receiver.TryReceive(), std::nullopt);

  {
    auto dropped = std::move(sender);
  }

  EXPECT_EQ(waker.wakes(), 1);
  EXPECT_THAT(*receiver.Poll(cx),
              StatusIs(absl::StatusCode::kFailedPrecondition, ""));
}

TEST(OneshotTest, AnEndThatIsAssignedDropsWhatItWas) {
  auto [sender, receiver] = Oneshot<int>();
  auto [other_sender, other_receiver] = Oneshot<int>();
  auto [third_sender, third_receiver] = Oneshot<int>();

  sender = std::move(other_sender);
  other_receiver = std::move(third_receiver);

  ASSERT_TRUE(receiver.TryReceive().has_value());
  EXPECT_TRUE(sender.IsClosed());
  EXPECT_FALSE(third_sender.IsClosed());
}

TEST(OneshotTest, ADroppedReceiverGivesTheValueBack) {
  auto [sender, receiver] = Oneshot<std::string>();
  EXPECT_FALSE(sender.IsClosed());

  {
    auto dropped = std::move(receiver);
  }

  EXPECT_TRUE(sender.IsClosed());
  EXPECT_THAT(std::move(sender).Send("hello"), Optional<std::string>("hello"));
}

TEST(OneshotTest, AValueThatWasSentDiesWithTheReceiver) {
  LiveCounter counter;
  auto [sender, receiver] = Oneshot<LiveCounter::Object>();
  auto closed = sender.Closed();  // keeps the shared state
  std::move(sender).Send(counter.Make());
  EXPECT_EQ(counter.live(), 1);

  {
    auto dropped = std::move(receiver);
  }

  EXPECT_EQ(counter.live(), 0);
}

TEST(OneshotTest, CloseKeepsWhatWasSent) {
  auto [sender, receiver] = Oneshot<int>();
  std::move(sender).Send(4);
  receiver.Close();

  EXPECT_THAT(*receiver.TryReceive(), IsOkAndHolds(4));
}

TEST(OneshotTest, CloseRefusesWhatComesLater) {
  auto [sender, receiver] = Oneshot<int>();
  receiver.Close();

  EXPECT_TRUE(sender.IsClosed());
  EXPECT_EQ(std::move(sender).Send(4), 4);
  EXPECT_THAT(*receiver.TryReceive(),
              StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST(OneshotTest, ClosedIsReadyWhenTheReceiverGoes) {
  auto [sender, receiver] = Oneshot<int>();
  CountingWaker waker;
  Context cx(waker.waker());
  auto closed = sender.Closed();
  EXPECT_TRUE(closed.Poll(cx).IsPending());

  {
    auto dropped = std::move(receiver);
  }

  EXPECT_EQ(waker.wakes(), 1);
  EXPECT_TRUE(closed.Poll(cx).IsReady());
  EXPECT_TRUE(sender.Closed().Poll(cx).IsReady());
}

TEST(OneshotTest, ADroppedClosedLeavesNoWaker) {
  auto [sender, receiver] = Oneshot<int>();
  CountingWaker waker;
  Context cx(waker.waker());
  {
    auto closed = sender.Closed();
    EXPECT_TRUE(closed.Poll(cx).IsPending());
    EXPECT_EQ(waker.outstanding(), 1);
  }

  EXPECT_EQ(waker.outstanding(), 0);
  receiver.Close();
  EXPECT_EQ(waker.wakes(), 0);
}

TEST(OneshotTest, ClosedMayOutliveTheSender) {
  auto [sender, receiver] = Oneshot<int>();
  CountingWaker waker;
  Context cx(waker.waker());
  auto closed = sender.Closed();
  EXPECT_TRUE(closed.Poll(cx).IsPending());

  std::move(sender).Send(1);
  EXPECT_TRUE(closed.Poll(cx).IsPending());
  EXPECT_THAT(BlockOn(receiver), IsOkAndHolds(1));

  EXPECT_TRUE(closed.Poll(cx).IsReady());
}

TEST(OneshotTest, TheReceiverMovesBetweenPolls) {
  auto [sender, receiver] = Oneshot<int>();
  CountingWaker a;
  CountingWaker b;
  Context in_a(a.waker());
  Context in_b(b.waker());
  EXPECT_TRUE(receiver.Poll(in_a).IsPending());

  OneshotReceiver<int> moved = std::move(receiver);
  EXPECT_TRUE(moved.Poll(in_b).IsPending());
  EXPECT_EQ(a.outstanding(), 0);
  std::move(sender).Send(9);

  EXPECT_EQ(a.wakes(), 0);
  EXPECT_EQ(b.wakes(), 1);
  EXPECT_THAT(*moved.Poll(in_b), IsOkAndHolds(9));
}

TEST(OneshotTest, AWaitHandedToAnotherTaskWakesThatOne) {
  auto [sender, receiver] = Oneshot<int>();
  CountingWaker a;
  CountingWaker b;
  Context in_a(a.waker());
  Context in_b(b.waker());
  Task<int> first = [](OneshotReceiver<int> receiver) -> Task<int> {
    absl::StatusOr<int> received = co_await receiver;
    co_return *received;
  }(std::move(receiver));
  EXPECT_TRUE(first.Poll(in_a).IsPending());

  Task<int> second = [](Task<int> inner) -> Task<int> {
    const int received = co_await std::move(inner);
    co_return received;
  }(std::move(first));
  EXPECT_TRUE(second.Poll(in_b).IsPending());
  std::move(sender).Send(9);

  EXPECT_EQ(a.wakes(), 0);
  EXPECT_EQ(b.wakes(), 1);
  EXPECT_EQ(*second.Poll(in_b), 9);
}

TEST(OneshotTest, ASpentBudgetTakesNothing) {
  auto [sender, receiver] = Oneshot<int>();
  std::move(sender).Send(1);
  CountingWaker waker;
  Budget budget(0);
  Context cx(waker.waker(), &budget);

  EXPECT_TRUE(receiver.Poll(cx).IsPending());
  EXPECT_EQ(waker.wakes(), 1);
  budget = Budget(1);

  EXPECT_THAT(*receiver.Poll(cx), IsOkAndHolds(1));
  EXPECT_TRUE(budget.IsSpent());
}

// The waker of one end may own the other end: dropping it closes the channel
// from inside the channel.
TEST(OneshotTest, WakersMayOwnTheOtherEnd) {
  auto ends = Oneshot<int>();
  {
    OneshotReceiver<int> receiver = std::move(ends.second);
    auto sender = std::make_shared<OneshotSender<int>>(std::move(ends.first));
    auto closed = std::make_unique<OneshotClosed<int>>(sender->Closed());
    Waker waker = CallbackWaker([sender] {}, [sender] {});
    sender.reset();
    Context cx(waker);
    EXPECT_TRUE(receiver.Poll(cx).IsPending());
    EXPECT_TRUE(closed->Poll(cx).IsPending());
    waker = Waker();
    closed.reset();
  }
  auto [sender, receiver] = Oneshot<int>();
  auto held = std::make_unique<OneshotReceiver<int>>(std::move(receiver));
  const Waker drops_the_receiver = CallbackWaker([&] { held.reset(); });
  Context cx(drops_the_receiver);
  EXPECT_TRUE(held->Poll(cx).IsPending());

  EXPECT_EQ(std::move(sender).Send(1), std::nullopt);

  EXPECT_EQ(held, nullptr);
}

TEST(OneshotTest, UseAfterItsEndDies) {
  auto [sender, receiver] = Oneshot<int>();
  std::move(sender).Send(1);
  EXPECT_THAT(BlockOn(receiver), IsOkAndHolds(1));

  EXPECT_DEATH(static_cast<void>(receiver.TryReceive()), "used up");
  EXPECT_DEATH(std::move(sender).Send(2), "used up");
}

TEST(OneshotTest, SurvivesADropAtEveryPoll) {
  LiveCounter counter;
  std::optional<OneshotSender<LiveCounter::Object>> sender;
  auto factory = [&] {
    auto ends = Oneshot<LiveCounter::Object>();
    sender = std::move(ends.first);
    return std::move(ends.second);
  };
  auto step = [&] {
    std::move(*sender).Send(counter.Make());
    return true;
  };

  EXPECT_THAT(
      DropAtEveryPoll(factory, {.step = step,
                                .settle = [&] { sender.reset(); },
                                .live = [&] { return counter.live(); }}),
      IsOkAndHolds(2));
}

TEST(OneshotTest, ClosedSurvivesADropAtEveryPoll) {
  auto ends = Oneshot<int>();
  auto factory = [&] {
    ends = Oneshot<int>();
    return ends.first.Closed();
  };
  auto step = [&] {
    ends.second.Close();
    return true;
  };

  EXPECT_THAT(DropAtEveryPoll(factory, {.step = step}), IsOkAndHolds(2));
}

// Either the receiver gets the value or Send gives it back, whatever the order.
TEST(OneshotTest, TheValueIsNeverLostBetweenThreads) {
  LiveCounter counter;
  int received = 0;
  int returned = 0;
  const int rounds = Rounds(1'500);
  for (int round = 0; round < rounds; ++round) {
    auto ends = Oneshot<LiveCounter::Object>();
    std::thread thread(
        [&returned, &counter, sender = std::move(ends.first)]() mutable {
          if (std::move(sender).Send(counter.Make()).has_value()) ++returned;
        });
    OneshotReceiver<LiveCounter::Object> receiver = std::move(ends.second);
    if (round % 3 == 0) {
      EXPECT_TRUE(receiver.BlockingReceive().ok());
      ++received;
    } else {
      CountingWaker waker;
      Context cx(waker.waker());
      if (round % 3 == 1)
        static_cast<void>(receiver.Poll(cx).IsReady() && ++received);
      else {
        receiver.Close();
        auto late = receiver.TryReceive();
        if (late->ok()) ++received;
      }
    }
    thread.join();
  }

  EXPECT_EQ(counter.live(), 0);
  EXPECT_GE(received, rounds / 3);
  EXPECT_LE(received + returned, rounds);
}

TEST(OneshotTest, AThreadWaitsForTheReceiverToGo) {
  const int rounds = Rounds(1'000);
  for (int round = 0; round < rounds; ++round) {
    auto ends = Oneshot<int>();
    std::thread thread([sender = std::move(ends.first)]() mutable {
      BlockOn(sender.Closed());
    });
    if (round % 2 == 0) {
      ends.second.Close();
    } else {
      OneshotReceiver<int> dropped = std::move(ends.second);
    }
    thread.join();
  }
}

}  // namespace
}  // namespace weft::sync
