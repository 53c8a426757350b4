// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/tests/executor/failing_new.h"

#include <cstddef>
#include <cstdlib>
#include <new>
#include <utility>

namespace weft::executor_testing {
namespace {

constinit thread_local int until_failure = 0;  // 0: none fails
constinit thread_local bool all_fail = false;
constinit thread_local int failures = 0;

bool Fails() {
  if (!all_fail && (until_failure == 0 || --until_failure != 0)) return false;
  ++failures;
  return true;
}

}  // namespace

void FailAllocation(int n) { until_failure = n; }

void FailAllAllocations() { all_fail = true; }

int StopFailing() {
  until_failure = 0;
  all_fail = false;
  return std::exchange(failures, 0);
}

void* Allocate(size_t size) {
  return Fails() ? nullptr : std::malloc(size != 0 ? size : 1);
}

}  // namespace weft::executor_testing

[[gnu::noinline]] void* operator new(size_t size,
                                     const std::nothrow_t&) noexcept {
  return weft::executor_testing::Allocate(size);
}
[[gnu::noinline]] void* operator new(size_t size) {
  void* block = weft::executor_testing::Allocate(size);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}
[[gnu::noinline]] void operator delete(void* block) noexcept {
  std::free(block);
}
[[gnu::noinline]] void operator delete(void* block, size_t) noexcept {
  std::free(block);
}
