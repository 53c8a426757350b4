// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/bench/sync/oneshot_cases.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "absl/status/statusor.h"
#include "weft/bench/executor/common.h"
#include "weft/bench/harness.h"
#include "weft/bench/sync/common.h"
#include "weft/runtime/runtime.h"
#include "weft/sync/channel.h"
#include "weft/sync/channel_receiver.h"
#include "weft/sync/channel_sender.h"
#include "weft/sync/oneshot.h"
#include "weft/task/check.h"
#include "weft/task/join_handle.h"
#include "weft/task/spawner.h"
#include "weft/task/task.h"

namespace weft::bench {
namespace {

Task<> MakeSendReceive(size_t count) {
  for (size_t i = 0; i < count; ++i) {
    auto ends = sync::Oneshot<uint64_t>();
    auto unsent = std::move(ends.first).Send(i);
    absl::StatusOr<uint64_t> value = co_await ends.second;
    WEFT_CHECK(!unsent.has_value() && *value == i, "a wrong value");
  }
}

void Oneshots(Bench& bench) {
  Runtime runtime = MultiThread(bench);
  MeasureTask(bench, runtime, bench.size(),
              [&] { return MakeSendReceive(bench.size()); });
}

// A request is where its reply goes.
using Request = sync::OneshotSender<uint64_t>;

Task<> Reply(sync::Receiver<Request> requests) {
  for (uint64_t number = 0;; ++number) {
    absl::StatusOr<Request> request = co_await requests.Receive();
    if (!request.ok()) co_return;
    static_cast<void>(std::move(*request).Send(number));
  }
}

Task<> Ask(sync::Sender<Request> requests, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    auto ends = sync::Oneshot<uint64_t>();
    auto sent = co_await requests.Send(std::move(ends.first));
    absl::StatusOr<uint64_t> reply = co_await ends.second;
    WEFT_CHECK(sent.ok() && *reply == i, "a wrong reply");
  }
}

Task<> AskAndReply(size_t count) {
  auto [sender, receiver] = sync::Channel<Request>(10);
  JoinHandle<> replying = Spawn(Reply(std::move(receiver)));
  co_await Ask(std::move(sender), count);
  co_await replying;
}

void RequestReply(Bench& bench) {
  Runtime runtime = MultiThread(bench);
  MeasureTask(bench, runtime, bench.size(),
              [&] { return AskAndReply(bench.size()); });
}

constexpr Case kCases[] = {
    {"oneshot", Oneshots},
    {"request_reply", RequestReply},
};

}  // namespace

std::span<const Case> OneshotCases() { return kCases; }

}  // namespace weft::bench
