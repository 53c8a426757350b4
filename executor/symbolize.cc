// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/executor/symbolize.h"

#include <mutex>
#include <string>

#include "absl/debugging/symbolize.h"

namespace weft::executor_internal {

std::string SymbolOf(const void* return_address) {
  // Abseil's has a lock of its own, which the thread sanitizer does not see.
  constinit static std::mutex mutex;
  const std::lock_guard lock(mutex);
  // Behind a call: the address may belong to the next function.
  const char* address = static_cast<const char*>(return_address) - 1;
  char name[256];
  return absl::Symbolize(address, name, sizeof(name)) ? name : std::string();
}

}  // namespace weft::executor_internal
