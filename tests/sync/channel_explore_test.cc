// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// weft-lint: allow-file(R22): the tests' tasks end before what they refer to.

// Channels under many interleavings of one thread; those of several threads are the
// models' and the stress tests' part.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "weft/executor/deterministic_executor.h"
#include "weft/sync/channel.h"
#include "weft/sync/channel_receiver.h"
#include "weft/sync/channel_sender.h"
#include "weft/task/join_handle.h"
#include "weft/task/random.h"
#include "weft/task/spawner.h"
#include "weft/task/task.h"
#include "weft/task/yield_now.h"
#include "weft/tests/kit/explore_schedules.h"
#include "weft/timer/timeout.h"

namespace weft::sync {
namespace {

constexpr int kSenders = 3;
constexpr int kEach = 4;

// What became of the values; each is sender * kEach + number.
struct Tally {
  std::set<int> sent;
  std::set<int> kept;                           // not sent: given up or refused
  std::set<int> received;                       // or displaced
  std::vector<std::array<int, kSenders>> last;  // per receiver
  bool in_order = true;
  bool doubled = false;
};

absl::Duration SomeTime(Random& random) {
  return absl::Microseconds(random.Below(4));
}

// Sends by all means there are; waits have limits.
Task<> SendSome(Sender<int> sender, int self, Tally* tally, Random* random) {
  for (int n = 0; n < kEach; ++n) {
    const int value = self * kEach + n;
    const uint32_t how = random->Below(4);
    bool sent = true;
    if (how == 0) {
      sent = sender.TrySend(value).ok();
    } else if (how == 1 && sender.capacity() > 0) {
      auto permit =
          co_await timer::Timeout(SomeTime(*random), sender.Reserve());
      co_await YieldNow();
      sent = permit.ok() && random->Below(3) != 0 &&
             std::move(*permit).Send(value).ok();
    } else {
      auto send = sender.Send(value);
      auto done = co_await timer::Timeout(SomeTime(*random), send);
      sent = done.ok() ? done->ok() : !send.TakeValue().has_value();
    }
    (sent ? tally->sent : tally->kept).insert(value);
    if (random->Below(3) == 0) co_await YieldNow();
  }
}

// Receives until the end; waits have limits.
Task<> ReceiveSome(Receiver<int> receiver, size_t self, Tally* tally,
                   Random* random) {
  for (;;) {
    auto received =
        co_await timer::Timeout(SomeTime(*random), receiver.Receive());
    if (received.ok()) {
      const int value = *received;
      tally->doubled |= !tally->received.insert(value).second;
      int& before = tally->last[self][static_cast<size_t>(value / kEach)];
      tally->in_order &= value % kEach > before;
      before = value % kEach;
    } else if (absl::IsFailedPrecondition(received.status())) {
      co_return;
    }
    if (random->Below(3) == 0) co_await YieldNow();
  }
}

Task<absl::Status> Exchange(Random* random) {
  constexpr size_t kCapacities[] = {0, 1, 2, 3, Sender<int>::kUnbounded};
  const size_t capacity = kCapacities[random->Below(std::size(kCapacities))];
  const size_t receivers = 1 + random->Below(2);
  Tally tally;
  for (size_t i = 0; i < receivers; ++i) {
    tally.last.emplace_back().fill(-1);
  }
  std::vector<JoinHandle<>> tasks;
  {
    auto ends = capacity == Sender<int>::kUnbounded ? UnboundedChannel<int>()
                                                    : Channel<int>(capacity);
    for (size_t i = 0; i < receivers; ++i) {
      tasks.push_back(
          SpawnBorrowing(ReceiveSome(ends.second, i, &tally, random)));
    }
    for (int i = 0; i < kSenders; ++i) {
      tasks.push_back(SpawnBorrowing(SendSome(ends.first, i, &tally, random)));
    }
  }
  for (JoinHandle<>& task : tasks) co_await task;

  if (tally.doubled) co_return absl::InternalError("a value came twice");
  if (!tally.in_order) co_return absl::InternalError("values changed places");
  if (tally.sent != tally.received) {
    co_return absl::InternalError("what was sent is not what came");
  }
  co_return absl::OkStatus();
}

TEST(ChannelExploreTest, WhatIsSentComesOnceAndInOrder) {
  const uint64_t seeds = std::getenv("WEFT_LONG") != nullptr ? 10'000 : 1'000;
  const auto scenario = [](DeterministicExecutor& executor) {
    return executor.Run(Exchange(&executor.random()));
  };

  EXPECT_GT(ExploreSchedules(seeds, scenario), seeds / 2);
}

}  // namespace
}  // namespace weft::sync
