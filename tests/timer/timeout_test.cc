// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/timer/timeout.h"

#include <chrono>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "weft/task/clock.h"
#include "weft/task/context.h"
#include "weft/task/counting_waker.h"
#include "weft/task/drop_at_every_poll.h"
#include "weft/task/environment.h"
#include "weft/task/future.h"
#include "weft/task/instant.h"
#include "weft/task/live_counter.h"
#include "weft/task/polled.h"
#include "weft/task/ready.h"
#include "weft/task/status_matchers.h"
#include "weft/task/task.h"
#include "weft/tests/kit/signal.h"
#include "weft/timer/fake_clock.h"
#include "weft/timer/sleep.h"

namespace weft::timer {
namespace {

constexpr auto kDeadlineExceeded = absl::StatusCode::kDeadlineExceeded;

// A FakeClock is current, which only the test moves.
class TimeoutTest : public testing::Test {
 protected:
  static Environment WithClock(const Clock* clock) {
    Environment environment = Environment::Current();
    environment.clock = clock;
    return environment;
  }

  FakeClock clock_;
  const Environment environment_ = WithClock(&clock_);
  const EnvironmentScope scope_{environment_};
  CountingWaker waker_;
  Context cx_{waker_.waker()};
};

Task<int> HoldForever(LiveCounter::Object) {
  co_await Pending();
  co_return 1;
}

// Pending, and takes the whole budget in each poll.
class Greedy {
 public:
  using Output = int;
  Polled<int> Poll(Context& cx) {
    while (cx.HasBudget()) cx.Charge();
    return kPending;
  }
};

TEST_F(TimeoutTest, GivesTheOutputOfAFutureThatIsInTime) {
  Signal signal;
  auto timeout = Timeout(absl::Seconds(1), signal.Wait());
  EXPECT_TRUE(timeout.Poll(cx_).IsPending());
  clock_.Advance(absl::Seconds(1) - absl::Nanoseconds(1));
  EXPECT_TRUE(timeout.Poll(cx_).IsPending());

  signal.Set(7);
  EXPECT_THAT(*timeout.Poll(cx_), IsOkAndHolds(7));
}

TEST_F(TimeoutTest, EndsAtTheDeadline) {
  Signal signal;
  auto timeout = Timeout(std::chrono::seconds(1), signal.Wait());
  EXPECT_EQ(timeout.deadline(), clock_.Now() + absl::Seconds(1));
  EXPECT_TRUE(timeout.Poll(cx_).IsPending());

  clock_.Advance(absl::Seconds(1));
  EXPECT_EQ(waker_.wakes(), 1);
  EXPECT_THAT(*timeout.Poll(cx_), StatusIs(kDeadlineExceeded));
}

TEST_F(TimeoutTest, CancelsAndDestroysTheFutureBeforeItIsReady) {
  LiveCounter counter;
  auto timeout = Timeout(absl::Seconds(1), HoldForever(counter.Make()));
  EXPECT_TRUE(timeout.Poll(cx_).IsPending());
  EXPECT_EQ(counter.live(), 1);

  clock_.Advance(absl::Seconds(1));
  EXPECT_EQ(counter.live(), 1);
  EXPECT_TRUE(timeout.Poll(cx_).IsReady());
  EXPECT_EQ(counter.live(), 0);
}

TEST_F(TimeoutTest, LeavesAnLvaluePendingForLater) {
  LiveCounter counter;
  Signal signal;
  Task<int> task = [](Signal* signal, LiveCounter::Object) -> Task<int> {
    co_return co_await signal->Wait();
  }(&signal, counter.Make());
  {
    auto timeout = Timeout(absl::Seconds(1), task);
    EXPECT_TRUE(timeout.Poll(cx_).IsPending());
    clock_.Advance(absl::Seconds(1));
    EXPECT_THAT(*timeout.Poll(cx_), StatusIs(kDeadlineExceeded));
  }
  EXPECT_EQ(counter.live(), 1);

  signal.Set(3);
  EXPECT_EQ(*task.Poll(cx_), 3);
}

TEST_F(TimeoutTest, PollsTheFutureFirst) {
  EXPECT_THAT(*Timeout(absl::ZeroDuration(), Ready(5)).Poll(cx_),
              IsOkAndHolds(5));
  EXPECT_THAT(*TimeoutAt(Instant::Past(), Ready(5)).Poll(cx_), IsOkAndHolds(5));
  EXPECT_THAT(*Timeout(-absl::InfiniteDuration(), Pending<int>()).Poll(cx_),
              StatusIs(kDeadlineExceeded));

  // Both have happened when it is polled.
  Signal signal;
  auto timeout = Timeout(absl::Seconds(1), signal.Wait());
  EXPECT_TRUE(timeout.Poll(cx_).IsPending());
  clock_.Advance(absl::Hours(1));
  signal.Set(6);
  EXPECT_THAT(*timeout.Poll(cx_), IsOkAndHolds(6));
}

TEST_F(TimeoutTest, AnInfiniteOneDoesNotEnd) {
  Signal signal;
  auto timeout = Timeout(absl::InfiniteDuration(), signal.Wait());
  EXPECT_TRUE(timeout.Poll(cx_).IsPending());
  clock_.Advance(absl::Hours(24 * 365 * 250));
  EXPECT_TRUE(timeout.Poll(cx_).IsPending());
  signal.Set();
  EXPECT_TRUE(timeout.Poll(cx_).IsReady());
}

TEST_F(TimeoutTest, FlattensStatusesAndKeepsReferences) {
  const absl::Duration d = absl::Seconds(1);
  using Status = absl::Status;
  using StatusOr = absl::StatusOr<int>;
  static_assert(
      std::is_same_v<OutputOf<decltype(Timeout(d, Ready()))>, Status>);
  static_assert(
      std::is_same_v<OutputOf<decltype(Timeout(d, Ready(Status())))>, Status>);
  static_assert(
      std::is_same_v<OutputOf<decltype(Timeout(d, Ready(StatusOr())))>,
                     StatusOr>);
  EXPECT_THAT(*Timeout(d, Ready(absl::DataLossError("x"))).Poll(cx_),
              StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_THAT(*Timeout(d, Ready()).Poll(cx_), IsOk());

  int target = 1;
  auto reference =
      Timeout(d, PollFn([&](Context&) -> Polled<int&> { return target; }));
  auto polled = reference.Poll(cx_);
  ASSERT_THAT(*polled, IsOk());
  EXPECT_EQ(&(*polled)->get(), &target);

  auto move_only = Timeout(d, Ready(std::make_unique<int>(4)));
  auto moved = move_only.Poll(cx_);
  ASSERT_THAT(*moved, IsOk());
  EXPECT_EQ(***moved, 4);
}

TEST_F(TimeoutTest, ASpentBudgetIsNotTakenForAFutureThatIsNotReady) {
  Budget budget(0);
  Context cx(waker_.waker(), &budget);
  auto timeout = Timeout(absl::ZeroDuration(), Ready(1));
  EXPECT_TRUE(timeout.Poll(cx).IsPending());
  EXPECT_EQ(waker_.wakes(), 1);
  EXPECT_THAT(*timeout.Poll(cx_), IsOkAndHolds(1));
}

TEST_F(TimeoutTest, AFutureThatTakesTheWholeBudgetHasADeadlineToo) {
  auto timeout = Timeout(absl::Seconds(1), Greedy());
  Budget budget;
  Context cx(waker_.waker(), &budget);
  EXPECT_TRUE(timeout.Poll(cx).IsPending());
  clock_.Advance(absl::Seconds(1));
  budget = Budget();
  EXPECT_THAT(*timeout.Poll(cx), StatusIs(kDeadlineExceeded));
}

TEST_F(TimeoutTest, Nests) {
  auto timeout =
      Timeout(absl::Seconds(2), Timeout(absl::Seconds(1), Pending<int>()));
  EXPECT_TRUE(timeout.Poll(cx_).IsPending());
  clock_.Advance(absl::Seconds(1));
  EXPECT_THAT(*timeout.Poll(cx_), StatusIs(kDeadlineExceeded));
}

Task<absl::StatusOr<int>> AwaitInTime(LiveCounter::Object object) {
  auto timeout = Timeout(absl::Seconds(1), HoldForever(std::move(object)));
  co_return co_await timeout;
}

TEST_F(TimeoutTest, CanBeDroppedAtEveryPoll) {
  LiveCounter counter;
  DropAtEveryPollOptions options;
  options.step = [&] { return clock_.AdvanceToNext(); };
  options.live = [&] { return counter.live(); };
  EXPECT_THAT(DropAtEveryPoll(
                  [&] {
                    return Timeout(absl::Seconds(1),
                                   HoldForever(counter.Make()));
                  },
                  options),
              IsOkAndHolds(2));
  EXPECT_THAT(
      DropAtEveryPoll([&] { return AwaitInTime(counter.Make()); }, options),
      IsOkAndHolds(2));
  EXPECT_FALSE(clock_.AdvanceToNext());
}

}  // namespace
}  // namespace weft::timer
