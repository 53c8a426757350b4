// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// What io/readiness.h promises, explored by Relacy on the production code.

#include "gtest/gtest.h"
#include "weft/io/readiness.h"

// After every other header.
#include "weft/tests/kit/relacy_atomics.h"

namespace weft::io::io_internal {
namespace {

// The kernel has bytes that arrive one by one; each arrival is an edge that
// sets the word and then, under the mutex, takes the waker. The reader takes
// what there is, clears the bit when there is nothing, and waits by leaving its
// waker under the mutex unless the word has become ready. kFaulty clears
// without looking at the tick.
template <bool kFaulty>
struct EdgeModel : rl::test_suite<EdgeModel<kFaulty>, 2> {
  static constexpr int kBytes = 2;

  Lazy<BasicReadiness<RelacyAtomics>> readiness;
  rl::atomic<int> kernel;  // bytes that have arrived
  rl::mutex mutex;         // of the cell
  rl::var<int> has_waker;  // under `mutex`
  rl::atomic<int> woken;   // what the waker does
  rl::var<int> finished;

  void before() {
    readiness.Emplace();
    kernel(RL_INFO) = 0;
    has_waker(RL_INFO) = 0;
    woken(RL_INFO) = 0;
    finished(RL_INFO) = 0;
  }
  void after() { readiness.Destroy(); }

  void thread(unsigned index) {
    if (index == 0) {
      Reactor();
    } else {
      Reader();
    }
  }

  void Reactor() {
    for (int i = 0; i < kBytes; ++i) {
      kernel(RL_INFO).fetch_add(1, rl::mo_seq_cst);  // the kernel's own order
      readiness->Set(0, kReadable);
      mutex.lock(RL_INFO);
      const bool wake = has_waker(RL_INFO) == 1;
      has_waker(RL_INFO) = 0;
      mutex.unlock(RL_INFO);
      if (wake) woken(RL_INFO).store(1, rl::mo_release);
    }
  }

  void Reader() {
    int received = 0;
    while (received < kBytes) {
      const ReadinessSnapshot seen = readiness->Load();
      if (seen.IsReady(Direction::kRead)) {
        if (kernel(RL_INFO).load(rl::mo_seq_cst) > received) {
          ++received;
        } else if (kFaulty) {
          readiness->ClearBlocked(readiness->Load(), Direction::kRead);
        } else {
          readiness->ClearBlocked(seen, Direction::kRead);
        }
        continue;
      }
      mutex.lock(RL_INFO);
      const bool ready = readiness->Load().IsReady(Direction::kRead);
      if (!ready) has_waker(RL_INFO) = 1;
      mutex.unlock(RL_INFO);
      if (ready) continue;
      // A lost edge leaves the reader here, which Relacy reports.
      rl::linear_backoff backoff;
      while (woken(RL_INFO).load(rl::mo_acquire) == 0) backoff.yield(RL_INFO);
      woken(RL_INFO).store(0, rl::mo_relaxed);
    }
    finished(RL_INFO) = 1;
  }
};

TEST(ReadinessModelTest, NoEdgeIsLost) {
  EXPECT_TRUE(Holds<EdgeModel<false>>(50'000));
}

TEST(ReadinessModelTest, ClearingWithoutTheTickWouldLoseEdges) {
  EXPECT_FALSE(Holds<EdgeModel<true>>(50'000));
}

// An event of an earlier generation comes while the record is given to the next
// descriptor.
struct GenerationModel : rl::test_suite<GenerationModel, 2> {
  Lazy<BasicReadiness<RelacyAtomics>> readiness;

  void before() { readiness.Emplace(); }
  void after() { readiness.Destroy(); }

  void thread(unsigned index) {
    if (index == 0) {
      readiness->Set(0, kReadable);
    } else {
      readiness->Reset();
      RL_ASSERT(!readiness->Load().IsReady(Direction::kRead));
      RL_ASSERT(readiness->Load().generation() == 1);
    }
  }
};

TEST(ReadinessModelTest, LateEventsAreDropped) {
  EXPECT_TRUE(Holds<GenerationModel>(50'000));
}

}  // namespace
}  // namespace weft::io::io_internal
