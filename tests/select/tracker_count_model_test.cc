// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The model of select/tracker_count.h: a wait ends when the tracker is closed
// and its tasks are gone, whoever comes last, and sees what the tasks did.

#include "gtest/gtest.h"
#include "weft/select/tracker_count.h"
#include "weft/task/atomic_waker.h"
#include "weft/tests/kit/model_waker.h"
#include "weft/tests/kit/relacy_atomics.h"
#include "weft/tests/kit/weaker_atomics.h"

namespace weft {
namespace {

// Threads 0 and 1 are tasks, thread 2 closes, thread 3 waits. The place for the
// waker keeps its own orders, whatever is taken away from the count's.
template <class Atomics>
struct TrackerCountModel : rl::test_suite<TrackerCountModel<Atomics>, 4> {
  Lazy<select_internal::BasicTrackerCount<Atomics>> count;
  Lazy<BasicAtomicWaker<RelacyAtomics, ModelWaker>> waker;
  rl::var<int> done[2];  // by each task
  rl::atomic<int> woken;

  void before() {
    count.Emplace();
    waker.Emplace();
    woken(RL_INFO).store(0, rl::mo_relaxed);
    for (auto& task : done) {
      task(RL_INFO) = 0;
      count->Add();
    }
  }
  void after() {
    waker.Destroy();
    count.Destroy();
  }

  void thread(unsigned index) {
    if (index < 2) {
      done[index](RL_INFO) = 1;
      if (count->Remove()) waker->Wake();
    } else if (index == 2) {
      if (count->Close()) waker->Wake();
    } else {
      Wait();
    }
  }

  void Wait() {
    for (;;) {
      waker->Register(ModelWaker(&woken));
      if (count->IsFinished()) break;
      while (woken(RL_INFO).exchange(0, rl::mo_acquire) == 0) {
        rl::yield(1, RL_INFO);
      }
    }
    RL_ASSERT(static_cast<int>(done[0](RL_INFO)) == 1);
    RL_ASSERT(static_cast<int>(done[1](RL_INFO)) == 1);
  }
};

TEST(TrackerCountModelTest, AWaitEndsAndSeesWhatTheTasksDid) {
  EXPECT_TRUE((Holds<TrackerCountModel<RelacyAtomics>>()));
}

TEST(TrackerCountModelTest, NoticesAMissingOrder) {
  EXPECT_FALSE((Holds<TrackerCountModel<WeakerAtomics<Weaken::kRelease>>>()));
  EXPECT_FALSE((Holds<TrackerCountModel<WeakerAtomics<Weaken::kAcquire>>>()));
}

}  // namespace
}  // namespace weft
