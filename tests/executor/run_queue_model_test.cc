// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// What executor/run_queue.h promises, explored by Relacy on the production
// code: each item is taken exactly once, by somebody who sees what its pusher
// wrote, whatever the owner and the thieves do meanwhile.

#include <atomic>
#include <cstdint>

#include "gtest/gtest.h"
#include "weft/executor/run_queue.h"

// After every other header.
#include "weft/tests/kit/relacy_atomics.h"

namespace weft::executor_internal {
namespace {

using Queue = RunQueue<int, 4, RelacyAtomics>;

// Items are indices of `content`, which is plain memory.
template <class Model, int threads, int items>
struct QueueModel : rl::test_suite<Model, threads> {
  static constexpr int kItems = items;

  Lazy<Queue> queue;
  rl::var<int> content[items];
  rl::atomic<int> taken[items];

  void before() {
    queue.Emplace();
    for (auto& count : taken) count(RL_INFO) = 0;
  }
  void after() {
    int item = 0;
    while (queue->Pop(item)) Take(item);
    RL_ASSERT(queue->IsEmpty());
    for (auto& count : taken)
      RL_ASSERT(count(RL_INFO).load(rl::mo_relaxed) == 1);
    queue.Destroy();
  }

  void Fill(int item) { content[item](RL_INFO) = item + 1; }
  void Take(int item) {
    RL_ASSERT(content[item](RL_INFO) == item + 1);
    taken[item](RL_INFO).fetch_add(1, rl::mo_relaxed);
  }
  void StealSome(uint32_t max) {
    int stolen[Queue::kMaxSteal];
    const uint32_t count = queue->Steal(stolen, max);
    for (uint32_t i = 0; i < count; ++i) Take(stolen[i]);
  }
};

// The owner pushes and pops, twice around the ring; the others steal.
struct StealModel : QueueModel<StealModel, 3, 7> {
  void thread(unsigned index) {
    if (index != 0) {
      for (int i = 0; i < 2; ++i) StealSome(index);
      return;
    }
    for (int item = 0; item < kItems; ++item) {
      Fill(item);
      while (!queue->Push(item)) {
        // As the executor does when its queue is full.
        StealSome(Queue::kMaxSteal);
      }
      if (item % 3 == 2) {
        int popped = 0;
        if (queue->Pop(popped)) Take(popped);
      }
    }
  }
};

TEST(RunQueueModelTest, EachItemIsTakenOnce) {
  EXPECT_TRUE(Holds<StealModel>());
}

// Batches; a thief that is slow meets slots in use for the next round.
struct BatchModel : QueueModel<BatchModel, 2, 8> {
  void thread(unsigned index) {
    if (index != 0) {
      for (int i = 0; i < 3; ++i) StealSome(Queue::kMaxSteal);
      return;
    }
    int next = 0;
    while (next < kItems) {
      int batch[4];
      int size = 0;
      while (size < 4 && next + size < kItems) {
        batch[size] = next + size;
        Fill(batch[size++]);
      }
      next += static_cast<int>(queue->PushMany(batch, size));
      // Those that did not fit are filled and pushed again.
      int popped = 0;
      if (queue->Pop(popped)) Take(popped);
    }
  }
};

TEST(RunQueueModelTest, BatchesAreTakenOnce) {
  EXPECT_TRUE(Holds<BatchModel>());
}

// Somebody who only looks: what was pushed before is seen, or has been taken.
struct SizeModel : QueueModel<SizeModel, 3, 1> {
  rl::atomic<int> pushed;

  void before() {
    pushed(RL_INFO) = 0;
    QueueModel<SizeModel, 3, 1>::before();
  }
  void thread(unsigned index) {
    if (index == 0) {
      Fill(0);
      RL_ASSERT(queue->Push(0));
      pushed(RL_INFO).store(1, rl::mo_release);
    } else if (index == 1) {
      StealSome(1);
    } else if (pushed(RL_INFO).load(rl::mo_acquire) == 1 && queue->IsEmpty()) {
      RL_ASSERT(taken[0](RL_INFO).load(rl::mo_relaxed) <= 1);
    }
  }
};

TEST(RunQueueModelTest, LookingDisturbsNobody) {
  EXPECT_TRUE(Holds<SizeModel>());
}

}  // namespace
}  // namespace weft::executor_internal
