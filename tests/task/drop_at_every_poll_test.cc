// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/task/drop_at_every_poll.h"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "weft/task/context.h"
#include "weft/task/live_counter.h"
#include "weft/task/polled.h"
#include "weft/task/ready.h"
#include "weft/task/status_matchers.h"
#include "weft/task/task.h"
#include "weft/task/waker.h"
#include "weft/task/yield_now.h"

namespace weft {
namespace {

using testing::HasSubstr;

// Has a fault or not, as wanted: keeps an object or a waker when dropped.
class Wait {
 public:
  using Output = void;

  Wait(std::vector<Waker>* wakers, bool* done) : wakers_(wakers), done_(done) {}
  Wait(const Wait&) = delete;
  Wait& operator=(const Wait&) = delete;
  ~Wait() {
    if (forget_on_drop) wakers_->clear();
  }

  Polled<void> Poll(Context& cx) {
    if (*done_) return Unit();
    wakers_->assign(1, cx.waker());
    return kPending;
  }

  bool forget_on_drop = true;

 private:
  std::vector<Waker>* wakers_;
  bool* done_;
};

Task<> YieldTwice(LiveCounter::Object object) {
  const LiveCounter::Object copy = object;
  co_await YieldNow();
  co_await YieldNow();
}

TEST(DropAtEveryPollTest, CountsPolls) {
  EXPECT_THAT(DropAtEveryPoll([] { return Ready(1); }), IsOkAndHolds(1));
  EXPECT_THAT(DropAtEveryPoll([] { return YieldNow(); }), IsOkAndHolds(2));
}

TEST(DropAtEveryPollTest, RunsTheFutureOncePerPollAndOnceMore) {
  LiveCounter counter;
  int runs = 0;
  auto factory = [&] {
    ++runs;
    return YieldTwice(counter.Make());
  };

  EXPECT_THAT(
      DropAtEveryPoll(factory, {.live = [&] { return counter.live(); }}),
      IsOkAndHolds(3));
  EXPECT_EQ(runs, 1 + 3 + 1);
}

TEST(DropAtEveryPollTest, StepsWhenNothingWakesTheFuture) {
  std::vector<Waker> wakers;
  bool done = false;
  auto factory = [&] {
    done = false;
    return Wait(&wakers, &done);
  };
  auto step = [&] {
    done = true;
    std::vector<Waker> woken = std::move(wakers);
    for (Waker& waker : woken) std::move(waker).Wake();
    return true;
  };

  EXPECT_THAT(DropAtEveryPoll(factory, {.step = step}), IsOkAndHolds(2));
}

TEST(DropAtEveryPollTest, ReportsAFutureThatNobodyWakes) {
  EXPECT_THAT(DropAtEveryPoll([] { return Pending(); }),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("nothing will wake it")));
}

TEST(DropAtEveryPollTest, ReportsAFutureThatIsNeverReady) {
  auto factory = [] {
    return PollFn([](Context& cx) -> Polled<void> {
      cx.waker().WakeByRef();
      return kPending;
    });
  };

  EXPECT_THAT(DropAtEveryPoll(factory, {.max_polls = 10}),
              StatusIs(absl::StatusCode::kDeadlineExceeded));
}

TEST(DropAtEveryPollTest, ReportsAWakerThatIsKept) {
  std::vector<Waker> wakers;
  bool done = false;
  auto factory = [&] {
    done = false;
    wakers.clear();
    return PollFn([&, wait = std::make_unique<Wait>(&wakers, &done)](
                      Context& cx) mutable {
      wait->forget_on_drop = false;
      return wait->Poll(cx);
    });
  };
  auto step = [&] {
    done = true;
    std::move(wakers[0]).Wake();
    return true;
  };

  EXPECT_THAT(DropAtEveryPoll(factory, {.step = step}),
              StatusIs(absl::StatusCode::kInternal,
                       HasSubstr("dropped after 1 polls: 1 wakers")));
}

TEST(DropAtEveryPollTest, ReportsAnObjectThatIsLeaked) {
  LiveCounter counter;
  std::vector<LiveCounter::Object> leaked;
  auto factory = [&] {
    return PollFn([&, first = true](Context& cx) mutable -> Polled<void> {
      if (!std::exchange(first, false)) {
        leaked.clear();
        return Unit();
      }
      leaked.push_back(counter.Make());
      cx.waker().WakeByRef();
      return kPending;
    });
  };

  EXPECT_THAT(
      DropAtEveryPoll(factory, {.live = [&] { return counter.live(); }}),
      StatusIs(absl::StatusCode::kInternal,
               HasSubstr("dropped after 1 polls: 1 more objects")));
}

}  // namespace
}  // namespace weft
