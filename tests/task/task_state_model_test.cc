// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The model of task/task_state.h: two runners, a waker or AbortHandle, and a
// handle on one task, under every interleaving that Relacy finds. What the
// callers of a transition do is written down here as task/runnable.cc does it;
// the transitions themselves are the production code.
//
// Flags travel by relaxed atomics, so that the state word alone orders
// everything, but for a Runnable's way through its queue. The future, the output and the join waker's slot are plain
// variables: Relacy reports each pair of accesses that is not ordered.

#include <cstdint>

#include "gtest/gtest.h"
#include "weft/task/task_state.h"

// After every other header: Relacy makes macros of functions.
#include "weft/tests/kit/relacy_atomics.h"
#include "weft/tests/kit/weaker_atomics.h"

namespace weft::task_internal {
namespace {

enum class Handle {
  kJoin,           // waits for the output, and takes it
  kDrop,           // cancels, and drops
  kDetach,         // lets it run
  kCancelAndJoin,  // cancels, and waits until the future is gone
  kPollAndDetach,  // polls, again for no reason, and lets it run
};
enum class WakerEnd {
  kWakeByRefThenDrop,
  kWake,  // the wake that consumes
  kDropOnly,
  kAbortThenDrop,  // an AbortHandle's doing: cancels, never wakes
};

// `kWakers` is the waker thread's doing, `kHandle` the handle's. With `kInspects`
// one more thread looks at the future (task/task_info.h): an executor's dump, which
// makes its reference from the task's being in a list, as the executor's end does.
template <class Atomics, Handle kHandleDoes, WakerEnd kWakerDoes,
          bool kYields = false, bool kInspects = false>
struct TaskModel
    : rl::test_suite<
          TaskModel<Atomics, kHandleDoes, kWakerDoes, kYields, kInspects>,
          kInspects ? 5 : 4> {
  BasicTaskState<Atomics> state;
  rl::atomic<int> runnables;   // how many are in the queue
  rl::atomic<int> sent;        // what the future waits for
  rl::atomic<int> joined;      // the join waker has fired
  rl::atomic<int> ended;       // the task is done
  rl::var<int> future;         // 1: exists
  rl::var<int> output;         // 1: exists
  rl::var<int> slot;           // 1: holds a join waker
  rl::var<int> cancel_reason;  // written before the cancel, if one cancels
  bool yielded = false;        // the owner's; travels with the Runnable
  rl::mutex list_mutex;
  rl::var<int>
      listed;  // guarded by it; 1: from the first suspension to the end
  rl::atomic<int> outputs_made;
  rl::atomic<int> outputs_gone;
  rl::atomic<int> freed;

  static constexpr bool kHandleCancels =
      kHandleDoes == Handle::kCancelAndJoin || kHandleDoes == Handle::kDrop;
  static constexpr bool kWakerCancels = kWakerDoes == WakerEnd::kAbortThenDrop;

  void before() {
    state.Ref();  // the waker thread's
    listed(RL_INFO) = 0;
    for (auto* counter :
         {&sent, &joined, &ended, &outputs_made, &outputs_gone, &freed}) {
      (*counter)(RL_INFO).store(0, rl::mo_relaxed);
    }
    runnables(RL_INFO).store(1, rl::mo_relaxed);
    future(RL_INFO) = 1;
    output(RL_INFO) = 0;
    slot(RL_INFO) = 0;
    cancel_reason(RL_INFO) = 0;
    yielded = false;
  }

  void after() {
    RL_ASSERT(freed(RL_INFO).load(rl::mo_relaxed) == 1);
    RL_ASSERT(outputs_made(RL_INFO).load(rl::mo_relaxed) ==
              outputs_gone(RL_INFO).load(rl::mo_relaxed));
    RL_ASSERT(runnables(RL_INFO).load(rl::mo_relaxed) == 0);
  }

  void thread(unsigned index) {
    if (index < 2) return RunTasks();
    if (index == 2) return Wake();
    if (index == 4) return Inspect();
    HandleThread();
  }

  // ---- What callers do, as in runnable.cc ----

  void Act(Then then) {
    if (then == Then::kSchedule || then == Then::kReschedule) {
      // At most one Runnable exists.
      RL_ASSERT(runnables(RL_INFO).fetch_add(1, rl::mo_release) == 0);
    }
    if (then == Then::kFree) Free();
  }

  // Touches everything: whatever is not ordered before is a race.
  void Free() {
    RL_ASSERT(freed(RL_INFO).fetch_add(1, rl::mo_relaxed) == 0);
    RL_ASSERT(static_cast<int>(future(RL_INFO)) == 0);
    RL_ASSERT(static_cast<int>(output(RL_INFO)) == 0);
    future(RL_INFO) = -1;
    output(RL_INFO) = -1;
    slot(RL_INFO) = -1;
  }

  void RunTasks() {
    while (ended(RL_INFO).load(rl::mo_relaxed) == 0) {
      int one = 1;
      if (runnables(RL_INFO).compare_exchange_strong(one, 0, rl::mo_acquire)) {
        Run();
      } else {
        rl::yield(1, RL_INFO);
      }
    }
  }

  void Run() {
    if (state.BeginRun() == Then::kDestroy) return Destroy();
    if (Poll()) return Finish(kOutput);
    const bool yields = kYields && !yielded;
    yielded = true;
    if (kInspects) SetListed(1);
    switch (state.Suspend(yields)) {
      case Then::kReschedule:
        return Act(Then::kReschedule);
      case Then::kDestroy:
        return Destroy();
      default:
        return;
    }
  }

  bool Poll() {
    RL_ASSERT(static_cast<int>(future(RL_INFO)) == 1);
    future(RL_INFO) = 1;  // a poll writes
    // Relaxed, so only a wake makes it visible.
    if (sent(RL_INFO).load(rl::mo_relaxed) == 0) return false;
    future(RL_INFO) = 0;
    output(RL_INFO) = 1;
    outputs_made(RL_INFO).fetch_add(1, rl::mo_relaxed);
    return true;
  }

  void Destroy() {
    RL_ASSERT(static_cast<int>(future(RL_INFO)) == 1);
    future(RL_INFO) = 0;
    // Who cancels keeps a reference until he has.
    RL_ASSERT(state.IsForgotten() == (!kHandleCancels && !kWakerCancels));
    if (kHandleCancels != kWakerCancels) {
      // What came before the cancel is visible to the future's destructor.
      RL_ASSERT(static_cast<int>(cancel_reason(RL_INFO)) == 1);
    }
    Finish(0);
  }

  void Finish(uint64_t result) {
    if (kInspects) SetListed(0);
    const uint64_t before = state.Finish(result);
    if (BasicTaskState<Atomics>::KeptReference(before)) {
      if ((before & kJoinWaker) != 0) {
        RL_ASSERT(static_cast<int>(slot(RL_INFO)) == 1);
        slot(RL_INFO) = 0;
        joined(RL_INFO).store(1, rl::mo_relaxed);
      }
      if ((before & kHandle) == 0 && result != 0) DestroyOutput();
      Act(state.Unref());
    }
    ended(RL_INFO).store(1, rl::mo_relaxed);
  }

  void DestroyOutput() {
    RL_ASSERT(static_cast<int>(output(RL_INFO)) == 1);
    output(RL_INFO) = 0;
    outputs_gone(RL_INFO).fetch_add(1, rl::mo_relaxed);
  }

  void Wake() {
    if (kWakerDoes == WakerEnd::kDropOnly) return Act(state.Unref());
    if (kWakerCancels) {
      if (!kHandleCancels) cancel_reason(RL_INFO) = 1;
      Act(state.Cancel());
      return Act(state.Unref());
    }
    sent(RL_INFO).store(1, rl::mo_relaxed);
    if (kWakerDoes == WakerEnd::kWake) return Act(state.Wake(true));
    Act(state.Wake(false));
    Act(state.Unref());
  }

  void SetListed(int value) {
    list_mutex.lock(RL_INFO);
    listed(RL_INFO) = value;
    list_mutex.unlock(RL_INFO);
  }
  bool TakeListed() {
    list_mutex.lock(RL_INFO);
    const bool is_listed = static_cast<int>(listed(RL_INFO)) == 1;
    if (is_listed) state.Ref();
    list_mutex.unlock(RL_INFO);
    return is_listed;
  }

  void Inspect() {
    while (!TakeListed()) {
      if (ended(RL_INFO).load(rl::mo_relaxed) != 0) return;
      rl::yield(1, RL_INFO);
    }
    if (state.TryOwn()) {
      RL_ASSERT(static_cast<int>(future(RL_INFO)) == 1);
      if (state.Suspend(false) != Then::kNothing) Act(Then::kReschedule);
    }
    Act(state.Unref());
  }

  void HandleThread() {
    if (kHandleCancels) {
      if (!kWakerCancels) cancel_reason(RL_INFO) = 1;
      Act(state.Cancel());
    }
    if (kHandleDoes == Handle::kPollAndDetach) {
      PollJoin();
      PollJoin();
    }
    if (kHandleDoes == Handle::kJoin || kHandleDoes == Handle::kCancelAndJoin) {
      while (!PollJoin()) {
        while (joined(RL_INFO).exchange(0, rl::mo_relaxed) == 0)
          rl::yield(1, RL_INFO);
      }
      if ((state.Load() & kOutput) != 0) {
        RL_ASSERT(static_cast<int>(output(RL_INFO)) == 1);
      }
    }
    DropHandle();
  }

  bool PollJoin() {
    if ((state.Load() & kDone) == 0 && state.ClaimJoinWaker()) {
      slot(RL_INFO) = 1;
      if (state.PublishJoinWaker()) return false;
      slot(RL_INFO) = 0;
    }
    return true;
  }

  void DropHandle() {
    Then then = Then::kNothing;
    if (state.TryReleaseHandle(then)) return Act(then);
    const uint64_t before = state.DropHandle();
    if ((before & kDone) == 0) {
      if ((before & kJoinWaker) != 0) slot(RL_INFO) = 0;
    } else if ((before & kOutput) != 0) {
      DestroyOutput();
    }
    Act(state.Unref());
  }
};

constexpr unsigned kExecutions = 10'000;

template <Handle kHandleDoes, WakerEnd kWakerDoes, bool kYields = false>
bool TaskHolds() {
  return Holds<TaskModel<RelacyAtomics, kHandleDoes, kWakerDoes, kYields>>(
      kExecutions);
}

TEST(TaskStateModelTest, Join) {
  EXPECT_TRUE((TaskHolds<Handle::kJoin, WakerEnd::kWakeByRefThenDrop>()));
  EXPECT_TRUE((TaskHolds<Handle::kJoin, WakerEnd::kWake>()));
}

TEST(TaskStateModelTest, Cancel) {
  EXPECT_TRUE((TaskHolds<Handle::kDrop, WakerEnd::kWakeByRefThenDrop>()));
  EXPECT_TRUE((TaskHolds<Handle::kDrop, WakerEnd::kWake>()));
  EXPECT_TRUE((TaskHolds<Handle::kDrop, WakerEnd::kDropOnly>()));
}

TEST(TaskStateModelTest, CancelAndJoin) {
  EXPECT_TRUE(
      (TaskHolds<Handle::kCancelAndJoin, WakerEnd::kWakeByRefThenDrop>()));
  EXPECT_TRUE((TaskHolds<Handle::kCancelAndJoin, WakerEnd::kWake>()));
  EXPECT_TRUE((TaskHolds<Handle::kCancelAndJoin, WakerEnd::kDropOnly>()));
}

TEST(TaskStateModelTest, Detach) {
  EXPECT_TRUE((TaskHolds<Handle::kDetach, WakerEnd::kWakeByRefThenDrop>()));
  EXPECT_TRUE((TaskHolds<Handle::kDetach, WakerEnd::kWake>()));
}

TEST(TaskStateModelTest, PollAndDetach) {
  EXPECT_TRUE(
      (TaskHolds<Handle::kPollAndDetach, WakerEnd::kWakeByRefThenDrop>()));
  EXPECT_TRUE((TaskHolds<Handle::kPollAndDetach, WakerEnd::kWake>()));
  EXPECT_TRUE((TaskHolds<Handle::kPollAndDetach, WakerEnd::kDropOnly>()));
}

// The first poll wakes its own task.
TEST(TaskStateModelTest, Yield) {
  EXPECT_TRUE((TaskHolds<Handle::kJoin, WakerEnd::kWake, true>()));
  EXPECT_TRUE((TaskHolds<Handle::kDrop, WakerEnd::kWakeByRefThenDrop, true>()));
  EXPECT_TRUE((TaskHolds<Handle::kDetach, WakerEnd::kDropOnly, true>()));
}

// Whatever the handle does meanwhile.
TEST(TaskStateModelTest, Abort) {
  EXPECT_TRUE((TaskHolds<Handle::kJoin, WakerEnd::kAbortThenDrop>()));
  EXPECT_TRUE((TaskHolds<Handle::kDrop, WakerEnd::kAbortThenDrop>()));
  EXPECT_TRUE((TaskHolds<Handle::kDetach, WakerEnd::kAbortThenDrop>()));
  EXPECT_TRUE((TaskHolds<Handle::kCancelAndJoin, WakerEnd::kAbortThenDrop>()));
  EXPECT_TRUE((TaskHolds<Handle::kPollAndDetach, WakerEnd::kAbortThenDrop>()));
}

template <Handle kHandleDoes, WakerEnd kWakerDoes, bool kYields = false>
bool InspectedTaskHolds() {
  return Holds<TaskModel<RelacyAtomics, kHandleDoes, kWakerDoes, kYields,
                         /*kInspects=*/true>>(kExecutions);
}

// Somebody looks at it, whatever the others do.
TEST(TaskStateModelTest, Inspect) {
  EXPECT_TRUE((InspectedTaskHolds<Handle::kJoin, WakerEnd::kWake>()));
  EXPECT_TRUE(
      (InspectedTaskHolds<Handle::kJoin, WakerEnd::kWakeByRefThenDrop>()));
  EXPECT_TRUE((InspectedTaskHolds<Handle::kDrop, WakerEnd::kDropOnly>()));
  EXPECT_TRUE((InspectedTaskHolds<Handle::kDetach, WakerEnd::kDropOnly>()));
  EXPECT_TRUE(
      (InspectedTaskHolds<Handle::kCancelAndJoin, WakerEnd::kDropOnly>()));
  EXPECT_TRUE((InspectedTaskHolds<Handle::kJoin, WakerEnd::kWake, true>()));
  EXPECT_TRUE((InspectedTaskHolds<Handle::kDrop, WakerEnd::kAbortThenDrop>()));
}

// Nobody is left who could wake it: it ends all the same.
TEST(TaskStateModelTest, Forgotten) {
  EXPECT_TRUE((TaskHolds<Handle::kDetach, WakerEnd::kDropOnly>()));
}

// The model is worth something: weaker orders are noticed.
TEST(TaskStateModelTest, NoticesAMissingRelease) {
  using Model = TaskModel<WeakerAtomics<Weaken::kRelease>, Handle::kJoin,
                          WakerEnd::kWakeByRefThenDrop>;
  EXPECT_FALSE(Holds<Model>(kExecutions));
}

TEST(TaskStateModelTest, NoticesAMissingAcquire) {
  using Model = TaskModel<WeakerAtomics<Weaken::kAcquire>, Handle::kJoin,
                          WakerEnd::kWakeByRefThenDrop>;
  EXPECT_FALSE(Holds<Model>(kExecutions));
}

}  // namespace
}  // namespace weft::task_internal
