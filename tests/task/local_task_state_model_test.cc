// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The model of task/local_task_state.h: the home thread, a waker and a handle on
// one task, under every interleaving that Relacy finds. What the callers of a
// transition do is written down here as task/runnable.cc does it; the transitions
// themselves are the production code.
//
// Messages and flags travel by relaxed atomics, so that the state's words alone
// order everything. The future, the output, the join waker's slot and the word of
// home are plain variables: Relacy reports each pair of accesses that is not
// ordered.

#include <cstdint>

#include "gtest/gtest.h"
#include "weft/task/local_task_state.h"
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
  kPollAndDetach,  // polls, and lets it run
};
enum class Where {
  kHome,
  kElsewhere,
  kMoves,  // is polled at home, then goes elsewhere
};
enum class WakerEnd {
  kWakeByRefThenDrop,
  kWake,  // the wake that consumes
  kDropOnly,
  kDropMessage,   // the task is made elsewhere; a message is dropped there
  kDropRunnable,  // so is the first home Runnable
};

template <class Atomics, Handle kHandleDoes, Where kWhere, WakerEnd kWakerDoes>
struct LocalModel
    : rl::test_suite<LocalModel<Atomics, kHandleDoes, kWhere, kWakerDoes>, 3> {
  using State = BasicLocalTaskState<Atomics>;
  using Remote = typename State::Remote;

  Lazy<State> state;
  rl::atomic<int> messages;     // how many are in the inbox
  rl::atomic<int> posted;       // a home Runnable is there
  rl::atomic<int> sent;         // what the future waits for
  rl::atomic<int> joined;       // the join waker has fired
  rl::atomic<int> handle_away;  // it has left home
  rl::var<int> runnables;       // how many are in the ring
  rl::var<int> future;          // 1: exists
  rl::var<int> output;          // 1: exists
  rl::var<int> slot;            // 1: holds a join waker
  rl::var<int> cancel_reason;   // written by the handle before it cancels
  rl::var<int> polls;
  rl::atomic<int> outputs_made;
  rl::atomic<int> outputs_gone;
  rl::atomic<int> freed;

  void before() {
    const bool at_home = kWakerDoes != WakerEnd::kDropMessage;
    state.Emplace(at_home);
    state->Ref();  // the waker thread's
    for (auto* counter : {&posted, &sent, &joined, &handle_away, &outputs_made,
                          &outputs_gone, &freed}) {
      (*counter)(RL_INFO).store(0, rl::mo_relaxed);
    }
    messages(RL_INFO).store(at_home ? 0 : 1, rl::mo_relaxed);
    runnables(RL_INFO) =
        at_home && kWakerDoes != WakerEnd::kDropRunnable ? 1 : 0;
    future(RL_INFO) = 1;
    for (auto* zero : {&output, &slot, &cancel_reason, &polls}) {
      (*zero)(RL_INFO) = 0;
    }
  }

  void after() {
    RL_ASSERT(freed(RL_INFO).load(rl::mo_relaxed) == 1);
    RL_ASSERT(outputs_made(RL_INFO).load(rl::mo_relaxed) ==
              outputs_gone(RL_INFO).load(rl::mo_relaxed));
    RL_ASSERT(static_cast<int>(runnables(RL_INFO)) == 0);
    RL_ASSERT(messages(RL_INFO).load(rl::mo_relaxed) == 0);
    state.Destroy();
  }

  void thread(unsigned index) {
    if (index == 0) return Home();
    if (index == 1) return WakerThread();
    if (kWhere != Where::kHome) HandleElsewhere();
  }

  // ---- What callers do, as in runnable.cc ----

  void Act(State&, Then then) {
    if (then == Then::kSchedule || then == Then::kReschedule) {
      RL_ASSERT(static_cast<int>(runnables(RL_INFO)) == 0);  // at most one
      runnables(RL_INFO) = 1;
    }
    if (then == Then::kFree) Free();
  }
  void Act(Remote&, Then then) {
    if (then == Then::kSchedule) {
      // At most one message exists.
      RL_ASSERT(messages(RL_INFO).fetch_add(1, rl::mo_relaxed) == 0);
    }
    if (then == Then::kFree) Free();
  }

  // Touches everything: whatever is not ordered before is a race.
  void Free() {
    RL_ASSERT(static_cast<int>(future(RL_INFO)) == 0);
    RL_ASSERT(static_cast<int>(output(RL_INFO)) == 0);
    future(RL_INFO) = -1;
    output(RL_INFO) = -1;
    slot(RL_INFO) = -1;
    RL_ASSERT(freed(RL_INFO).fetch_add(1, rl::mo_relaxed) == 0);
  }

  void Home() {
    bool has_handle = kWhere == Where::kHome;
    if (kWhere == Where::kMoves) {
      PollJoin(*state);
      handle_away(RL_INFO).store(1, rl::mo_release);
    }
    if (has_handle) has_handle = BeginHandle(*state);
    while (freed(RL_INFO).load(rl::mo_relaxed) == 0) {
      if (has_handle && joined(RL_INFO).exchange(0, rl::mo_relaxed) != 0) {
        has_handle = !EndJoin(*state);
        continue;
      }
      int one = 1;
      if (posted(RL_INFO).compare_exchange_strong(one, 0, rl::mo_acquire)) {
        Act(*state, Then::kSchedule);
      }
      const bool inbox_first = rl::rand(2) != 0;
      if (inbox_first && TakeMessage()) continue;
      if (static_cast<int>(runnables(RL_INFO)) != 0) {
        runnables(RL_INFO) = 0;
        Run();
      } else if (!TakeMessage()) {
        rl::yield(1, RL_INFO);
      }
    }
  }

  bool TakeMessage() {
    int one = 1;
    if (!messages(RL_INFO).compare_exchange_strong(one, 0, rl::mo_relaxed)) {
      return false;
    }
    Act(*state, state->Receive(/*cancel=*/false));
    return true;
  }

  void Run() {
    if (state->BeginRun() == Then::kDestroy) return Destroy();
    if (Poll()) return Finish(kOutput);
    switch (state->Suspend(false)) {
      case Then::kReschedule:
        return Act(*state, Then::kReschedule);
      case Then::kDestroy:
        return Destroy();
      default:
        return;
    }
  }

  // Its first poll yields, so that it is woken from two sides.
  bool Poll() {
    RL_ASSERT(kWakerDoes != WakerEnd::kDropRunnable);
    RL_ASSERT(static_cast<int>(future(RL_INFO)) == 1);
    const int count = static_cast<int>(polls(RL_INFO));
    polls(RL_INFO) = count + 1;
    if (count == 0) {
      Act(*state, state->Wake(/*consume=*/false));
      return false;
    }
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
    constexpr bool kHandleCancels =
        kHandleDoes == Handle::kCancelAndJoin || kHandleDoes == Handle::kDrop;
    constexpr bool kRunnableIsDropped = kWakerDoes == WakerEnd::kDropMessage ||
                                        kWakerDoes == WakerEnd::kDropRunnable;
    // Who cancels keeps a reference until he has; a message that is to be dropped may
    // have come home before.
    RL_ASSERT(state->IsForgotten() ==
                  (!kHandleCancels && !kRunnableIsDropped) ||
              (!kHandleCancels && kWakerDoes == WakerEnd::kDropMessage));
    if (kHandleCancels) {
      // What came before the cancel is visible to the future's destructor.
      RL_ASSERT(kRunnableIsDropped ||
                static_cast<int>(cancel_reason(RL_INFO)) == 1);
    }
    Finish(0);
  }

  void Finish(uint64_t result) {
    const uint64_t before = state->Finish(result);
    if ((before & kJoinWaker) != 0) {
      RL_ASSERT(static_cast<int>(slot(RL_INFO)) == 1);
      slot(RL_INFO) = 0;
      joined(RL_INFO).store(1, rl::mo_relaxed);
    }
    if ((before & kHandle) == 0 && result != 0) DestroyOutput();
    Act(*state, state->Unref());
  }

  void DestroyOutput() {
    RL_ASSERT(static_cast<int>(output(RL_INFO)) == 1);
    output(RL_INFO) = 0;
    outputs_gone(RL_INFO).fetch_add(1, rl::mo_relaxed);
  }

  void WakerThread() {
    Remote remote(*state);
    if (kWakerDoes == WakerEnd::kDropOnly) return Act(remote, remote.Unref());
    if (kWakerDoes == WakerEnd::kDropMessage) DropMessage(remote);
    if (kWakerDoes == WakerEnd::kDropRunnable) {
      RL_ASSERT(remote.CancelByRunnable());
      // What carries a Runnable from thread to thread orders the two.
      posted(RL_INFO).store(1, rl::mo_release);
    }
    if (kWakerDoes == WakerEnd::kDropMessage ||
        kWakerDoes == WakerEnd::kDropRunnable) {
      return Act(remote, remote.Unref());
    }
    sent(RL_INFO).store(1, rl::mo_relaxed);
    if (kWakerDoes == WakerEnd::kWake) {
      return Act(remote, remote.Wake(/*consume=*/true));
    }
    Act(remote, remote.Wake(/*consume=*/false));
    Act(remote, remote.Unref());
  }

  // Takes a message that is on its way, and drops it.
  void DropMessage(Remote& remote) {
    int one = 1;
    if (!messages(RL_INFO).compare_exchange_strong(one, 0, rl::mo_relaxed)) {
      return;
    }
    if (!remote.CancelByRunnable()) {
      return Act(*state, state->Receive(/*cancel=*/true));
    }
    RL_ASSERT(messages(RL_INFO).fetch_add(1, rl::mo_relaxed) == 0);
  }

  void HandleElsewhere() {
    if (kWhere == Where::kMoves) {
      while (handle_away(RL_INFO).load(rl::mo_acquire) == 0) {
        rl::yield(1, RL_INFO);
      }
    }
    Remote remote(*state);
    if (!BeginHandle(remote)) return;
    do {
      while (joined(RL_INFO).exchange(0, rl::mo_relaxed) == 0) {
        rl::yield(1, RL_INFO);
      }
    } while (!EndJoin(remote));
  }

  // True if the handle waits for `joined` now, else it is gone.
  template <class S>
  bool BeginHandle(S& s) {
    if (kHandleDoes == Handle::kDrop || kHandleDoes == Handle::kCancelAndJoin) {
      cancel_reason(RL_INFO) = 1;
      Act(s, s.Cancel());
    }
    if (kHandleDoes == Handle::kJoin || kHandleDoes == Handle::kCancelAndJoin) {
      return !EndJoin(s);
    }
    if (kHandleDoes == Handle::kPollAndDetach) PollJoin(s);
    DropHandle(s);
    return false;
  }

  // False if the task is not done.
  template <class S>
  bool EndJoin(S& s) {
    if (!PollJoin(s)) return false;
    if ((s.Load() & kOutput) != 0) {
      RL_ASSERT(static_cast<int>(output(RL_INFO)) == 1);
    }
    DropHandle(s);
    return true;
  }

  template <class S>
  bool PollJoin(S& s) {
    if ((s.Load() & kDone) == 0 && s.ClaimJoinWaker()) {
      slot(RL_INFO) = 1;
      if (s.PublishJoinWaker()) return false;
      slot(RL_INFO) = 0;
    }
    return true;
  }

  template <class S>
  void DropHandle(S& s) {
    const uint64_t before = s.DropHandle();
    if ((before & kDone) == 0) {
      if ((before & kJoinWaker) != 0) slot(RL_INFO) = 0;
    } else if ((before & kOutput) != 0) {
      DestroyOutput();
    }
    Act(s, s.Unref());
  }
};

constexpr unsigned kExecutions = 10'000;

template <Handle kHandleDoes, WakerEnd kWakerDoes>
void ExpectHolds() {
  EXPECT_TRUE(
      (Holds<LocalModel<RelacyAtomics, kHandleDoes, Where::kHome, kWakerDoes>>(
          kExecutions)));
  EXPECT_TRUE((Holds<LocalModel<RelacyAtomics, kHandleDoes, Where::kElsewhere,
                                kWakerDoes>>(kExecutions)));
  EXPECT_TRUE(
      (Holds<LocalModel<RelacyAtomics, kHandleDoes, Where::kMoves, kWakerDoes>>(
          kExecutions)));
}

TEST(LocalTaskStateModelTest, Join) {
  ExpectHolds<Handle::kJoin, WakerEnd::kWakeByRefThenDrop>();
  ExpectHolds<Handle::kJoin, WakerEnd::kWake>();
}

TEST(LocalTaskStateModelTest, Cancel) {
  ExpectHolds<Handle::kDrop, WakerEnd::kWakeByRefThenDrop>();
  ExpectHolds<Handle::kDrop, WakerEnd::kWake>();
  ExpectHolds<Handle::kDrop, WakerEnd::kDropOnly>();
}

TEST(LocalTaskStateModelTest, CancelAndJoin) {
  ExpectHolds<Handle::kCancelAndJoin, WakerEnd::kWakeByRefThenDrop>();
  ExpectHolds<Handle::kCancelAndJoin, WakerEnd::kWake>();
  ExpectHolds<Handle::kCancelAndJoin, WakerEnd::kDropOnly>();
}

TEST(LocalTaskStateModelTest, Detach) {
  ExpectHolds<Handle::kDetach, WakerEnd::kWakeByRefThenDrop>();
  ExpectHolds<Handle::kDetach, WakerEnd::kWake>();
}

TEST(LocalTaskStateModelTest, PollAndDetach) {
  ExpectHolds<Handle::kPollAndDetach, WakerEnd::kWakeByRefThenDrop>();
  ExpectHolds<Handle::kPollAndDetach, WakerEnd::kWake>();
  ExpectHolds<Handle::kPollAndDetach, WakerEnd::kDropOnly>();
}

// Nobody is left who could wake it: it ends all the same.
TEST(LocalTaskStateModelTest, Forgotten) {
  ExpectHolds<Handle::kDetach, WakerEnd::kDropOnly>();
}

TEST(LocalTaskStateModelTest, MadeAndDroppedElsewhere) {
  ExpectHolds<Handle::kDrop, WakerEnd::kDropMessage>();
  ExpectHolds<Handle::kCancelAndJoin, WakerEnd::kDropMessage>();
  ExpectHolds<Handle::kDetach, WakerEnd::kDropMessage>();
}

TEST(LocalTaskStateModelTest, FirstRunnableDroppedElsewhere) {
  ExpectHolds<Handle::kDrop, WakerEnd::kDropRunnable>();
  ExpectHolds<Handle::kCancelAndJoin, WakerEnd::kDropRunnable>();
  ExpectHolds<Handle::kDetach, WakerEnd::kDropRunnable>();
}

// The model is worth something: weaker orders are noticed.
TEST(LocalTaskStateModelTest, NoticesAMissingRelease) {
  using Model = LocalModel<WeakerAtomics<Weaken::kRelease>, Handle::kJoin,
                           Where::kElsewhere, WakerEnd::kWakeByRefThenDrop>;
  EXPECT_FALSE(Holds<Model>(kExecutions));
}

TEST(LocalTaskStateModelTest, NoticesAMissingAcquire) {
  using Model = LocalModel<WeakerAtomics<Weaken::kAcquire>, Handle::kJoin,
                           Where::kElsewhere, WakerEnd::kWakeByRefThenDrop>;
  EXPECT_FALSE(Holds<Model>(kExecutions));
}

}  // namespace
}  // namespace weft::task_internal
