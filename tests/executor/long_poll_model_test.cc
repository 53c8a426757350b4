// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Sleeping, waking and watching together, explored by Relacy on the production
// code: executor/idle_set.h says who is woken for a task, executor/watchers.h who
// looks after those in long polls, and a runner that watches is woken for tasks,
// too. There is one poll less than runners that ends only when another one has
// looked; a short one may take the watcher away. The faulty variants show that the model would
// find the fault.
#include <atomic>

#include "gtest/gtest.h"
#include "weft/executor/idle_set.h"
#include "weft/executor/watchers.h"

// After every other header.
#include "weft/tests/executor/model_queue.h"
#include "weft/tests/kit/relacy_atomics.h"

namespace weft::executor_internal {
namespace {

enum class Fault {
  kNone,
  kWakesNobody,         // who wakes up and finds no watcher
  kLooksBeforeParking,  // at who is awake
  kSleepsUntilWoken,    // though it watches
};

// Threads below `runners` are runners; the last is outside.
template <int runners, int short_polls, Fault fault>
struct LongPollModel
    : rl::test_suite<LongPollModel<runners, short_polls, fault>, runners + 1> {
  static constexpr int kLongPolls = runners - 1;
  static constexpr int kTasks = kLongPolls + short_polls;
  using Watching = Watchers<1, RelacyAtomics>;

  Lazy<IdleSet<1, RelacyAtomics>> idle;
  Lazy<Watching> watchers;
  Lazy<typename Watching::Flag> awake[runners];
  ModelQueue queue;
  rl::atomic<int> unparked[runners];
  rl::atomic<int> looked_after[runners];
  rl::atomic<int> started;
  rl::atomic<int> finished;
  rl::atomic<int> leave;

  void before() {
    idle.Emplace();
    watchers.Emplace();
    queue.Emplace();
    for (int i = 0; i < runners; ++i) {
      awake[i].Emplace(false);
      unparked[i](RL_INFO) = 0;
      looked_after[i](RL_INFO) = 0;
    }
    started(RL_INFO) = 0;
    finished(RL_INFO) = 0;
    leave(RL_INFO) = 0;
  }
  void after() {
    idle.Destroy();
    watchers.Destroy();
    queue.Destroy();
    for (auto& flag : awake) flag.Destroy();
  }

  void thread(unsigned index) {
    if (index < runners) return Run(static_cast<int>(index));
    for (int i = 0; i < kTasks; ++i) {
      queue.Push();
      Wake(idle->Notify([this] { return HasWork(); }));
    }
    AwaitAtLeast(finished, kTasks);
    leave(RL_INFO).store(1, rl::mo_release);
    for (int i = 0; i < runners; ++i) Wake(i);
  }

  static void AwaitAtLeast(rl::atomic<int>& count, int least) {
    rl::linear_backoff backoff;
    while (count(RL_INFO).load(rl::mo_acquire) < least) backoff.yield(RL_INFO);
  }

  // ---- The executor's functions of these names ----

  bool HasWork() { return queue.HasWork(); }

  void Wake(int who) {
    if (who >= 0) unparked[who](RL_INFO).store(1, rl::mo_release);
  }

  void StopSearching() {
    if (idle->StopSearching() && HasWork()) {
      Wake(idle->Notify([this] { return HasWork(); }));
    }
  }

  void WakeUp(int index) {
    if (!watchers->WakeUp(*awake[index])) return;
    if (fault == Fault::kWakesNobody) return;
    Wake(idle->NotifyAnother([this] { return HasWork(); }));
  }

  void RunTask(int index) {
    if (started(RL_INFO).fetch_add(1, rl::mo_acq_rel) < kLongPolls) {
      looked_after[index](RL_INFO).store(0, rl::mo_release);
      AwaitAtLeast(looked_after[index], 1);
    }
    finished(RL_INFO).fetch_add(1, rl::mo_acq_rel);
  }

  void Run(int index) {
    bool searching = false;
    bool is_awake = false;
    while (leave(RL_INFO).load(rl::mo_acquire) == 0) {
      bool taken = queue.Take();
      if (!taken) {
        if (!searching) searching = idle->TryStartSearching((runners + 1) / 2);
        taken = searching && queue.Take();
      }
      if (taken) {
        if (!is_awake) WakeUp(index);
        is_awake = true;
        if (searching) StopSearching();
        searching = false;
        RunTask(index);
        continue;
      }
      awake[index]->store(false, std::memory_order::relaxed);
      is_awake = false;
      const bool others_awake = OthersAwake(index);
      idle->Park(index, searching);
      const bool sleeps = idle->HasToken() || !HasWork();
      if (sleeps) SleepInDriver(index, others_awake);
      searching = idle->Unpark(index);
      if (!sleeps && !searching) {
        idle->StartSearching();
        searching = true;
      }
    }
    if (searching) StopSearching();
  }

  bool OthersAwake(int index) {
    for (int i = 0; i < runners; ++i) {
      if (i != index && awake[i]->load(std::memory_order::seq_cst)) return true;
    }
    return false;
  }

  // It is always tired: it watches only while somebody is awake.
  void SleepInDriver(int index, bool others_were_awake) {
    rl::linear_backoff backoff;
    while (watchers->TryStart(/*tired=*/true, [&] {
      return fault == Fault::kLooksBeforeParking ? others_were_awake
                                                 : OthersAwake(index);
    })) {
      if (fault != Fault::kSleepsUntilWoken) LookAfterOthers(index);
      // The time is over, or it is woken.
      const bool woken = unparked[index](RL_INFO).exchange(0, rl::mo_acquire);
      watchers->Stop();
      if (woken || !idle->IsParked(index)) return;
      backoff.yield(RL_INFO);
    }
    while (unparked[index](RL_INFO).exchange(0, rl::mo_acquire) == 0) {
      backoff.yield(RL_INFO);
    }
  }

  void LookAfterOthers(int index) {
    for (int i = 0; i < runners; ++i) {
      if (i != index && awake[i]->load(std::memory_order::seq_cst)) {
        looked_after[i](RL_INFO).store(1, rl::mo_release);
      }
    }
  }
};

TEST(LongPollModelTest, EachLongPollIsLookedAfter) {
  EXPECT_TRUE((Holds<LongPollModel<2, 0, Fault::kNone>>()));
}

TEST(LongPollModelTest, AlsoWhereTheWatcherIsTakenAway) {
  EXPECT_TRUE((Holds<LongPollModel<2, 1, Fault::kNone>>()));
  EXPECT_TRUE((Holds<LongPollModel<3, 0, Fault::kNone>>()));
  EXPECT_TRUE((Holds<LongPollModel<3, 1, Fault::kNone>>()));
}

TEST(LongPollModelTest, TheModelFindsARunnerThatWakesNobodyToWatch) {
  EXPECT_FALSE((Holds<LongPollModel<2, 0, Fault::kWakesNobody>>()));
}

TEST(LongPollModelTest, TheModelFindsASleeperThatLooksTooEarly) {
  EXPECT_FALSE((Holds<LongPollModel<2, 0, Fault::kLooksBeforeParking>>()));
}

TEST(LongPollModelTest, TheModelFindsAWatcherThatSleeps) {
  EXPECT_FALSE((Holds<LongPollModel<2, 0, Fault::kSleepsUntilWoken>>()));
}

}  // namespace
}  // namespace weft::executor_internal
