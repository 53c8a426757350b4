// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/bench/sync/broadcast_cases.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "weft/bench/executor/common.h"
#include "weft/bench/harness.h"
#include "weft/bench/sync/common.h"
#include "weft/runtime/runtime.h"
#include "weft/sync/broadcast.h"
#include "weft/sync/broadcast_receiver.h"
#include "weft/sync/broadcast_sender.h"
#include "weft/sync/notify.h"
#include "weft/sync/watch.h"
#include "weft/sync/watch_receiver.h"
#include "weft/sync/watch_sender.h"
#include "weft/task/check.h"
#include "weft/task/join_handle.h"
#include "weft/task/task.h"

namespace weft::bench {
namespace {

// The receivers that have not done their work on a message yet.
class Round {
 public:
  void Begin(size_t receivers) { left_.store(receivers); }
  void Finish() {
    if (left_.fetch_sub(1) == 1) finished_.NotifyOne();
  }
  Task<> Finished() {
    while (left_.load() > 0) co_await finished_.Wait();
  }

 private:
  std::atomic<size_t> left_{0};
  sync::Notify finished_;
};

Task<> Hear(sync::BroadcastReceiver<uint64_t> receiver,
            std::shared_ptr<Round> round) {
  for (;;) {
    auto message = co_await receiver.Receive();
    if (!message.ok()) co_return;
    Work(**message);
    round->Finish();
  }
}

Task<> Hear(sync::WatchReceiver<uint64_t> receiver,
            std::shared_ptr<Round> round) {
  for (;;) {
    absl::Status changed = co_await receiver.Changed();
    if (!changed.ok()) co_return;
    Work(*receiver.Borrow());
    round->Finish();
  }
}

Task<> Tell(const sync::BroadcastSender<uint64_t>* sender, Round* round,
            size_t receivers, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    round->Begin(receivers);
    absl::Status sent = co_await sender->Send(i);
    WEFT_CHECK(sent.ok(), "nobody receives");
    co_await round->Finished();
  }
}

Task<> Tell(const sync::WatchSender<uint64_t>* sender, Round* round,
            size_t receivers, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    round->Begin(receivers);
    WEFT_CHECK(sender->Send(i).ok(), "nobody receives");
    co_await round->Finished();
  }
}

// `subscribe` gives a receiver of what `sender` sends. The tasks end when the
// sender is gone.
template <class Sender, class Subscribe>
void MeasureHearing(Bench& bench, size_t receivers,
                    std::optional<Sender> sender, Subscribe subscribe) {
  Runtime runtime = MultiThread(bench);
  auto round = std::make_shared<Round>();
  std::vector<JoinHandle<>> hearing;
  for (size_t i = 0; i < receivers; ++i) {
    hearing.push_back(runtime.Spawn(Hear(subscribe(*sender), round)));
  }
  MeasureTask(bench, runtime, receivers * bench.size(), [&] {
    return Tell(&*sender, round.get(), receivers, bench.size());
  });
  sender.reset();
  runtime.BlockOn(JoinAll(std::move(hearing)));
}

template <size_t kReceivers>
void Broadcasts(Bench& bench) {
  auto [sender, first] = sync::Broadcast<uint64_t>(1000);
  const auto idle = std::move(first).Deactivate();
  MeasureHearing(bench, kReceivers, std::optional(std::move(sender)),
                 [](const auto& from) { return from.NewReceiver(); });
}

template <size_t kReceivers>
void Watches(Bench& bench) {
  auto [sender, first] = sync::Watch<uint64_t>(0);
  MeasureHearing(bench, kReceivers, std::optional(std::move(sender)),
                 [](const auto& from) { return from.Subscribe(); });
}

constexpr Case kCases[] = {
    {"broadcast_10", Broadcasts<10>},   {"broadcast_100", Broadcasts<100>},
    {"broadcast_500", Broadcasts<500>}, {"broadcast_1000", Broadcasts<1000>},
    {"watch_10", Watches<10>},          {"watch_100", Watches<100>},
    {"watch_500", Watches<500>},        {"watch_1000", Watches<1000>},
};

}  // namespace

std::span<const Case> BroadcastCases() { return kCases; }

}  // namespace weft::bench
