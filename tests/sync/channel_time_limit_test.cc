// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// C047: values that come just as the time limit of whoever waits for them, on a real
// clock and several threads.
//
// The same moment is aimed at from both sides: a limit of 1 ms runs from one delivery
// on, and so does the pause, of about 1 ms, before the next one. Several channels are
// used at once, with a place and without.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "weft/runtime/runtime.h"
#include "weft/runtime/runtime_builder.h"
#include "weft/select/select.h"
#include "weft/sync/channel.h"
#include "weft/sync/channel_receiver.h"
#include "weft/sync/channel_sender.h"
#include "weft/sync/send_result.h"
#include "weft/task/join_handle.h"
#include "weft/task/random.h"
#include "weft/task/task.h"
#include "weft/timer/sleep.h"
#include "weft/timer/timeout.h"

namespace weft::sync {
namespace {

constexpr int kChannels = 8;
constexpr absl::Duration kLimit = absl::Milliseconds(1);

// Of each channel: 0, 1, ... With WEFT_LONG=1 that takes some minutes.
int64_t ItemCount() {
  return std::getenv("WEFT_LONG") != nullptr ? 100'000 : 1'000;
}

// Before every other item, on average: about as long as the limit.
absl::Duration Jitter(Random& random) {
  if (random.Below(2) == 0) return absl::ZeroDuration();
  return absl::Microseconds(900 + random.Below(200));
}

struct Tally {
  int64_t items = 0;
  int64_t sum = 0;
  int64_t out_of_order = 0;
  int64_t limits = 0;  // that came before a value, or before room
};

// Sends all items, each until it is gone. With a limit gives up and begins anew.
Task<Tally> SendAll(Sender<int64_t> sender, bool limited, uint64_t seed) {
  Random random(seed);
  Tally tally;
  while (tally.items < ItemCount()) {
    const absl::Duration pause = Jitter(random);
    if (pause > absl::ZeroDuration()) co_await timer::After(pause);
    for (bool sent = false; !sent;) {
      auto send = sender.Send(tally.items);
      if (!limited) {
        SendResult<int64_t> done = co_await send;
        if (!done.ok()) co_return tally;
        break;
      }
      if (random.Below(2) == 0) {
        auto done = co_await timer::Timeout(kLimit, send);
        if (done.ok() && !done->ok()) co_return tally;
        sent = done.ok();
      } else {
        auto winner = co_await Select(send, timer::After(kLimit));
        sent = winner.index() == 0;
        if (sent && !std::get<0>(winner).value.ok()) co_return tally;
      }
      if (sent) break;
      ++tally.limits;
      const std::optional<int64_t> kept = send.TakeValue();
      sent = !kept.has_value();  // gone in the last moment
      if (!sent) tally.out_of_order += *kept != tally.items;
    }
    ++tally.items;
  }
  co_return tally;
}

// Receives until the end, with a limit; after a pause, if `slow`.
Task<Tally> ReceiveAll(Receiver<int64_t> receiver, bool slow, uint64_t seed) {
  Random random(seed);
  Tally tally;
  for (;;) {
    const absl::Duration pause = slow ? Jitter(random) : absl::ZeroDuration();
    if (pause > absl::ZeroDuration()) co_await timer::After(pause);
    std::optional<absl::StatusOr<int64_t>> received;
    if (random.Below(2) == 0) {
      auto receive = receiver.Receive();
      auto done = co_await timer::Timeout(kLimit, std::move(receive));
      if (!absl::IsDeadlineExceeded(done.status())) received = done;
    } else {
      // Where the limit may win although there is a value.
      auto winner = co_await Select(receiver.Receive(), timer::After(kLimit));
      if (winner.index() == 0) received = std::get<0>(winner).value;
    }
    if (!received.has_value()) {
      ++tally.limits;
      continue;
    }
    if (!received->ok()) co_return tally;  // the end
    tally.out_of_order += **received != tally.items;
    ++tally.items;
    tally.sum += **received;
  }
}

// Prints how often a limit came first.
void Exchange(bool limited_senders) {
  Runtime runtime = *RuntimeBuilder().WorkerThreads(4).EnableAll().Build();
  std::vector<JoinHandle<Tally>> sending;
  std::vector<JoinHandle<Tally>> receiving;
  for (uint64_t i = 0; i < kChannels; ++i) {
    auto ends = Channel<int64_t>(i % 2);
    sending.push_back(
        runtime.Spawn(SendAll(std::move(ends.first), limited_senders, 2 * i)));
    receiving.push_back(runtime.Spawn(
        ReceiveAll(std::move(ends.second), limited_senders, 2 * i + 1)));
  }

  int64_t send_limits[2] = {};  // by capacity
  int64_t receive_limits[2] = {};
  for (size_t i = 0; i < kChannels; ++i) {
    const Tally sent = runtime.BlockOn(std::move(sending[i]));
    const Tally received = runtime.BlockOn(std::move(receiving[i]));
    send_limits[i % 2] += sent.limits;
    receive_limits[i % 2] += received.limits;
    const int64_t count = ItemCount();
    EXPECT_EQ(sent.items, count);
    EXPECT_EQ(received.items, count);
    EXPECT_EQ(received.sum, count * (count - 1) / 2);
    EXPECT_EQ(sent.out_of_order, 0);
    EXPECT_EQ(received.out_of_order, 0);
  }
  for (const size_t capacity : {0, 1}) {
    std::printf("capacity %zu: the limits of %lld receivers and %lld senders\n",
                capacity, static_cast<long long>(receive_limits[capacity]),
                static_cast<long long>(send_limits[capacity]));
    EXPECT_GT(receive_limits[capacity], 0);
    EXPECT_EQ(send_limits[capacity] > 0, limited_senders);
  }
}

TEST(ChannelTimeLimitTest, EachItemArrivesOnceAndInOrderWhereReceiversGiveUp) {
  Exchange(/*limited_senders=*/false);
}

TEST(ChannelTimeLimitTest, EachItemArrivesOnceAndInOrderWhereBothSidesGiveUp) {
  Exchange(/*limited_senders=*/true);
}

}  // namespace
}  // namespace weft::sync
