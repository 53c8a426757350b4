// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/task/check.h"

#include <cstdio>
#include <cstdlib>

namespace weft::task_internal {

void CheckFailed(const char* file, int line, const char* condition,
                 std::string_view message) {
  std::fprintf(stderr, "%s:%d: %.*s (%s)\n", file, line,
               static_cast<int>(message.size()), message.data(), condition);
  std::fflush(stderr);
  std::abort();
}

}  // namespace weft::task_internal
