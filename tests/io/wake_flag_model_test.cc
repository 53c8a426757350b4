// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// What io/wake_flag.h promises, explored by Relacy on the production code.

#include "gtest/gtest.h"
#include "weft/io/wake_flag.h"

// After every other header.
#include "weft/tests/kit/relacy_atomics.h"

namespace weft::io::io_internal {
namespace {

// Two threads bring work and wake; one works and sleeps.
struct WakeModel : rl::test_suite<WakeModel, 3> {
  Lazy<BasicWakeFlag<RelacyAtomics>> flag;
  rl::atomic<int> event;  // the eventfd
  rl::atomic<int> work[2];

  void before() {
    flag.Emplace();
    event(RL_INFO) = 0;
    work[0](RL_INFO) = 0;
    work[1](RL_INFO) = 0;
  }
  void after() { flag.Destroy(); }

  void thread(unsigned index) {
    if (index < 2) {
      work[index](RL_INFO).store(1, rl::mo_relaxed);
      if (flag->Notify() == Sleep::kInEpoll) {
        event(RL_INFO).store(1, rl::mo_release);
      }
      return;
    }
    int done = 0;
    while (done < 2) {
      for (auto& item : work) {
        if (item(RL_INFO).load(rl::mo_relaxed) == 1) {
          item(RL_INFO).store(2, rl::mo_relaxed);
          ++done;
        }
      }
      if (done == 2) break;
      if (flag->BeginWait(Sleep::kInEpoll)) {
        // A lost wake leaves the thread here, which Relacy reports.
        rl::linear_backoff backoff;
        while (event(RL_INFO).load(rl::mo_acquire) == 0) backoff.yield(RL_INFO);
        event(RL_INFO).store(0, rl::mo_relaxed);
      }
      flag->EndWait();
    }
  }
};

// One thread registers a descriptor, one wakes, and one sleeps on the word as long as
// there is no descriptor.
struct RegisterModel : rl::test_suite<RegisterModel, 3> {
  Lazy<BasicWakeFlag<RelacyAtomics>> flag;
  rl::atomic<int> woken;  // what the futex does
  rl::atomic<int> cells;

  void before() {
    flag.Emplace();
    woken(RL_INFO) = 0;
    cells(RL_INFO) = 0;
  }
  void after() { flag.Destroy(); }

  void thread(unsigned index) {
    if (index == 0) {
      cells(RL_INFO).store(1, rl::mo_seq_cst);
      if (flag->LeaveWord()) woken(RL_INFO).store(1, rl::mo_release);
      return;
    }
    if (index == 1) {
      if (flag->Notify() == Sleep::kOnWord) {
        woken(RL_INFO).store(1, rl::mo_release);
      }
      return;
    }
    while (cells(RL_INFO).load(rl::mo_seq_cst) == 0) {
      if (flag->BeginWait(Sleep::kOnWord) &&
          cells(RL_INFO).load(rl::mo_seq_cst) == 0) {
        // A lost wake leaves the thread here, which Relacy reports.
        rl::linear_backoff backoff;
        while (woken(RL_INFO).load(rl::mo_acquire) == 0) backoff.yield(RL_INFO);
        woken(RL_INFO).store(0, rl::mo_relaxed);
      }
      flag->EndWait();
    }
  }
};

TEST(WakeFlagModelTest, NoWakeIsLost) { EXPECT_TRUE(Holds<WakeModel>(50'000)); }

TEST(WakeFlagModelTest, ARegistrationEndsASleepOnTheWord) {
  EXPECT_TRUE(Holds<RegisterModel>(50'000));
}

}  // namespace
}  // namespace weft::io::io_internal
