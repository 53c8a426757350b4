// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The model of sync/rendezvous.h with sync/channel_waits.h: each value is received
// once or comes back, whoever gives up, and nobody sleeps on beside what he waits for.

#include <optional>
#include <utility>

#include "gtest/gtest.h"
#include "weft/sync/channel_waits.h"
#include "weft/sync/queue_step.h"
#include "weft/sync/rendezvous.h"
#include "weft/task/context.h"
#include "weft/tests/kit/relacy_atomics.h"
#include "weft/tests/kit/weaker_atomics.h"
#include "weft/tests/sync/channel_model.h"

namespace weft::sync_internal {
namespace {

// What a thread does. The last sender to end closes the channel.
enum class Role {
  kSend,        // waits until its value is taken, or the channel closed
  kTrySend,     // tries until a receiver sleeps
  kGiveUp,      // offers its value, and gives up
  kReceive,     // receives until the end
  kReceiveOne,  // receives one value, then closes the channel
  kLeave,       // begins to receive, and gives up
  kForget,  // begins to receive, and does not look until the others have ended
  kMislead  // the same, although it has promised to
};

template <class Atomics, Role... kRoles>
struct RendezvousModel
    : rl::test_suite<RendezvousModel<Atomics, kRoles...>, sizeof...(kRoles)> {
  static constexpr unsigned kThreads = sizeof...(kRoles);
  static constexpr Role kRoleOf[] = {kRoles...};

  using Waits = typename ModelWaits<Atomics, kThreads>::Waits;
  using Node = typename Waits::Node;
  using Channel = Rendezvous<ModelValue, Waits>;

  static bool IsSender(unsigned index) {
    return kRoleOf[index] <= Role::kGiveUp;
  }

  ModelWaits<Atomics, kThreads> waits;
  Lazy<Channel> channel;
  rl::atomic<int> senders_left;
  rl::atomic<int> receivers_left;
  int received[kThreads];  // of each sender's value
  int returned[kThreads];

  void before() {
    waits.Emplace();
    channel.Emplace();
    int senders = 0;
    int receivers = 0;
    for (unsigned i = 0; i < kThreads; ++i) {
      senders += IsSender(i);
      receivers += kRoleOf[i] == Role::kReceive;
      received[i] = returned[i] = 0;
    }
    senders_left(RL_INFO).store(senders, rl::mo_relaxed);
    receivers_left(RL_INFO).store(receivers, rl::mo_relaxed);
  }
  void after() {
    for (unsigned i = 0; i < kThreads; ++i) {
      RL_ASSERT(received[i] + returned[i] == IsSender(i));
    }
    channel.Destroy();
    waits.Destroy();
  }

  void thread(unsigned index) {
    if (!IsSender(index)) return Receiver(index);
    std::optional<ModelValue> value(std::in_place, static_cast<int>(index));
    if (!Send(index, value)) {
      RL_ASSERT(value->Get() == static_cast<int>(index));
      ++returned[index];
    }
    if (senders_left(RL_INFO).fetch_sub(1, rl::mo_acq_rel) == 1) {
      if (rl::rand(2) == 0) AwaitReceivers();
      Close();
    }
  }
  // That the end is near wakes nobody.
  void AwaitReceivers() {
    for (unsigned i = 0; i < kThreads; ++i) {
      while (received[i] + returned[i] != IsSender(i)) rl::yield(1, RL_INFO);
    }
  }

  void Close() {
    if (channel->Close(*waits)) waits->WakeAll();
  }

  // True if somebody has taken the value.
  bool Send(unsigned index, std::optional<ModelValue>& value) {
    if (kRoleOf[index] == Role::kTrySend) {
      for (;;) {
        const QueueResult result = channel->Push(*waits, *value);
        if (result != QueueResult::kNotNow) return result == QueueResult::kDone;
        rl::yield(1, RL_INFO);
      }
    }
    typename Channel::Offer offer;
    for (;;) {
      const QueueResult result =
          waits.PollOnce(index, /*prompt=*/true, [&](Context& cx) {
            return channel->PollOffer(*waits, offer, value, cx);
          });
      if (result == QueueResult::kDone) return true;
      if (result == QueueResult::kClosed) return false;
      if (kRoleOf[index] == Role::kGiveUp) {
        return channel->DropOffer(*waits, offer);
      }
      if (result == QueueResult::kBusy) {
        rl::yield(1, RL_INFO);
      } else {
        waits.AwaitPoll(index);
      }
    }
  }

  void Receiver(unsigned index) {
    const Role role = kRoleOf[index];
    QueueResult result;
    do {
      Node node;
      result = Poll(index, node);
      if (role == Role::kReceive || role == Role::kReceiveOne) {
        while (result == QueueResult::kNotNow) {
          waits.AwaitPoll(index);
          result = Poll(index, node);
        }
      } else if (result == QueueResult::kNotNow) {
        if (role != Role::kLeave) AwaitOtherReceivers();
        waits->Drop(waits->receivers, node, [] {});
      }
    } while (role == Role::kReceive && result == QueueResult::kDone);
    if (role == Role::kReceive) {
      receivers_left(RL_INFO).fetch_sub(1, rl::mo_acq_rel);
    } else if (role == Role::kReceiveOne) {
      Close();
    }
  }
  void AwaitOtherReceivers() {
    while (receivers_left(RL_INFO).load(rl::mo_acquire) != 0) {
      rl::yield(1, RL_INFO);
    }
  }
  QueueResult Poll(unsigned index, Node& node) {
    const bool prompt = kRoleOf[index] != Role::kForget;
    for (;;) {
      std::optional<ModelValue> value;
      const QueueResult result = channel->Pop(
          *waits, [&](ModelValue&& v) { value.emplace(std::move(v)); });
      if (result != QueueResult::kNotNow) {
        waits->Finish(waits->receivers, node, [] {});
        if (value.has_value()) ++received[value->Get()];
        return result;
      }
      const bool sleeps = waits.PollOnce(index, prompt, [&](Context& cx) {
        return waits->Sleep(
            waits->receivers, node, cx,
            [&] { return channel->ReceiversMaySleep(*waits); }, [] {});
      });
      if (sleeps) return result;
    }
  }
};

using enum Role;
template <Role... kRoles>
using Model = RendezvousModel<RelacyAtomics, kRoles...>;

TEST(RendezvousModelTest, SendersShareOneReceiver) {
  EXPECT_TRUE((Holds<Model<kSend, kSend, kReceive>>()));
}

TEST(RendezvousModelTest, SendersShareTwoReceivers) {
  EXPECT_TRUE((Holds<Model<kSend, kSend, kReceive, kReceive>>()));
}

TEST(RendezvousModelTest, AValueIsGivenToWhoSleeps) {
  EXPECT_TRUE((Holds<Model<kTrySend, kReceive>>()));
  EXPECT_TRUE((Holds<Model<kTrySend, kSend, kReceive>>()));
  EXPECT_TRUE((Holds<Model<kTrySend, kTrySend, kReceive, kReceive>>()));
}

TEST(RendezvousModelTest, ASenderThatGivesUpKeepsItsValueOrNot) {
  EXPECT_TRUE((Holds<Model<kGiveUp, kReceive>>()));
  EXPECT_TRUE((Holds<Model<kGiveUp, kSend, kReceive>>()));
  EXPECT_TRUE((Holds<Model<kGiveUp, kGiveUp, kReceive, kReceive>>()));
}

TEST(RendezvousModelTest, AReceiverThatLeavesPassesTheWakeOn) {
  EXPECT_TRUE((Holds<Model<kSend, kLeave, kReceive>>()));
  EXPECT_TRUE((Holds<Model<kTrySend, kLeave, kReceive>>()));
  EXPECT_TRUE((Holds<Model<kSend, kTrySend, kLeave, kReceive>>()));
}

TEST(RendezvousModelTest, AForgottenReceiverHoldsUpNobody) {
  EXPECT_TRUE((Holds<Model<kSend, kForget, kReceive>>()));
  EXPECT_TRUE((Holds<Model<kTrySend, kForget, kReceive>>()));
  EXPECT_TRUE((Holds<Model<kSend, kForget, kForget, kReceive>>()));
}

TEST(RendezvousModelTest, NoticesAReceiverThatBreaksItsPromise) {
  EXPECT_FALSE((Holds<Model<kSend, kMislead, kReceive>>()));
}

TEST(RendezvousModelTest, AtTheEndValuesComeBack) {
  EXPECT_TRUE((Holds<Model<kSend, kSend, kReceiveOne>>()));
  EXPECT_TRUE((Holds<Model<kSend, kGiveUp, kReceiveOne>>()));
  EXPECT_TRUE((Holds<Model<kSend, kTrySend, kReceiveOne>>()));
}

// The order is that of a receiver which leaves without the lock: it took what another
// one was woken for, and was itself woken before it had left.
TEST(RendezvousModelTest, NoticesAMissingOrder) {
  EXPECT_FALSE((Holds<RendezvousModel<WeakerAtomics<Weaken::kRelease>, kSend,
                                      kSend, kReceive, kReceive>>()));
  EXPECT_FALSE((Holds<RendezvousModel<WeakerAtomics<Weaken::kAcquire>, kSend,
                                      kSend, kReceive, kReceive>>()));
}

}  // namespace
}  // namespace weft::sync_internal
