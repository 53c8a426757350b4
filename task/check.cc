// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/task/check.h"

#include <cstdio>
#include <cstdlib>
#include <string>

#include "weft/task/running.h"
#include "weft/task/task_identity.h"

namespace weft::task_internal {

void CheckFailed(const char* file, int line, const char* condition,
                 std::string_view message) {
  const TaskIdentity* task = ThisThreadRuns().task;
  const std::string where = task == nullptr ? "" : " in " + task->Describe();
  std::fprintf(stderr, "%s:%d: %.*s (%s)%s\n", file, line,
               static_cast<int>(message.size()), message.data(), condition,
               where.c_str());
  std::fflush(stderr);
  std::abort();
}

}  // namespace weft::task_internal
