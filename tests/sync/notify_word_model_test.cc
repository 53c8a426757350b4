// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The model of sync/notify_word.h with a queue of one place per thread, used as
// sync/notify.cc does: nobody sleeps on beside a notification, and what came
// before one is seen after it.

#include <cstdint>

#include "gtest/gtest.h"
#include "weft/sync/notify_word.h"
#include "weft/tests/kit/relacy_atomics.h"
#include "weft/tests/kit/weaker_atomics.h"

namespace weft {
namespace {

enum class Scene {
  kMerge,  // threads 0 and 1 bring an item each; thread 2 waits until it has both
  kDrop,  // thread 0 notifies once; thread 1 gives up, thread 2 does not
  kAll    // thread 0 notifies all who had made their waits
};

template <class Atomics, Scene scene>
struct NotifyModel : rl::test_suite<NotifyModel<Atomics, scene>, 3> {
  using Word = sync_internal::BasicNotifyWord<Atomics>;
  using Begun = typename Word::Begun;
  enum : int { kIdle, kQueued, kNotified };

  Lazy<Word> word;
  rl::mutex mutex;
  rl::var<int> state[3];  // guarded by `mutex`
  rl::atomic<int> woken[3];
  rl::atomic<int> made;
  rl::var<int> item[2];  // written before notifying
  rl::atomic<int> items;

  void before() {
    word.Emplace();
    for (auto& s : state) s(RL_INFO) = kIdle;
    for (auto& flag : woken) flag(RL_INFO).store(0, rl::mo_relaxed);
    for (auto& i : item) i(RL_INFO) = 0;
    made(RL_INFO).store(0, rl::mo_relaxed);
    items(RL_INFO).store(0, rl::mo_relaxed);
  }
  void after() { word.Destroy(); }

  int State(unsigned index) { return static_cast<int>(state[index](RL_INFO)); }
  bool IsQueueEmpty() {
    for (unsigned i = 0; i < 3; ++i) {
      if (State(i) == kQueued) return false;
    }
    return true;
  }

  void NotifyOne() {
    if (word->TryLeavePermit()) return;
    mutex.lock(RL_INFO);
    if (IsQueueEmpty()) {
      const bool left = word->TryLeavePermit();
      RL_ASSERT(left);
      mutex.unlock(RL_INFO);
      return;
    }
    unsigned first = 0;
    while (State(first) != kQueued) ++first;
    state[first](RL_INFO) = kNotified;
    if (IsQueueEmpty()) word->EndWaits();
    mutex.unlock(RL_INFO);
    woken[first](RL_INFO).store(1, rl::mo_release);
  }

  void NotifyAll() {
    bool wake[3] = {};
    mutex.lock(RL_INFO);
    word->BeginRound();
    for (unsigned i = 0; i < 3; ++i) {
      wake[i] = State(i) == kQueued;
      if (wake[i]) state[i](RL_INFO) = kNotified;
    }
    if (wake[0] || wake[1] || wake[2]) word->EndWaits();
    mutex.unlock(RL_INFO);
    for (unsigned i = 0; i < 3; ++i) {
      if (wake[i]) woken[i](RL_INFO).store(1, rl::mo_release);
    }
  }

  // True if the wait ended where it began.
  bool BeginWait(unsigned index, uint64_t rounds) {
    if (word->Rounds() != rounds || word->TryTakePermit()) return true;
    mutex.lock(RL_INFO);
    const Begun begun = word->BeginWait(rounds);
    if (begun == Begun::kWaits) state[index](RL_INFO) = kQueued;
    mutex.unlock(RL_INFO);
    return begun != Begun::kWaits;
  }

  void Wait(unsigned index, uint64_t rounds) {
    if (BeginWait(index, rounds)) return;
    while (woken[index](RL_INFO).exchange(0, rl::mo_acquire) == 0) {
      rl::yield(1, RL_INFO);
    }
    mutex.lock(RL_INFO);
    RL_ASSERT(State(index) == kNotified);
    state[index](RL_INFO) = kIdle;
    mutex.unlock(RL_INFO);
  }

  void WaitAndDrop(unsigned index) {
    bool passes_on = BeginWait(index, word->Rounds());
    if (!passes_on) {
      mutex.lock(RL_INFO);
      passes_on = State(index) == kNotified;
      state[index](RL_INFO) = kIdle;
      if (!passes_on && IsQueueEmpty()) word->EndWaits();
      mutex.unlock(RL_INFO);
    }
    if (passes_on) NotifyOne();
  }

  void thread(unsigned index) {
    switch (scene) {
      case Scene::kMerge:
        if (index == 2) {
          while (items(RL_INFO).load(rl::mo_relaxed) < 2) {
            Wait(2, word->Rounds());
          }
        } else {
          items(RL_INFO).fetch_add(1, rl::mo_relaxed);
          NotifyOne();
        }
        break;
      case Scene::kDrop:
        if (index == 0) {
          item[0](RL_INFO) = 1;
          NotifyOne();
        } else if (index == 1) {
          WaitAndDrop(1);
        } else {
          Wait(2, word->Rounds());
          RL_ASSERT(static_cast<int>(item[0](RL_INFO)) == 1);
        }
        break;
      case Scene::kAll:
        if (index == 0) {
          while (made(RL_INFO).load(rl::mo_relaxed) < 2) rl::yield(1, RL_INFO);
          item[0](RL_INFO) = 1;
          NotifyAll();
        } else {
          const uint64_t rounds = word->Rounds();
          // A full order, as if the wait had been handed over a lock.
          made(RL_INFO).fetch_add(1, rl::mo_seq_cst);
          Wait(index, rounds);
          RL_ASSERT(static_cast<int>(item[0](RL_INFO)) == 1);
        }
        break;
    }
  }
};

TEST(NotifyWordModelTest, APermitStandsForAllThatWereMergedInIt) {
  EXPECT_TRUE((Holds<NotifyModel<RelacyAtomics, Scene::kMerge>>()));
}

TEST(NotifyWordModelTest, ANotificationIsPassedOnByWhoeverGivesUp) {
  EXPECT_TRUE((Holds<NotifyModel<RelacyAtomics, Scene::kDrop>>()));
}

TEST(NotifyWordModelTest, ARoundReachesAllWaitsThatWereMade) {
  EXPECT_TRUE((Holds<NotifyModel<RelacyAtomics, Scene::kAll>>()));
}

TEST(NotifyWordModelTest, NoticesAMissingOrder) {
  EXPECT_FALSE(
      (Holds<NotifyModel<WeakerAtomics<Weaken::kRelease>, Scene::kDrop>>()));
  EXPECT_FALSE(
      (Holds<NotifyModel<WeakerAtomics<Weaken::kAcquire>, Scene::kDrop>>()));
  EXPECT_FALSE(
      (Holds<NotifyModel<WeakerAtomics<Weaken::kRelease>, Scene::kAll>>()));
}

}  // namespace
}  // namespace weft
