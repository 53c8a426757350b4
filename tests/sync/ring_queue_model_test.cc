// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The model of sync/ring_queue.h with sync/channel_waits.h: each value is received
// once and in its sender's order, no more than fit are inside, and nobody sleeps on,
// whoever gives up.

#include <optional>
#include <utility>

#include "gtest/gtest.h"
#include "weft/sync/channel_waits.h"
#include "weft/sync/queue_step.h"
#include "weft/sync/ring_queue.h"
#include "weft/tests/kit/relacy_atomics.h"
#include "weft/tests/kit/weaker_atomics.h"
#include "weft/tests/sync/channel_model.h"

namespace weft::sync_internal {
namespace {

enum class Scene {
  kSend,
  kReserve,  // the first value of each sender has a reserved place
  kGiveUp    // the last receiver leaves as soon as it has slept
};

// `kSenders` threads send two values each; the others receive until the queue is
// closed, by the last sender, and empty.
template <class Atomics, unsigned kSenders, unsigned kReceivers,
          size_t kCapacity, Scene kScene = Scene::kSend>
struct RingModel
    : rl::test_suite<
          RingModel<Atomics, kSenders, kReceivers, kCapacity, kScene>,
          kSenders + kReceivers> {
  static constexpr unsigned kThreads = kSenders + kReceivers;

  using Node = typename ModelWaits<Atomics, kThreads>::Node;

  Lazy<RingQueue<ModelValue, Atomics>> queue;
  ModelWaits<Atomics, kThreads> waits;
  rl::atomic<int> senders_left;
  rl::atomic<int> received;

  void before() {
    queue.Emplace(kCapacity);
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
      Sender(index);
    } else {
      Receiver(index);
    }
  }

  // That the end is near wakes nobody.
  void AwaitReceivers() {
    while (received(RL_INFO).load(rl::mo_relaxed) != 2 * kSenders) {
      rl::yield(1, RL_INFO);
    }
  }

  // What is called when nobody sleeps any more.
  auto NoSenders() {
    return [this] { queue->NoSenderWaits(); };
  }
  auto NoReceivers() {
    return [this] { queue->NoReceiverWaits(); };
  }

  void Sender(unsigned index) {
    if (kScene == Scene::kReserve) {
      SendReserved(index);
    } else {
      Send(index, 1);
    }
    Send(index, 2);
    if (senders_left(RL_INFO).fetch_sub(1, rl::mo_acq_rel) == 1) {
      if (rl::rand(2) == 0) AwaitReceivers();
      queue->Close();
      waits->WakeAll();
    }
  }
  void Send(unsigned index, int number) {
    ModelValue value(static_cast<int>(index) * 10 + number);
    Node node;
    for (;;) {
      const QueueStep step = queue->Push(value);
      RL_ASSERT(step.result != QueueResult::kClosed);
      if (step.result == QueueResult::kDone) {
        WakeReceiver(step);
        break;
      }
      WaitToSend(index, node, step.result);
    }
    waits->Finish(waits->senders, node, NoSenders());
  }
  void SendReserved(unsigned index) {
    Reserve(index);
    if (index == 1) {  // this one changes its mind
      if (queue->GiveBack()) waits->WakeOne(waits->senders, NoSenders());
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
  void Reserve(unsigned index) {
    Node node;
    for (;;) {
      const QueueResult result = queue->Reserve();
      if (result == QueueResult::kDone) break;
      WaitToSend(index, node, result);
    }
    waits->Finish(waits->senders, node, NoSenders());
  }
  void WaitToSend(unsigned index, Node& node, QueueResult result) {
    if (result == QueueResult::kBusy) return rl::yield(1, RL_INFO);
    waits.Sleep(
        index, waits->senders, node,
        [this] { return queue->SendersMaySleep(); }, NoSenders());
  }
  void WakeReceiver(QueueStep step) {
    if (step.wake) waits->WakeOne(waits->receivers, NoReceivers());
  }

  void Receiver(unsigned index) {
    int last[kSenders] = {};
    while (Receive(index, last)) {
    }
  }
  // False at the end, or if it gave up.
  bool Receive(unsigned index, int* last) {
    Node node;
    for (;;) {
      RL_ASSERT(queue->Size() <= kCapacity);
      std::optional<ModelValue> value;
      const QueueStep step =
          queue->Pop([&](ModelValue&& v) { value.emplace(std::move(v)); });
      if (step.result == QueueResult::kBusy) {
        rl::yield(1, RL_INFO);
      } else if (step.result == QueueResult::kNotNow) {
        const bool gives_up = kScene == Scene::kGiveUp && index + 1 == kThreads;
        if (gives_up && node.polled) {
          waits->Drop(waits->receivers, node, NoReceivers());
          return false;
        }
        waits.Sleep(
            index, waits->receivers, node,
            [this] { return queue->ReceiversMaySleep(); }, NoReceivers());
      } else {
        if (step.wake) waits->WakeOne(waits->senders, NoSenders());
        waits->Finish(waits->receivers, node, NoReceivers());
        if (step.result == QueueResult::kClosed) return false;
        int& before = last[value->Get() / 10];
        RL_ASSERT(value->Get() % 10 > before);
        before = value->Get() % 10;
        received(RL_INFO).fetch_add(1, rl::mo_relaxed);
        return true;
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
  EXPECT_TRUE((Holds<RingModel<RelacyAtomics, 2, 1, 1, Scene::kReserve>>()));
}

TEST(RingQueueModelTest, AReceiverThatGivesUpPassesTheWakeOn) {
  EXPECT_TRUE((Holds<RingModel<RelacyAtomics, 1, 2, 1, Scene::kGiveUp>>()));
  EXPECT_TRUE((Holds<RingModel<RelacyAtomics, 2, 2, 1, Scene::kGiveUp>>()));
}

TEST(RingQueueModelTest, NoticesAMissingOrder) {
  EXPECT_FALSE((Holds<RingModel<WeakerAtomics<Weaken::kRelease>, 1, 1, 1>>()));
  EXPECT_FALSE((Holds<RingModel<WeakerAtomics<Weaken::kAcquire>, 1, 1, 1>>()));
}

}  // namespace
}  // namespace weft::sync_internal
