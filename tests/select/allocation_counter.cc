// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/tests/select/allocation_counter.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)  // g++
#define WEFT_COUNTS_ALLOCATIONS 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define WEFT_COUNTS_ALLOCATIONS 0
#endif
#endif
#if !defined(WEFT_COUNTS_ALLOCATIONS)
#define WEFT_COUNTS_ALLOCATIONS 1
#endif

namespace weft {
namespace {

constinit std::atomic<int64_t> total{0};
constinit std::atomic<int64_t> live{0};
constinit thread_local int64_t fails_after = -1;

}  // namespace

int64_t TotalAllocations() { return total; }
int64_t LiveAllocations() { return live; }
bool CountsAllocations() { return WEFT_COUNTS_ALLOCATIONS; }
void FailAllocationAfter(int64_t n) { fails_after = n; }
bool HasFailedAllocation() { return fails_after < 0; }

}  // namespace weft

#if WEFT_COUNTS_ALLOCATIONS

void* operator new(size_t size) {
#if defined(__cpp_exceptions)
  if (weft::fails_after >= 0 && weft::fails_after-- == 0) {
    throw std::bad_alloc();
  }
#endif
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

#endif  // WEFT_COUNTS_ALLOCATIONS
