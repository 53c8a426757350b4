// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/task/unhandled_exception.h"

#include <cstdio>
#include <exception>
#include <string>
#include <utility>

#include "weft/task/describe_exception.h"
#include "weft/task/environment.h"
#include "weft/task/running.h"
#include "weft/task/task_identity.h"

namespace weft::task_internal {

void ReportUnhandledException(std::exception_ptr exception) noexcept {
  if (auto* handler = Environment::Current().unhandled_exception) {
    handler->OnUnhandledException(std::move(exception));
    return;
  }
  const TaskIdentity* task = ThisThreadRuns().task;
  const std::string who = task == nullptr ? "task" : task->Describe();
  std::fprintf(stderr, "weft: a detached %s ended with an exception: %s\n",
               who.c_str(), DescribeException(exception).c_str());
}

}  // namespace weft::task_internal
