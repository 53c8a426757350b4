// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/bench/sync/select_cases.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "weft/bench/executor/common.h"
#include "weft/bench/harness.h"
#include "weft/bench/sync/common.h"
#include "weft/runtime/runtime.h"
#include "weft/select/futures_unordered.h"
#include "weft/select/select.h"
#include "weft/sync/channel.h"
#include "weft/sync/channel_receiver.h"
#include "weft/sync/channel_sender.h"
#include "weft/task/check.h"
#include "weft/task/join_handle.h"
#include "weft/task/spawner.h"
#include "weft/task/task.h"

namespace weft::bench {
namespace {

using Senders = std::vector<sync::Sender<uint64_t>>;
using Receivers = std::vector<sync::Receiver<uint64_t>>;

// The number i goes through channel i mod n. Gives the senders back, so that no
// channel is closed before all numbers are received.
Task<Senders> SendInTurn(Senders senders, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    auto sent = co_await senders[i % senders.size()].Send(i);
    WEFT_CHECK(sent.ok(), "a channel closed too early");
  }
  co_return senders;
}

// Returns the sum of the numbers.
template <size_t... I>
Task<uint64_t> SelectSome(const Receivers* receivers, size_t count,
                          std::index_sequence<I...>) {
  uint64_t sum = 0;
  for (size_t i = 0; i < count; ++i) {
    auto select = Select((*receivers)[I].Receive()...);
    auto winner = co_await select;
    sum += std::visit([](const auto& selected) { return *selected.value; },
                      winner);
  }
  co_return sum;
}

// The same for any number of channels: a number says which one it came from.
Task<uint64_t> SelectSome(const Receivers* receivers, size_t count) {
  FuturesUnordered<sync::ReceiveFuture<uint64_t>> receiving;
  for (const auto& receiver : *receivers) receiving.Push(receiver.Receive());
  uint64_t sum = 0;
  for (size_t i = 0; i < count; ++i) {
    std::optional<absl::StatusOr<uint64_t>> number = co_await receiving.Next();
    sum += **number;
    receiving.Push((*receivers)[**number % receivers->size()].Receive());
  }
  co_return sum;
}

template <size_t kChannels>
Task<> SendAndSelect(size_t count) {
  Senders senders;
  Receivers receivers;
  for (size_t i = 0; i < kChannels; ++i) {
    auto ends = sync::Channel<uint64_t>(1);
    senders.push_back(std::move(ends.first));
    receivers.push_back(std::move(ends.second));
  }
  JoinHandle<Senders> sending = Spawn(SendInTurn(std::move(senders), count));
  uint64_t sum = 0;
  if constexpr (kChannels <= 8) {
    sum = co_await SelectSome(&receivers, count,
                              std::make_index_sequence<kChannels>());
  } else {
    sum = co_await SelectSome(&receivers, count);
  }
  co_await sending;
  WEFT_CHECK(sum == count * (count - 1) / 2, "numbers are lost");
}

template <size_t kChannels>
void Selects(Bench& bench) {
  Runtime runtime = MultiThread(bench);
  MeasureTask(bench, runtime, bench.size(),
              [&] { return SendAndSelect<kChannels>(bench.size()); });
}

constexpr Case kCases[] = {
    {"select_2", Selects<2>},
    {"select_8", Selects<8>},
    {"select_64", Selects<64>},
};

}  // namespace

std::span<const Case> SelectCases() { return kCases; }

}  // namespace weft::bench
