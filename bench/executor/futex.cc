// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// What a wake costs without any runtime: a thread that waits on a futex is woken
// by another one. The baseline of the case wake_latency.

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "weft/bench/harness.h"

namespace weft::bench {
namespace {

// 0, or a request of a certain number; the sleeper answers with its own.
struct Shared {
  std::atomic<uint32_t> request{0};
  std::atomic<int64_t> sent_ns{0};
  std::atomic<uint32_t> answer{0};
  std::atomic<int64_t> latency_ns{0};
};

void WaitWhile(std::atomic<uint32_t>& word, uint32_t value) {
  while (word.load() == value) {
    syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, value, nullptr, nullptr, 0);
  }
}

void Set(std::atomic<uint32_t>& word, uint32_t value) {
  word.store(value);
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

void Sleep(Shared& shared, uint32_t n) {
  for (uint32_t i = 0; i < n; ++i) {
    WaitWhile(shared.request, i);
    shared.latency_ns.store(NowNs() - shared.sent_ns.load());
    Set(shared.answer, i + 1);
  }
}

void WakeLatency(Bench& bench) {
  Shared shared;
  const uint32_t n = static_cast<uint32_t>(bench.size());
  std::thread sleeper([&] { Sleep(shared, n); });
  std::vector<int64_t> latencies;
  for (uint32_t i = 0; i < n; ++i) {
    std::this_thread::sleep_for(std::chrono::microseconds(200));
    shared.sent_ns.store(NowNs());
    Set(shared.request, i + 1);
    WaitWhile(shared.answer, i);
    latencies.push_back(shared.latency_ns.load());
  }
  sleeper.join();
  bench.RecordLatency(std::move(latencies));
}

constexpr Case kCases[] = {{"wake_latency", WakeLatency}};

}  // namespace
}  // namespace weft::bench

int main(int argc, char** argv) {
  return weft::bench::RunCase(std::span(argv, argc).subspan(1),
                              weft::bench::kCases);
}
