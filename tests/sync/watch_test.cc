// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// weft-lint: allow-file(R22): the tests' tasks end before what they refer to.

#include "weft/sync/watch.h"

#include <atomic>
#include <cstdlib>
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
#include "weft/sync/watch_receiver.h"
#include "weft/sync/watch_sender.h"
#include "weft/sync/watch_stream.h"
#include "weft/task/block_on.h"
#include "weft/task/context.h"
#include "weft/task/counting_waker.h"
#include "weft/task/drop_at_every_poll.h"
#include "weft/task/join_handle.h"
#include "weft/task/live_counter.h"
#include "weft/task/status.h"
#include "weft/task/status_matchers.h"
#include "weft/task/task.h"
#include "weft/task/waker.h"
#include "weft/task/yield_now.h"
#include "weft/tests/kit/explore_schedules.h"
#include "weft/tests/sync/callback_waker.h"

namespace weft::sync {
namespace {

// Many more rounds with WEFT_LONG=1.
int Rounds(int rounds) {
  return std::getenv("WEFT_LONG") != nullptr ? 100 * rounds : rounds;
}

TEST(WatchTest, TheInitialValueIsThereAndSeen) {
  auto [sender, receiver] = Watch<std::string>("a");

  EXPECT_EQ(*receiver.Borrow(), "a");
  EXPECT_EQ(*sender.Borrow(), "a");
  EXPECT_FALSE(receiver.HasChanged());
  EXPECT_EQ(sender.SenderCount(), 1u);
  EXPECT_EQ(sender.ReceiverCount(), 1u);
}

TEST(WatchTest, ASentValueIsNewsUntilItIsSeen) {
  CountingWaker waker;
  Context cx(waker.waker());
  auto [sender, receiver] = Watch(1);
  auto other = receiver;
  {
    auto changed = receiver.Changed();
    EXPECT_TRUE(changed.Poll(cx).IsPending());

    EXPECT_EQ(sender.Send(2), absl::OkStatus());
    EXPECT_EQ(sender.Send(3), absl::OkStatus());

    EXPECT_EQ(waker.TakeWakes(), 1);
    const Polled<absl::Status> status = changed.Poll(cx);
    ASSERT_TRUE(status.IsReady());
    EXPECT_EQ(*status, absl::OkStatus());
  }
  EXPECT_FALSE(receiver.HasChanged());
  EXPECT_EQ(*receiver.Borrow(), 3);
  EXPECT_TRUE(other.HasChanged());
  EXPECT_EQ(*other.Borrow(), 3);
  EXPECT_TRUE(other.HasChanged());
  EXPECT_EQ(*other.BorrowAndUpdate(), 3);
  EXPECT_FALSE(other.HasChanged());
  EXPECT_EQ(waker.outstanding(), 0);
}

TEST(WatchTest, MarksSayWhatIsNews) {
  auto [sender, receiver] = Watch(1);

  receiver.MarkChanged();
  EXPECT_TRUE(receiver.HasChanged());
  EXPECT_EQ(receiver.BlockingChanged(), absl::OkStatus());
  EXPECT_FALSE(receiver.HasChanged());
  EXPECT_EQ(sender.Send(2), absl::OkStatus());
  receiver.MarkUnchanged();

  EXPECT_FALSE(receiver.HasChanged());
}

TEST(WatchTest, AWaitWhoseNewsWasSeenMeanwhileWaitsOn) {
  CountingWaker waker;
  Context cx(waker.waker());
  auto [sender, receiver] = Watch(1);
  auto changed = receiver.Changed();
  EXPECT_TRUE(changed.Poll(cx).IsPending());
  EXPECT_EQ(sender.Send(2), absl::OkStatus());
  receiver.MarkUnchanged();
  EXPECT_TRUE(changed.Poll(cx).IsPending());
  waker.TakeWakes();

  EXPECT_EQ(sender.Send(3), absl::OkStatus());

  EXPECT_EQ(waker.TakeWakes(), 1);
  EXPECT_TRUE(changed.Poll(cx).IsReady());
}

TEST(WatchTest, NewsForAWaitThatIsDroppedIsStillNews) {
  CountingWaker waker;
  Context cx(waker.waker());
  auto [sender, receiver] = Watch(1);
  {
    auto limited = receiver.Changed();
    EXPECT_TRUE(limited.Poll(cx).IsPending());
    EXPECT_EQ(sender.Send(2), absl::OkStatus());
    EXPECT_EQ(waker.TakeWakes(), 1);
  }

  EXPECT_TRUE(receiver.HasChanged());
  EXPECT_EQ(receiver.BlockingChanged(), absl::OkStatus());
}

TEST(WatchTest, AValueThatIsReadStaysWhileAnotherIsSent) {
  auto [sender, receiver] = Watch<std::string>("a");
  const auto held = receiver.Borrow();

  const auto replaced = sender.Replace("b");

  EXPECT_EQ(*held, "a");
  EXPECT_EQ(replaced, held);
  EXPECT_EQ(*receiver.Borrow(), "b");
}

TEST(WatchTest, ModifiesACopy) {
  auto [sender, receiver] = Watch(1);

  sender.SendModify([](int& n) { n += 10; });
  EXPECT_TRUE(receiver.HasChanged());
  EXPECT_EQ(*receiver.BorrowAndUpdate(), 11);
  EXPECT_FALSE(sender.SendIfModified([](int& n) {
    n = 99;
    return false;
  }));

  EXPECT_FALSE(receiver.HasChanged());
  EXPECT_EQ(*receiver.Borrow(), 11);
  EXPECT_TRUE(sender.SendIfModified([](int&) { return true; }));
  EXPECT_TRUE(receiver.HasChanged());
}

TEST(WatchTest, ModifyIsCalledAgainWhereAnotherWasSentMeanwhile) {
  auto [sender, receiver] = Watch(1);
  int calls = 0;

  sender.SendModify([&, &sender = sender](int& n) {
    if (++calls == 1) sender.Replace(100);  // no lock is held
    n += 1;
  });

  EXPECT_EQ(calls, 2);
  EXPECT_EQ(*receiver.Borrow(), 101);
}

TEST(WatchTest, IsClosedWhenTheLastSenderGoesAndGivesTheLastValueFirst) {
  CountingWaker waker;
  Context cx(waker.waker());
  auto [sender, receiver] = Watch(1);
  auto other = receiver;
  auto changed = other.Changed();
  EXPECT_TRUE(changed.Poll(cx).IsPending());
  {
    auto last = std::move(sender);
    auto copy = last;
    EXPECT_EQ(copy.SenderCount(), 2u);
    EXPECT_EQ(copy.Send(2), absl::OkStatus());
    EXPECT_TRUE(changed.Poll(cx).IsReady());
    EXPECT_FALSE(receiver.IsClosed());
  }
  EXPECT_TRUE(receiver.IsClosed());

  EXPECT_EQ(receiver.BlockingChanged(), absl::OkStatus());
  EXPECT_EQ(receiver.BlockingChanged(), ClosedStatus());
  EXPECT_EQ(*receiver.Borrow(), 2);
  receiver.MarkChanged();
  EXPECT_EQ(receiver.BlockingChanged(), absl::OkStatus());
}

TEST(WatchTest, ClosingWakesWhoeverWaits) {
  CountingWaker waker;
  Context cx(waker.waker());
  auto ends = std::make_optional(Watch(1));
  auto receiver = ends->second;
  auto changed = receiver.Changed();
  EXPECT_TRUE(changed.Poll(cx).IsPending());

  ends.reset();

  EXPECT_EQ(waker.TakeWakes(), 1);
  const Polled<absl::Status> status = changed.Poll(cx);
  ASSERT_TRUE(status.IsReady());
  EXPECT_EQ(*status, ClosedStatus());
}

TEST(WatchTest, SendersLearnThatNobodyWatches) {
  CountingWaker waker;
  Context cx(waker.waker());
  auto ends = Watch(1);
  WatchSender<int> sender = std::move(ends.first);
  std::optional<WatchReceiver<int>> receiver(std::move(ends.second));
  auto closed = sender.Closed();
  EXPECT_TRUE(closed.Poll(cx).IsPending());
  EXPECT_FALSE(sender.IsClosed());

  receiver.reset();

  EXPECT_EQ(waker.TakeWakes(), 1);
  EXPECT_TRUE(closed.Poll(cx).IsReady());
  EXPECT_TRUE(sender.IsClosed());
  EXPECT_EQ(sender.Send(2), ClosedStatus());
  EXPECT_EQ(*sender.Borrow(), 1);
  EXPECT_EQ(*sender.Replace(3), 1);
  auto later = sender.Subscribe();
  EXPECT_FALSE(later.HasChanged());
  EXPECT_EQ(*later.Borrow(), 3);
  EXPECT_EQ(sender.Send(4), absl::OkStatus());
  EXPECT_TRUE(later.HasChanged());
}

TEST(WatchTest, AWeakSenderKeepsNothingOpen) {
  auto ends = Watch(1);
  std::optional<WatchSender<int>> sender(std::move(ends.first));
  const WatchWeakSender<int> weak = sender->Downgrade();
  EXPECT_EQ(sender->SenderCount(), 1u);

  auto upgraded = weak.Upgrade();
  ASSERT_TRUE(upgraded.has_value());
  EXPECT_EQ(sender->SenderCount(), 2u);
  upgraded.reset();
  sender.reset();

  EXPECT_TRUE(ends.second.IsClosed());
  EXPECT_FALSE(weak.Upgrade().has_value());
}

TEST(WatchTest, WaitForLooksAtWhatIsThereAndAtEachChange) {
  CountingWaker waker;
  Context cx(waker.waker());
  auto [sender, receiver] = Watch(1);
  int calls = 0;
  {
    auto wait = receiver.WaitFor([&](int n) {
      ++calls;
      return n >= 3;
    });
    EXPECT_TRUE(wait.Poll(cx).IsPending());
    EXPECT_TRUE(wait.Poll(cx).IsPending());
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(sender.Send(2), absl::OkStatus());
    EXPECT_TRUE(wait.Poll(cx).IsPending());
    EXPECT_EQ(sender.Send(3), absl::OkStatus());

    auto polled = wait.Poll(cx);

    ASSERT_TRUE(polled.IsReady());
    ASSERT_TRUE(polled->ok());
    EXPECT_EQ(***polled, 3);
    EXPECT_EQ(calls, 3);
  }
  EXPECT_TRUE(receiver.BlockingWaitFor([](int n) { return n == 3; }).ok());
  EXPECT_FALSE(receiver.HasChanged());
  {
    const auto gone = std::move(sender);
  }
  EXPECT_EQ(receiver.BlockingWaitFor([](int n) { return n == 4; }).status(),
            ClosedStatus());
}

TEST(WatchTest, WakesWhoeverPolledLast) {
  CountingWaker a;
  CountingWaker b;
  Context in_a(a.waker());
  Context in_b(b.waker());
  auto [sender, receiver] = Watch(1);
  auto changed = receiver.Changed();
  EXPECT_TRUE(changed.Poll(in_a).IsPending());
  EXPECT_TRUE(changed.Poll(in_b).IsPending());

  EXPECT_EQ(sender.Send(2), absl::OkStatus());

  EXPECT_EQ(a.wakes(), 0);
  EXPECT_EQ(a.outstanding(), 0);
  EXPECT_EQ(b.wakes(), 1);
}

TEST(WatchTest, ASpentBudgetLosesNoNews) {
  CountingWaker waker;
  Budget budget(0);
  Context cx(waker.waker(), &budget);
  auto [sender, receiver] = Watch(1);
  receiver.MarkChanged();
  {
    auto changed = receiver.Changed();
    EXPECT_TRUE(changed.Poll(cx).IsPending());
    EXPECT_EQ(waker.TakeWakes(), 1);
  }
  EXPECT_TRUE(receiver.HasChanged());
  budget = Budget(3);
  auto changed = receiver.Changed();
  EXPECT_TRUE(changed.Poll(cx).IsReady());
  auto wait = receiver.WaitFor([](int) { return true; });
  EXPECT_TRUE(wait.Poll(cx).IsReady());

  EXPECT_EQ(budget.units(), 1u);
}

TEST(WatchTest, AValueMayUseTheWatchWhenItIsDestroyed) {
  struct Curious {
    Curious(WatchSender<Curious>* sender, int* destroyed)
        : sender(sender), destroyed(destroyed) {}
    Curious(Curious&& other) noexcept
        : sender(std::exchange(other.sender, nullptr)),
          destroyed(other.destroyed) {}
    ~Curious() {
      if (sender == nullptr) return;
      ++*destroyed;
      EXPECT_EQ(sender->ReceiverCount(), 1u);
      EXPECT_EQ(sender->Send(Curious(nullptr, destroyed)), absl::OkStatus());
    }
    WatchSender<Curious>* sender;
    int* destroyed;
  };
  int destroyed = 0;
  auto [sender, receiver] = Watch(Curious(nullptr, &destroyed));
  EXPECT_EQ(sender.Send(Curious(&sender, &destroyed)), absl::OkStatus());

  EXPECT_EQ(sender.Send(Curious(nullptr, &destroyed)), absl::OkStatus());

  EXPECT_EQ(destroyed, 1);
  EXPECT_TRUE(receiver.HasChanged());
}

TEST(WatchTest, WakersMayUseIt) {
  auto [sender, receiver] = Watch(1);
  int wakes = 0;
  const Waker waker = CallbackWaker(
      [&, &sender = sender] {
        if (++wakes < 3) EXPECT_EQ(sender.Send(wakes), absl::OkStatus());
      },
      [&, &sender = sender] { EXPECT_EQ(sender.Send(0), absl::OkStatus()); });
  Context cx(waker);
  auto other = receiver;
  auto a = receiver.Changed();
  auto b = std::make_unique<WatchChangedFuture>(other.Changed());
  EXPECT_TRUE(a.Poll(cx).IsPending());
  EXPECT_TRUE(b->Poll(cx).IsPending());

  b.reset();  // drops a waker, which sends

  EXPECT_EQ(wakes, 1);
  EXPECT_EQ(*sender.Borrow(), 1);
  EXPECT_TRUE(a.Poll(cx).IsReady());
}

TEST(WatchTest, AThousandAreWokenOnceEach) {
  auto [sender, receiver] = Watch(0);
  CountingWaker waker;
  Context cx(waker.waker());
  std::vector<WatchReceiver<int>> receivers(1'000, receiver);
  std::vector<WatchChangedFuture> waits;
  for (auto& r : receivers) waits.push_back(r.Changed());
  for (auto& wait : waits) EXPECT_TRUE(wait.Poll(cx).IsPending());

  EXPECT_EQ(sender.Send(1), absl::OkStatus());

  EXPECT_EQ(waker.TakeWakes(), 1'000);
  for (auto& wait : waits) EXPECT_TRUE(wait.Poll(cx).IsReady());
  EXPECT_EQ(waker.outstanding(), 0);
}

TEST(WatchTest, IsAStreamOfValues) {
  auto ends = Watch<std::string>("a");
  std::optional<WatchSender<std::string>> sender(std::move(ends.first));
  CountingWaker waker;
  Context cx(waker.waker());
  WatchStream<std::string> stream(ends.second);
  auto next = [&] { return Next(stream).Poll(cx); };

  auto item = next();
  ASSERT_TRUE(item.IsReady());
  EXPECT_EQ(***item, "a");
  EXPECT_TRUE(next().IsPending());
  EXPECT_EQ(sender->Send("b"), absl::OkStatus());
  EXPECT_EQ(waker.TakeWakes(), 1);
  EXPECT_EQ(sender->Send("c"), absl::OkStatus());
  item = next();
  ASSERT_TRUE(item.IsReady());
  EXPECT_EQ(***item, "c");
  EXPECT_TRUE(next().IsPending());
  sender.reset();
  EXPECT_EQ(waker.TakeWakes(), 1);

  item = next();
  ASSERT_TRUE(item.IsReady());
  EXPECT_FALSE(item->has_value());
}

TEST(WatchTest, WaitsSurviveADropAtEveryPoll) {
  auto ends = Watch(0);
  LiveCounter counter;
  auto task = [](WatchReceiver<int> receiver, LiveCounter::Object) -> Task<> {
    const absl::Status changed = co_await receiver.Changed();
    EXPECT_EQ(changed, absl::OkStatus());
    const int seen = *receiver.Borrow();
    auto later = [seen](int n) { return n > seen; };
    auto wait = receiver.WaitFor(std::move(later));
    auto value = co_await wait;
    EXPECT_TRUE(value.ok());
    WatchStream<int> stream(receiver);
    co_await Next(stream);
    co_await Next(stream);
  };

  EXPECT_THAT(DropAtEveryPoll(
                  [&] { return task(ends.first.Subscribe(), counter.Make()); },
                  {.step =
                       [&] {
                         ends.first.SendModify([](int& n) { ++n; });
                         return true;
                       },
                   .settle = [&] { EXPECT_EQ(ends.first.ReceiverCount(), 1u); },
                   .live = [&] { return counter.live(); }}),
              IsOkAndHolds(4));
}

TEST(WatchTest, ClosedSurvivesADropAtEveryPoll) {
  auto ends = Watch(0);
  std::optional<WatchReceiver<int>> receiver;
  LiveCounter counter;
  auto task = [](WatchSender<int> sender, LiveCounter::Object) -> Task<> {
    co_await sender.Closed();
  };
  {
    const auto only_by_steps = std::move(ends.second);
  }

  EXPECT_THAT(DropAtEveryPoll(
                  [&] {
                    receiver.emplace(ends.first.Subscribe());
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

// Two senders count up together, and no step of either is lost.
TEST(WatchTest, ThreadsSeeValuesInOrderUpToTheLast) {
  constexpr int kSenders = 2;
  constexpr int kReceivers = 3;
  const int rounds = Rounds(2'000);
  auto ends = Watch(0);
  std::vector<std::thread> threads;
  for (int i = 0; i < kReceivers; ++i) {
    threads.emplace_back([i, rounds, receiver = ends.second]() mutable {
      CountingWaker waker;
      Context cx(waker.waker());
      int last = 0;
      while (receiver.BlockingChanged().ok()) {
        const auto value = receiver.BorrowAndUpdate();
        EXPECT_GE(*value, last);
        last = *value;
        if (i != 0) continue;
        auto dropped = receiver.Changed();
        const Polled<absl::Status> seen = dropped.Poll(cx);
        if (seen.IsReady() && seen->ok()) receiver.MarkChanged();
      }
      EXPECT_EQ(last, kSenders * rounds);
    });
  }
  {
    const WatchSender<int> sender = std::move(ends.first);
    std::vector<std::thread> senders;
    for (int i = 0; i < kSenders; ++i) {
      senders.emplace_back([rounds, sender] {
        for (int n = 0; n < rounds; ++n) sender.SendModify([](int& v) { ++v; });
      });
    }
    for (auto& thread : senders) thread.join();
    EXPECT_EQ(*sender.Borrow(), kSenders * rounds);
  }
  for (auto& thread : threads) thread.join();
}

TEST(WatchTest, NobodyMissesTheLastValueInAnyOrder) {
  auto watches = [](WatchReceiver<int> receiver,
                    std::shared_ptr<int> done) -> Task<> {
    int last = 0;
    for (;;) {
      const absl::Status changed = co_await receiver.Changed();
      if (!changed.ok()) break;
      const int value = *receiver.BorrowAndUpdate();
      EXPECT_GE(value, last);
      last = value;
    }
    *done += last == 6;
  };
  auto waits = [](WatchReceiver<int> receiver,
                  std::shared_ptr<int> done) -> Task<> {
    auto is_last = [](int n) { return n == 6; };
    auto wait = receiver.WaitFor(is_last);
    auto value = co_await wait;
    *done += value.ok();
  };
  auto sends = [](WatchSender<int> sender) -> Task<> {
    for (int i = 0; i < 3; ++i) {
      sender.SendModify([](int& n) { ++n; });
      co_await YieldNow();
    }
  };
  auto scenario = [&](DeterministicExecutor& executor) -> absl::Status {
    auto done = std::make_shared<int>(0);
    {
      auto ends = Watch(0);
      executor.Spawn(watches(ends.second, done)).Detach();
      executor.Spawn(watches(ends.second, done)).Detach();
      executor.Spawn(waits(ends.second, done)).Detach();
      executor.Spawn(sends(ends.first)).Detach();
      executor.Spawn(sends(ends.first)).Detach();
    }
    const absl::Status status = executor.RunUntilIdle();
    if (!status.ok()) return status;
    if (executor.live() != 0) return absl::InternalError("some wait on");
    return *done == 3 ? absl::OkStatus()
                      : absl::InternalError("one missed the last value");
  };

  EXPECT_GT(ExploreSchedules(Rounds(100), scenario), 50u);
}

}  // namespace
}  // namespace weft::sync
