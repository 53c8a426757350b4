// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/task/random.h"

#include <atomic>
#include <cstdint>

#include "weft/task/instant.h"

namespace weft {
namespace {

uint64_t FreshSeed() {
  static std::atomic<uint64_t> counter{0};
  // Relaxed: only distinctness matters.
  const uint64_t n = counter.fetch_add(1, std::memory_order_relaxed);
  return static_cast<uint64_t>(Instant::Now().nanoseconds()) ^ (n << 48);
}

}  // namespace

[[gnu::noinline]] Random& Random::OfThread() {
  static thread_local Random random(FreshSeed());
  return random;
}

}  // namespace weft
