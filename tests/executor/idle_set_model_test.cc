// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// What executor/idle_set.h promises, explored by Relacy on the production code:
// work that is published is taken while anybody sleeps, even if all others are
// busy for ever. Each model runs the executor's loop around it, with a counter
// for the queues; a task does not return until all have been started. The
// faulty variants show that the models would find the fault.

#include <atomic>

#include "gtest/gtest.h"
#include "weft/executor/idle_set.h"

// After every other header.
#include "weft/tests/executor/model_queue.h"
#include "weft/tests/kit/relacy_atomics.h"

namespace weft::executor_internal {
namespace {

enum class Fault {
  kNone,
  kSleepsWithoutLooking,       // after Park()
  kLeavesTokenWithoutLooking,  // the last one
  kRunsWithToken,
  kTickKeepsNotification,
  kLooksForTokenBeforeEntering,  // and not after Park()
  kForgetsWhatItSaw,             // when it was about to sleep
};

// Threads 0 and 1 are runners unless a model says otherwise; 2 is outside.
template <class Model, Fault fault>
struct IdleModel : rl::test_suite<Model, 3> {
  Lazy<IdleSet<1, RelacyAtomics>> idle;
  ModelQueue queue;
  rl::atomic<int> unparked[2];
  rl::atomic<int> ticks[2];  // 0: no place, 1: waits, 2: notified
  rl::atomic<int> tick_woken[2];
  rl::atomic<int> started;

  void before() {
    idle.Emplace();
    queue.Emplace();
    for (auto& flag : unparked) flag(RL_INFO) = 0;
    for (auto& tick : ticks) tick(RL_INFO) = 0;
    for (auto& flag : tick_woken) flag(RL_INFO) = 0;
    started(RL_INFO) = 0;
  }
  void after() {
    idle.Destroy();
    queue.Destroy();
  }

  static void Await(rl::atomic<int>& flag) {
    rl::linear_backoff backoff;
    while (flag(RL_INFO).exchange(0, rl::mo_acquire) == 0) {
      backoff.yield(RL_INFO);
    }
  }

  // ---- The executor's functions of these names ----

  bool HasWork() { return queue.HasWork(); }

  void Publish() {
    queue.Push();
    Notify();
  }

  void Notify() {
    const int who = idle->Notify([this] { return HasWork(); });
    if (who >= 0) {
      unparked[who](RL_INFO).store(1, rl::mo_release);
    } else if (who == kWakeTick) {
      WakeOneTick();
    }
  }

  void WakeOneTick() {
    for (int i = 0; i < 2; ++i) {
      int waiting = 1;
      if (ticks[i](RL_INFO).compare_exchange_strong(waiting, 2, rl::mo_acq_rel,
                                                    rl::mo_acquire)) {
        idle->RemoveWaiting();
        tick_woken[i](RL_INFO).store(1, rl::mo_release);
        return;
      }
    }
  }

  void StopSearching() {
    if (!idle->StopSearching()) return;
    if (fault != Fault::kLeavesTokenWithoutLooking && HasWork()) Notify();
  }

  // True if the runner's own business, which `leave` tells of, ended it before
  // it got a task.
  bool TakeAsRunner(unsigned index, rl::atomic<int>* leave = nullptr) {
    bool searching = false;
    for (;;) {
      if (leave != nullptr && leave->load(rl::mo_acquire, RL_INFO) != 0) {
        if (searching) StopSearching();
        if (HasWork()) Notify();
        return true;
      }
      // Half as many searchers as runners. What is in the injector is also taken
      // without a token.
      bool taken = queue.Take();
      if (!taken) {
        if (!searching) searching = idle->TryStartSearching(1);
        taken = searching && queue.Take();
      }
      if (taken) {
        if (searching && fault != Fault::kRunsWithToken) StopSearching();
        return false;
      }
      const bool token_before = idle->HasToken() && !searching;
      idle->Park(static_cast<int>(index), searching);
      const bool left_to_token = fault == Fault::kLooksForTokenBeforeEntering
                                     ? token_before
                                     : idle->HasToken();
      const bool sleeps =
          left_to_token || fault == Fault::kSleepsWithoutLooking || !HasWork();
      if (sleeps) Await(unparked[index]);
      searching = idle->Unpark(static_cast<int>(index));
      if (!sleeps && !searching && fault != Fault::kForgetsWhatItSaw) {
        idle->StartSearching();
        searching = true;
      }
    }
  }

  void WaitAsTick(unsigned index) {
    if (ticks[index](RL_INFO).load(rl::mo_acquire) == 1) return;
    ticks[index](RL_INFO).store(1, rl::mo_release);
    idle->AddWaiting();
  }

  void DropTick(unsigned index) {
    const int before = ticks[index](RL_INFO).exchange(0, rl::mo_acq_rel);
    if (before == 1) idle->RemoveWaiting();
    if (before == 2 && fault != Fault::kTickKeepsNotification && HasWork()) {
      Notify();
    }
  }

  void TakeAsTick(unsigned index) {
    bool taken = queue.Take();
    while (!taken) {
      WaitAsTick(index);
      while (!taken && HasWork()) taken = queue.Take();
      if (!taken) Await(tick_woken[index]);
      if (!taken) taken = queue.Take();
    }
    DropTick(index);
  }

  // A task that does not return until all have been started.
  void RunTask(int tasks) {
    started(RL_INFO).fetch_add(1, rl::mo_acq_rel);
    rl::linear_backoff backoff;
    while (started(RL_INFO).load(rl::mo_acquire) < tasks) {
      backoff.yield(RL_INFO);
    }
  }
};

// Two tasks from outside.
template <Fault fault>
struct OutsideModel : IdleModel<OutsideModel<fault>, fault> {
  void thread(unsigned index) {
    if (index == 2) {
      this->Publish();
      this->Publish();
      return;
    }
    this->TakeAsRunner(index);
    this->RunTask(2);
  }
};

// The same as a batch, which wakes both.
template <Fault fault>
struct BatchModel : IdleModel<BatchModel<fault>, fault> {
  void thread(unsigned index) {
    if (index == 2) {
      this->queue.Push(2);
      this->Notify();
      const int who =
          this->idle->NotifyAnother([this] { return this->HasWork(); });
      if (who >= 0) this->unparked[who](RL_INFO).store(1, rl::mo_release);
      return;
    }
    this->TakeAsRunner(index);
    this->RunTask(2);
  }
};

// A task that spawns another and waits for it without returning.
template <Fault fault>
struct InsideModel : IdleModel<InsideModel<fault>, fault> {
  void thread(unsigned index) {
    if (index == 2) {
      this->Publish();
      return;
    }
    this->TakeAsRunner(index);
    if (this->started(RL_INFO).load(rl::mo_acquire) == 0) this->Publish();
    this->RunTask(2);
  }
};

// Thread 1 is a Tick future.
template <Fault fault>
struct TickModel : IdleModel<TickModel<fault>, fault> {
  void thread(unsigned index) {
    if (index == 2) {
      this->Publish();
      this->Publish();
      return;
    }
    if (index == 0) {
      this->TakeAsRunner(index);
    } else {
      this->TakeAsTick(index);
    }
    this->RunTask(2);
  }
};

// Tick 0 is dropped, perhaps when it has just been woken for the only task.
template <Fault fault>
struct DroppedTickModel : IdleModel<DroppedTickModel<fault>, fault> {
  void thread(unsigned index) {
    if (index == 2) {
      this->Publish();
    } else if (index == 0) {
      this->WaitAsTick(index);
      this->DropTick(index);
    } else {
      this->TakeAsTick(index);
      this->RunTask(1);
    }
  }
};

// Runner 0 leaves, perhaps when it has just been claimed for the only task.
template <Fault fault>
struct LeavingModel : IdleModel<LeavingModel<fault>, fault> {
  rl::atomic<int> leave;

  void before() {
    leave(RL_INFO) = 0;
    IdleModel<LeavingModel<fault>, fault>::before();
  }
  void thread(unsigned index) {
    if (index == 2) {
      this->Publish();
      leave(RL_INFO).store(1, rl::mo_release);
      this->unparked[0](RL_INFO).store(1, rl::mo_release);
      return;
    }
    if (this->TakeAsRunner(index, index == 0 ? &leave : nullptr)) return;
    this->RunTask(1);
    // Runner 0 took it: let the other one go.
    if (index == 0) this->Publish();
  }
};

TEST(IdleSetModelTest, TasksFromOutsideWakeWhoeverIsNeeded) {
  EXPECT_TRUE(Holds<OutsideModel<Fault::kNone>>());
}

TEST(IdleSetModelTest, ABatchWakesAllThatItNeeds) {
  EXPECT_TRUE(Holds<BatchModel<Fault::kNone>>());
}

TEST(IdleSetModelTest, ATaskFromInsideWakesAnotherRunner) {
  EXPECT_TRUE(Holds<InsideModel<Fault::kNone>>());
}

TEST(IdleSetModelTest, TicksAndRunnersWakeEachOther) {
  EXPECT_TRUE(Holds<TickModel<Fault::kNone>>());
}

TEST(IdleSetModelTest, ADroppedTickPassesItsNotificationOn) {
  EXPECT_TRUE(Holds<DroppedTickModel<Fault::kNone>>());
}

TEST(IdleSetModelTest, ALeavingRunnerPassesItsNotificationOn) {
  EXPECT_TRUE(Holds<LeavingModel<Fault::kNone>>());
}

TEST(IdleSetModelTest, TheModelsFindASleeperThatDoesNotLook) {
  EXPECT_FALSE(Holds<OutsideModel<Fault::kSleepsWithoutLooking>>());
}

TEST(IdleSetModelTest, TheModelsFindATokenLeftWithoutLooking) {
  EXPECT_FALSE(Holds<OutsideModel<Fault::kLeavesTokenWithoutLooking>>());
}

TEST(IdleSetModelTest, TheModelsFindARunnerThatRunsWithItsToken) {
  EXPECT_FALSE(Holds<InsideModel<Fault::kRunsWithToken>>());
}

TEST(IdleSetModelTest, TheModelsFindASleeperThatTrustsAnOldToken) {
  EXPECT_FALSE(Holds<OutsideModel<Fault::kLooksForTokenBeforeEntering>>());
}

TEST(IdleSetModelTest, TheModelsFindARunnerThatTakesAPartAndForgetsTheRest) {
  EXPECT_FALSE(Holds<OutsideModel<Fault::kForgetsWhatItSaw>>());
}

TEST(IdleSetModelTest, TheModelsFindATickThatKeepsItsNotification) {
  EXPECT_FALSE(Holds<DroppedTickModel<Fault::kTickKeepsNotification>>());
}

}  // namespace
}  // namespace weft::executor_internal
