// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// What executor/watchers.h promises, explored by Relacy on the production code:
// while a runner is in a poll that never ends and another one sleeps, somebody
// watches or is woken for it. The faulty variants show that the models would find
// the fault.
#include <atomic>

#include "gtest/gtest.h"
#include "weft/executor/watchers.h"

// After every other header.
#include "weft/tests/kit/relacy_atomics.h"

namespace weft::executor_internal {
namespace {

enum class Fault {
  kNone,
  kLooksBeforeItStops,  // at who is awake
  kDoesNotLook,
  kWakesNobody,  // who wakes up
};

// Runner 0 has watched until now, and is tired; runner 1 wakes up for good.
template <Fault fault>
struct SleepModel : rl::test_suite<SleepModel<fault>, 2> {
  using Set = Watchers<2, RelacyAtomics>;

  Lazy<Set> watchers;
  Lazy<Set::Flag> awake;
  Lazy<RelacyAtomics::Atomic<bool>> parked;  // runner 0 can be woken
  Lazy<RelacyAtomics::Atomic<bool>> woken;

  void before() {
    watchers.Emplace();
    watchers->TryStart(false, [] { return false; });
    awake.Emplace(false);
    parked.Emplace(false);
    woken.Emplace(false);
  }
  void after() {
    watchers.Destroy();
    awake.Destroy();
    parked.Destroy();
    woken.Destroy();
  }

  void thread(unsigned index) {
    if (index == 1) return WakeUp();
    const bool early = awake->load(std::memory_order::seq_cst);
    watchers->Stop();
    parked->store(true, std::memory_order::seq_cst);
    const bool watches = watchers->TryStart(true, [&] {
      if (fault == Fault::kDoesNotLook) return false;
      if (fault == Fault::kLooksBeforeItStops) return early;
      return awake->load(std::memory_order::seq_cst);
    });
    if (watches) return;
    // Sleeps until it is woken for the other one.
    rl::linear_backoff backoff;
    while (!woken->load(std::memory_order::acquire)) backoff.yield(RL_INFO);
  }

  void WakeUp() {
    if (!watchers->WakeUp(*awake) || fault == Fault::kWakesNobody) return;
    if (parked->exchange(false, std::memory_order::seq_cst)) {
      woken->store(true, std::memory_order::release);
    }
  }
};

// One may watch. Runner 1 does, until it finds work for good; runner 0 wants to,
// meanwhile.
struct TooManyModel : rl::test_suite<TooManyModel, 2> {
  using Set = Watchers<1, RelacyAtomics>;

  Lazy<Set> watchers;
  Lazy<Set::Flag> awake;
  Lazy<RelacyAtomics::Atomic<bool>> parked;  // runner 0 can be woken
  Lazy<RelacyAtomics::Atomic<bool>> woken;

  void before() {
    watchers.Emplace();
    watchers->TryStart(false, [] { return false; });
    awake.Emplace(false);
    parked.Emplace(false);
    woken.Emplace(false);
  }
  void after() {
    watchers.Destroy();
    awake.Destroy();
    parked.Destroy();
    woken.Destroy();
  }

  void thread(unsigned index) {
    if (index == 0) {
      parked->store(true, std::memory_order::seq_cst);
      if (watchers->TryStart(false, [] { return false; })) return;
      rl::linear_backoff backoff;
      while (!woken->load(std::memory_order::acquire)) backoff.yield(RL_INFO);
    } else {
      watchers->Stop();
      if (!watchers->WakeUp(*awake)) return;
      if (parked->exchange(false, std::memory_order::seq_cst)) {
        woken->store(true, std::memory_order::release);
      }
    }
  }
};

TEST(WatchersModelTest, WhoFindsTooManyIsThereWhenTheyHaveGone) {
  EXPECT_TRUE(Holds<TooManyModel>());
}

TEST(WatchersModelTest, NobodySleepsForGoodBesideARunnerThatIsAwake) {
  EXPECT_TRUE(Holds<SleepModel<Fault::kNone>>());
}

TEST(WatchersModelTest, WhoStopsWatchingMustLookAfterwards) {
  EXPECT_FALSE(Holds<SleepModel<Fault::kLooksBeforeItStops>>());
  EXPECT_FALSE(Holds<SleepModel<Fault::kDoesNotLook>>());
}

TEST(WatchersModelTest, WhoWakesUpMustWakeASleeper) {
  EXPECT_FALSE(Holds<SleepModel<Fault::kWakesNobody>>());
}

}  // namespace
}  // namespace weft::executor_internal
