// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/bench/sync/channel_cases.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "weft/bench/executor/common.h"
#include "weft/bench/harness.h"
#include "weft/runtime/runtime.h"
#include "weft/sync/channel.h"
#include "weft/sync/channel_receiver.h"
#include "weft/sync/channel_sender.h"
#include "weft/task/check.h"
#include "weft/task/join_handle.h"
#include "weft/task/spawner.h"
#include "weft/task/task.h"

namespace weft::bench {
namespace {

using sync::Receiver;
using sync::Sender;

// A message of so many bytes.
template <size_t kBytes>
using Message = std::array<uint64_t, kBytes / sizeof(uint64_t)>;

template <class T>
std::pair<Sender<T>, Receiver<T>> Make(size_t capacity) {
  return capacity == 0 ? sync::UnboundedChannel<T>()
                       : sync::Channel<T>(capacity);
}

template <class T>
Task<> SendSome(Sender<T> sender, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    T message{};
    message[0] = i + 1;
    auto sent = co_await sender.Send(message);
    WEFT_CHECK(sent.ok(), "a channel closed too early");
  }
}

template <class T>
Task<uint64_t> ReceiveAll(Receiver<T> receiver) {
  uint64_t sum = 0;
  for (;;) {
    absl::StatusOr<T> message = co_await receiver.Receive();
    if (!message.ok()) co_return sum;
    sum += (*message)[0];
  }
}

template <class T>
Task<> SendAndReceive(size_t senders, size_t receivers, size_t capacity,
                      size_t count) {
  std::vector<JoinHandle<>> sending;
  std::vector<JoinHandle<uint64_t>> receiving;
  {
    auto [sender, receiver] = Make<T>(capacity);
    for (size_t i = 0; i < receivers; ++i) {
      receiving.push_back(Spawn(ReceiveAll<T>(receiver)));
    }
    for (size_t i = 0; i < senders; ++i) {
      sending.push_back(Spawn(SendSome<T>(sender, count / senders)));
    }
  }
  for (JoinHandle<>& handle : sending) co_await handle;
  uint64_t sum = 0;
  for (JoinHandle<uint64_t>& handle : receiving) sum += co_await handle;
  const uint64_t each = count / senders;
  WEFT_CHECK(sum == senders * each * (each + 1) / 2, "messages are lost");
}

// `capacity` 0 is none.
template <size_t kSenders, size_t kReceivers, size_t kCapacity, size_t kBytes>
void Channels(Bench& bench) {
  Runtime runtime = MultiThread(bench);
  bench.Measure(bench.size(), [&] {
    runtime.BlockOn(runtime.Spawn(SendAndReceive<Message<kBytes>>(
        kSenders, kReceivers, kCapacity, bench.size())));
  });
}

Task<> SendThenReceive(size_t count) {
  auto ends = Make<Message<8>>(64);
  auto& [sender, receiver] = ends;
  for (size_t i = 0; i < count; ++i) {
    const Message<8> number{i};
    auto sent = co_await sender.Send(number);
    auto message = co_await receiver.Receive();
    WEFT_CHECK(sent.ok() && (*message)[0] == i, "a wrong message");
  }
}

void Uncontended(Bench& bench) {
  Runtime runtime = MultiThread(bench);
  bench.Measure(bench.size(), [&] {
    runtime.BlockOn(runtime.Spawn(SendThenReceive(bench.size())));
  });
}

Task<> Echo(Receiver<uint64_t> receiver, Sender<uint64_t> sender) {
  for (;;) {
    absl::StatusOr<uint64_t> message = co_await receiver.Receive();
    if (!message.ok()) co_return;
    static_cast<void>(co_await sender.Send(*message));
  }
}

Task<> PingPongs(size_t count) {
  auto there = sync::Channel<uint64_t>(1);
  auto back = sync::Channel<uint64_t>(1);
  JoinHandle<> echo =
      Spawn(Echo(std::move(there.second), std::move(back.first)));
  {
    Sender<uint64_t> sender = std::move(there.first);
    for (size_t i = 0; i < count; ++i) {
      static_cast<void>(co_await sender.Send(i));
      absl::StatusOr<uint64_t> message = co_await back.second.Receive();
      WEFT_CHECK(*message == i, "a wrong message");
    }
  }
  co_await echo;
}

void PingPong(Bench& bench) {
  Runtime runtime = MultiThread(bench);
  bench.Measure(bench.size(), [&] {
    runtime.BlockOn(runtime.Spawn(PingPongs(bench.size())));
  });
}

template <size_t kCapacity>
void Create(Bench& bench) {
  bench.Measure(bench.size(), [&] {
    for (size_t i = 0; i < bench.size(); ++i) {
      auto ends = Make<uint64_t>(kCapacity);
      WEFT_CHECK(!ends.first.IsClosed(), "a new channel is closed");
    }
  });
}

// What a channel costs in memory before anything is sent.
template <size_t kCapacity>
void Bytes(Bench& bench) {
  std::vector<std::pair<Sender<uint64_t>, Receiver<uint64_t>>> channels;
  channels.reserve(bench.size());
  const int64_t before = ReadStatus("VmRSS");
  for (size_t i = 0; i < bench.size(); ++i) {
    channels.push_back(Make<uint64_t>(kCapacity));
  }
  // Without the handles.
  const double kib = static_cast<double>(ReadStatus("VmRSS") - before);
  bench.Record("bytes", kib * 1024 / static_cast<double>(bench.size()) -
                            sizeof(channels[0]));
}

constexpr Case kCases[] = {
    {"channel_1x1_1_8", Channels<1, 1, 1, 8>},
    {"channel_1x1_64_8", Channels<1, 1, 64, 8>},
    {"channel_1x1_u_8", Channels<1, 1, 0, 8>},
    {"channel_4x1_1_8", Channels<4, 1, 1, 8>},
    {"channel_4x1_64_8", Channels<4, 1, 64, 8>},
    {"channel_4x1_u_8", Channels<4, 1, 0, 8>},
    {"channel_1x4_1_8", Channels<1, 4, 1, 8>},
    {"channel_1x4_64_8", Channels<1, 4, 64, 8>},
    {"channel_1x4_u_8", Channels<1, 4, 0, 8>},
    {"channel_4x4_1_8", Channels<4, 4, 1, 8>},
    {"channel_4x4_64_8", Channels<4, 4, 64, 8>},
    {"channel_4x4_u_8", Channels<4, 4, 0, 8>},
    {"channel_1x1_1_512", Channels<1, 1, 1, 512>},
    {"channel_1x1_64_512", Channels<1, 1, 64, 512>},
    {"channel_1x1_u_512", Channels<1, 1, 0, 512>},
    {"channel_4x1_1_512", Channels<4, 1, 1, 512>},
    {"channel_4x1_64_512", Channels<4, 1, 64, 512>},
    {"channel_4x1_u_512", Channels<4, 1, 0, 512>},
    {"channel_1x4_1_512", Channels<1, 4, 1, 512>},
    {"channel_1x4_64_512", Channels<1, 4, 64, 512>},
    {"channel_1x4_u_512", Channels<1, 4, 0, 512>},
    {"channel_4x4_1_512", Channels<4, 4, 1, 512>},
    {"channel_4x4_64_512", Channels<4, 4, 64, 512>},
    {"channel_4x4_u_512", Channels<4, 4, 0, 512>},
    {"channel_uncontended", Uncontended},
    {"channel_ping_pong", PingPong},
    {"channel_create_64", Create<64>},
    {"channel_create_u", Create<0>},
    {"channel_bytes_16", Bytes<16>},
    {"channel_bytes_u", Bytes<0>},
};

}  // namespace

std::span<const Case> ChannelCases() { return kCases; }

}  // namespace weft::bench
