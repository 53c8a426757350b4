// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The main program of a fuzz test that is not fuzzing: gives the function under
// test nothing, and then the contents of each file named on the command line.
// With --config=fuzz the main program is libFuzzer's instead.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int main(int argc, char** argv) {
  LLVMFuzzerTestOneInput(nullptr, 0);
  for (int i = 1; i < argc; ++i) {
    if (argv[i][0] == '-') continue;  // an option of libFuzzer
    std::ifstream file(argv[i], std::ios::binary);
    if (!file) {
      std::fprintf(stderr, "cannot open %s\n", argv[i]);
      return 1;
    }
    const std::vector<char> input{std::istreambuf_iterator<char>(file),
                                  std::istreambuf_iterator<char>()};
    std::printf("%s, %zu bytes\n", argv[i], input.size());
    // A copy of exactly this size, so that a sanitizer sees a read past it.
    const std::vector<uint8_t> exact(input.begin(), input.end());
    LLVMFuzzerTestOneInput(exact.data(), exact.size());
  }
  return 0;
}
