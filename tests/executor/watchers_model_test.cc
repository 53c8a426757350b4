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

// One runner watches already. Runner 0 goes to sleep, runner 1 wakes up for good.
template <class Model, int max>
struct WatchersModel : rl::test_suite<Model, 2> {
  using Set = Watchers<max, RelacyAtomics>;

  Lazy<Set> watchers;
  Lazy<typename Set::Flag> awake;            // runner 1 is
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

  // Sleeps until it is woken for the other one.
  void SleepForGood() {
    rl::linear_backoff backoff;
    while (!woken->load(std::memory_order::acquire)) backoff.yield(RL_INFO);
  }
  void WakeUp(bool wakes_others) {
    if (!watchers->WakeUp(*awake) || !wakes_others) return;
    if (parked->exchange(false, std::memory_order::seq_cst)) {
      woken->store(true, std::memory_order::release);
    }
  }
};

// Runner 0 is the one that has watched until now, and is tired.
template <Fault fault>
struct SleepModel : WatchersModel<SleepModel<fault>, 2> {
  void thread(unsigned index) {
    if (index == 1) return this->WakeUp(fault != Fault::kWakesNobody);
    const bool early = this->awake->load(std::memory_order::seq_cst);
    this->watchers->Stop();
    this->parked->store(true, std::memory_order::seq_cst);
    const bool watches = this->watchers->TryStart(true, [&] {
      if (fault == Fault::kDoesNotLook) return false;
      if (fault == Fault::kLooksBeforeItStops) return early;
      return this->awake->load(std::memory_order::seq_cst);
    });
    if (!watches) this->SleepForGood();
  }
};

// One may watch. Runner 1 does, until it finds work for good; runner 0 wants to,
// meanwhile.
struct TooManyModel : WatchersModel<TooManyModel, 1> {
  void thread(unsigned index) {
    if (index == 1) {
      watchers->Stop();
      return WakeUp(/*wakes_others=*/true);
    }
    parked->store(true, std::memory_order::seq_cst);
    if (!watchers->TryStart(false, [] { return false; })) SleepForGood();
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
