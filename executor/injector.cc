// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/executor/injector.h"

#include <atomic>
#include <cstdint>

namespace weft::executor_internal {

[[gnu::noinline]] uint32_t Injector::OwnProducer() {
  constinit static std::atomic<uint32_t> next{0};
  // Relaxed: any distribution will do.
  static thread_local const uint32_t own =
      next.fetch_add(1, std::memory_order_relaxed) % (kProducers - 1);
  return own;
}

}  // namespace weft::executor_internal
