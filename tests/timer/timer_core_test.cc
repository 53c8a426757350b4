// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/timer/timer_core.h"

#include <cstdint>

#include "gtest/gtest.h"
#include "weft/task/clock.h"
#include "weft/task/counting_waker.h"
#include "weft/task/instant.h"

namespace weft::timer_internal {
namespace {

using State = TimerEntry::State;
using Inserted = TimerCore::Inserted;

Instant Ns(int64_t nanoseconds) {
  return Instant::FromNanoseconds(nanoseconds);
}

class HandClock : public Clock {
 public:
  Instant Now() const override { return now; }
  Instant now = Ns(1000);
};

class TimerCoreTest : public testing::Test {
 protected:
  ~TimerCoreTest() override {
    TimerCore::Remove(entry_);
    if (core_ != nullptr) core_->Release();
  }

  Inserted Insert(Instant deadline) {
    entry_.deadline = deadline.nanoseconds();
    return core_->Insert(entry_, waker_.waker());
  }
  void Release() {
    core_->Release();
    core_ = nullptr;
  }

  HandClock clock_;
  CountingWaker waker_;
  CountingWaker unparker_;
  TimerCore* core_ = TimerCore::Acquire(clock_, unparker_.waker());
  TimerEntry entry_;
};

TEST_F(TimerCoreTest, AnEntryIsLinkedThenFired) {
  EXPECT_EQ(entry_.state, State::kIdle);
  EXPECT_EQ(Insert(Ns(2000)), Inserted::kLinked);
  EXPECT_EQ(entry_.state, State::kLinked);
  EXPECT_EQ(core_->Size(), 1u);
  EXPECT_EQ(core_->NextDeadline(), Ns(2000));
  EXPECT_FALSE(core_->Fire(clock_, Ns(1999)));

  EXPECT_TRUE(core_->Fire(clock_, Ns(2000)));
  EXPECT_EQ(entry_.state, State::kFired);
  EXPECT_EQ(waker_.wakes(), 1);
  EXPECT_EQ(waker_.outstanding(), 0);
  EXPECT_EQ(core_->Size(), 0u);
}

TEST_F(TimerCoreTest, WhatIsDueIsNotLinked) {
  EXPECT_EQ(Insert(Ns(1000)), Inserted::kDue);
  EXPECT_EQ(entry_.state, State::kIdle);
  EXPECT_EQ(waker_.outstanding(), 0);
}

TEST_F(TimerCoreTest, AnotherClockFiresNothing) {
  HandClock other;
  EXPECT_EQ(Insert(Ns(2000)), Inserted::kLinked);
  EXPECT_FALSE(core_->Fire(other, Ns(3000)));
  EXPECT_EQ(entry_.state, State::kLinked);
}

TEST_F(TimerCoreTest, UpdateWakerSaysWhetherItWasInTime) {
  CountingWaker other;
  EXPECT_FALSE(TimerCore::UpdateWaker(entry_, other.waker()));
  EXPECT_EQ(Insert(Ns(2000)), Inserted::kLinked);
  EXPECT_TRUE(TimerCore::UpdateWaker(entry_, other.waker()));
  EXPECT_EQ(waker_.outstanding(), 0);
  EXPECT_TRUE(core_->Fire(clock_, Ns(2000)));
  EXPECT_EQ(other.wakes(), 1);
  EXPECT_EQ(waker_.wakes(), 0);
  EXPECT_FALSE(TimerCore::UpdateWaker(entry_, waker_.waker()));
}

TEST_F(TimerCoreTest, ResetMovesFiresOrForgets) {
  TimerCore::Reset(entry_, Ns(5000));  // not linked: only noted
  EXPECT_EQ(entry_.state, State::kIdle);
  EXPECT_EQ(entry_.deadline, 5000);

  EXPECT_EQ(Insert(Ns(2000)), Inserted::kLinked);
  TimerCore::Reset(entry_, Ns(3000));
  EXPECT_EQ(core_->NextDeadline(), Ns(3000));
  TimerCore::Reset(entry_, Ns(1));
  EXPECT_EQ(entry_.state, State::kFired);
  EXPECT_EQ(waker_.wakes(), 1);

  TimerCore::Reset(entry_, Ns(4000));
  EXPECT_EQ(entry_.state, State::kIdle);
  EXPECT_EQ(core_->Size(), 0u);
}

TEST_F(TimerCoreTest, ArmingMakesEarlierDeadlinesUnparkOnce) {
  EXPECT_EQ(core_->Arm(Ns(5000)), Ns(5000));
  EXPECT_EQ(Insert(Ns(5000)), Inserted::kLinked);
  EXPECT_EQ(unparker_.TakeWakes(), 0);
  TimerCore::Reset(entry_, Ns(4000));
  EXPECT_EQ(unparker_.TakeWakes(), 1);
  EXPECT_EQ(core_->Arm(Instant::Infinite()), Ns(4000));
  core_->Disarm();
  TimerCore::Reset(entry_, Ns(3000));
  EXPECT_EQ(unparker_.TakeWakes(), 0);
}

TEST_F(TimerCoreTest, ClosingMarksAndWakesAndTheMemoryIsUsedAgain) {
  EXPECT_EQ(Insert(Ns(2000)), Inserted::kLinked);
  TimerCore* const core = core_;
  Release();
  EXPECT_EQ(entry_.state, State::kClosed);
  EXPECT_EQ(waker_.wakes(), 1);
  EXPECT_EQ(unparker_.outstanding(), 0);
  EXPECT_EQ(core->Insert(entry_, waker_.waker()), Inserted::kClosed);
  EXPECT_FALSE(core->Fire(clock_, Ns(3000)));

  clock_.now = Ns(-500);  // a clock of its own may be behind the last one's
  core_ = TimerCore::Acquire(clock_, unparker_.waker());
  EXPECT_EQ(core_, core);
  EXPECT_EQ(Insert(Ns(-400)), Inserted::kLinked);
}

}  // namespace
}  // namespace weft::timer_internal
