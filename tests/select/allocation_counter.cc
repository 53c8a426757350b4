// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/tests/select/allocation_counter.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace weft {
namespace {

constinit std::atomic<int64_t> total{0};
constinit std::atomic<int64_t> live{0};

}  // namespace

int64_t TotalAllocations() { return total; }
int64_t LiveAllocations() { return live; }

}  // namespace weft

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#if !defined(__has_feature)  // g++ 12
#define __has_feature(feature) 0
#endif
#if !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)

void* operator new(size_t size) {
  ++weft::total;
  ++weft::live;
  void* memory = std::malloc(size);
  if (memory == nullptr) std::abort();
  return memory;
}
void* operator new[](size_t size) { return operator new(size); }

void operator delete(void* memory) noexcept {
  if (memory == nullptr) return;
  --weft::live;
  std::free(memory);
}
void operator delete(void* memory, size_t) noexcept { operator delete(memory); }
void operator delete[](void* memory) noexcept { operator delete(memory); }
void operator delete[](void* memory, size_t) noexcept {
  operator delete(memory);
}

#endif
#endif
