// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// What io/descriptor_use.h promises, explored by Relacy on the production code.

#include "gtest/gtest.h"
#include "weft/io/descriptor_use.h"

// After every other header.
#include "weft/tests/kit/relacy_atomics.h"

namespace weft::io::io_internal {
namespace {

// Two threads use the descriptor; the owner closes it.
struct UseModel : rl::test_suite<UseModel, 3> {
  Lazy<BasicDescriptorUse<RelacyAtomics>> use;
  rl::var<int> open;       // written by the closer, read by users: a race if
                           // they overlap
  rl::atomic<int> closed;  // how often it was closed

  void before() {
    use.Emplace();
    open(RL_INFO) = 1;
    closed(RL_INFO) = 0;
  }
  void after() {
    RL_ASSERT(closed(RL_INFO).load(rl::mo_relaxed) == 1);
    use.Destroy();
  }

  void Finish() {
    RL_ASSERT(open(RL_INFO) == 1);
    open(RL_INFO) = 0;
    closed(RL_INFO).fetch_add(1, rl::mo_relaxed);
  }

  void thread(unsigned index) {
    if (index == 2) {
      if (use->Close() == CloseResult::kCloseNow) Finish();
      RL_ASSERT(use->Close() == CloseResult::kAlreadyClosed);
      return;
    }
    for (int i = 0; i < 2; ++i) {
      if (!use->Begin()) return;
      RL_ASSERT(open(RL_INFO) == 1);
      if (use->End()) Finish();
    }
  }
};

TEST(DescriptorUseModelTest, IsClosedOnceAndAfterTheLastUse) {
  EXPECT_TRUE(Holds<UseModel>(50'000));
}

// The same where the owner takes the descriptor back.
struct TakeModel : rl::test_suite<TakeModel, 2> {
  Lazy<BasicDescriptorUse<RelacyAtomics>> use;
  rl::var<int> open;

  void before() {
    use.Emplace();
    open(RL_INFO) = 1;
  }
  void after() { use.Destroy(); }

  void thread(unsigned index) {
    if (index == 1) {
      RL_ASSERT(use->BeginTake());
      rl::linear_backoff backoff;
      while (!use->TryTake()) backoff.yield(RL_INFO);
      open(RL_INFO) = 0;
      return;
    }
    for (int i = 0; i < 2; ++i) {
      if (!use->Begin()) return;
      RL_ASSERT(open(RL_INFO) == 1);
      RL_ASSERT(!use->End());
    }
  }
};

TEST(DescriptorUseModelTest, IsTakenAfterTheLastUse) {
  EXPECT_TRUE(Holds<TakeModel>(50'000));
}

}  // namespace
}  // namespace weft::io::io_internal
