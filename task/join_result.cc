// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/task/join_result.h"

#include <exception>
#include <string>

#include "absl/status/status.h"
#include "weft/task/check.h"
#include "weft/task/describe_exception.h"

namespace weft::task_internal {

void FailWithoutValue(const std::exception_ptr& exception,
                      const absl::Status& why) {
  const std::string reason = exception != nullptr
                                 ? "threw: " + DescribeException(exception)
                                 : "has no value: " + why.ToString();
  CheckFailed(__FILE__, __LINE__, "has_value()",
              "the task of this result " + reason + "; ask has_value() first");
}

}  // namespace weft::task_internal
