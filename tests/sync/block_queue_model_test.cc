// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The model of sync/block_queue.h with sync/channel_waits.h, with blocks of one and of
// two slots: each value is received once and in its sender's order, no receiver sleeps
// on, and each block is freed once.

#include <optional>
#include <utility>

#include "gtest/gtest.h"
#include "weft/sync/block_queue.h"
#include "weft/sync/channel_waits.h"
#include "weft/sync/queue_step.h"
#include "weft/tests/kit/relacy_atomics.h"
#include "weft/tests/kit/weaker_atomics.h"
#include "weft/tests/sync/channel_model.h"

namespace weft::sync_internal {
namespace {

// `kSenders` threads send two values each; the others receive until the queue is
// closed, by the last sender, and empty.
template <class Atomics, unsigned kSenders, unsigned kReceivers, uint64_t kLap>
struct BlockModel
    : rl::test_suite<BlockModel<Atomics, kSenders, kReceivers, kLap>,
                     kSenders + kReceivers> {
  static constexpr unsigned kThreads = kSenders + kReceivers;

  using Node = typename ModelWaits<Atomics, kThreads>::Node;

  Lazy<BlockQueue<ModelValue, Atomics, kLap>> queue;
  ModelWaits<Atomics, kThreads> waits;
  rl::atomic<int> senders_left;
  rl::atomic<int> received;

  void before() {
    queue.Emplace();
    waits.Emplace();
    senders_left(RL_INFO).store(kSenders, rl::mo_relaxed);
    received(RL_INFO).store(0, rl::mo_relaxed);
  }
  void after() {
    RL_ASSERT(received(RL_INFO).load(rl::mo_relaxed) == 2 * kSenders);
    waits.Destroy();
    queue.Destroy();
  }

  void thread(unsigned index) {
    if (index < kSenders) {
      Send(index, 1);
      Send(index, 2);
      if (senders_left(RL_INFO).fetch_sub(1, rl::mo_acq_rel) == 1) {
        if (rl::rand(2) == 0) AwaitReceivers();
        queue->Close();
        waits->WakeAll();
      }
    } else {
      Receiver(index);
    }
  }

  void Send(unsigned index, int number) {
    ModelValue value(static_cast<int>(index) * 10 + number);
    const QueueStep step = queue->Push(value);
    RL_ASSERT(step.result == QueueResult::kDone);
    if (step.wake) waits->WakeOne(waits->receivers, NoReceivers());
  }

  // That the end is near wakes nobody.
  void AwaitReceivers() {
    while (received(RL_INFO).load(rl::mo_relaxed) != 2 * kSenders) {
      rl::yield(1, RL_INFO);
    }
  }

  // What is called when nobody sleeps any more.
  auto NoReceivers() {
    return [this] { queue->NoReceiverWaits(); };
  }

  void Receiver(unsigned index) {
    int last[kSenders] = {};
    while (Receive(index, last)) {
    }
  }
  // False at the end.
  bool Receive(unsigned index, int* last) {
    Node node;
    for (;;) {
      std::optional<ModelValue> value;
      const QueueResult result =
          queue->Pop([&](ModelValue&& v) { value.emplace(std::move(v)); })
              .result;
      if (result == QueueResult::kBusy) {
        rl::yield(1, RL_INFO);
      } else if (result == QueueResult::kNotNow) {
        waits.Sleep(
            index, waits->receivers, node,
            [this] { return queue->ReceiversMaySleep(); }, NoReceivers());
      } else {
        waits->Finish(waits->receivers, node, NoReceivers());
        if (result == QueueResult::kClosed) return false;
        int& before = last[value->Get() / 10];
        RL_ASSERT(value->Get() % 10 > before);
        before = value->Get() % 10;
        received(RL_INFO).fetch_add(1, rl::mo_relaxed);
        return true;
      }
    }
  }
};

TEST(BlockQueueModelTest, OneSenderOneReceiver) {
  EXPECT_TRUE((Holds<BlockModel<RelacyAtomics, 1, 1, 2>>()));
  EXPECT_TRUE((Holds<BlockModel<RelacyAtomics, 1, 1, 3>>()));
}

TEST(BlockQueueModelTest, SendersLinkBlocksOnce) {
  EXPECT_TRUE((Holds<BlockModel<RelacyAtomics, 2, 1, 2>>()));
  EXPECT_TRUE((Holds<BlockModel<RelacyAtomics, 2, 1, 3>>()));
}

TEST(BlockQueueModelTest, ReceiversFreeBlocksOnce) {
  EXPECT_TRUE((Holds<BlockModel<RelacyAtomics, 1, 2, 2>>()));
  EXPECT_TRUE((Holds<BlockModel<RelacyAtomics, 1, 2, 3>>()));
}

TEST(BlockQueueModelTest, TwoOfEach) {
  EXPECT_TRUE((Holds<BlockModel<RelacyAtomics, 2, 2, 3>>()));
}

TEST(BlockQueueModelTest, NoticesAMissingOrder) {
  EXPECT_FALSE((Holds<BlockModel<WeakerAtomics<Weaken::kRelease>, 1, 1, 2>>()));
  EXPECT_FALSE((Holds<BlockModel<WeakerAtomics<Weaken::kAcquire>, 1, 1, 2>>()));
}

}  // namespace
}  // namespace weft::sync_internal
