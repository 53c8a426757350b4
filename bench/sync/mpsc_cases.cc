// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/bench/sync/mpsc_cases.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "weft/bench/executor/common.h"
#include "weft/bench/harness.h"
#include "weft/bench/sync/common.h"
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

constexpr size_t kSenders = 5;
constexpr size_t kUnbounded = 0;
constexpr size_t kMillion = 1'000'000;

template <size_t kBytes>
using Message = std::array<uint64_t, kBytes / sizeof(uint64_t)>;

template <size_t kCapacity>
std::pair<Sender<uint64_t>, Receiver<uint64_t>> Make() {
  if constexpr (kCapacity == kUnbounded) {
    return sync::UnboundedChannel<uint64_t>();
  } else {
    return sync::Channel<uint64_t>(kCapacity);
  }
}

template <size_t kCapacity>
void Create(Bench& bench) {
  bench.Measure(bench.size(), [&] {
    for (size_t i = 0; i < bench.size(); ++i) {
      auto ends = sync::Channel<Message<512>>(kCapacity);
      WEFT_CHECK(!ends.first.IsClosed(), "a new channel is closed");
    }
  });
}

template <size_t kBytes>
Task<> MakeSendReceive(size_t count) {
  for (size_t i = 0; i < count; ++i) {
    auto [sender, receiver] = sync::Channel<Message<kBytes>>(1000);
    const Message<kBytes> empty{};
    auto sent = co_await sender.Send(empty);
    absl::StatusOr<Message<kBytes>> message = co_await receiver.Receive();
    WEFT_CHECK(sent.ok() && message.ok(), "a message is lost");
  }
}

template <size_t kBytes>
void Send(Bench& bench) {
  Runtime runtime = MultiThread(bench);
  MeasureTask(bench, runtime, bench.size(),
              [&] { return MakeSendReceive<kBytes>(bench.size()); });
}

Task<> SendSome(Sender<uint64_t> sender, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    auto sent = co_await sender.Send(i);
    WEFT_CHECK(sent.ok(), "a channel closed too early");
  }
}

template <bool kMany>
Task<> ReceiveSome(Receiver<uint64_t> receiver, size_t count) {
  std::vector<uint64_t> messages;
  for (size_t received = 0; received < count;) {
    if constexpr (kMany) {
      messages.clear();
      received += co_await receiver.ReceiveMany(messages, count);
    } else {
      absl::StatusOr<uint64_t> message = co_await receiver.Receive();
      WEFT_CHECK(message.ok(), "a channel closed too early");
      ++received;
    }
  }
}

template <size_t kCapacity, bool kMany>
Task<> Contend(size_t each) {
  auto [sender, receiver] = Make<kCapacity>();
  std::vector<JoinHandle<>> sending;
  for (size_t i = 0; i < kSenders; ++i) {
    sending.push_back(Spawn(SendSome(sender, each)));
  }
  co_await ReceiveSome<kMany>(std::move(receiver), kSenders * each);
  for (JoinHandle<>& handle : sending) co_await handle;
}

template <size_t kCapacity, bool kMany>
void Contention(Bench& bench) {
  Runtime runtime = MultiThread(bench);
  const size_t each = bench.size() / kSenders;
  MeasureTask(bench, runtime, kSenders * each,
              [&] { return Contend<kCapacity, kMany>(each); });
}

template <size_t kCapacity, bool kMany>
Task<> SendThenReceive(size_t count) {
  auto [sender, receiver] = Make<kCapacity>();
  co_await SendSome(std::move(sender), count);
  co_await ReceiveSome<kMany>(std::move(receiver), count);
}

template <size_t kCapacity, bool kMany>
void Uncontended(Bench& bench) {
  Runtime runtime = MultiThread(bench);
  MeasureTask(bench, runtime, bench.size(),
              [&] { return SendThenReceive<kCapacity, kMany>(bench.size()); });
}

constexpr Case kCases[] = {
    {"mpsc_create_1", Create<1>},
    {"mpsc_create_100", Create<100>},
    {"mpsc_create_100000", Create<100'000>},
    {"mpsc_send_512", Send<512>},
    {"mpsc_send_32768", Send<32'768>},
    {"mpsc_contention_bounded", Contention<kMillion, false>},
    {"mpsc_contention_bounded_many", Contention<kMillion, true>},
    {"mpsc_contention_full", Contention<100, false>},
    {"mpsc_contention_full_many", Contention<100, true>},
    {"mpsc_contention_unbounded", Contention<kUnbounded, false>},
    {"mpsc_contention_unbounded_many", Contention<kUnbounded, true>},
    {"mpsc_uncontended_bounded", Uncontended<kMillion, false>},
    {"mpsc_uncontended_bounded_many", Uncontended<kMillion, true>},
    {"mpsc_uncontended_unbounded", Uncontended<kUnbounded, false>},
    {"mpsc_uncontended_unbounded_many", Uncontended<kUnbounded, true>},
};

}  // namespace

std::span<const Case> MpscCases() { return kCases; }

}  // namespace weft::bench
