// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// weft-lint: allow-file(R22): the tests' tasks end before what they refer to.

// Priority channels under many interleavings of one thread.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "weft/executor/deterministic_executor.h"
#include "weft/executor/explore.h"
#include "weft/select/select.h"
#include "weft/sync/event.h"
#include "weft/sync/priority_channel.h"
#include "weft/sync/priority_receiver.h"
#include "weft/sync/priority_sender.h"
#include "weft/sync/send_result.h"
#include "weft/task/join_handle.h"
#include "weft/task/random.h"
#include "weft/task/spawner.h"
#include "weft/task/task.h"
#include "weft/task/yield_now.h"
#include "weft/timer/timeout.h"

namespace weft::sync {
namespace {

constexpr int kSenders = 3;
constexpr int kEach = 4;
constexpr int kPriorities = 3;

// Values are number * kPriorities + priority; a sender's numbers rise.
int PriorityOf(int value) { return value % kPriorities; }

// What became of the values.
struct Tally {
  std::set<int> sent;
  std::set<int> received;  // or displaced
  bool doubled = false;

  void Receive(int value) { doubled |= !received.insert(value).second; }
};

absl::Duration SomeTime(Random& random) {
  return absl::Microseconds(random.Below(4));
}

// Sends by all means there are; some waits have limits.
Task<> SendSome(PrioritySender<int> sender, int self, Tally* tally,
                Random* random) {
  for (int n = 0; n < kEach; ++n) {
    const int priority = static_cast<int>(random->Below(kPriorities));
    const int value = (self * kEach + n) * kPriorities + priority;
    const uint32_t how = random->Below(6);
    bool sent = true;
    if (how == 0) {
      sent = sender.TrySend(value, priority).ok();
    } else if (how == 1) {
      std::optional<int> displaced;
      sent = sender.ForceSend(value, priority, &displaced).ok();
      if (displaced.has_value()) tally->Receive(*displaced);
    } else if (how < 4) {
      SendResult<int> done = co_await sender.Send(value, priority);
      sent = done.ok();
    } else {
      auto send = sender.Send(value, priority);
      auto done = co_await timer::Timeout(SomeTime(*random), send);
      sent = done.ok() ? done->ok() : !send.TakeValue().has_value();
    }
    if (sent) tally->sent.insert(value);
    if (random->Below(3) == 0) co_await YieldNow();
  }
}

// Receives until the end, one or several at a time; some waits have limits.
Task<> ReceiveSome(PriorityReceiver<int> receiver, Tally* tally,
                   Random* random) {
  std::vector<int> values;
  for (bool open = true; open;) {
    values.clear();
    const uint32_t how = random->Below(3);
    if (how == 0) {
      absl::StatusOr<int> received = co_await receiver.Receive();
      if (received.ok()) values.push_back(*received);
      open = received.ok();
    } else if (how == 1) {
      auto received =
          co_await timer::Timeout(SomeTime(*random), receiver.Receive());
      if (received.ok()) values.push_back(*received);
      open = !absl::IsFailedPrecondition(received.status());
    } else {
      auto many = receiver.ReceiveMany(values, 2);
      auto count = co_await timer::Timeout(SomeTime(*random), many);
      open = !count.ok() || *count > 0;
    }
    for (size_t i = 0; i < values.size(); ++i) {
      tally->Receive(values[i]);
      // What is taken in one go is in order.
      if (i > 0)
        tally->doubled |= PriorityOf(values[i - 1]) < PriorityOf(values[i]);
    }
    if (random->Below(3) == 0) co_await YieldNow();
  }
}

Task<absl::Status> Exchange(Random* random) {
  constexpr size_t kCapacities[] = {1, 2, 3, PrioritySender<int>::kUnbounded};
  const size_t capacity = kCapacities[random->Below(std::size(kCapacities))];
  const size_t receivers = 1 + random->Below(2);
  Tally tally;
  std::vector<JoinHandle<>> tasks;
  {
    auto ends = capacity == PrioritySender<int>::kUnbounded
                    ? UnboundedPriorityChannel<int>()
                    : PriorityChannel<int>(capacity);
    for (size_t i = 0; i < receivers; ++i) {
      tasks.push_back(SpawnBorrowing(ReceiveSome(ends.second, &tally, random)));
    }
    for (int i = 0; i < kSenders; ++i) {
      tasks.push_back(SpawnBorrowing(SendSome(ends.first, i, &tally, random)));
    }
  }
  for (JoinHandle<>& task : tasks) co_await task;

  if (tally.doubled) co_return absl::InternalError("twice, or out of order");
  if (tally.sent != tally.received) {
    co_return absl::InternalError("what was sent is not what came");
  }
  co_return absl::OkStatus();
}

// Explores, and says how many different schedules were seen.
void ExpectHolds(const char* what, Task<absl::Status> (*scenario)(Random*)) {
  const uint64_t seeds = std::getenv("WEFT_LONG") != nullptr ? 10'000 : 1'000;
  std::set<uint64_t> schedules;

  const std::optional<ScenarioFailure> failure =
      Explore(seeds, [&](DeterministicExecutor& executor) -> absl::Status {
        absl::Status status = executor.Run(scenario(&executor.random()));
        schedules.insert(executor.fingerprint());
        return status;
      });

  EXPECT_EQ(failure, std::nullopt);
  std::printf("%s: %zu schedules of %llu seeds\n", what, schedules.size(),
              static_cast<unsigned long long>(seeds));
  EXPECT_GT(schedules.size(), seeds / 2);
}

TEST(PriorityChannelExploreTest, WhatIsSentComesOnce) {
  ExpectHolds("exchange", &Exchange);
}

// Who waits for an answer sends nothing more, and nobody has a clock: a wake that is
// lost is missed for ever.

Task<> YieldSome(uint32_t yields) {
  for (uint32_t i = 0; i < yields; ++i) co_await YieldNow();
}

Task<> Ask(PrioritySender<Event*> sender, Random* random) {
  for (int n = 0; n < 2; ++n) {
    Event answered;
    const int priority = static_cast<int>(random->Below(kPriorities));
    for (bool sent = false; !sent;) {
      auto send = sender.Send(&answered, priority);
      auto winner = co_await Select(send, YieldSome(random->Below(4)));
      sent = winner.index() == 0 || !send.TakeValue().has_value();
      if (!sent && random->Below(2) == 0) {
        const auto done = co_await sender.Send(&answered, priority);
        sent = done.ok();
      }
    }
    co_await answered.Wait();
  }
}

// One that `quits` ends when it has given up.
Task<> Answer(PriorityReceiver<Event*> receiver, bool quits, Random* random) {
  for (;;) {
    if (random->Below(2) == 0) {
      auto winner =
          co_await Select(receiver.Receive(), YieldSome(random->Below(4)));
      if (winner.index() == 1) {
        if (quits) co_return;
        continue;
      }
      if (!std::get<0>(winner).value.ok()) co_return;
      (*std::get<0>(winner).value)->Set();
    } else {
      const absl::StatusOr<Event*> asked = co_await receiver.Receive();
      if (!asked.ok()) co_return;
      (*asked)->Set();
    }
  }
}

Task<absl::Status> AskAndAnswer(Random* random) {
  std::vector<JoinHandle<>> tasks;
  {
    auto ends = PriorityChannel<Event*>(1 + random->Below(2));
    for (const bool quits : {true, false}) {
      tasks.push_back(SpawnBorrowing(Answer(ends.second, quits, random)));
    }
    for (int i = 0; i < kSenders; ++i) {
      tasks.push_back(SpawnBorrowing(Ask(ends.first, random)));
    }
  }
  for (JoinHandle<>& task : tasks) co_await task;
  co_return absl::OkStatus();
}

TEST(PriorityChannelExploreTest, NobodySleepsWhileThereIsWork) {
  ExpectHolds("answers", &AskAndAnswer);
}

}  // namespace
}  // namespace weft::sync
