// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/bench/sync/chain_cases.h"

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

Task<> PassOn(sync::Receiver<uint64_t> from, sync::Sender<uint64_t> to,
              size_t count) {
  for (size_t i = 0; i < count; ++i) {
    absl::StatusOr<uint64_t> message = co_await from.Receive();
    auto sent = co_await to.Send(*message);
    WEFT_CHECK(sent.ok(), "a channel closed too early");
  }
}

// `length` messages, one at a time, through as many tasks.
Task<> SendThrough(size_t length) {
  auto ends = sync::Channel<uint64_t>(1);
  const sync::Sender<uint64_t> first = std::move(ends.first);
  sync::Receiver<uint64_t> last = std::move(ends.second);
  std::vector<JoinHandle<>> handles;
  for (size_t i = 0; i < length; ++i) {
    auto next = sync::Channel<uint64_t>(1);
    handles.push_back(Spawn(PassOn(std::exchange(last, std::move(next.second)),
                                   std::move(next.first), length)));
  }
  for (size_t i = 0; i < length; ++i) {
    auto sent = co_await first.Send(i);
    absl::StatusOr<uint64_t> message = co_await last.Receive();
    WEFT_CHECK(sent.ok() && *message == i, "a wrong message");
  }
  for (JoinHandle<>& handle : handles) co_await handle;
}

void Chain(Bench& bench) {
  Runtime runtime = MultiThread(bench);
  MeasureTask(bench, runtime, bench.size() * bench.size(),
              [&] { return SendThrough(bench.size()); });
}

constexpr Case kCases[] = {{"channel_chain", Chain}};

}  // namespace

std::span<const Case> ChainCases() { return kCases; }

}  // namespace weft::bench
