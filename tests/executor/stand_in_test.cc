// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/executor/stand_in.h"

#include <atomic>
#include <cstdint>
#include <thread>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "weft/executor/blocking_pool.h"
#include "weft/task/context.h"
#include "weft/task/counting_waker.h"
#include "weft/task/instant.h"
#include "weft/task/offload.h"

namespace weft::executor_internal {
namespace {

// Serves until it is told to leave; then leaves when it is let.
class Place {
 public:
  void Serve(StandIn& stand_in) {
    ++served_;
    CountingWaker waker;
    Context cx(waker.waker());
    while (!stand_in.PollStop(cx)) std::this_thread::yield();
    ++told_;
    while (!may_leave_) std::this_thread::yield();
  }
  auto Server() {
    return [this](StandIn& stand_in) { Serve(stand_in); };
  }
  void AwaitServed(int n) const {
    while (served_ != n) std::this_thread::yield();
  }
  void AwaitTold(int n) const {
    while (told_ != n) std::this_thread::yield();
  }
  void LetLeave() { may_leave_ = true; }
  int served() const { return served_; }

 private:
  std::atomic<int> served_{0};
  std::atomic<int> told_{0};
  std::atomic<bool> may_leave_{false};
};

class StandInTest : public testing::Test {
 protected:
  std::atomic<bool> owner_awake_{true};
};

TEST_F(StandInTest, ServesUntilItIsTold) {
  Place place;
  BlockingPool pool;
  const auto stand_in = StandIn::Start(pool, owner_awake_, place.Server());
  place.AwaitServed(1);
  stand_in->Stop();
  place.AwaitTold(1);
  EXPECT_FALSE(stand_in->WaitGone(Instant::Now() + absl::Milliseconds(1)));
  place.LetLeave();
  EXPECT_TRUE(stand_in->WaitGone(Instant::Infinite()));
  EXPECT_FALSE(stand_in->CallBack());
  EXPECT_EQ(place.served(), 1);
}

TEST_F(StandInTest, AWakerIsWokenByStop) {
  std::atomic<bool> polled{false};
  std::atomic<int64_t> wakes{0};
  BlockingPool pool;
  const auto stand_in =
      StandIn::Start(pool, owner_awake_, [&](StandIn& stand_in) {
        CountingWaker waker;
        Context cx(waker.waker());
        ASSERT_FALSE(stand_in.PollStop(cx));
        polled = true;
        while (waker.wakes() == 0) std::this_thread::yield();
        EXPECT_TRUE(stand_in.PollStop(cx));
        wakes = waker.wakes();
      });
  while (!polled) std::this_thread::yield();
  EXPECT_FALSE(owner_awake_);
  stand_in->Stop();
  owner_awake_ = true;
  EXPECT_TRUE(stand_in->WaitGone(Instant::Infinite()));
  EXPECT_TRUE(owner_awake_);
  EXPECT_EQ(wakes, 1);
}

TEST_F(StandInTest, ToldBeforeItsJobStartsItNeverServesAndTakesNoThread) {
  Place place;
  std::atomic<bool> go{false};
  BlockingPool pool(BlockingPoolOptions().MaxThreads(1));
  auto busy = pool.Run(OffloadLane::kGeneral, [&] {
    while (!go) std::this_thread::yield();
  });
  while (pool.GetStats().running == 0) std::this_thread::yield();
  const auto stand_in = StandIn::Start(pool, owner_awake_, place.Server());
  EXPECT_EQ(pool.GetStats().queued, 1u);
  stand_in->Stop();
  EXPECT_TRUE(stand_in->WaitGone(Instant::Past()));
  EXPECT_FALSE(stand_in->CallBack());
  EXPECT_EQ(pool.GetStats().queued, 0u);
  go = true;
  pool.Shutdown(Instant::Infinite());
  EXPECT_EQ(place.served(), 0);
}

// Told to leave while it runs something else, it has not looked yet.
TEST_F(StandInTest, CalledBackBeforeItLooksItStays) {
  std::atomic<int> step{0};
  BlockingPool pool;
  const auto stand_in =
      StandIn::Start(pool, owner_awake_, [&](StandIn& stand_in) {
        step = 1;
        while (step != 2) std::this_thread::yield();
        CountingWaker waker;
        Context cx(waker.waker());
        EXPECT_FALSE(stand_in.PollStop(cx));
        step = 3;
        while (!stand_in.PollStop(cx)) std::this_thread::yield();
      });
  while (step != 1) std::this_thread::yield();
  for (int i = 0; i < 3; ++i) {
    stand_in->Stop();
    EXPECT_TRUE(stand_in->CallBack());
  }
  step = 2;
  while (step != 3) std::this_thread::yield();
  stand_in->Stop();
  EXPECT_TRUE(stand_in->WaitGone(Instant::Infinite()));
  EXPECT_EQ(pool.GetStats().started, 1u);
}

TEST_F(StandInTest, CalledBackWhileItLeavesItServesAgain) {
  Place place;
  BlockingPool pool;
  const auto stand_in = StandIn::Start(pool, owner_awake_, place.Server());
  place.AwaitServed(1);
  stand_in->Stop();
  place.AwaitTold(1);
  EXPECT_TRUE(stand_in->CallBack());
  place.LetLeave();
  place.AwaitServed(2);
  stand_in->Stop();
  EXPECT_TRUE(stand_in->WaitGone(Instant::Infinite()));
  EXPECT_EQ(place.served(), 2);
  EXPECT_EQ(pool.GetStats().started, 1u);
}

TEST_F(StandInTest, ToldAgainWhileItLeavesItIsGone) {
  Place place;
  BlockingPool pool;
  const auto stand_in = StandIn::Start(pool, owner_awake_, place.Server());
  place.AwaitServed(1);
  stand_in->Stop();
  place.AwaitTold(1);
  EXPECT_TRUE(stand_in->CallBack());
  stand_in->Stop();
  place.LetLeave();
  EXPECT_TRUE(stand_in->WaitGone(Instant::Infinite()));
  EXPECT_EQ(place.served(), 1);
}

// Where there is no place for it, it would be called in vain again and again.
TEST_F(StandInTest, OneThatReturnsByItselfIsNotCalledAgain) {
  std::atomic<int> served{0};
  BlockingPool pool;
  const auto stand_in =
      StandIn::Start(pool, owner_awake_, [&](StandIn&) { ++served; });
  EXPECT_TRUE(stand_in->WaitGone(Instant::Infinite()));
  EXPECT_FALSE(stand_in->CallBack());
  EXPECT_EQ(served, 1);
}

// Its driver has thrown: others look after it again.
TEST_F(StandInTest, OneThatReturnsByItselfLeavesTheOwnerAwake) {
  BlockingPool pool;
  const auto stand_in =
      StandIn::Start(pool, owner_awake_, [&](StandIn& stand_in) {
        CountingWaker waker;
        Context cx(waker.waker());
        EXPECT_FALSE(stand_in.PollStop(cx));
        EXPECT_FALSE(owner_awake_);
      });
  EXPECT_TRUE(stand_in->WaitGone(Instant::Infinite()));
  EXPECT_TRUE(owner_awake_);
}

TEST_F(StandInTest, WhereNobodyComesItIsGoneWhenStopped) {
  Place place;
  BlockingPool pool;
  pool.Shutdown(Instant::Infinite());
  const auto stand_in = StandIn::Start(pool, owner_awake_, place.Server());
  stand_in->Stop();
  EXPECT_TRUE(stand_in->WaitGone(Instant::Infinite()));
  EXPECT_EQ(place.served(), 0);
}

}  // namespace
}  // namespace weft::executor_internal
