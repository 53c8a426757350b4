// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/bench/sync/notify_cases.h"

#include <atomic>
#include <cstddef>
#include <memory>
#include <span>

#include "weft/bench/executor/common.h"
#include "weft/bench/harness.h"
#include "weft/bench/sync/common.h"
#include "weft/runtime/runtime.h"
#include "weft/sync/notify.h"
#include "weft/task/join_handle.h"
#include "weft/task/task.h"
#include "weft/task/yield_now.h"

namespace weft::bench {
namespace {

struct Wakes {
  sync::Notify notify;
  std::atomic<size_t> count{0};
};

Task<> CountWakes(std::shared_ptr<Wakes> wakes) {
  for (;;) {
    co_await wakes->notify.Wait();
    wakes->count.fetch_add(1);
  }
}

using NotifySome = void (sync::Notify::*)();

// Notifies until so many wakes are counted; lets others run in between.
template <NotifySome kNotify>
Task<> NotifyUntil(Wakes* wakes, size_t count) {
  wakes->count.store(0);
  while (wakes->count.load() < count) {
    (wakes->notify.*kNotify)();
    co_await YieldNow();
  }
}

template <size_t kWaiters, NotifySome kNotify>
void Notifications(Bench& bench) {
  Runtime runtime = MultiThread(bench);
  auto wakes = std::make_shared<Wakes>();
  for (size_t i = 0; i < kWaiters; ++i) {
    runtime.Spawn(CountWakes(wakes)).Detach();
  }
  MeasureTask(bench, runtime, bench.size(),
              [&] { return NotifyUntil<kNotify>(wakes.get(), bench.size()); });
}

template <size_t kWaiters>
constexpr auto kOne = Notifications<kWaiters, &sync::Notify::NotifyOne>;
template <size_t kWaiters>
constexpr auto kAll = Notifications<kWaiters, &sync::Notify::NotifyAll>;

constexpr Case kCases[] = {
    {"notify_one_10", kOne<10>},   {"notify_one_100", kOne<100>},
    {"notify_one_500", kOne<500>}, {"notify_all_10", kAll<10>},
    {"notify_all_100", kAll<100>}, {"notify_all_500", kAll<500>},
};

}  // namespace

std::span<const Case> NotifyCases() { return kCases; }

}  // namespace weft::bench
