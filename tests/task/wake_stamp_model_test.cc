// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The model of task/wake_stamp.h: one thread polls, two wake.

#include <cstdint>

#include "gtest/gtest.h"
#include "weft/task/wake_stamp.h"

// After every other header: Relacy makes macros of functions.
#include "weft/tests/kit/relacy_atomics.h"
#include "weft/tests/kit/weaker_atomics.h"

namespace weft {
namespace {

constexpr int kPolls = 3;

template <class Atomics>
struct StampModel : rl::test_suite<StampModel<Atomics>, 3> {
  using Stamp = task_internal::BasicWakeStamp<Atomics>;

  Lazy<Stamp> stamp;
  rl::atomic<int> clock;  // 0: there is none yet
  rl::atomic<int> marked[2];

  void before() {
    stamp.Emplace();
    clock(RL_INFO).store(0, rl::mo_relaxed);
    for (auto& flag : marked) flag(RL_INFO).store(0, rl::mo_relaxed);
  }
  void after() { stamp.Destroy(); }

  void Wake(unsigned index) {
    int readings = 0;
    stamp->Mark([&]() -> int64_t {
      ++readings;
      const int now = clock(RL_INFO).load(rl::mo_relaxed);
      RL_ASSERT(now != 0);
      return now;
    });
    RL_ASSERT(readings <= kPolls);
    marked[index](RL_INFO).store(1, rl::mo_release);
  }

  // True if the poll was asked for.
  bool Poll() {
    const int64_t word = stamp->BeginPoll();
    RL_ASSERT(word != Stamp::kOver);
    return word != Stamp::kPolling && word != Stamp::kWaiting;
  }

  void thread(unsigned index) {
    if (index < 2) return Wake(index);
    int asked_for = 0;
    for (int i = 0; i < kPolls; ++i) {
      asked_for += Poll();
      clock(RL_INFO).store(1, rl::mo_relaxed);
      stamp->EndPoll();
    }
    for (auto& flag : marked) {
      while (flag(RL_INFO).load(rl::mo_acquire) == 0) rl::yield(1, RL_INFO);
    }
    asked_for += Poll();
    RL_ASSERT(asked_for >= 1 && asked_for <= 2);
  }
};

// Somebody wakes while the future is destroyed.
struct CloseModel : rl::test_suite<CloseModel, 2> {
  using Stamp = task_internal::BasicWakeStamp<RelacyAtomics>;

  Lazy<Stamp> stamp;
  rl::atomic<int> closed;

  void before() {
    stamp.Emplace();
    closed(RL_INFO).store(0, rl::mo_relaxed);
  }
  void after() { stamp.Destroy(); }

  void thread(unsigned index) {
    if (index == 0) {
      static_cast<void>(stamp->BeginPoll());
      stamp->EndPoll();
      stamp->Close();
      closed(RL_INFO).store(1, rl::mo_release);
      return;
    }
    const bool late = closed(RL_INFO).load(rl::mo_acquire) == 1;
    stamp->Mark([&]() -> int64_t {
      RL_ASSERT(!late);
      return 1;
    });
  }
};

TEST(WakeStampModel, AMarkIsReportedOnceByALaterPoll) {
  EXPECT_TRUE(Holds<StampModel<RelacyAtomics>>());
}

TEST(WakeStampModel, AClosedOneReadsNoClock) {
  EXPECT_TRUE(Holds<CloseModel>());
}

TEST(WakeStampModel, WithoutAcquireTheClockMayBeMissing) {
  EXPECT_FALSE(Holds<StampModel<WeakerAtomics<Weaken::kAcquire>>>());
}

TEST(WakeStampModel, WithoutReleaseTheClockMayBeMissing) {
  EXPECT_FALSE(Holds<StampModel<WeakerAtomics<Weaken::kRelease>>>());
}

}  // namespace
}  // namespace weft
