// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The model of select/child_waker.h: two threads wake, one owns the set. What
// happened before a wake is seen by a poll of the child, the owner never sleeps
// on, and all that was allocated is freed once, whoever comes last.

#include <utility>

#include "gtest/gtest.h"
#include "weft/select/child_waker.h"

// After every other header: Relacy makes macros of functions.
#include "weft/tests/kit/model_waker.h"
#include "weft/tests/kit/relacy_atomics.h"
#include "weft/tests/kit/weaker_atomics.h"

namespace weft {
namespace {

enum class Scene {
  kOneChild,     // both wake the same child
  kTwoChildren,  // each wakes one
  kChildGone,    // the child is gone after its first poll
  kSetGone       // the owner looks once, and drops the set
};

template <class Atomics, Scene scene>
struct ChildWakerModel : rl::test_suite<ChildWakerModel<Atomics, scene>, 3> {
  using List = select_internal::BasicWokenList<Atomics, ModelWaker>;
  using Node = typename List::Node;
  static constexpr int kChildren = scene == Scene::kTwoChildren ? 2 : 1;

  List* list;
  Node* nodes[2];
  int children[2];  // whose addresses are the children
  rl::atomic<int> sent[2];
  rl::atomic<int> woken[2];  // by another waker at each second poll

  void before() {
    for (auto& flag : sent) flag(RL_INFO).store(0, rl::mo_relaxed);
    for (auto& flag : woken) flag(RL_INFO).store(0, rl::mo_relaxed);
    list = ::new List();
    for (int i = 0; i < kChildren; ++i) {
      nodes[i] = ::new Node(*list, &children[i]);
    }
    // A waker for each of the two threads.
    for (int i = 0; i < 2; ++i) nodes[i % kChildren]->Ref();
  }

  void thread(unsigned index) {
    if (index == 2) {
      Owner();
      return;
    }
    Node* const node = nodes[index % kChildren];
    sent[index](RL_INFO).store(1, rl::mo_relaxed);
    if (index == 0) {
      node->Wake();
    } else {
      node->WakeByRef();
      node->Unref();
    }
  }

  bool Sent(int index) {
    return sent[index](RL_INFO).load(rl::mo_relaxed) == 1;
  }

  void Owner() {
    bool seen[2] = {false, false};
    bool alive = true;
    for (int polls = 0;; ++polls) {
      for (Node* node = list->TakeAll(); node != nullptr;) {
        Node* const taken = std::exchange(node, node->next());
        if (taken->child() == nullptr) {
          taken->Unref();
          continue;
        }
        taken->Unlink();
        // A poll of the child.
        for (int i = 0; i < 2; ++i) {
          if (taken->child() == &children[i % kChildren]) seen[i] |= Sent(i);
        }
        RL_ASSERT(seen[0] || seen[1]);
      }
      if (seen[0] && seen[1]) break;
      if (scene == Scene::kSetGone && polls == 1) break;
      if (scene == Scene::kChildGone && (seen[0] || seen[1])) {
        if (!alive) break;
        alive = false;
        nodes[0]->Release(/*taken=*/false);
        continue;  // to take what was linked before
      }
      auto& flag = woken[polls % 2];
      if (!list->Park(ModelWaker(&flag))) continue;
      if (scene == Scene::kSetGone) continue;
      while (flag(RL_INFO).exchange(0, rl::mo_acquire) == 0) {
        rl::yield(1, RL_INFO);
      }
    }
    for (int i = 0; i < kChildren; ++i) {
      if (alive) nodes[i]->Release(/*taken=*/false);
    }
    list->Close();
  }
};

template <Scene scene>
bool Holds() {
  return weft::Holds<ChildWakerModel<RelacyAtomics, scene>>();
}
template <Weaken weaken, Scene scene>
bool HoldsWeakened() {
  return weft::Holds<ChildWakerModel<WeakerAtomics<weaken>, scene>>();
}

TEST(ChildWakerModelTest, NoWakeOfAChildIsLost) {
  EXPECT_TRUE(Holds<Scene::kOneChild>());
}

TEST(ChildWakerModelTest, NoWakeOfOneOfTwoIsLost) {
  EXPECT_TRUE(Holds<Scene::kTwoChildren>());
}

TEST(ChildWakerModelTest, AWakeMayComeAfterTheChild) {
  EXPECT_TRUE(Holds<Scene::kChildGone>());
}

TEST(ChildWakerModelTest, AWakeMayComeAfterTheSet) {
  EXPECT_TRUE(Holds<Scene::kSetGone>());
}

TEST(ChildWakerModelTest, NoticesAMissingRelease) {
  EXPECT_FALSE((HoldsWeakened<Weaken::kRelease, Scene::kOneChild>()));
  EXPECT_FALSE((HoldsWeakened<Weaken::kRelease, Scene::kTwoChildren>()));
  EXPECT_FALSE((HoldsWeakened<Weaken::kRelease, Scene::kSetGone>()));
}

TEST(ChildWakerModelTest, NoticesAMissingAcquire) {
  EXPECT_FALSE((HoldsWeakened<Weaken::kAcquire, Scene::kOneChild>()));
  EXPECT_FALSE((HoldsWeakened<Weaken::kAcquire, Scene::kTwoChildren>()));
  EXPECT_FALSE((HoldsWeakened<Weaken::kAcquire, Scene::kSetGone>()));
}

}  // namespace
}  // namespace weft
