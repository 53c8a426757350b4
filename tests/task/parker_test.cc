// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/task/parker.h"

#include <atomic>
#include <cstdlib>
#include <optional>
#include <thread>
#include <utility>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "weft/task/driver.h"
#include "weft/task/instant.h"
#include "weft/task/waker.h"

namespace weft {
namespace {

// Far enough away to make a lost unpark a test that times out.
Instant Never() { return Instant::Infinite(); }

TEST(ParkerTest, AnUnparkBeforeParkIsKept) {
  Parker parker;
  parker.Unpark();

  parker.Park(Never());
}

TEST(ParkerTest, ManyUnparksAreOne) {
  Parker parker;
  for (int i = 0; i < 3; ++i) parker.Unpark();
  parker.Park(Never());

  // No further one is left, so this returns for the deadline's sake.
  parker.Park(Instant::Now() + absl::Milliseconds(1));
}

TEST(ParkerTest, APastDeadlineDoesNotWait) {
  Parker parker;

  parker.Park(Instant::Past());
  parker.Park(Instant::FromNanoseconds(-1));
  parker.Park(Instant::FromNanoseconds(0));
  parker.Park(Instant::FromNanoseconds(1));
  parker.Park(Instant::Now());
}

TEST(ParkerTest, APastDeadlineConsumesAnUnpark) {
  Parker parker;
  parker.Unpark();
  parker.Park(Instant::Past());

  parker.Park(Instant::Now() + absl::Milliseconds(1));
}

TEST(ParkerTest, UnparkersOfOneParkerAreTheSame) {
  Parker parker;
  Parker other;

  EXPECT_TRUE(parker.Unparker().WillWake(parker.Unparker()));
  EXPECT_FALSE(parker.Unparker().WillWake(other.Unparker()));
}

TEST(ParkerTest, UnparkersMayOutliveIt) {
  std::optional<Parker> parker(std::in_place);
  Waker a = parker->Unparker();
  const Waker b = a;

  parker.reset();

  b.WakeByRef();
  std::move(a).Wake();
}

// A deadline that lies far ahead is a time that the system accepts.
TEST(ParkerTest, AnyDeadlineIsAccepted) {
  Parker parker;
  for (const Instant deadline :
       {Instant::Infinite(), Instant::FromNanoseconds(INT64_MAX - 1),
        Instant::Now() + 200 * 365 * absl::Hours(24)}) {
    std::thread unparking(
        [w = parker.Unparker()]() mutable { std::move(w).Wake(); });
    parker.Park(deadline);
    unparking.join();
    parker.Park(Instant::Past());
  }
}

// Two threads take turns; a lost unpark would hang them.
TEST(ParkerTest, NoUnparkIsLost) {
  const int rounds = std::getenv("WEFT_LONG") != nullptr ? 1'000'000 : 20'000;
  Parker ping;
  Parker pong;
  std::atomic<int> turn{0};
  std::thread other([&] {
    for (int i = 0; i < rounds; ++i) {
      while (turn.load() != 2 * i + 1) pong.Park(Never());
      turn.store(2 * i + 2);
      ping.Unpark();
    }
  });

  for (int i = 0; i < rounds; ++i) {
    turn.store(2 * i + 1);
    pong.Unpark();
    while (turn.load() != 2 * i + 2) ping.Park(Never());
  }
  other.join();
}

// What was written before an unpark is seen after the park it ends.
TEST(ParkerTest, AnUnparkPublishes) {
  for (int round = 0; round < 1000; ++round) {
    Parker parker;
    int value = 0;
    std::atomic<bool> sent{false};
    std::thread sender([&] {
      value = round;
      sent.store(true, std::memory_order_relaxed);
      parker.Unpark();
    });
    while (!sent.load(std::memory_order_relaxed)) parker.Park(Never());
    // The park may have been the one before the store: take the unpark itself.
    sender.join();
    EXPECT_EQ(value, round);
  }
}

TEST(DriverTest, EveryThreadHasItsOwnParker) {
  Driver* mine = &Driver::OfThread();
  EXPECT_EQ(mine, &Driver::OfThread());

  Driver* theirs = nullptr;
  Waker late;
  std::thread([&] {
    theirs = &Driver::OfThread();
    late = theirs->Unparker();
    late.WakeByRef();
    theirs->Park(Never());
  }).join();

  EXPECT_NE(theirs, mine);
  std::move(late).Wake();  // its thread is gone
}

// A destructor at the thread's end may still wait for something.
TEST(DriverTest, WorksWhileTheThreadEnds) {
  struct ParksWhenDestroyed {
    ~ParksWhenDestroyed() {
      if (destroyed == nullptr) return;
      Driver& driver = Driver::OfThread();
      driver.Unparker().WakeByRef();
      driver.Park(Never());
      Driver::OfThread().Park(Instant::Past());
      ++*destroyed;
    }
    int* destroyed = nullptr;
  };
  int destroyed = 0;
  std::thread([&] {
    // Made before the thread's parker, and so destroyed after it.
    static thread_local ParksWhenDestroyed last;
    last.destroyed = &destroyed;
    Driver::OfThread().Park(Instant::Past());
  }).join();

  EXPECT_EQ(destroyed, 1);
}

}  // namespace
}  // namespace weft
