// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The model of sync/ring_queue.h: each value is received once and in its sender's
// order, no more than fit are inside, and nobody sleeps on.

#include <optional>
#include <utility>

#include "gtest/gtest.h"
#include "weft/sync/queue_step.h"
#include "weft/sync/ring_queue.h"
#include "weft/tests/kit/relacy_atomics.h"
#include "weft/tests/kit/weaker_atomics.h"
#include "weft/tests/sync/channel_model.h"

namespace weft::sync_internal {
namespace {

// `kSenders` threads send two values each, the first of them by way of a reserved
// place if `kReserves`; the others receive until the queue is closed, by the last
// sender, and empty.
template <class Atomics, unsigned kSenders, unsigned kReceivers,
          size_t kCapacity, bool kReserves = false>
struct RingModel
    : rl::test_suite<
          RingModel<Atomics, kSenders, kReceivers, kCapacity, kReserves>,
          kSenders + kReceivers> {
  static constexpr unsigned kThreads = kSenders + kReceivers;

  Lazy<RingQueue<ModelValue, Atomics>> queue;
  ModelSleepers<kThreads> senders;
  ModelSleepers<kThreads> receivers;
  rl::atomic<int> senders_left;
  rl::atomic<int> received;

  void before() {
    queue.Emplace(kCapacity);
    senders.Reset();
    receivers.Reset();
    senders_left(RL_INFO).store(kSenders, rl::mo_relaxed);
    received(RL_INFO).store(0, rl::mo_relaxed);
  }
  void after() {
    RL_ASSERT(received(RL_INFO).load(rl::mo_relaxed) == 2 * kSenders);
    queue.Destroy();
  }

  void thread(unsigned index) {
    if (index < kSenders) {
      Sender(index);
    } else {
      Receiver(index);
    }
  }

  void Sender(unsigned index) {
    if (kReserves) {
      SendReserved(index);
    } else {
      Send(index, 1);
    }
    Send(index, 2);
    if (senders_left(RL_INFO).fetch_sub(1, rl::mo_acq_rel) == 1) {
      queue->Close();
      receivers.WakeAll();
    }
  }
  void Send(unsigned index, int number) {
    ModelValue value(static_cast<int>(index) * 10 + number);
    for (;;) {
      const QueueStep step = queue->Push(value);
      RL_ASSERT(step.result != QueueResult::kClosed);
      if (step.result == QueueResult::kDone) return WakeReceiver(step);
      WaitToSend(index, step.result);
    }
  }
  void SendReserved(unsigned index) {
    for (;;) {
      const QueueResult result = queue->Reserve();
      if (result == QueueResult::kDone) break;
      WaitToSend(index, result);
    }
    if (index == 1) {  // this one changes its mind
      if (queue->GiveBack()) {
        senders.WakeOne([this] { queue->NoSenderWaits(); });
      }
      return Send(index, 1);
    }
    ModelValue value(static_cast<int>(index) * 10 + 1);
    for (;;) {
      const QueueStep step = queue->PushReserved(value);
      if (step.result == QueueResult::kDone) return WakeReceiver(step);
      RL_ASSERT(step.result == QueueResult::kBusy);
      rl::yield(1, RL_INFO);
    }
  }
  void WaitToSend(unsigned index, QueueResult result) {
    if (result == QueueResult::kBusy) return rl::yield(1, RL_INFO);
    senders.Doze(
        index, [this] { return queue->SendersMaySleep(); },
        [this] { queue->NoSenderWaits(); });
  }
  void WakeReceiver(QueueStep step) {
    if (step.wake) receivers.WakeOne([this] { queue->NoReceiverWaits(); });
  }

  void Receiver(unsigned index) {
    int last[kSenders] = {};
    for (;;) {
      RL_ASSERT(queue->Size() <= kCapacity);
      std::optional<ModelValue> value;
      const QueueStep step =
          queue->Pop([&](ModelValue&& v) { value.emplace(std::move(v)); });
      if (step.result == QueueResult::kClosed) return;
      if (step.result == QueueResult::kBusy) {
        rl::yield(1, RL_INFO);
      } else if (step.result == QueueResult::kNotNow) {
        receivers.Doze(
            index, [this] { return queue->ReceiversMaySleep(); },
            [this] { queue->NoReceiverWaits(); });
      } else {
        if (step.wake) senders.WakeOne([this] { queue->NoSenderWaits(); });
        int& before = last[value->Get() / 10];
        RL_ASSERT(value->Get() % 10 > before);
        before = value->Get() % 10;
        received(RL_INFO).fetch_add(1, rl::mo_relaxed);
      }
    }
  }
};

TEST(RingQueueModelTest, OnePlaceOneSenderOneReceiver) {
  EXPECT_TRUE((Holds<RingModel<RelacyAtomics, 1, 1, 1>>()));
}

TEST(RingQueueModelTest, SendersShareOnePlace) {
  EXPECT_TRUE((Holds<RingModel<RelacyAtomics, 2, 1, 1>>()));
}

TEST(RingQueueModelTest, ReceiversShare) {
  EXPECT_TRUE((Holds<RingModel<RelacyAtomics, 1, 2, 2>>()));
}

TEST(RingQueueModelTest, TwoOfEachWithFewerPlacesThanSlots) {
  EXPECT_TRUE((Holds<RingModel<RelacyAtomics, 2, 2, 3>>()));
}

TEST(RingQueueModelTest, PlacesMayBeReservedAndGivenBack) {
  EXPECT_TRUE((Holds<RingModel<RelacyAtomics, 2, 1, 1, /*kReserves=*/true>>()));
}

TEST(RingQueueModelTest, NoticesAMissingOrder) {
  EXPECT_FALSE((Holds<RingModel<WeakerAtomics<Weaken::kRelease>, 1, 1, 1>>()));
  EXPECT_FALSE((Holds<RingModel<WeakerAtomics<Weaken::kAcquire>, 1, 1, 1>>()));
}

}  // namespace
}  // namespace weft::sync_internal
