// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The smallest fuzz test, to show that the rule works: as a test it is given
// the corpus, with --config=fuzz whatever libFuzzer thinks of.

#include <cstddef>
#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  size_t digits = 0;
  for (size_t i = 0; i < size; ++i) {
    if (data[i] >= '0' && data[i] <= '9') ++digits;
  }
  if (digits > size) std::abort();
  return 0;
}
