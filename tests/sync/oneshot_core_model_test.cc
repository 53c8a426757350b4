// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The model of sync/oneshot_core.h: a value has one owner at any time, and
// neither end sleeps on when the other has sent, closed or gone.

#include "gtest/gtest.h"
#include "weft/sync/oneshot_core.h"
#include "weft/tests/kit/model_waker.h"
#include "weft/tests/kit/relacy_atomics.h"
#include "weft/tests/kit/weaker_atomics.h"

namespace weft {
namespace {

enum class Scene {
  kSend,   // the receiver waits for a value
  kDrop,   // the receiver waits, and the sender goes
  kClose,  // the receiver looks once and closes
  kClosed  // the sender waits for the receiver to close
};

// Thread 0 sends, thread 1 receives.
template <class Atomics, Scene scene>
struct OneshotModel : rl::test_suite<OneshotModel<Atomics, scene>, 2> {
  using Core = sync_internal::BasicOneshotCore<Atomics, ModelWaker>;
  using Received = typename Core::Received;

  Lazy<Core> core;
  rl::var<int> value;  // written by whoever owns it
  rl::atomic<int> woken[2];

  void before() {
    core.Emplace();
    value(RL_INFO) = 0;
    for (auto& flag : woken) flag(RL_INFO).store(0, rl::mo_relaxed);
  }
  void after() { core.Destroy(); }

  void WaitForWake(unsigned index) {
    while (woken[index](RL_INFO).exchange(0, rl::mo_acquire) == 0) {
      rl::yield(1, RL_INFO);
    }
  }

  void thread(unsigned index) {
    if (index == 0) {
      Sender();
    } else {
      Receiver();
    }
  }

  void Sender() {
    if (scene == Scene::kClosed) {
      while (!core->PollClosed(ModelWaker(&woken[0]))) WaitForWake(0);
      return;
    }
    if (scene != Scene::kDrop) {
      value(RL_INFO) = 1;
      if (core->Send()) return;
      value(RL_INFO) = 2;  // still ours
    }
    core->DropSender();
  }

  void Receiver() {
    if (scene == Scene::kClosed) {
      core->Close();
      return;
    }
    Received received = core->PollReceive(ModelWaker(&woken[1]));
    while (received == Received::kNothingYet) {
      if (scene == Scene::kClose) {
        core->Close();
        received = core->TryReceive();
        RL_ASSERT(received != Received::kNothingYet);
      } else {
        WaitForWake(1);
        received = core->PollReceive(ModelWaker(&woken[1]));
      }
    }
    RL_ASSERT(scene != Scene::kSend || received == Received::kValue);
    RL_ASSERT(scene != Scene::kDrop || received == Received::kClosed);
    if (received == Received::kValue) {
      RL_ASSERT(static_cast<int>(value(RL_INFO)) == 1);
      value(RL_INFO) = 3;  // ours now
    }
  }
};

TEST(OneshotCoreModelTest, AValueIsReceived) {
  EXPECT_TRUE((Holds<OneshotModel<RelacyAtomics, Scene::kSend>>()));
}

TEST(OneshotCoreModelTest, ASenderThatGoesIsNoticed) {
  EXPECT_TRUE((Holds<OneshotModel<RelacyAtomics, Scene::kDrop>>()));
}

TEST(OneshotCoreModelTest, AValueHasOneOwnerWhenTheReceiverCloses) {
  EXPECT_TRUE((Holds<OneshotModel<RelacyAtomics, Scene::kClose>>()));
}

TEST(OneshotCoreModelTest, ASenderLearnsThatTheReceiverClosed) {
  EXPECT_TRUE((Holds<OneshotModel<RelacyAtomics, Scene::kClosed>>()));
}

TEST(OneshotCoreModelTest, NoticesAMissingOrder) {
  EXPECT_FALSE(
      (Holds<OneshotModel<WeakerAtomics<Weaken::kRelease>, Scene::kSend>>()));
  EXPECT_FALSE(
      (Holds<OneshotModel<WeakerAtomics<Weaken::kAcquire>, Scene::kSend>>()));
}

}  // namespace
}  // namespace weft
