// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The model of sync/waiter_count.h: a notifier that sees nobody leaves nobody
// asleep, though the condition itself has no order whatever.

#include "gtest/gtest.h"
#include "weft/sync/waiter_count.h"
#include "weft/tests/kit/relacy_atomics.h"

namespace weft {
namespace {

struct FencedAtomics : RelacyAtomics {
  static void FullFence() { rl::atomic_thread_fence(rl::mo_seq_cst, RL_INFO); }
};

// What happens without the fences, or with less of them.
struct UnfencedAtomics : RelacyAtomics {
  static void FullFence() {}
};
struct HalfFencedAtomics : RelacyAtomics {
  static void FullFence() { rl::atomic_thread_fence(rl::mo_acq_rel, RL_INFO); }
};

// Threads 1 and up listen, look at the condition and sleep; thread 0 changes the
// condition and notifies all. Each goes round twice.
template <class Atomics, int kThreads>
struct WaiterCountModel
    : rl::test_suite<WaiterCountModel<Atomics, kThreads>, kThreads> {
  Lazy<sync_internal::BasicWaiterCount<Atomics>> count;
  rl::atomic<int> condition;
  rl::mutex mutex;
  rl::var<int> queued[kThreads];  // guarded by `mutex`
  rl::atomic<int> woken[kThreads];

  void before() {
    count.Emplace();
    condition(RL_INFO).store(0, rl::mo_relaxed);
    for (auto& flag : queued) flag(RL_INFO) = 0;
    for (auto& flag : woken) flag(RL_INFO).store(0, rl::mo_relaxed);
  }
  void after() {
    RL_ASSERT(count->Get() == 0);
    count.Destroy();
  }

  int Queued() {
    int sum = 0;
    for (auto& flag : queued) sum += static_cast<int>(flag(RL_INFO));
    return sum;
  }

  void thread(unsigned index) {
    for (int round = 1; round <= 2; ++round) {
      if (index == 0) {
        condition(RL_INFO).store(round, rl::mo_relaxed);
        Notify();
      } else {
        WaitFor(index, round);
      }
    }
  }

  void Notify() {
    if (!count->MayBeWaiters()) return;
    mutex.lock(RL_INFO);
    for (int i = 1; i < kThreads; ++i) {
      if (static_cast<int>(queued[i](RL_INFO)) == 0) continue;
      queued[i](RL_INFO) = 0;
      woken[i](RL_INFO).store(1, rl::mo_release);
    }
    count->Update(0);
    mutex.unlock(RL_INFO);
  }

  void WaitFor(unsigned index, int value) {
    while (condition(RL_INFO).load(rl::mo_relaxed) < value) {
      mutex.lock(RL_INFO);
      count->Announce(Queued() + 1);
      queued[index](RL_INFO) = 1;
      mutex.unlock(RL_INFO);
      if (condition(RL_INFO).load(rl::mo_relaxed) < value) {
        while (woken[index](RL_INFO).exchange(0, rl::mo_acquire) == 0) {
          rl::yield(1, RL_INFO);
        }
      }
      mutex.lock(RL_INFO);
      queued[index](RL_INFO) = 0;
      count->Update(Queued());
      woken[index](RL_INFO).store(0, rl::mo_relaxed);
      mutex.unlock(RL_INFO);
    }
  }
};

TEST(WaiterCountModelTest, NobodySleepsOn) {
  EXPECT_TRUE((Holds<WaiterCountModel<FencedAtomics, 2>>()));
}

TEST(WaiterCountModelTest, NoneOfTwoSleepsOn) {
  EXPECT_TRUE((Holds<WaiterCountModel<FencedAtomics, 3>>()));
}

TEST(WaiterCountModelTest, NoticesAMissingFence) {
  EXPECT_FALSE((Holds<WaiterCountModel<UnfencedAtomics, 2>>()));
  EXPECT_FALSE((Holds<WaiterCountModel<HalfFencedAtomics, 2>>()));
}

}  // namespace
}  // namespace weft
